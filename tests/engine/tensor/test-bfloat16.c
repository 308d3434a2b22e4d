/* SPDX-License-Identifier: MIT */
#include "bfloat16-twin.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "kernels/kernels.h"
#include "tensor/product.h"
#include "tensor/output-layer.h"

static void
check_rounding (const PlaitBfloat16Kernels *kernels, const guint32 *bits, gint64 n)
{
  g_autofree PlaitScalar *x = g_new (PlaitScalar, n), *reversed = g_new (PlaitScalar, n);
  g_autofree PlaitBfloat16Pair *along = g_new (PlaitBfloat16Pair, n), *across = g_new (PlaitBfloat16Pair, n);
  g_autofree PlaitBfloat16Pair *alone = g_new (PlaitBfloat16Pair, n);

  for (gint64 i = 0; i < n; i++)
    x[i] = reversed[n - 1 - i] = (PlaitScalar)float_of (bits[i]);
  kernels->round_along (along, x, n);
  kernels->round_across (across, x, reversed, n);
  kernels->round_across (alone, x, NULL, n);
  for (gint64 i = 0; i < n; i++)
    {
      guint expected = slow_round (float_of (bits[i]));

      CONTEXT ("%08x", bits[i]);
      CHECK_INT (along[i / 2] >> i % 2 * 16 & 0xffff, expected);
      CHECK_INT (across[i] & 0xffff, expected);
      CHECK_INT (across[n - 1 - i] >> 16, expected);
      CHECK_INT (alone[i], expected);
    }
  if (n % 2 == 1)
    CHECK_INT (along[n / 2] >> 16, 0);
}

TEST_CASE (bfloat16, rounds_to_nearest_even)
{
  static const guint32 lower[] = { 0, 1, 0x7fff, 0x8000, 0x8001, 0xffff };
  g_autofree guint32 *bits = g_new (guint32, 0x10000);

  EACH_PRECISION (p)
  for (guint i = 0; i < G_N_ELEMENTS (lower); i++)
    {
      /* Tests all bfloat16, and floats just above them, half way to the next one, and next to half way. */
      for (guint32 upper = 0; upper < 0x10000; upper++)
        bits[upper] = upper << 16 | lower[i];
      /* Widening a signalling NaN to double makes it a quiet NaN. */
      check_rounding (plait_bfloat16_kernels (precisions[p]), bits, 0x10000 - (gint64)i);
    }
}

TEST_CASE (bfloat16, rounds_special_values)
{
  static const struct
  {
    float value;
    guint rounded;
  } cases[] = {
    { 0, 0 },
    { -0.f, 0x8000 },
    { 1, 0x3f80 },
    { 1.00390625f, 0x3f80 }, /* half way between 1 and 1.0078125, whose last bit is odd: rounded down to 1 */
    { 1.01171875f, 0x3f82 }, /* half way: rounded up to the neighbour whose last bit is even */
    { -1.01171875f, 0xbf82 },
    { 1.003907f, 0x3f81 },
    { FLT_MAX, 0x7f80 }, /* becomes infinity */
    { -FLT_MAX, 0xff80 },
    { 3.38e38f, 0x7f7e },
    { INFINITY, 0x7f80 },
    { -INFINITY, 0xff80 },
    { FLT_MIN, 0x80 },
    { FLT_MIN / 2, 0 }, /* a subnormal float becomes zero */
    { -FLT_MIN / 2, 0x8000 },
    { 1e-45f, 0 },
  };
  const PlaitScalar nan = (PlaitScalar)NAN;

  EACH_PRECISION (p)
  {
    const PlaitBfloat16Kernels *kernels = plait_bfloat16_kernels (precisions[p]);
    PlaitBfloat16Pair found;

    for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
      {
        PlaitScalar value = (PlaitScalar)cases[i].value;

        CONTEXT ("%g, precision %u", (double)value, p);
        kernels->round_along (&found, &value, 1);
        CHECK_INT (found, cases[i].rounded);
      }
    kernels->round_along (&found, &nan, 1);
    CHECK (isnan (float_of (found << 16)));
  }
}

/* Returns sum + a b. A subnormal result becomes zero. */
static PlaitScalar
multiply_add (PlaitScalar a, PlaitScalar b, PlaitScalar sum)
{
#ifdef PLAIT_SCALAR_DOUBLE
  return sum + a * b;
#else
  sum = fmaf (a, b, sum);
  return fabsf (sum) < FLT_MIN ? copysignf (0, sum) : sum;
#endif
}

