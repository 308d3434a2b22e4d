/* SPDX-License-Identifier: MIT */
#include "kernels/variant.h"

/* Writes x + bias to @sums and returns the greatest sum; if @bias and @sums are NULL, returns the greatest x. Ignores
 * NaN; the sum of the exponentials then is NaN. */
static inline __attribute__ ((always_inline)) PlaitScalar
greatest_sum (const PlaitScalar *x, const PlaitScalar *bias, PlaitScalar *sums, gint64 n)
{
  Vector greatest = vector_all (-(PlaitScalar)INFINITY), other = greatest;
  PlaitScalar one;
  gint64 i = 0;

  for (; i + 2 * VECTOR_LENGTH <= n; i += 2 * VECTOR_LENGTH)
    {
      Vector a = vector_load (x + i), b = vector_load (x + i + VECTOR_LENGTH);

      if (bias)
        {
          a += vector_load (bias + i);
          b += vector_load (bias + i + VECTOR_LENGTH);
          vector_store (sums + i, a);
          vector_store (sums + i + VECTOR_LENGTH, b);
        }
      greatest = vector_choose (a > greatest, a, greatest);
      other = vector_choose (b > other, b, other);
    }
  one = vector_greatest (vector_choose (greatest > other, greatest, other));
  for (; i < n; i++)
    {
      PlaitScalar sum = bias ? (sums[i] = x[i] + bias[i]) : x[i];

      one = sum > one ? sum : one;
    }
  return one;
}

PlaitScalar
KERNEL (greatest) (const PlaitScalar *x, gint64 n)
{
  return greatest_sum (x, NULL, NULL, n);
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

/* Returns exp (x). If @kept is FALSE, x must be at most 0, and results below e^EXP_LOWEST become e^EXP_LOWEST, which
 * does not change a sum of at least 1. */
static inline __attribute__ ((always_inline)) Vector
exponential (Vector x, gboolean kept)
{
  return kept ? vector_exp (x) : vector_exp_of_negative (x);
}

/* Returns the sum of exp (x - shift); stores the exponentials in @x if @kept, which must be a constant. */
static inline __attribute__ ((always_inline)) double
exponential_sum (PlaitScalar *x, PlaitScalar shift, gint64 n, gboolean kept)
{
  Vector sum = { 0 }, other = { 0 };
  gint64 i = 0;

  for (; i + 2 * VECTOR_LENGTH <= n; i += 2 * VECTOR_LENGTH)
    {
      Vector a = exponential (vector_load (x + i) - shift, kept);
      Vector b = exponential (vector_load (x + i + VECTOR_LENGTH) - shift, kept);

      sum += a;
      other += b;
      if (kept)
        {
          vector_store (x + i, a);
          vector_store (x + i + VECTOR_LENGTH, b);
        }
    }
  for (; i < n; i += VECTOR_LENGTH)
    {
      gint64 here = MIN (n - i, VECTOR_LENGTH);
      Vector a = exponential (vector_load_partial (x + i, here, -(PlaitScalar)INFINITY) - shift, kept);

      sum += a;
      if (kept)
        vector_store_partial (x + i, a, here);
    }
  return vector_sum (sum + other);
}

double
KERNEL (logits) (PlaitScalar *x, const PlaitScalar *bias, gint64 n, PlaitScalar *greatest)
{
  *greatest = bias ? greatest_sum (x, bias, x, n) : greatest_sum (x, NULL, NULL, n);
  return exponential_sum (x, *greatest, n, FALSE);
}

double
KERNEL (exponentials) (PlaitScalar *x, PlaitScalar shift, gint64 n)
{
  return exponential_sum (x, shift, n, TRUE);
}

void
KERNEL (scale_shift) (PlaitScalar *x, PlaitScalar factor, PlaitScalar offset, gint64 n)
{
  for (gint64 i = 0; i < n; i++)
    x[i] = x[i] * factor - offset;
}
