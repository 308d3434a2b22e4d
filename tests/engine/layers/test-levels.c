/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "bench.h"
#include "pyramids.h"
#include "layers/parameter-set.h"
#include "autograd/layer-operators.h"
#include "layers/blocks.h"

/* Tests of the levels of pyramids, which are rows of one memory. */

/* A pyramid with its own parameters, and a batch for it. */
typedef struct
{
  Bench bench;
  PlaitParameters *parameters;
  PlaitPyramid pyramid;
  PlaitNode *x;
  PlaitPyramidRows found;
} Stand;

static Stand *
stand_new (const PlaitPyramidDeclaration *declaration, PlaitRagged rows)
{
  Stand *stand = g_new0 (Stand, 1);

  stand->bench = bench_new (2);
  stand->parameters = plait_parameters_new ();
  stand->pyramid = plait_pyramid_declare (stand->parameters, "level", declaration);
  CHECK (plait_parameters_allocate (stand->parameters, NULL));
  plait_parameters_initialise (stand->parameters, stand->bench.pool, 2);
  bench_begin (&stand->bench, PLAIT_TAPE_CHECK);
  stand->x = bench_random (&stand->bench, plait_ragged_rows (rows), declaration->width, 1);
  stand->found = plait_pyramid_apply (stand->bench.tape, &stand->pyramid, pyramid_leaves (stand->x), rows);
  return stand;
}

static void
stand_free (Stand *stand)
{
  plait_parameters_free (stand->parameters);
  bench_clear (&stand->bench);
  g_free (stand);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Stand, stand_free)

static void
check_numbers (const char *what, const gint64 *numbers, const gint64 *expected, gint64 n)
{
  for (gint64 i = 0; i < n; i++)
    {
      CONTEXT ("%s[%d]", what, (int)i);

      CHECK_INT (numbers[i], expected[i]);
    }
}

/* Sentences of seven, zero, one and two rows. Only the first gets a second level, and no sentence gets a third. */
TEST_CASE (levels, rows_know_their_levels_and_neighbours)
{
  static const gint64 leaves[] = { 0, 7, 7, 8, 10 }, offsets[] = { 0, 7 + 3 + 1, 11, 12, 12 + 2 + 1 };
  static const gint64 level[] = { 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 0, 0, 0, 1 };
  static const gint64 parent[] = { 7, 7, 7, 8, 8, 8, 9, 10, 10, 10, -1, -1, 14, 14, -1 };
  static const gint64 first_child[] = { -1, -1, -1, -1, -1, -1, -1, 0, 3, 6, 7, -1, -1, -1, 12 };
  static const gint64 n_children[] = { 0, 0, 0, 0, 0, 0, 0, 3, 3, 1, 3, 0, 0, 0, 2 };
  static const gint64 previous[] = { -1, 0, 1, 2, 3, 4, 5, -1, 7, 8, -1, -1, -1, 12, -1 };
  static const gint64 next[] = { 1, 2, 3, 4, 5, 6, -1, 8, 9, -1, -1, -1, 13, -1, -1 };
  static const gint64 leaf[] = { 0, 1, 2, 3, 4, 5, 6, -1, -1, -1, -1, 7, 8, 9, -1 };
  PlaitPyramidDeclaration declaration = pyramid_declaration (PLAIT_POOLING_CNN);
  gint64 n = G_N_ELEMENTS (level);

  declaration.levels = 5;
  g_autoptr (Stand) stand = stand_new (&declaration, (PlaitRagged){ 4, leaves });
  const PlaitPyramidRows *found = &stand->found;

  CHECK_INT (found->states->value.rows, n);
  check_numbers ("offsets", found->rows.offsets, offsets, 5);
  check_numbers ("level", found->level, level, n);
  check_numbers ("parent", found->parent, parent, n);
  check_numbers ("first child", found->first_child, first_child, n);
  check_numbers ("children", found->n_children, n_children, n);
  check_numbers ("previous", found->previous, previous, n);
  check_numbers ("next", found->next, next, n);
  check_numbers ("leaf", found->leaf, leaf, n);
  for (gint64 row = 0; row < n; row++)
    for (gint64 i = 0; i < PYRAMID_WIDTH && leaf[row] >= 0; i++)
      CHECK (plait_tensor_row (found->states->value, row)[i] == plait_tensor_row (stand->x->value, leaf[row])[i]);
}

