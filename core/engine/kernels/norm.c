/* SPDX-License-Identifier: MIT */
#include "kernels/variant.h"
#include "kernels/gradient-terms.h"

void
KERNEL (layer_norm) (PlaitScalar *y, const PlaitScalar *x, const PlaitScalar *gain, const PlaitScalar *bias, gint64 n,
                     PlaitScalar epsilon, PlaitScalar *mean, PlaitScalar *inverse)
{
  gint64 whole = n - n % VECTOR_LENGTH;
  Vector sums = { 0 }, squares = { 0 };
  PlaitScalar sum = 0, square = 0, middle, factor;

  for (gint64 i = 0; i < whole; i += VECTOR_LENGTH)
    sums += vector_load (x + i);
  for (gint64 i = whole; i < n; i++)
    sum += x[i];
  middle = (vector_sum (sums) + sum) / (PlaitScalar)n;
  for (gint64 i = 0; i < whole; i += VECTOR_LENGTH)
    {
      Vector centred = vector_load (x + i) - middle;

      squares += centred * centred;
    }
  for (gint64 i = whole; i < n; i++)
    square += (x[i] - middle) * (x[i] - middle);
  factor = 1 / (PlaitScalar)sqrt ((double)((vector_sum (squares) + square) / (PlaitScalar)n + epsilon));
  for (gint64 i = 0; i < n; i++)
    y[i] = gain[i] * ((x[i] - middle) * factor) + bias[i];
  if (mean)
    *mean = middle;
  if (inverse)
    *inverse = factor;
}

/* The gradient of x is inverse * (g - mean (g) - h * mean (g * h)), where h is the normalised x and g = dy * gain. */
void
KERNEL (layer_norm_backward) (PlaitScalar *dx, PlaitScalar beta, PlaitScalar *dgain, PlaitScalar *dbias,
                              const PlaitScalar *dy, const PlaitScalar *x, const PlaitScalar *gain, gint64 n,
                              PlaitScalar mean, PlaitScalar inverse)
{
  gint64 whole = n - n % VECTOR_LENGTH;
  Vector sums = { 0 }, products = { 0 };
  PlaitScalar sum = 0, product = 0;

  for (gint64 i = 0; i < whole; i += VECTOR_LENGTH)
    {
      Vector given = vector_load (dy + i), normal = (vector_load (x + i) - mean) * inverse;
      Vector g = given * vector_load (gain + i);

      sums += g;
      products += g * normal;
      vector_store (dgain + i, vector_load (dgain + i) + PLAIT_GRADIENT_TERM (layer_norm_gain, given * normal));
      vector_store (dbias + i, vector_load (dbias + i) + PLAIT_GRADIENT_TERM (layer_norm_bias, given));
    }
  for (gint64 i = whole; i < n; i++)
    {
      PlaitScalar normal = (x[i] - mean) * inverse, g = dy[i] * gain[i];

      sum += g;
      product += g * normal;
      dgain[i] += PLAIT_GRADIENT_TERM (layer_norm_gain, dy[i] * normal);
      dbias[i] += PLAIT_GRADIENT_TERM (layer_norm_bias, dy[i]);
    }
  if (!dx)
    return;
  sum = PLAIT_GRADIENT_TERM (layer_norm_mean, (vector_sum (sums) + sum) / (PlaitScalar)n);
  product = PLAIT_GRADIENT_TERM (layer_norm_variance, (vector_sum (products) + product) / (PlaitScalar)n);
  for (gint64 i = 0; i < whole; i += VECTOR_LENGTH)
    {
      Vector normal = (vector_load (x + i) - mean) * inverse;
      Vector given = PLAIT_GRADIENT_TERM (layer_norm_input, vector_load (dy + i) * vector_load (gain + i));
      Vector gradient = inverse * (given - sum - normal * product);

      vector_store (dx + i, beta != 0 ? vector_load (dx + i) + gradient : gradient);
    }
  for (gint64 i = whole; i < n; i++)
    {
      PlaitScalar given = PLAIT_GRADIENT_TERM (layer_norm_input, dy[i] * gain[i]);
      PlaitScalar gradient = inverse * (given - sum - (x[i] - mean) * inverse * product);

      dx[i] = beta != 0 ? dx[i] + gradient : gradient;
    }
}
