/* SPDX-License-Identifier: MIT */
#include "tensor/product.h"

#include <math.h>
#include <string.h>

#include "process/sandbox.h"
#include "tensor/blas.h"
#include "kernels/kernels.h"
#include "trial.h"

/* Computes what plait_product computes, in plain loops: its slow twin. */
static void
slow_product (PlaitTensor c, PlaitScalar beta, PlaitTensor a, gboolean transpose_a, PlaitTensor b, gboolean transpose_b)
{
  gint64 depth = transpose_a ? a.rows : a.width;

  for (gint64 i = 0; i < c.rows && trial_compares (); i++)
    for (gint64 j = 0; j < c.width; j++)
      {
        double sum = 0;

        for (gint64 k = 0; k < depth; k++)
          sum += (double)(transpose_a ? plait_tensor_row (a, k)[i] : plait_tensor_row (a, i)[k])
                 * (double)(transpose_b ? plait_tensor_row (b, j)[k] : plait_tensor_row (b, k)[j]);
        plait_tensor_row (c, i)[j] = (PlaitScalar)(sum + (beta != 0 ? (double)plait_tensor_row (c, i)[j] : 0));
      }
}

static void
product_body (Trial *trial)
{
  gint64 rows = trial_number (trial, 0, 130), width = trial_number (trial, 0, 150), depth = trial_number (trial, 0, 90);
  gboolean transpose_a = trial_flip (trial), transpose_b = trial_flip (trial);
  PlaitScalar beta = (PlaitScalar)trial_number (trial, 0, 1);
  PlaitTensor a, b, c, slow;

  if (trial_number (trial, 0, 9) == 0)
    depth = trial_number (trial, 500, 1100);
  a = transpose_a ? trial_tensor (trial, depth, rows) : trial_tensor (trial, rows, depth);
  b = transpose_b ? trial_tensor (trial, width, depth) : trial_tensor (trial, depth, width);
  c = trial_target (trial, rows, width, beta, &slow);
  plait_product (trial->pool, c, beta, a, transpose_a, b, transpose_b, PLAIT_PRECISION_FLOAT);
  slow_product (slow, beta, a, transpose_a, b, transpose_b);
  trial_check (trial, "product", c, slow);
}

TEST_CASE (product, equals_its_slow_twin)
{
  trial_run (product_body, 40);
}

static void
linear_body (Trial *trial)
{
  gint64 rows = trial_number (trial, 0, 130), in = trial_number (trial, 1, 60), out = trial_number (trial, 1, 150);
  PlaitActivation activation = (PlaitActivation)trial_number (trial, 0, PLAIT_ACTIVATION_SIGMOID);
  PlaitTensor x = trial_tensor (trial, rows, in), weight = trial_tensor (trial, in, out);
  PlaitScalar *bias = trial_flip (trial) ? trial_vector (trial, out) : NULL;
  PlaitTensor y = trial_rubbish (trial, rows, out), before = trial_rubbish (trial, rows, out);
  PlaitTensor packed_y = trial_rubbish (trial, rows, out), slow = trial_tensor (trial, rows, out), slow_before;
  gboolean keep = trial_flip (trial);
  double derivative;
  g_autoptr (PlaitPacked) packed
      = plait_pack (trial->pool, trial_tensor (trial, in, out), FALSE, PLAIT_PRECISION_FLOAT);

  slow_product (slow, 0, x, FALSE, weight, FALSE);
  for (gint64 i = 0; i < rows; i++)
    for (gint64 j = 0; j < out && bias; j++)
      plait_tensor_row (slow, i)[j] += bias[j];
  slow_before = trial_copy (trial, slow);
  for (gint64 i = 0; i < rows; i++)
    for (gint64 j = 0; j < out; j++)
      plait_tensor_row (slow, i)[j]
          = (PlaitScalar)trial_activation (activation, (double)plait_tensor_row (slow, i)[j], &derivative);

  plait_linear_forward (trial->pool, y, x, weight, NULL, PLAIT_PRECISION_FLOAT, bias, activation,
                        keep ? &before : NULL);
  trial_check (trial, "linear", y, slow);
  if (keep)
    trial_check (trial, "before the activation", before, slow_before);

  plait_packed_update (trial->pool, packed, weight, FALSE);
  plait_linear_forward (trial->pool, packed_y, x, weight, packed, PLAIT_PRECISION_FLOAT, bias, activation, NULL);
  for (gint64 i = 0; i < rows; i++)
    CHECK (memcmp (plait_tensor_row (y, i), plait_tensor_row (packed_y, i), sizeof (PlaitScalar) * (gsize)out) == 0);
}