/* Number of products in a round. Inside it, products are added in pairs, the second of a pair first. */
#define ROUND 512

static void
slow_product (PlaitTensor c, PlaitScalar beta, PlaitTensor a, gboolean transpose_a, PlaitTensor b, gboolean transpose_b)
{
  gint64 depth = transpose_a ? a.rows : a.width;

#define A(k) (transpose_a ? plait_tensor_row (a, k)[i] : plait_tensor_row (a, i)[k])
#define B(k) (transpose_b ? plait_tensor_row (b, j)[k] : plait_tensor_row (b, k)[j])
  for (gint64 i = 0; i < c.rows && trial_compares (); i++)
    for (gint64 j = 0; j < c.width; j++)
      {
        PlaitScalar *to = plait_tensor_row (c, i) + j;

        for (gint64 first = 0; first == 0 || first < depth; first += ROUND)
          {
            PlaitScalar sum = 0;

            for (gint64 k = first; k < MIN (first + ROUND, depth); k += 2)
              {
                if (k + 1 < depth)
                  sum = multiply_add (A (k + 1), B (k + 1), sum);
                sum = multiply_add (A (k), B (k), sum);
              }
            *to = beta != 0 || first > 0 ? *to + sum : sum;
          }
      }
#undef A
#undef B
}

static void
product_body (Trial *trial)
{
  gint64 rows = trial_number (trial, 0, 130), width = trial_number (trial, 0, 150), depth = trial_number (trial, 0, 90);
  gboolean transpose_a = trial_flip (trial), transpose_b = trial_flip (trial);
  PlaitScalar beta = (PlaitScalar)trial_number (trial, 0, 1);
  PlaitTensor a, b, c, slow;

  if (trial_number (trial, 0, 9) == 0)
    depth = trial_number (trial, 500, 760);
  a = transpose_a ? trial_tensor (trial, depth, rows) : trial_tensor (trial, rows, depth);
  b = transpose_b ? trial_tensor (trial, width, depth) : trial_tensor (trial, depth, width);
  c = trial_target (trial, rows, width, beta, &slow);
  slow_product (slow, beta, rounded (trial, a), transpose_a, rounded (trial, b), transpose_b);
  EACH_PRECISION (p)
  {
    PlaitTensor found = trial_copy (trial, c);

    CONTEXT ("precision %u", p);
    plait_product (trial->pool, found, beta, a, transpose_a, b, transpose_b, precisions[p]);
    check_twin (trial, found, slow);
  }
}

TEST_CASE (bfloat16, products_have_the_bits_of_their_slow_twin)
{
  trial_run (product_body, 30);
}

/* Returns the product of a row and a column with @n elements, in @precision. */
static float
product_of (Trial *trial, PlaitPrecision precision, const float *x, const float *w, gint64 n)
{
  PlaitTensor left = trial_tensor (trial, 1, n), right = trial_tensor (trial, n, 1), y = trial_rubbish (trial, 1, 1);

  for (gint64 k = 0; k < n; k++)
    {
      left.data[k] = (PlaitScalar)x[k];
      *plait_tensor_row (right, k) = (PlaitScalar)w[k];
    }
  plait_product (trial->pool, y, 0, left, FALSE, right, FALSE, precision);
  return (float)y.data[0];
}

static void
strange_body (Trial *trial)
{
  static const float ones[] = { 1, 1, 1 }, with_nan[] = { 1, NAN, 2 }, with_infinity[] = { 1, -INFINITY, 2 };
  static const float with_zero[] = { 1, 0, 1 };

  EACH_PRECISION (p)
  {
    CONTEXT ("precision %u", p);
    CHECK (isnan (product_of (trial, precisions[p], with_nan, ones, 3)));
    CHECK (product_of (trial, precisions[p], with_infinity, ones, 3) == -INFINITY);
    CHECK (isnan (product_of (trial, precisions[p], with_infinity, with_zero, 3)));
    CHECK_NEAR (product_of (trial, precisions[p], with_zero, ones, 3), 2, 0);
  }
}

TEST_CASE (bfloat16, products_keep_nan)
{
  trial_run (strange_body, 1);
}

