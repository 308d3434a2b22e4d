/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "bench.h"
#include "layers/embedding.h"
#include "layers/recurrent.h"
#include "layers/tree.h"
#include "layers/parameter-set.h"

/* Tests of initial values as dl4mt draws them. */

#define ROUNDING (sizeof (PlaitScalar) == sizeof (double) ? 1e-13 : 1e-6)

static void
start (PlaitParameters *parameters, guint threads, guint64 seed)
{
  g_autoptr (PlaitPool) pool = plait_pool_new (threads, NULL);
  g_autoptr (GError) error = NULL;

  if (!plait_parameters_get (parameters, 0)->value.data)
    plait_parameters_allocate (parameters, &error);
  g_assert_no_error (error);
  plait_parameters_initialise (parameters, pool, seed);
}

/* Returns the largest element of |Q^T Q - I|. Q is the block of @n rows and columns that begins at @row and @column. */
static double
distance_from_orthogonal (const PlaitParameter *parameter, gint64 row, gint64 column, gint64 n)
{
  PlaitTensor value = parameter->value;
  double greatest = 0;

  for (gint64 i = 0; i < n; i++)
    for (gint64 j = 0; j < n; j++)
      {
        double product = i == j ? -1 : 0;

        for (gint64 k = 0; k < n; k++)
          product += (double)value.data[(row + k) * value.width + column + i]
                     * (double)value.data[(row + k) * value.width + column + j];
        greatest = fmax (greatest, fabs (product));
      }
  return greatest;
}

static void
check_orthogonal (const PlaitParameter *parameter, gint64 n)
{
  CONTEXT ("%s", parameter->name);

  for (gint64 row = 0; row < parameter->value.rows; row += n)
    for (gint64 column = 0; column < parameter->value.width; column += n)
      CHECK (distance_from_orthogonal (parameter, row, column, n) < ROUNDING * (double)n);
}

static void
check_normal (const PlaitParameter *parameter, double deviation)
{
  CONTEXT ("%s", parameter->name);
  gint64 n = parameter->value.rows * parameter->value.width;
  double mean = 0, square = 0, fourth = 0;

  for (gint64 i = 0; i < n; i++)
    {
      double x = (double)parameter->value.data[i] / deviation;

      mean += x / (double)n;
      square += x * x / (double)n;
      fourth += x * x * x * x / (double)n;
    }
  /* The tolerances are five standard errors. */
  CHECK_NEAR (mean, 0, 5 / sqrt ((double)n));
  CHECK_NEAR (square, 1, 5 * sqrt (2 / (double)n));
  CHECK_NEAR (fourth, 3, 5 * sqrt (96 / (double)n));
}

static void
check_all (const PlaitParameter *parameter, double expected)
{
  CONTEXT ("%s", parameter->name);

  for (gint64 i = 0; i < parameter->value.rows * parameter->value.width; i++)
    CHECK_NEAR (parameter->value.data[i], expected, 0);
}

TEST_CASE (initial, orthogonal_blocks)
{
  g_autoptr (PlaitParameters) one = plait_parameters_new (), two = plait_parameters_new ();
  PlaitParameter *sides[] = {
    plait_parameters_declare (one, "one", 1, 1, PLAIT_ORTHOGONAL (1, 1)),
    plait_parameters_declare (one, "plain", 70, 70, PLAIT_ORTHOGONAL (0, 0)),
    plait_parameters_declare (one, "three", 33, 99, PLAIT_ORTHOGONAL (3, 1)),
    plait_parameters_declare (one, "ten", 2 * 24, 5 * 24, PLAIT_ORTHOGONAL (5, 2)),
  };
  const gint64 n[] = { 1, 70, 33, 24 };
  PlaitParameter *ten;

  start (one, 1, 7);
  for (guint i = 0; i < G_N_ELEMENTS (sides); i++)
    check_orthogonal (sides[i], n[i]);
  CHECK (fabs ((double)sides[3]->value.data[0] - (double)sides[3]->value.data[24]) > 1e-6);

  /* Values depend only on seed, name and shape. They have equal bits with any number of threads. */
  plait_parameters_declare (two, "something before it", 3, 3, PLAIT_ORTHOGONAL (1, 1));
  ten = plait_parameters_declare (two, "ten", 2 * 24, 5 * 24, PLAIT_ORTHOGONAL (5, 2));
  start (two, 3, 7);
  CHECK (memcmp (ten->value.data, sides[3]->value.data, sizeof (PlaitScalar) * 48 * 120) == 0);
  start (two, 3, 8);
  CHECK (memcmp (ten->value.data, sides[3]->value.data, sizeof (PlaitScalar) * 48 * 120) != 0);
}