/* Parents and children agree, for each kind of pooling: the parent of a row has the row as a child and is one level
 * higher, and children are consecutive rows of a level. Only rows at the borders of cif blocks are children of two
 * parents. */
TEST_CASE (levels, parents_and_children_agree)
{
  static const gint64 leaves[] = { 0, 40, 41, 43, 43, 75 };

  for (gint pooling = PLAIT_POOLING_RNN; pooling <= PLAIT_POOLING_CIF; pooling++)
    {
      CONTEXT ("pooling %d", pooling);
      PlaitPyramidDeclaration declaration = pyramid_declaration ((PlaitPooling)pooling);
      gint64 borders = 0, highest = 0;

      declaration.levels = 0;
      declaration.shared = TRUE;
      g_autoptr (Stand) stand = stand_new (&declaration, (PlaitRagged){ 5, leaves });
      const PlaitPyramidRows *found = &stand->found;

      for (gint64 s = 0; s < 5; s++)
        for (gint64 row = found->rows.offsets[s]; row < found->rows.offsets[s + 1]; row++)
          {
            gint64 parent = found->parent[row], first = found->first_child[row], n = found->n_children[row];

            highest = MAX (highest, found->level[row]);
            if (parent >= 0)
              {
                CHECK (parent > row && parent < found->rows.offsets[s + 1]);
                CHECK_INT (found->level[parent], found->level[row] + 1);
                CHECK (row >= found->first_child[parent]);
                CHECK (row < found->first_child[parent] + found->n_children[parent]);
              }
            CHECK (found->level[row] == 0 ? n == 0 && first == -1 : n > 0 && first >= found->rows.offsets[s]);
            for (gint64 child = first; child < first + n; child++)
              if (found->parent[child] != row)
                {
                  CHECK (child == first && found->parent[child] == row - 1);
                  borders++;
                }
            /* The children of a level's first row begin at the first row below; those of the last row end at the last
             * row below. */
            if (n > 0 && found->previous[row] < 0)
              CHECK (found->previous[first] < 0);
            if (n > 0 && found->next[row] < 0)
              CHECK (found->next[first + n - 1] < 0);
            else if (n > 0)
              {
                gint64 behind = found->first_child[found->next[row]];

                CHECK (behind == first + n || behind == first + n - 1);
              }
          }
      CHECK (highest >= 3);
      CHECK_INT (borders > 0, pooling == PLAIT_POOLING_CIF);
    }
}

/* levels=0 adds levels until one row is left. A sentence of one row gets no level. */
TEST_CASE (levels, levels_end_where_one_row_is_left)
{
  static const gint64 leaves[] = { 0, 1, 28 };
  PlaitPyramidDeclaration declaration = pyramid_declaration (PLAIT_POOLING_MEAN);

  declaration.levels = 0;
  g_autoptr (Stand) stand = stand_new (&declaration, (PlaitRagged){ 2, leaves });
  const PlaitPyramidRows *found = &stand->found;

  CHECK_INT (found->rows.offsets[1], 1);
  CHECK_INT (found->rows.offsets[2], 1 + 27 + 9 + 3 + 1);
  CHECK_INT (found->level[found->rows.offsets[2] - 1], 3);
}

/* A sentence shorter than a block becomes one short block. Sentences of one row or without rows have only leaves. */
TEST_CASE (levels, short_and_missing_sentences_are_defined)
{
  static const gint64 short_ones[] = { 0, 1, 3, 3 }, ones[] = { 0, 1, 2 }, none[] = { 0, 0, 0 };

  for (gint pooling = PLAIT_POOLING_RNN; pooling <= PLAIT_POOLING_CIF; pooling++)
    {
      CONTEXT ("pooling %d", pooling);
      PlaitPyramidDeclaration declaration = pyramid_declaration ((PlaitPooling)pooling);

      declaration.block = 8;
      declaration.tail = 0;
      g_autoptr (Stand) some = stand_new (&declaration, (PlaitRagged){ 3, short_ones });
      g_autoptr (Stand) single = stand_new (&declaration, (PlaitRagged){ 2, ones });
      g_autoptr (Stand) empty = stand_new (&declaration, (PlaitRagged){ 2, none });

      CHECK_INT (plait_ragged_rows (some->found.rows), 1 + 2 + 1);
      CHECK_INT (plait_ragged_rows (single->found.rows), 2);
      CHECK (single->found.states == single->x);
      CHECK_INT (single->found.parent[0], -1);
      CHECK_INT (plait_ragged_rows (empty->found.rows), 0);
      CHECK_INT (empty->found.states->value.rows, 0);
      if (pooling == PLAIT_POOLING_ACT)
        CHECK_NEAR (single->found.ponder->value.data[0], 0, 0);
    }
}