#if defined(__x86_64__) && !defined(PLAIT_SCALAR_DOUBLE)

static void
limits_body (Trial *trial)
{
  static const float great[] = { 3e38f, 3e38f, 1 }, ones[] = { 1, 1, 1 };
  /* Factors whose products are half of the smallest normal float, and a subnormal float. */
  static const float small[] = { FLT_MIN, 1e-39f, 0 }, factors[] = { .5f, 1, 0 };

  EACH_PRECISION (p)
  {
    CONTEXT ("precision %u", p);
    CHECK (product_of (trial, precisions[p], great, ones, 3) == INFINITY);
    CHECK_NEAR (product_of (trial, precisions[p], small, factors, 3), 0, 0);
  }
}

TEST_CASE (bfloat16, sums_flush_subnormals)
{
  trial_run (limits_body, 1);
}

#endif

/* Checks the gradients of a linear layer that multiplies in full precision, but has packed its transposed weight
 * @turned in bfloat16. The gradient of the input is that of the packed weight, and equals @slow_dx. The other gradients
 * are those of a layer without a packed weight. */
static void
check_mixed (Trial *trial, PlaitLinearBackward work, const PlaitPacked *turned, PlaitTensor slow_dx)
{
  PlaitTensor dweight = trial_rubbish (trial, work.weight.rows, work.weight.width);
  PlaitTensor dbias = trial_rubbish (trial, 1, work.weight.width);
  PlaitLinearBackward plain = work;

  plain.precision = work.precision = PLAIT_PRECISION_FLOAT;
  plain.packed = NULL;
  plain.dx.data = NULL;
  plain.dweight = dweight;
  plain.dbias = dbias;
  work.packed = turned;
  plait_linear_backward (trial->pool, &plain);
  plait_linear_backward (trial->pool, &work);
  check_twin (trial, work.dx, slow_dx);
  check_same (work.dweight, dweight);
  check_same (work.dbias, dbias);
}

/* Checks the output and all gradients of a linear layer, also if the weight is packed. */
static void
linear_body (Trial *trial)
{
  gint64 rows = trial_number (trial, 1, 1300), in = trial_number (trial, 1, 90), out = trial_number (trial, 1, 150);
  PlaitLinearBackward work = { .dz = trial_tensor (trial, rows, out),
                               .x = trial_tensor (trial, rows, in),
                               .weight = trial_tensor (trial, in, out),
                               .dx = trial_rubbish (trial, rows, in),
                               .dweight = trial_rubbish (trial, in, out),
                               .dbias = trial_rubbish (trial, 1, out) };
  PlaitTensor y = trial_rubbish (trial, rows, out), slow_y = trial_copy (trial, y),
              slow_dx = trial_copy (trial, work.dx);
  PlaitTensor slow_dweight = trial_copy (trial, work.dweight), slow_dbias = trial_copy (trial, work.dbias);
  PlaitTensor x = rounded (trial, work.x), dz = rounded (trial, work.dz), weight = rounded (trial, work.weight);

  slow_product (slow_y, 0, x, FALSE, weight, FALSE);
  slow_product (slow_dx, 0, dz, FALSE, weight, TRUE);
  slow_product (slow_dweight, 0, x, TRUE, dz, FALSE);
  /* The sums over rows use the gradients before rounding. */
  for (gint64 j = 0; j < out; j++)
    {
      double sum = 0;

      for (gint64 i = 0; i < rows; i++)
        sum += (double)plait_tensor_row (work.dz, i)[j];
      slow_dbias.data[j] = (PlaitScalar)sum;
    }
  EACH_PRECISION (p)
  {
    g_autoptr (PlaitPacked) packed = plait_pack (trial->pool, work.weight, FALSE, precisions[p]);
    g_autoptr (PlaitPacked) turned = plait_pack (trial->pool, work.weight, TRUE, precisions[p]);

    CONTEXT ("precision %u", p);
    CHECK_INT (plait_packed_precision (packed), precisions[p]);
    work.precision = precisions[p];
    work.packed = NULL;
    plait_linear_forward (trial->pool, y, work.x, work.weight, NULL, precisions[p], NULL, PLAIT_ACTIVATION_NONE, NULL);
    check_twin (trial, y, slow_y);
    plait_linear_forward (trial->pool, y, work.x, work.weight, packed, PLAIT_PRECISION_FLOAT, NULL,
                          PLAIT_ACTIVATION_NONE, NULL);
    check_twin (trial, y, slow_y);
    plait_linear_backward (trial->pool, &work);
    check_twin (trial, work.dx, slow_dx);
    trial_check (trial, "dweight", work.dweight, slow_dweight);
    trial_check (trial, "dbias", work.dbias, slow_dbias);
    check_mixed (trial, work, turned, slow_dx);
    work.packed = turned;
    work.dweight.data = work.dbias.data = NULL;
    plait_linear_backward (trial->pool, &work);
    check_twin (trial, work.dx, slow_dx);
    work.dweight = trial_rubbish (trial, in, out);
    work.dbias = trial_rubbish (trial, 1, out);
    trial_check_alone (trial, packed, work.x, out);
  }
}

