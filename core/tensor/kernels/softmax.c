/* SPDX-License-Identifier: MIT */
#include "tensor/kernels/variant.h"

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

gint64
KERNEL (at_least) (const PlaitScalar *x, PlaitScalar bound, gint64 n, gint32 *places)
{
  gint64 found = 0, i = 0;

  for (; i + VECTOR_LENGTH <= n; i += VECTOR_LENGTH)
    for (guint32 bits = vector_at_least (vector_load (x + i), bound); bits != 0; bits &= bits - 1)
      places[found++] = (gint32)i + __builtin_ctz (bits);
  for (; i < n; i++)
    if (x[i] >= bound)
      places[found++] = (gint32)i;
  return found;
}

gint64
KERNEL (count_at_least) (const PlaitScalar *x, PlaitScalar bound, gint64 n)
{
  IntegerVector counts = { 0 };
  gint64 found = 0, i = 0;

  for (; i + VECTOR_LENGTH <= n; i += VECTOR_LENGTH)
    counts -= vector_load (x + i) >= vector_all (bound);
  for (gint64 lane = 0; lane < VECTOR_LENGTH; lane++)
    found += counts[lane];
  for (; i < n; i++)
    found += x[i] >= bound;
  return found;
}

static inline __attribute__ ((always_inline)) double
exponential_sum (const PlaitScalar *x, PlaitScalar shift, gint64 n, PlaitScalar *kept)
{
  Vector sum = { 0 }, other = { 0 };
  gint64 i = 0;

  for (; i + 2 * VECTOR_LENGTH <= n; i += 2 * VECTOR_LENGTH)
    {
      Vector a = vector_exp (vector_load (x + i) - shift), b = vector_exp (vector_load (x + i + VECTOR_LENGTH) - shift);

      sum += a;
      other += b;
      if (kept)
        {
          vector_store (kept + i, a);
          vector_store (kept + i + VECTOR_LENGTH, b);
        }
    }
  for (; i < n; i += VECTOR_LENGTH)
    {
      gint64 here = MIN (n - i, VECTOR_LENGTH);
      Vector a = vector_exp (vector_load_part (x + i, here, -(PlaitScalar)INFINITY) - shift);

      sum += a;
      if (kept)
        vector_store_part (kept + i, a, here);
    }
  return vector_sum (sum + other);
}

double
KERNEL (exponential_sum) (const PlaitScalar *x, PlaitScalar shift, gint64 n)
{
  return exponential_sum (x, shift, n, NULL);
}

double
KERNEL (exponentials) (PlaitScalar *x, PlaitScalar shift, gint64 n)
{
  return exponential_sum (x, shift, n, x);
}

void
KERNEL (scale_shift) (PlaitScalar *x, PlaitScalar factor, PlaitScalar offset, gint64 n)
{
  for (gint64 i = 0; i < n; i++)
    x[i] = x[i] * factor - offset;
}