TEST_CASE (product, linear_has_the_same_bits_packed)
{
  trial_run (linear_body, 30);
}

static void
packed_body (Trial *trial)
{
  gint64 rows = trial_number (trial, 0, 60), in = trial_number (trial, 0, 600), out = trial_number (trial, 1, 300);
  PlaitScalar beta = (PlaitScalar)trial_number (trial, 0, 1);
  PlaitTensor x = trial_tensor (trial, rows, in), table = trial_tensor (trial, out, in), y, slow;
  g_autoptr (PlaitPacked) packed = plait_pack (trial->pool, table, TRUE, PLAIT_PRECISION_FLOAT);

  y = trial_target (trial, rows, out, beta, &slow);
  slow_product (slow, beta, x, FALSE, table, TRUE);
  plait_packed_product (trial->pool, y, beta, x, packed, NULL);
  trial_check (trial, "packed product", y, slow);
  trial_check_alone (trial, packed, x, out);
}

TEST_CASE (product, packed_table_gives_a_row_the_same_bits_alone)
{
  trial_run (packed_body, 20);
}

static void
check_linear_backward (Trial *trial, gint64 rows, gint64 in, gint64 out)
{
  PlaitScalar one = 1;
  PlaitLinearBackward work = { .dz = trial_tensor (trial, rows, out),
                               .x = trial_tensor (trial, rows, in),
                               .weight = trial_tensor (trial, in, out),
                               .dx_beta = (PlaitScalar)trial_number (trial, 0, 1),
                               .dweight_beta = (PlaitScalar)trial_number (trial, 0, 1),
                               .dbias_beta = (PlaitScalar)trial_number (trial, 0, 1) };
  PlaitTensor dx, dweight, dbias, ones;
  gboolean wants_x = trial_flip (trial), wants_weight = trial_flip (trial), wants_bias = trial_flip (trial);

  ones = plait_tensor (trial_memory (trial, sizeof (PlaitScalar) * (gsize)(rows + 1)), 1, rows);
  for (gint64 i = 0; i < rows; i++)
    ones.data[i] = one;
  if (wants_x)
    work.dx = trial_target (trial, rows, in, work.dx_beta, &dx);
  if (wants_weight)
    work.dweight = trial_target (trial, in, out, work.dweight_beta, &dweight);
  if (wants_bias)
    work.dbias = trial_target (trial, 1, out, work.dbias_beta, &dbias);
  plait_linear_backward (trial->pool, &work);
  if (wants_x)
    {
      slow_product (dx, work.dx_beta, work.dz, FALSE, work.weight, TRUE);
      trial_check (trial, "dx", work.dx, dx);
    }
  if (wants_weight)
    {
      slow_product (dweight, work.dweight_beta, work.x, TRUE, work.dz, FALSE);
      trial_check (trial, "dweight", work.dweight, dweight);
    }
  if (wants_bias)
    {
      slow_product (dbias, work.dbias_beta, ones, FALSE, work.dz, FALSE);
      trial_check (trial, "dbias", work.dbias, dbias);
    }
}

static void
linear_backward_body (Trial *trial)
{
  gint64 rows = trial_number (trial, 0, 600), in = trial_number (trial, 0, 130), out = trial_number (trial, 1, 150);

  check_linear_backward (trial, rows, in, out);
}

TEST_CASE (product, linear_backward_equals_its_slow_twin)
{
  trial_run (linear_backward_body, 30);
}

/* Gradients of small weights over many rows: the work is cut along the rows. */
static void
deep_body (Trial *trial)
{
  gint64 rows = trial_number (trial, 700, 6000), in = trial_number (trial, 1, 40), out = trial_number (trial, 1, 40);

  check_linear_backward (trial, rows, in, out);
  check_linear_backward (trial, 800, 135, trial_number (trial, 60, 130));
}

TEST_CASE (product, linear_backward_over_many_rows_equals_its_slow_twin)
{
  trial_run (deep_body, 3);
}

TEST_CASE (blas, describes_what_computes)
{
  g_autofree char *description = plait_blas_description (NULL);

  CHECK_CONTAINS (description, "core ");
  CHECK_CONTAINS (description, plait_kernels ()->variant);
}