TEST_CASE (bfloat16, linear_layers_have_the_bits_of_their_slow_twin)
{
  trial_run (linear_body, 4);
}

/* If there are no rows, all gradients of parameters are zero, or unchanged if the layer adds to them. */
TEST_CASE (bfloat16, linear_layers_without_rows_have_zero_gradients)
{
  g_autoptr (PlaitPool) pool = plait_pool_new (2, NULL);
  enum
  {
    IN = 5,
    OUT = 19
  };

  EACH_PRECISION (p)
  {
    for (guint beta = 0; beta < 2; beta++)
      {
        PlaitScalar weight[IN * OUT] = { 0 }, gradients[(IN + 1) * OUT];
        PlaitLinearBackward work = { .dz = plait_tensor (weight, 0, OUT),
                                     .x = plait_tensor (weight, 0, IN),
                                     .weight = plait_tensor (weight, IN, OUT),
                                     .dweight = plait_tensor (gradients, IN, OUT),
                                     .dweight_beta = (PlaitScalar)beta,
                                     .dbias = plait_tensor (gradients + IN * OUT, 1, OUT),
                                     .dbias_beta = (PlaitScalar)beta,
                                     .precision = precisions[p] };
        CONTEXT ("precision %u, beta %u", p, beta);

        for (guint i = 0; i < G_N_ELEMENTS (gradients); i++)
          gradients[i] = 7;
        plait_linear_backward (pool, &work);
        for (guint i = 0; i < G_N_ELEMENTS (gradients); i++)
          CHECK (gradients[i] == (beta ? 7 : 0));
      }
  }
}

/* Loss and gradients of the output layer, computed in one precision. */
typedef struct
{
  PlaitOutputLayerSums sums;
  PlaitTensor dstates;
  PlaitTensor dtable;
  PlaitTensor dbias;
} Found;

static Found
find (Trial *trial, PlaitOutputLayerWork work, PlaitPrecision precision)
{
  Found found = { .dstates = trial_rubbish (trial, work.states.rows, work.states.width),
                  .dtable = trial_rubbish (trial, work.table.rows, work.table.width),
                  .dbias = trial_rubbish (trial, 1, work.table.rows) };

  work.precision = precision;
  work.dstates = found.dstates;
  work.dtable = found.dtable;
  work.dbias = found.dbias;
  found.sums = plait_output_layer_compute (trial->pool, trial->arena, &work);
  return found;
}

/* Checks a result of one product in bfloat16, which has only its rounding error. */
static void
check_close (PlaitTensor found, PlaitTensor expected)
{
  check_within (found, expected, 1. / 256);
}

