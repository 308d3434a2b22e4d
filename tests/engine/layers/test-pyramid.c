/* SPDX-License-Identifier: MIT */
#include "pyramids.h"
#include "reference.h"
#include "layers/parameter-set.h"
#include "autograd/layer-operators.h"
#include "layers/blocks.h"

/* Tests of pyramids against a float64 reference. */

enum
{
  QUERY = 5,
  SCORE = 7,
};

typedef void (*Visit) (PlaitParameter *parameter, gint64 column, const char *the_case, const char *name);

static void
check_gradient (PlaitParameter *parameter, gint64 column, const char *the_case, const char *name)
{
  reference_check_gradient (parameter, column, the_case, name);
}

static void
visit (Visit function, PlaitParameter *parameter, gint64 column, const char *the_case, gint64 level, const char *letter,
       const char *gate)
{
  function (parameter, column, the_case, plait_test_format ("pool/%d/%s%s", (int)level, letter, gate));
}

/* Calls @function for each weight of the poolings, with its name in the reference. */
static void
visit_pyramid (const PlaitPyramid *pyramid, const char *the_case, Visit function)
{
  static const char *const gru[] = { "r", "z", "h" }, *const lstm[] = { "i", "f", "g", "o" };
  const PlaitPyramidDeclaration *declaration = &pyramid->declaration;
  gboolean is_gru = declaration->cell == PLAIT_CELL_GRU;

  for (gint64 l = 0; l < 2; l++)
    if (declaration->pooling == PLAIT_POOLING_CNN)
      {
        visit (function, pyramid->levels[l].convolution.weight, 0, the_case, l, "W", "");
        visit (function, pyramid->levels[l].convolution.bias, 0, the_case, l, "b", "");
      }
    else
      for (gint64 i = 0; i < plait_cell_gates (declaration->cell) && declaration->pooling == PLAIT_POOLING_RNN; i++)
        {
          const PlaitCell *cell = &pyramid->levels[l].cell;
          const char *gate = is_gru ? gru[i] : lstm[i];
          gboolean apart = is_gru && i == 2;

          visit (function, cell->input.weight, i * PYRAMID_WIDTH, the_case, l, "W", gate);
          visit (function, cell->input.bias, i * PYRAMID_WIDTH, the_case, l, "b", gate);
          visit (function, apart ? cell->candidate.weight : cell->recurrent.weight, apart ? 0 : i * PYRAMID_WIDTH,
                 the_case, l, "U", gate);
        }
}

/* Returns the softmax over each set of @siblings, consecutive @rows. Their scores come from the query @q [1, QUERY] and
 * the weights of level @number. */
static PlaitNode *
sibling_weights (Bench *bench, const char *the_case, gint64 number, PlaitNode *q, PlaitNode *rows, PlaitRagged siblings)
{
  PlaitNode *weights[4], *queries, *keys, *scores;
  gint64 *zeros = plait_arena_new_array (bench->arena, gint64, siblings.n + 1);
  gint64 *each = plait_arena_new_array (bench->arena, gint64, siblings.n + 1);
  PlaitQueryKeyPairs pairs;

  for (gint64 i = 0; i < 4; i++)
    {
      static const char *const names[] = { "W", "U", "b", "v" };
      g_autofree char *name = g_strdup_printf ("weights/score/%d/%s", (int)number, names[i]);
      const ReferenceArray *array = reference (the_case, name);

      weights[i] = bench_leaf (bench, array->rows, array->width, array->numbers);
    }
  for (gint64 i = 0; i <= siblings.n; i++)
    {
      zeros[i] = 0;
      each[i] = i;
    }
  pairs = plait_query_key_pairs (bench->tape, (PlaitRagged){ siblings.n, each }, siblings);
  queries = plait_gather_rows (bench->tape, q, zeros, siblings.n);
  queries = plait_linear (bench->tape, queries, weights[0], NULL, PLAIT_ACTIVATION_NONE);
  keys = plait_linear (bench->tape, rows, weights[1], weights[2], PLAIT_ACTIVATION_NONE);
  scores = plait_additive_scores (bench->tape, &pairs, queries, keys, NULL, weights[3], NULL);
  return plait_ragged_softmax (bench->tape, &pairs, &scores, 1);
}