/* If all rows are equal, every row on every level equals them: with mean pooling, and with act and cif, whose weights
 * in a full block sum to 1. */
TEST_CASE (levels, sums_of_equal_rows_are_that_row)
{
  static const PlaitPooling poolings[] = { PLAIT_POOLING_MEAN, PLAIT_POOLING_ACT, PLAIT_POOLING_CIF };
  static const gint64 leaves[] = { 0, 20 };

  for (guint p = 0; p < G_N_ELEMENTS (poolings); p++)
    {
      CONTEXT ("pooling %d", poolings[p]);
      PlaitPyramidDeclaration declaration = pyramid_declaration (poolings[p]);
      double numbers[20 * PYRAMID_WIDTH];

      declaration.tail = 1;
      g_autoptr (Stand) stand = stand_new (&declaration, (PlaitRagged){ 1, leaves });
      PlaitNode *x;
      PlaitPyramidRows found;

      for (gint64 i = 0; i < 20 * PYRAMID_WIDTH; i++)
        numbers[i] = 0.3 * (double)(i % PYRAMID_WIDTH) - 0.5;
      x = bench_leaf (&stand->bench, 20, PYRAMID_WIDTH, numbers);
      found = plait_pyramid_apply (stand->bench.tape, &stand->pyramid, pyramid_leaves (x), (PlaitRagged){ 1, leaves });
      CHECK (found.states->value.rows > 20);
      for (gint64 row = 0; row < found.states->value.rows; row++)
        check_tensor ("row", plait_tensor_rows (found.states->value, row, 1), numbers, NEAR);
    }
}

/* If all weights are 1/k, cif makes blocks of k rows and takes their means. 1/2 and 1/4 are exact in binary. */
TEST_CASE (levels, cif_with_constant_weights_is_the_mean)
{
  static const gint64 leaves[] = { 0, 12 };

  for (gint64 k = 2; k <= 4; k += 2)
    {
      CONTEXT ("blocks of %d", (int)k);
      PlaitPyramidDeclaration declaration = pyramid_declaration (PLAIT_POOLING_MEAN);

      declaration.levels = 1;
      declaration.block = k;
      g_autoptr (Stand) mean = stand_new (&declaration, (PlaitRagged){ 1, leaves });
      PlaitTape *tape = mean->bench.tape;
      double quarters[12];
      PlaitNode *numbers, *halting_weights;
      PlaitBlocks blocks;
      gint64 each[7];
      PlaitQueryKeyPairs pairs;

      for (gint64 i = 0; i < 12; i++)
        quarters[i] = 1 / (double)k;
      for (gint64 i = 0; i < 7; i++)
        each[i] = i;
      numbers = bench_leaf (&mean->bench, 12, 1, quarters);
      blocks = plait_blocks_fire (tape, (PlaitRagged){ 1, leaves }, numbers->value, 0.5);
      CHECK_INT (blocks.halting_weights.blocks.n, 12 / k);
      halting_weights = plait_halting_weights (tape, numbers, &blocks.halting_weights);
      pairs = plait_query_key_pairs (tape, (PlaitRagged){ 12 / k, each }, blocks.halting_weights.blocks);
      check_tensor ("shares", halting_weights->value, quarters, 0);
      PlaitTensor sums = plait_weighted_sum (tape, &pairs, halting_weights, mean->x)->value;
      for (gint64 b = 0; b < 12 / k; b++)
        for (gint64 i = 0; i < PYRAMID_WIDTH; i++)
          CHECK_NEAR (plait_tensor_row (sums, b)[i], plait_tensor_row (mean->found.states->value, 12 + b)[i], NEAR);
    }
}