static void
vocabulary_body (Trial *trial)
{
  gint64 rows = trial_number (trial, 1, 300), width = trial_number (trial, 1, 80), words = trial_number (trial, 1, 700);
  PlaitOutputLayerWork work = { .smoothing = .1, .scale = .5 };
  gint32 *targets = trial_memory (trial, sizeof (gint32) * (gsize)rows);
  gboolean has_emulated = FALSE;
  Found emulated = { 0 }, plain;

  if (trial_number (trial, 0, 3) == 0)
    width = trial_number (trial, 500, 600);
  work.states = trial_tensor (trial, rows, width);
  work.table = trial_tensor (trial, words, width);
  work.bias = trial_flip (trial) ? trial_vector (trial, words) : NULL;
  for (gint64 i = 0; i < rows; i++)
    targets[i] = (gint32)trial_number (trial, 0, words - 1);
  work.targets = targets;
  /* If factors are rounded beforehand, the logits equal those of float products. Then only the gradient of the logits
   * is rounded. */
  work.states = rounded (trial, work.states);
  work.table = rounded (trial, work.table);
  plain = find (trial, work, PLAIT_PRECISION_FLOAT);
  EACH_PRECISION (p)
  {
    Found found = find (trial, work, precisions[p]);

    CONTEXT ("precision %u", p);
    CHECK_NEAR (found.sums.loss, plain.sums.loss, 1e-5 * fabs (plain.sums.loss) + 1e-4);
    check_close (found.dstates, plain.dstates);
    check_close (found.dtable, plain.dtable);
    check_close (found.dbias, plain.dbias);
    if (has_emulated)
      {
        CHECK (found.sums.loss == emulated.sums.loss);
        check_same (found.dstates, emulated.dstates);
        check_same (found.dtable, emulated.dtable);
      }
    else
      emulated = found;
    has_emulated = TRUE;
    trial_check (trial, "dtable", found.dtable, found.dtable);
  }
}

TEST_CASE (bfloat16, vocabulary_loss_is_that_of_rounded_factors)
{
  trial_run (vocabulary_body, 6);
}

/* If factors are not rounded beforehand, the loss must differ, which shows that rounding takes place. */
static void
rounding_body (Trial *trial)
{
  gint32 targets[] = { 0, 1, 2 };
  PlaitOutputLayerWork work = {
    .states = trial_tensor (trial, 3, 40), .table = trial_tensor (trial, 30, 40), .targets = targets, .scale = 1
  };
  PlaitOutputLayerWork in_advance = work;
  Found plain = find (trial, work, PLAIT_PRECISION_FLOAT);

  in_advance.states = rounded (trial, work.states);
  in_advance.table = rounded (trial, work.table);
  EACH_PRECISION (p)
  {
    Found found = find (trial, work, precisions[p]);

    CHECK (fabs (found.sums.loss - plain.sums.loss) > 1e-5);
    CHECK (found.sums.loss == find (trial, in_advance, precisions[p]).sums.loss);
  }
}

TEST_CASE (bfloat16, vocabulary_loss_rounds_states_and_table)
{
  trial_run (rounding_body, 1);
}

/* A packed table is read only if no gradient is computed. Otherwise loss and gradients are those of the float table. */
static void
packed_body (Trial *trial)
{
  gint64 rows = trial_number (trial, 1, 40), width = trial_number (trial, 8, 80), words = trial_number (trial, 8, 300);
  gint32 *targets = trial_memory (trial, sizeof (gint32) * (gsize)rows);
  PlaitOutputLayerWork work = { .states = trial_tensor (trial, rows, width),
                                .table = trial_tensor (trial, words, width),
                                .targets = targets,
                                .smoothing = .1,
                                .scale = 1 };
  Found plain, found;

  for (gint64 i = 0; i < rows; i++)
    targets[i] = (gint32)trial_number (trial, 0, words - 1);
  plain = find (trial, work, PLAIT_PRECISION_FLOAT);
  EACH_PRECISION (p)
  {
    g_autoptr (PlaitPacked) packed = plait_pack (trial->pool, work.table, TRUE, precisions[p]);
    PlaitOutputLayerWork with = work;

    CONTEXT ("precision %u", p);
    with.packed = packed;
    found = find (trial, with, PLAIT_PRECISION_FLOAT);
    CHECK (found.sums.loss == plain.sums.loss);
    check_same (found.dstates, plain.dstates);
    check_same (found.dtable, plain.dtable);
    check_same (found.dbias, plain.dbias);
    CHECK (plait_output_layer_compute (trial->pool, trial->arena, &with).loss != plain.sums.loss);
  }
}

TEST_CASE (bfloat16, vocabulary_gradients_are_those_of_the_float_table)
{
  trial_run (packed_body, 4);
}

TEST_CASE (bfloat16, other_kernels_are_emulated)
{
  CHECK (plait_kernels_choose ("v1"));
  CHECK (!plait_precision_runs_here (PLAIT_PRECISION_BFLOAT16));
  CHECK (plait_precision_runs_here (PLAIT_PRECISION_BFLOAT16_EMULATED));
  plait_kernels_choose (NULL);
}