/* Returns the context of a sentence of 11 leaves with 4 and 2 rows above them. Descends from the top through all rows:
 * the weight of a row is its softmax value times the weight of its parent. */
static PlaitNode *
descend_softly (Bench *bench, const char *the_case, PlaitNode *q, PlaitNode *const *levels)
{
  static const gint64 top[] = { 0, 2 }, middle[] = { 0, 3, 4 }, leaf[] = { 0, 3, 6, 9, 11 }, all[] = { 0, 11 };
  static const gint64 of_middle[] = { 0, 0, 0, 1 }, of_leaf[] = { 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3 }, one[] = { 0, 1 };
  PlaitTape *tape = bench->tape;
  PlaitQueryKeyPairs pairs = plait_query_key_pairs (tape, (PlaitRagged){ 1, one }, (PlaitRagged){ 1, all });
  PlaitNode *weights = sibling_weights (bench, the_case, 2, q, levels[2], (PlaitRagged){ 1, top });

  weights = plait_multiply (tape, sibling_weights (bench, the_case, 1, q, levels[1], (PlaitRagged){ 2, middle }),
                            plait_gather_rows (tape, weights, of_middle, 4));
  weights = plait_multiply (tape, sibling_weights (bench, the_case, 0, q, levels[0], (PlaitRagged){ 4, leaf }),
                            plait_gather_rows (tape, weights, of_leaf, 11));
  return plait_weighted_sum (tape, &pairs, weights, levels[0]);
}

static void
hold_levels (const char *name, PlaitPooling pooling, PlaitCellKind cell)
{
  CONTEXT ("%s", name);
  g_auto (Bench) bench = bench_new (2);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitPyramidDeclaration declaration = pyramid_declaration (pooling);
  PlaitRagged rows = { 1, (gint64[]){ 0, 11 } };
  PlaitNode *x, *q, *levels[3], *context, *roots[3];
  PlaitPyramid pyramid;
  PlaitPyramidRows found;

  declaration.cell = cell;
  pyramid = plait_pyramid_declare (parameters, "level", &declaration);
  CHECK (plait_parameters_allocate (parameters, NULL));
  visit_pyramid (&pyramid, name, reference_set);
  x = reference_input (&bench, name, "m");
  q = reference_input (&bench, name, "q");
  found = plait_pyramid_apply (bench.tape, &pyramid, pyramid_leaves (x), rows);
  CHECK_INT (found.states->value.rows, 11 + 4 + 2);
  levels[0] = plait_rows (bench.tape, found.states, 0, 11);
  levels[1] = plait_rows (bench.tape, found.states, 11, 4);
  levels[2] = plait_rows (bench.tape, found.states, 15, 2);
  check_tensor ("level 1", levels[1]->value, reference (name, "outputs/level1")->numbers, NEAR);
  check_tensor ("level 2", levels[2]->value, reference (name, "outputs/level2")->numbers, NEAR);
  context = descend_softly (&bench, name, q, levels);
  check_tensor ("context", context->value, reference (name, "outputs/context")->numbers, NEAR);
  roots[0] = reference_weigh (&bench, levels[1], name, "level1", 0);
  roots[1] = reference_weigh (&bench, levels[2], name, "level2", 0);
  roots[2] = reference_weigh (&bench, context, name, "context", 0);
  plait_tape_backward (bench.tape, plait_add_n (bench.tape, roots, 3));
  reference_check_input (x, name, "m");
  reference_check_input (q, name, "q");
  visit_pyramid (&pyramid, name, check_gradient);
}

TEST_CASE (pyramid, gupta_ahmed_rnn_levels)
{
  hold_levels ("pyramid/gru_soft1", PLAIT_POOLING_RNN, PLAIT_CELL_GRU);
  hold_levels ("pyramid/lstm_soft1", PLAIT_POOLING_RNN, PLAIT_CELL_LSTM);
}

TEST_CASE (pyramid, gupta_ahmed_cnn_levels)
{
  hold_levels ("pyramid/conv_soft1", PLAIT_POOLING_CNN, PLAIT_CELL_GRU);
}

TEST_CASE (pyramid, mean_levels)
{
  hold_levels ("pyramid/mean_soft1", PLAIT_POOLING_MEAN, PLAIT_CELL_GRU);
}

