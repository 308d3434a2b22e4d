/* SPDX-License-Identifier: MIT */
#include "tensor/rows.h"

#include <math.h>

#include "trial.h"

/* Adds scale * row @j of @x to row @i of @y. */
static void
add_row (PlaitTensor y, gint64 i, double scale, PlaitTensor x, gint64 j)
{
  for (gint64 c = 0; c < y.width; c++)
    plait_tensor_row (y, i)[c] += (PlaitScalar)scale * plait_tensor_row (x, j)[c];
}

static void
gather_body (Trial *trial)
{
  gint64 rows = trial_number (trial, 1, 30), n = trial_number (trial, 0, 300), width = trial_number (trial, 1, 100);
  PlaitTensor x = trial_tensor (trial, rows, width), dy = trial_tensor (trial, n, width), y, slow;
  PlaitScalar beta = (PlaitScalar)trial_number (trial, 0, 1);
  gint64 *indices = trial_memory (trial, sizeof (gint64) * (gsize)(n + 1));
  gint32 *ids = trial_memory (trial, sizeof (gint32) * (gsize)(n + 1));

  for (gint64 i = 0; i < n; i++)
    {
      indices[i] = trial_number (trial, -1, rows - 1);
      ids[i] = (gint32)trial_number (trial, 0, rows - 1);
    }
  y = trial_target (trial, n, width, beta, &slow);
  plait_rows_gather (trial->pool, y, beta, x, indices);
  for (gint64 i = 0; i < n; i++)
    if (indices[i] >= 0)
      add_row (slow, i, 1, x, indices[i]);
  trial_check (trial, "gather", y, slow);

  y = trial_target (trial, rows, width, 1, &slow);
  plait_rows_scatter_add (trial->pool, y, dy, indices);
  for (gint64 i = 0; i < n; i++)
    if (indices[i] >= 0)
      add_row (slow, indices[i], 1, dy, i);
  trial_check (trial, "scatter", y, slow);

  y = trial_target (trial, n, width, 0, &slow);
  plait_embed_forward (trial->pool, y, x, ids, (PlaitScalar)1.5);
  for (gint64 i = 0; i < n; i++)
    add_row (slow, i, 1.5, x, ids[i]);
  trial_check (trial, "embed", y, slow);

  y = trial_target (trial, rows, width, 1, &slow);
  plait_embed_backward (trial->pool, y, dy, ids, (PlaitScalar)1.5);
  for (gint64 i = 0; i < n; i++)
    add_row (slow, ids[i], 1.5, dy, i);
  trial_check (trial, "embed backward", y, slow);

  y = trial_target (trial, 1, width, beta, &slow);
  plait_rows_sum (trial->pool, y, beta, dy);
  for (gint64 i = 0; i < n; i++)
    add_row (slow, 0, 1, dy, i);
  trial_check (trial, "sum of rows", y, slow);
}

TEST_CASE (rows, gathers_and_scatters_as_its_slow_twin)
{
  trial_run (gather_body, 12);
}

static void
scale_body (Trial *trial)
{
  gint64 rows = trial_number (trial, 0, 300), width = trial_number (trial, 1, 100);
  PlaitScalar beta = (PlaitScalar)trial_number (trial, 0, 1);
  PlaitTensor a = trial_tensor (trial, rows, width), b = trial_tensor (trial, rows, width), y, slow;
  PlaitTensor column = trial_tensor (trial, rows, 1), row = trial_tensor (trial, 1, width);

  y = trial_target (trial, rows, width, beta, &slow);
  plait_broadcast_multiply (trial->pool, y, beta, a, column);
  for (gint64 i = 0; i < rows; i++)
    add_row (slow, i, (double)*plait_tensor_row (column, i), a, i);
  trial_check (trial, "product with a column", y, slow);

  y = trial_target (trial, rows, width, beta, &slow);
  plait_broadcast_multiply (trial->pool, y, beta, a, row);
  for (gint64 i = 0; i < rows * width; i++)
    plait_tensor_row (slow, i / width)[i % width] += plait_tensor_row (a, i / width)[i % width] * row.data[i % width];
  trial_check (trial, "product with a row", y, slow);

  y = trial_target (trial, rows, 1, beta, &slow);
  plait_broadcast_dot (trial->pool, y, beta, a, b);
  for (gint64 i = 0; i < rows * width; i++)
    *plait_tensor_row (slow, i / width)
        += plait_tensor_row (a, i / width)[i % width] * plait_tensor_row (b, i / width)[i % width];
  trial_check (trial, "products of rows", y, slow);

  y = trial_target (trial, 1, width, beta, &slow);
  plait_broadcast_dot (trial->pool, y, beta, a, b);
  for (gint64 i = 0; i < rows * width; i++)
    slow.data[i % width] += plait_tensor_row (a, i / width)[i % width] * plait_tensor_row (b, i / width)[i % width];
  trial_check (trial, "products of columns", y, slow);
}

