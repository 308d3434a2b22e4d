/* SPDX-License-Identifier: MIT */
#include "processor/int8.h"

#include <math.h>
#include <string.h>

#include "kernels/kernels.h"
#include "tensor/output-layer.h"
#include "trial.h"

#define NEEDS_BYTES()                                                                                                  \
  do                                                                                                                   \
    {                                                                                                                  \
      if (!plait_precision_runs_here (PLAIT_PRECISION_INT8))                                                           \
        SKIP_TEST ("this processor does not multiply bytes (AVX-512 VNNI)");                                           \
    }                                                                                                                  \
  while (0)

/* Quantises @n scalars, which are @step apart in memory, to integers from -127 to 127. Returns the scale. */
static PlaitScalar
slow_bytes (gint64 *bytes, const PlaitScalar *x, gint64 step, gint64 n)
{
  PlaitScalar greatest = 0;

  for (gint64 k = 0; k < n; k++)
    greatest = MAX (greatest, (PlaitScalar)fabs ((double)x[k * step]));
  for (gint64 k = 0; k < n; k++)
    {
      PlaitScalar steps = greatest > 0 ? x[k * step] * (127 / greatest) : 0;

      bytes[k] = (gint64)rint ((double)steps);
    }
  return greatest / 127;
}

/* Computes y = beta y + x W. The weight is W [in, out], or if @transposed a table [out, in]. */
static void
slow_product (PlaitTensor y, PlaitScalar beta, PlaitTensor x, PlaitTensor weight, gboolean transposed)
{
  gint64 in = x.width;
  g_autofree gint64 *row = g_new (gint64, in + 1), *column = g_new (gint64, in + 1);

  for (gint64 j = 0; j < y.width && trial_compares (); j++)
    {
      const PlaitScalar *from = transposed ? plait_tensor_row (weight, j) : weight.data + j;
      double scale = (double)slow_bytes (column, from, transposed ? 1 : weight.stride, in);

      for (gint64 i = 0; i < y.rows; i++)
        {
          double row_scale = (double)slow_bytes (row, plait_tensor_row (x, i), 1, in);
          PlaitScalar *to = plait_tensor_row (y, i) + j;
          gint64 sum = 0;

          for (gint64 k = 0; k < in; k++)
            sum += row[k] * column[k];
          *to = (PlaitScalar)((beta != 0 ? (double)*to : 0) + row_scale * scale * (double)sum);
        }
    }
}

static void
product_body (Trial *trial)
{
  gint64 rows = trial_number (trial, 0, 60), in = trial_number (trial, 0, 300), out = trial_number (trial, 1, 200);
  gboolean transposed = trial_flip (trial);
  PlaitScalar beta = (PlaitScalar)trial_number (trial, 0, 1);
  PlaitTensor x = trial_tensor (trial, rows, in), y, slow;
  PlaitTensor weight = transposed ? trial_tensor (trial, out, in) : trial_tensor (trial, in, out);
  g_autoptr (PlaitPacked) packed = NULL;

  if (!plait_precision_runs_here (PLAIT_PRECISION_INT8))
    return;
  packed = plait_pack (trial->pool, weight, transposed, PLAIT_PRECISION_INT8);
  CHECK_INT (plait_packed_precision (packed), PLAIT_PRECISION_INT8);
  /* Rows of zeros or of tiny elements must stay as they are. */
  for (gint64 k = 0; k < in && rows > 1; k++)
    {
      plait_tensor_row (x, 0)[k] = 0;
      plait_tensor_row (x, 1)[k] *= (PlaitScalar)1e-20;
    }
  y = trial_target (trial, rows, out, beta, &slow);
  slow_product (slow, beta, x, weight, transposed);
  plait_packed_product (trial->pool, y, beta, x, packed, NULL);
  trial_check (trial, "product of bytes", y, slow);
  trial_check_alone (trial, packed, x, out);
}

TEST_CASE (int8, products_equal_their_slow_twin)
{
  NEEDS_BYTES ();
  trial_run (product_body, 30);
}

/* A row with NaN or infinity gives NaN, and does not change other rows. */
static void
strange_body (Trial *trial)
{
  PlaitTensor x = trial_tensor (trial, 3, 20), weight = trial_tensor (trial, 20, 70);
  PlaitTensor y = trial_rubbish (trial, 3, 70);
  g_autoptr (PlaitPacked) packed = NULL;

  if (!plait_precision_runs_here (PLAIT_PRECISION_INT8))
    return;
  packed = plait_pack (trial->pool, weight, FALSE, PLAIT_PRECISION_INT8);
  plait_tensor_row (x, 0)[7] = (PlaitScalar)NAN;
  plait_tensor_row (x, 2)[19] = -(PlaitScalar)INFINITY;
  plait_packed_product (trial->pool, y, 0, x, packed, NULL);
  for (gint64 j = 0; j < 70; j++)
    CHECK (isnan (plait_tensor_row (y, 0)[j]) && isfinite (plait_tensor_row (y, 1)[j])
           && isnan (plait_tensor_row (y, 2)[j]));
}

TEST_CASE (int8, keeps_nan)
{
  NEEDS_BYTES ();
  trial_run (strange_body, 1);
}

/* Search and forced decoding must give a word the same probability. */
static void
vocabulary_body (Trial *trial)
{
  gint64 rows = trial_number (trial, 1, 300), width = trial_number (trial, 1, 80), words = trial_number (trial, 1, 700);
  PlaitOutputLayerWork work
      = { .states = trial_tensor (trial, rows, width), .table = trial_tensor (trial, words, width) };
  gint32 *ids = trial_memory (trial, sizeof (gint32) * (gsize)rows);
  PlaitScalar *log_probabilities = trial_vector (trial, rows);
  double *losses = trial_memory (trial, sizeof (double) * (gsize)rows);
  g_autoptr (PlaitPacked) packed = NULL;

  if (!plait_precision_runs_here (PLAIT_PRECISION_INT8))
    return;
  work.packed = packed = plait_pack (trial->pool, work.table, TRUE, PLAIT_PRECISION_INT8);
  work.bias = trial_flip (trial) ? trial_vector (trial, words) : NULL;
  work.targets = ids;
  work.row_losses = losses;
  plait_output_layer_top_k (trial->pool, trial->arena, work.states, packed, work.bias, NULL, 0, NULL, NULL, 1, ids,
                            log_probabilities);
  CHECK_INT (plait_output_layer_compute (trial->pool, trial->arena, &work).correct, rows);
  for (gint64 row = 0; row < rows; row++)
    CHECK_NEAR (log_probabilities[row], -losses[row], 2e-5);
}

TEST_CASE (int8, search_and_forced_decoding_tell_the_same)
{
  NEEDS_BYTES ();
  trial_run (vocabulary_body, 4);
}

TEST_CASE (int8, other_kernels_have_no_bytes)
{
  CHECK (plait_kernels_choose ("v1"));
  CHECK (!plait_precision_runs_here (PLAIT_PRECISION_INT8));
  CHECK (plait_precision_runs_here (PLAIT_PRECISION_FLOAT));
  plait_kernels_choose (NULL);
}