/* Calls @function for the weight and the bias that compute the halting numbers or firing weights of a level. */
static void
visit_numbers (const PlaitPyramid *pyramid, const char *the_case, Visit function)
{
  function (pyramid->levels[0].numbers.weight, 0, the_case, "w");
  function (pyramid->levels[0].numbers.bias, 0, the_case, "b");
}

/* Checks one level over a sentence of 9 rows against the reference: its rows, its cost, and its halting weights, which
 * this function computes again. */
static void
hold_cut (const char *name, PlaitPooling pooling, const gint64 *row, const gint64 *block)
{
  g_auto (Bench) bench = bench_new (2);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitPyramidDeclaration declaration = pyramid_declaration (pooling);
  PlaitRagged rows = { 1, (gint64[]){ 0, 9 } };
  gboolean halts = pooling == PLAIT_POOLING_ACT;
  const double *weights = reference (name, "outputs/weight")->numbers;
  const double *cotangents = reference (name, "cotangents/weight")->numbers;
  double expected[16], of_shares[16];
  PlaitNode *x, *level, *numbers, *halting_weights, *roots[3];
  PlaitPyramid pyramid;
  PlaitPyramidRows found;
  PlaitBlocks blocks;
  gint64 n, n_blocks;

  declaration.levels = 1;
  declaration.block = 100;
  pyramid = plait_pyramid_declare (parameters, "level", &declaration);
  CHECK (plait_parameters_allocate (parameters, NULL));
  visit_numbers (&pyramid, name, reference_set);
  x = reference_input (&bench, name, "m");
  found = plait_pyramid_apply (bench.tape, &pyramid, pyramid_leaves (x), rows);
  n_blocks = found.states->value.rows - 9;
  CHECK_INT (n_blocks, reference (name, "outputs/rows")->rows);
  level = plait_rows (bench.tape, found.states, 9, n_blocks);
  check_tensor ("rows", level->value, reference (name, "outputs/rows")->numbers, NEAR);
  for (gint64 b = 0; b < n_blocks; b++)
    CHECK_INT (found.first_child[9 + b], (gint64)reference (name, "outputs/starts")->numbers[b]);

  numbers = plait_linear_apply (bench.tape, &pyramid.levels[0].numbers, x, PLAIT_ACTIVATION_SIGMOID);
  blocks = halts ? plait_blocks_halt (bench.tape, rows, numbers->value, 0.01, 100)
                 : plait_blocks_fire (bench.tape, rows, numbers->value, 0.5);
  halting_weights = plait_halting_weights (bench.tape, numbers, &blocks.halting_weights);
  n = halting_weights->value.rows;
  for (gint64 i = 0; i < n; i++)
    {
      gint64 at = halts ? i : block[i] * 9 + row[i];

      CHECK_INT (blocks.halting_weights.row[i], row[i]);
      expected[i] = weights[at];
      of_shares[i] = cotangents[at];
    }
  check_tensor ("shares", halting_weights->value, expected, NEAR);
  roots[0] = reference_weigh (&bench, level, name, "rows", 0);
  roots[1] = bench_weigh (&bench, halting_weights, of_shares);
  if (halts)
    {
      check_tensor ("cost", found.ponder->value, reference (name, "outputs/cost")->numbers, NEAR);
      roots[2] = reference_weigh (&bench, found.ponder, name, "cost", 0);
    }
  plait_tape_backward (bench.tape, plait_add_n (bench.tape, roots, halts ? 3 : 2));
  reference_check_input (x, name, "m");
  visit_numbers (&pyramid, name, check_gradient);
}

/* The gradient of the ponder cost is the gradient of the remainders, because the number of rows has no gradient. */
TEST_CASE (pyramid, graves2016_halting_shares_and_ponder_cost)
{
  static const gint64 row[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 };

  hold_cut ("pyramid/act", PLAIT_POOLING_ACT, row, NULL);
}

/* Rows 2 and 5 stand at borders, so each belongs to two blocks. */
TEST_CASE (pyramid, dong_xu2020_integrate_and_fire)
{
  static const gint64 row[] = { 0, 1, 2, 2, 3, 4, 5, 5, 6, 7, 8 }, block[] = { 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2 };

  hold_cut ("pyramid/cif", PLAIT_POOLING_CIF, row, block);
}
