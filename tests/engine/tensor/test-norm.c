/* SPDX-License-Identifier: MIT */
#include "tensor/norm.h"

#include <math.h>

#include "trial.h"

static void
norm_body (Trial *trial)
{
  gint64 rows = trial_number (trial, 0, 500), width = trial_number (trial, 1, 150);
  PlaitTensor x = trial_tensor (trial, rows, width), dy = trial_tensor (trial, rows, width), y, slow;
  PlaitTensor dx = { 0 }, dgain = { 0 }, dbias = { 0 }, slow_dx, slow_dgain, slow_dbias;
  PlaitScalar *gain = trial_vector (trial, width), *bias = trial_vector (trial, width);
  PlaitScalar *mean = trial_vector (trial, rows), *inverse = trial_vector (trial, rows);
  PlaitScalar beta = (PlaitScalar)trial_number (trial, 0, 1);
  gboolean wants_dx = trial_flip (trial), wants_dgain = trial_flip (trial);

  y = trial_target (trial, rows, width, 0, &slow);
  slow_dgain = trial_target (trial, 1, width, beta, &slow_dbias);
  if (wants_dx)
    dx = trial_target (trial, rows, width, beta, &slow_dx);
  else
    slow_dx = trial_copy (trial, x);
  if (wants_dgain)
    dgain = trial_target (trial, 1, width, beta, &slow_dgain);
  else
    slow_dgain = trial_tensor (trial, 1, width);
  dbias = trial_target (trial, 1, width, beta, &slow_dbias);

  plait_layer_norm_forward (trial->pool, y, x, gain, bias, .01, mean, inverse);
  plait_layer_norm_backward (trial->pool, trial->arena, dx, beta, dgain, beta, dbias, beta, dy, x, gain, mean, inverse);
  for (gint64 r = 0; r < rows && trial_compares (); r++)
    {
      const PlaitScalar *row = plait_tensor_row (x, r), *g = plait_tensor_row (dy, r);
      double middle = 0, variance = 0, factor, sum = 0, product = 0;

      for (gint64 i = 0; i < width; i++)
        middle += (double)row[i] / (double)width;
      for (gint64 i = 0; i < width; i++)
        variance += ((double)row[i] - middle) * ((double)row[i] - middle) / (double)width;
      factor = 1 / sqrt (variance + .01);
      for (gint64 i = 0; i < width; i++)
        {
          double h = ((double)row[i] - middle) * factor;

          plait_tensor_row (slow, r)[i] = (PlaitScalar)((double)gain[i] * h + (double)bias[i]);
          slow_dgain.data[i] += (PlaitScalar)((double)g[i] * h);
          slow_dbias.data[i] += g[i];
          sum += (double)g[i] * (double)gain[i] / (double)width;
          product += (double)g[i] * (double)gain[i] * h / (double)width;
        }
      for (gint64 i = 0; i < width; i++)
        plait_tensor_row (slow_dx, r)[i]
            += (PlaitScalar)(factor
                             * ((double)g[i] * (double)gain[i] - sum - ((double)row[i] - middle) * factor * product));
    }
  trial_check (trial, "layer norm", y, slow);
  if (wants_dx)
    trial_check (trial, "dx", dx, slow_dx);
  if (wants_dgain)
    trial_check (trial, "dgain", dgain, slow_dgain);
  trial_check (trial, "dbias", dbias, slow_dbias);
}

TEST_CASE (norm, equals_its_slow_twin)
{
  trial_run (norm_body, 15);
}