TEST_CASE (blas, serves_many_rows_where_it_is_faster)
{
  static const struct
  {
    const char *variant;
    gboolean forward;
    gboolean weight_gradient;
  } variants[] = { { "v1", TRUE, TRUE }, { "v3", FALSE, TRUE }, { "v4", FALSE, FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (variants); i++)
    if (plait_kernels_choose (variants[i].variant))
      {
        CONTEXT ("kernels %s", variants[i].variant);
        CHECK_INT (plait_blas_is_used (plait_kernels (), FALSE, 1000, 512, 512), variants[i].forward);
        CHECK_INT (plait_blas_is_used (plait_kernels (), TRUE, 512, 512, 1000), variants[i].weight_gradient);
        CHECK (!plait_blas_is_used (plait_kernels (), FALSE, 10, 512, 512));
        CHECK (!plait_blas_is_used (plait_kernels (), TRUE, 512, 512, 0));
      }
  plait_kernels_choose (NULL);
}

/* Factors larger than a piece of work in both directions, with rows far apart in memory. */
static void
large_body (Trial *trial)
{
  gint64 rows = trial_number (trial, 200, 900), width = trial_number (trial, 300, 600), depth = 20;
  gboolean transpose_a = trial_flip (trial);
  PlaitScalar beta = (PlaitScalar)trial_number (trial, 0, 1);
  PlaitTensor a = transpose_a ? trial_tensor (trial, depth, rows) : trial_tensor (trial, rows, depth), c, slow;
  PlaitTensor b = trial_tensor (trial, depth, width);

  c = trial_target (trial, rows, width, beta, &slow);
  plait_product (trial->pool, c, beta, a, transpose_a, b, FALSE, PLAIT_PRECISION_FLOAT);
  slow_product (slow, beta, a, transpose_a, b, FALSE);
  trial_check (trial, "large product", c, slow);
}

TEST_CASE (product, of_many_pieces_equals_its_slow_twin)
{
  trial_run (large_body, 6);
}

/* More threads than in other tests, so that BLAS must reserve buffers for them. */
#define CALLERS 12

static void
multiply_piece (gpointer data, gint64 piece, guint thread)
{
  static PlaitScalar numbers[CALLERS][3][64 * 64];
  PlaitTensor a = plait_tensor (numbers[piece][0], 64, 64), b = plait_tensor (numbers[piece][1], 64, 64);

  plait_blas_multiply (plait_tensor (numbers[piece][2], 64, 64), FALSE, 1, a, FALSE, b, FALSE);
}

/* Multiplies by BLAS in all threads at the same time, as a model does. */
static gboolean
multiply_in_threads (gpointer data, GError **error)
{
  g_autoptr (PlaitPool) pool = plait_pool_new (CALLERS, error);

  plait_kernels_choose ("v1");
  if (!pool || !plait_blas_reserve (pool, error))
    return FALSE;
  plait_pool_run (pool, CALLERS, multiply_piece, NULL);
  return TRUE;
}

TEST_CASE (blas, is_not_begun_without_its_memory)
{
  PlaitSandboxLimits little = { 20, 10, (gsize)512 << 20 }, enough = { 20, 10, (gsize)4 << 30 };
  GError *error = NULL;

#if defined(__SANITIZE_ADDRESS__)
  SKIP_TEST ("AddressSanitizer takes address space of its own");
#endif
  g_autofree char *description = plait_blas_description (NULL);
  if (!g_str_has_prefix (description, "OpenBLAS"))
    SKIP_TEST ("only OpenBLAS reserves buffers");
  CHECK (!plait_sandbox_run ("BLAS", PLAIT_ERROR_PLUGIN, multiply_in_threads, NULL, little, &error));
  CHECK_ERROR (error, PLAIT_ERROR_MEMORY,
               "of 12 (it maps up to 256 MiB for each thread); ask for fewer threads with --threads");
  CHECK (plait_sandbox_run ("BLAS", PLAIT_ERROR_PLUGIN, multiply_in_threads, NULL, enough, NO_ERROR));
}

TEST_CASE (blas, measures_a_rate)
{
  g_autoptr (PlaitPool) pool = plait_pool_new (2, NULL);
  double rate = 0;

  CHECK (plait_blas_rate (pool, 0, &rate, NO_ERROR));
  CHECK (rate > 1e6);
}