/* The blocks of a batch equal those of its single sentences, with each kind of pooling and random parameters. */
TEST_CASE (levels, reads_each_sentence_by_itself)
{
  static const gint64 leaves[] = { 0, 11, 11, 12, 30 };

  for (gint pooling = PLAIT_POOLING_RNN; pooling <= PLAIT_POOLING_CIF; pooling++)
    {
      CONTEXT ("pooling %d", pooling);
      PlaitPyramidDeclaration declaration = pyramid_declaration ((PlaitPooling)pooling);
      g_autoptr (Stand) stand = stand_new (&declaration, (PlaitRagged){ 4, leaves });
      PlaitTape *tape = stand->bench.tape;

      for (gint64 s = 0; s < 4; s++)
        {
          CONTEXT ("sentence %d", (int)s);
          gint64 first = leaves[s], n = leaves[s + 1] - first, at = stand->found.rows.offsets[s];
          PlaitPyramidRows alone
              = plait_pyramid_apply (tape, &stand->pyramid, pyramid_leaves (plait_rows (tape, stand->x, first, n)),
                                     (PlaitRagged){ 1, (gint64[]){ 0, n } });

          CHECK_INT (alone.states->value.rows, stand->found.rows.offsets[s + 1] - at);
          for (gint64 row = 0; row < alone.states->value.rows; row++)
            {
              gint64 parent = stand->found.parent[at + row];

              CHECK_INT (alone.parent[row], parent < 0 ? -1 : parent - at);
              for (gint64 i = 0; i < PYRAMID_WIDTH; i++)
                CHECK_NEAR (plait_tensor_row (alone.states->value, row)[i],
                            plait_tensor_row (stand->found.states->value, at + row)[i], NEAR);
            }
        }
    }
}

/* Leaves keep their cell states. Rows on higher levels have the cell states of their LSTM; other kinds of pooling have
 * zeros. */
TEST_CASE (levels, cells_stand_beside_the_states)
{
  static const gint64 leaves[] = { 0, 2, 7 };
  PlaitRagged rows = { 2, leaves };

  for (gint cell = PLAIT_CELL_GRU; cell <= PLAIT_CELL_LSTM; cell++)
    {
      CONTEXT ("cell %d", cell);
      PlaitPyramidDeclaration declaration = pyramid_declaration (PLAIT_POOLING_RNN);

      declaration.cell = (PlaitCellKind)cell;
      g_autoptr (Stand) stand = stand_new (&declaration, rows);
      PlaitNode *cells = bench_random (&stand->bench, 7, PYRAMID_WIDTH, 3);
      PlaitPyramidRows found
          = plait_pyramid_apply (stand->bench.tape, &stand->pyramid, (PlaitCellState){ stand->x, cells }, rows);

      CHECK (!stand->found.cells);
      CHECK_INT (found.cells->value.rows, 7 + 3 + 1);
      for (gint64 row = 0; row < 11; row++)
        for (gint64 i = 0; i < PYRAMID_WIDTH; i++)
          {
            PlaitScalar number = plait_tensor_row (found.cells->value, row)[i];

            if (found.leaf[row] >= 0)
              CHECK (number == plait_tensor_row (cells->value, found.leaf[row])[i]);
            else
              CHECK_INT (number != 0, cell == PLAIT_CELL_LSTM);
          }
    }
}

/* The activation is applied to the sums of the convolution. */
TEST_CASE (levels, convolutions_pass_through_their_activation)
{
  static const PlaitActivation activations[] = { PLAIT_ACTIVATION_TANH, PLAIT_ACTIVATION_RELU };
  static const gint64 leaves[] = { 0, 8 };
  PlaitPyramidDeclaration declaration = pyramid_declaration (PLAIT_POOLING_CNN);

  declaration.levels = 1;
  for (guint a = 0; a < G_N_ELEMENTS (activations); a++)
    {
      declaration.activation = PLAIT_ACTIVATION_NONE;
      g_autoptr (Stand) plain = stand_new (&declaration, (PlaitRagged){ 1, leaves });

      declaration.activation = activations[a];
      g_autoptr (Stand) bent = stand_new (&declaration, (PlaitRagged){ 1, leaves });

      for (gint64 row = 8; row < 11; row++)
        for (gint64 i = 0; i < PYRAMID_WIDTH; i++)
          {
            double sum = plait_tensor_row (plain->found.states->value, row)[i];

            CHECK_NEAR (plait_tensor_row (bent->found.states->value, row)[i], a == 0 ? tanh (sum) : fmax (sum, 0),
                        NEAR);
          }
    }
}