/* All directions are equally probable: the mean square of each element is 1 / n, and both signs are equally
 * frequent. */
TEST_CASE (initial, orthogonal_matrices_are_all_as_likely)
{
  enum
  {
    MANY = 2000,
    N = 4,
  };
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitParameter *many = plait_parameters_declare (parameters, "many", N, N * MANY, PLAIT_ORTHOGONAL (MANY, 1));

  start (parameters, 2, 1);
  for (int i = 0; i < N * N; i++)
    {
      double mean = 0, square = 0;

      for (int block = 0; block < MANY; block++)
        {
          double x = (double)many->value.data[i / N * N * MANY + block * N + i % N];

          mean += x / MANY;
          square += x * x / MANY;
        }
      CHECK_NEAR (mean, 0, 5 * 0.5 / sqrt (MANY));
      CHECK_NEAR (square, 1. / N, 5 * 0.25 / sqrt (MANY));
    }
}

TEST_CASE (initial, as_dl4mt)
{
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitLinear square = plait_linear_declare (parameters, "square", 40, 40, TRUE);
  PlaitLinear wide = plait_linear_declare (parameters, "wide", 100, 200, TRUE);
  PlaitLinear pair = plait_linear_declare_blocks (parameters, "pair", 30, 60, 2, FALSE);
  PlaitEmbedding table = plait_embedding_declare (parameters, "table", 150, 150, PLAIT_NORMAL (1), 1);
  PlaitParameter *uniform = plait_parameters_declare (parameters, "uniform", 1, 9000, PLAIT_UNIFORM (1));
  PlaitParameter *gain = plait_parameters_declare (parameters, "gain", 1, 9, PLAIT_ONES);
  PlaitCell gru = plait_cell_declare (parameters, "gru",
                                      &(PlaitCellDeclaration){ PLAIT_CELL_GRU, .width = 20, .input_width = 90 });
  PlaitCell lstm = plait_cell_declare (
      parameters, "lstm", &(PlaitCellDeclaration){ PLAIT_CELL_LSTM, .width = 20, .input_width = 20, .forget_bias = 1 });
  PlaitTreeUnit tree
      = plait_tree_unit_declare (parameters, "tree", &(PlaitTreeUnitDeclaration){ PLAIT_TREE_GRU, .width = 20 });

  plait_parameters_follow_dl4mt (parameters);
  start (parameters, 2, 1);
  check_orthogonal (square.weight, 40);
  check_all (square.bias, 0);
  check_normal (wide.weight, 0.01);
  check_orthogonal (pair.weight, 30);
  check_normal (table.table, 0.01);
  check_normal (uniform, 0.01);
  check_all (gain, 1);
  check_normal (gru.input.weight, 0.01);
  check_orthogonal (gru.recurrent.weight, 20);
  check_orthogonal (gru.candidate.weight, 20);
  check_orthogonal (lstm.input.weight, 20);
  check_orthogonal (lstm.recurrent.weight, 20);
  CHECK_NEAR (lstm.input.bias->value.data[0], 0, 0);
  CHECK_NEAR (lstm.input.bias->value.data[20], 1, 0);
  check_orthogonal (tree.gates.weight, 20);
  check_orthogonal (tree.candidate.weight, 20);
}
