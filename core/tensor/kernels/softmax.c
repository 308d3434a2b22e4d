/* SPDX-License-Identifier: MIT */
#include "tensor/kernels/levels.h"

/* Passes over NaN: the sum of the exponentials will have it. */
PlaitScalar
KERNEL (greatest) (const PlaitScalar *x, gint64 n)
{
  Vector greatest = vector_all (-(PlaitScalar)INFINITY), other = greatest;
  PlaitScalar one;
  gint64 i = 0;

  for (; i + 2 * VECTOR_LENGTH <= n; i += 2 * VECTOR_LENGTH)
    {
      Vector a = vector_load (x + i), b = vector_load (x + i + VECTOR_LENGTH);

      greatest = vector_choose (a > greatest, a, greatest);
      other = vector_choose (b > other, b, other);
    }
  one = vector_greatest (vector_choose (greatest > other, greatest, other));
  for (; i < n; i++)
    one = x[i] > one ? x[i] : one;
  return one;
}

double
KERNEL (exponential_sum) (const PlaitScalar *x, PlaitScalar shift, gint64 n)
{
  Vector sum = { 0 }, other = { 0 };
  gint64 i = 0;

  for (; i + 2 * VECTOR_LENGTH <= n; i += 2 * VECTOR_LENGTH)
    {
      sum += vector_exp (vector_load (x + i) - shift);
      other += vector_exp (vector_load (x + i + VECTOR_LENGTH) - shift);
    }
  for (; i < n; i += VECTOR_LENGTH)
    sum += vector_exp (vector_load_part (x + i, MIN (n - i, VECTOR_LENGTH), -(PlaitScalar)INFINITY) - shift);
  return vector_sum (sum + other);
}

void
KERNEL (softmax_gradient) (PlaitScalar *logits, PlaitScalar log_sum, PlaitScalar scale, PlaitScalar offset, gint64 n)
{
  gint64 i = 0;

  for (; i + VECTOR_LENGTH <= n; i += VECTOR_LENGTH)
    vector_store (logits + i, vector_exp (vector_load (logits + i) - log_sum) * scale - offset);
  if (i < n)
    vector_store_part (logits + i, vector_exp (vector_load_part (logits + i, n - i, 0) - log_sum) * scale - offset,
                       n - i);
}