/* The quantity loss (Dong & Xu 2020) of equal weights p, for sentences of 5, 1 and 3 rows and k = 2, is |5 p - 2.5| +
 * |3 p - 1.5|. Its derivative by the input of the sigmoid is (5 + 3) p (1 - p) if p is above 1/2, and minus that if p
 * is below. */
TEST_CASE (levels, dong_xu2020_quantity_loss)
{
  static const gint64 leaves[] = { 0, 5, 6, 9 };
  PlaitPyramidDeclaration declaration = pyramid_declaration (PLAIT_POOLING_CIF);

  declaration.levels = 1;
  declaration.block = 2;
  for (int sign = -1; sign <= 1; sign += 2)
    {
      g_autoptr (Stand) stand = stand_new (&declaration, (PlaitRagged){ 3, leaves });
      PlaitParameter *bias = stand->pyramid.levels[0].numbers.bias;
      double p = 1 / (1 + exp (-0.4 * sign));
      PlaitPyramidRows found;

      memset (stand->pyramid.levels[0].numbers.weight->value.data, 0, PYRAMID_WIDTH * sizeof (PlaitScalar));
      bias->value.data[0] = (PlaitScalar)(0.4 * sign);
      found = plait_pyramid_apply (stand->bench.tape, &stand->pyramid, pyramid_leaves (stand->x),
                                   (PlaitRagged){ 3, leaves });
      CHECK_NEAR (found.quantity->value.data[0], 8 * fabs (p - 0.5), NEAR);
      plait_tape_backward (stand->bench.tape, found.quantity);
      CHECK_NEAR (bias->gradient.data[0], sign * 8 * p * (1 - p), NEAR);
      CHECK (!found.ponder);
    }
}

/* The bias of act is 1 at first (Graves 2016). The bias of cif is at first such that k rows make a block. */
TEST_CASE (levels, halting_biases_begin_as_documented)
{
  static const gint64 leaves[] = { 0, 2 };
  PlaitPyramidDeclaration declaration = pyramid_declaration (PLAIT_POOLING_ACT);
  g_autoptr (Stand) act = stand_new (&declaration, (PlaitRagged){ 1, leaves });

  declaration.pooling = PLAIT_POOLING_CIF;
  declaration.block = 5;
  g_autoptr (Stand) cif = stand_new (&declaration, (PlaitRagged){ 1, leaves });

  CHECK_NEAR (act->pyramid.levels[1].numbers.bias->value.data[0], 1, 0);
  CHECK_NEAR (1 / (1 + exp (-cif->pyramid.levels[1].numbers.bias->value.data[0])), 0.2, 1e-6);
}

/* All levels share one set of parameters, or each level has its own. */
TEST_CASE (levels, parameters_are_shared_or_apart)
{
  static const gint64 leaves[] = { 0, 4 };
  PlaitPyramidDeclaration declaration = pyramid_declaration (PLAIT_POOLING_CNN);
  g_autoptr (Stand) apart = stand_new (&declaration, (PlaitRagged){ 1, leaves });

  declaration.shared = TRUE;
  g_autoptr (Stand) shared = stand_new (&declaration, (PlaitRagged){ 1, leaves });

  CHECK (plait_parameters_find (apart->parameters, "level/1/convolution/weight") != NULL);
  CHECK (plait_parameters_find (apart->parameters, "level/2/convolution/bias") != NULL);
  CHECK_INT (plait_parameters_n (apart->parameters), 4);
  CHECK (plait_parameters_find (shared->parameters, "level/convolution/weight") != NULL);
  CHECK_INT (plait_parameters_n (shared->parameters), 2);
}