TEST_CASE (rows, scales_and_multiplies_as_its_slow_twin)
{
  trial_run (scale_body, 12);
}

static void
softmax_body (Trial *trial)
{
  gint64 rows = trial_number (trial, 0, 300), width = trial_number (trial, 1, 100);
  PlaitScalar beta = (PlaitScalar)trial_number (trial, 0, 1);
  PlaitTensor x = trial_tensor (trial, rows, width), dy = trial_tensor (trial, rows, width), slow, slow_dx;
  PlaitTensor y = trial_target (trial, rows, width, 0, &slow), dx = trial_target (trial, rows, width, beta, &slow_dx);

  plait_rows_softmax (trial->pool, y, x);
  plait_rows_softmax_backward (trial->pool, dx, beta, dy, y);
  for (gint64 i = 0; i < rows; i++)
    {
      const PlaitScalar *from = plait_tensor_row (x, i);
      double sum = 0, product = 0;

      for (gint64 j = 0; j < width; j++)
        sum += exp ((double)from[j]);
      for (gint64 j = 0; j < width; j++)
        {
          plait_tensor_row (slow, i)[j] = (PlaitScalar)(exp ((double)from[j]) / sum);
          product += exp ((double)from[j]) / sum * (double)plait_tensor_row (dy, i)[j];
        }
      for (gint64 j = 0; j < width; j++)
        plait_tensor_row (slow_dx, i)[j]
            += plait_tensor_row (slow, i)[j] * (plait_tensor_row (dy, i)[j] - (PlaitScalar)product);
    }
  trial_check (trial, "softmax of rows", y, slow);
  trial_check (trial, "its backward", dx, slow_dx);
}

TEST_CASE (rows, softmax_is_that_of_its_slow_twin)
{
  trial_run (softmax_body, 12);
}

static void
select_body (Trial *trial)
{
  gint64 rows = trial_number (trial, 0, 200), width = trial_number (trial, 1, 100);
  PlaitTensor a = trial_tensor (trial, rows, width), b = trial_tensor (trial, rows, width), y, slow;
  guint8 *take = trial_bytes (trial, rows);
  gboolean zeros = trial_flip (trial), which = trial_flip (trial);
  PlaitScalar beta = (PlaitScalar)trial_number (trial, 0, 1);

  y = trial_target (trial, rows, width, 0, &slow);
  plait_rows_select (trial->pool, y, take, a, zeros ? NULL : &b);
  for (gint64 i = 0; i < rows; i++)
    if (take[i] || !zeros)
      add_row (slow, i, 1, take[i] ? a : b, i);
  trial_check (trial, "select", y, slow);

  y = trial_target (trial, rows, width, beta, &slow);
  plait_rows_select_backward (trial->pool, y, beta, take, which, a);
  for (gint64 i = 0; i < rows; i++)
    if ((take[i] != 0) == which)
      add_row (slow, i, 1, a, i);
  trial_check (trial, "select backward", y, slow);
}

TEST_CASE (rows, selects_as_its_slow_twin)
{
  trial_run (select_body, 12);
}

static void
positions_body (Trial *trial)
{
  PlaitRagged ragged = trial_ragged (trial, trial_number (trial, 0, 9), 0, 40);
  gint64 rows = plait_ragged_rows (ragged), width = trial_number (trial, 1, 70), first = trial_number (trial, 0, 3);
  PlaitTensor x = trial_tensor (trial, rows, width), table = trial_tensor (trial, 43, width), y, slow;
  PlaitTensor dtable, slow_dtable;
  PlaitRandomKey key = plait_random_subkey (trial->key, 3);
  double rate = trial_flip (trial) ? .25 : 0;

  y = trial_target (trial, rows, width, 0, &slow);
  dtable = trial_target (trial, 43, width, 1, &slow_dtable);
  plait_positions_forward (trial->pool, y, x, ragged, table, first, key, rate);
  plait_positions_backward (trial->pool, dtable, x, ragged, first, key, rate);
  for (gint64 s = 0; s < ragged.n; s++)
    for (gint64 t = 0; t < plait_ragged_length (ragged, s); t++)
      for (gint64 c = 0; c < width; c++)
        {
          gint64 row = ragged.offsets[s] + t;

          if (trial_dropped (key, rate, row * width + c))
            continue;
          plait_tensor_row (slow, row)[c]
              = (PlaitScalar)(((double)plait_tensor_row (x, row)[c] + (double)plait_tensor_row (table, first + t)[c])
                              / (1 - rate));
          plait_tensor_row (slow_dtable, first + t)[c] += plait_tensor_row (x, row)[c] / (PlaitScalar)(1 - rate);
        }
  trial_check (trial, "positions", y, slow);
  trial_check (trial, "gradient of positions", dtable, slow_dtable);
}

TEST_CASE (rows, adds_positions_as_its_slow_twin)
{
  trial_run (positions_body, 12);
}
