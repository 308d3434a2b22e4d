/* SPDX-License-Identifier: MIT */
#include "significance/distributions.h"

#include <glib.h>
#include <math.h>

/* Number of terms of the continued fraction: MIN_TERMS + TERMS_A_ROOT * sqrt (larger parameter). */
#define MIN_TERMS 60
#define TERMS_A_ROOT 10

/* Returns the regularised incomplete beta function I_x (a, b) for x < (a + 1) / (a + b + 2) by its continued fraction
 * (DLMF 8.17.22), from the last term backwards. @y is 1 - x, passed because the subtraction would lose digits. */
static double
beta_fraction (double x, double y, double a, double b)
{
  double value = 1;

  for (gint j = MIN_TERMS + (gint)(TERMS_A_ROOT * sqrt (fmax (a, b))); j > 0; j--)
    {
      double m = j / 2;

      if (j % 2 == 0)
        value = 1 + m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)) / value;
      else
        value = 1 - (a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)) / value;
    }
  return exp (lgamma (a + b) - lgamma (a) - lgamma (b) + a * log (x) + b * log (y)) / (a * value);
}

static double
incomplete_beta (double x, double y, double a, double b)
{
  if (x <= 0 || y <= 0)
    return x <= 0 ? 0 : 1;
  return x < (a + 1) / (a + b + 2) ? beta_fraction (x, y, a, b) : 1 - beta_fraction (y, x, b, a);
}

double
plait_student_p (double t, double degrees)
{
  double square = t * t;

  if (isinf (square))
    return 0;
  return incomplete_beta (degrees / (degrees + square), square / (degrees + square), degrees / 2, 0.5);
}

double
plait_student_quantile (double p, double degrees)
{
  double low = 0, high = 1;

  while (plait_student_p (high, degrees) > p)
    high *= 2;
  for (guint i = 0; i < 50; i++)
    {
      double middle = (low + high) / 2;

      if (plait_student_p (middle, degrees) > p)
        low = middle;
      else
        high = middle;
    }
  return (low + high) / 2;
}

double
plait_variance_ratio_p (double ratio, double above, double below)
{
  double whole = below + above * ratio;

  if (isinf (ratio))
    return 0;
  return incomplete_beta (below / whole, above * ratio / whole, below / 2, above / 2);
}
