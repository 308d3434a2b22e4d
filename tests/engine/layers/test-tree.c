/* SPDX-License-Identifier: MIT */
#include "layers/tree.h"

#include <string.h>

#include "reference.h"
#include "layers/parameter-set.h"
#include "layers/internal.h"

/* Tests of tree units against a float64 reference and against each other. */

enum
{
  WIDTH = 4,
  INPUT = 3,
};

static void
check_gradient (PlaitParameter *parameter, gint64 column, const char *the_case, const char *name)
{
  reference_check_gradient (parameter, column, the_case, name);
}

typedef void (*Visit) (PlaitParameter *parameter, gint64 column, const char *the_case, const char *name);

/* Calls @visit for a half of @parameter that begins at row @row (-1: for all of it). Its name in the reference is
 * @prefix, @letter and @gate. */
static void
visit_part (Visit visit, const PlaitParameter *parameter, gint64 row, gint64 column, const char *the_case,
            const char *prefix, const char *letter, const char *gate)
{
  PlaitParameter part;

  if (!parameter)
    return;
  part = *parameter;
  if (row >= 0)
    {
      part.value = plait_tensor_rows (part.value, row, part.value.rows / 2);
      part.gradient = plait_tensor_rows (part.gradient, row, part.gradient.rows / 2);
    }
  visit (&part, column, the_case, plait_test_format ("%s%s%s", prefix, letter, gate));
}

/* Calls @visit for each weight of @unit with its name in the reference: @prefix, then L, R (children), X (input) or b,
 * then the gate. */
static void
visit_unit (const PlaitTreeUnit *unit, const char *the_case, const char *prefix, Visit visit)
{
  static const char *const gru[] = { "rl", "rr", "zl", "zr", "z", "h", NULL };
  static const char *const lstm[] = { "i", "fl", "fr", "u", "o", NULL };
  const char *const *gates = unit->declaration.kind == PLAIT_TREE_GRU ? gru : lstm;

  for (gint64 i = 0; gates[i]; i++)
    {
      const PlaitLinear *linear = i < 5 ? &unit->gates : &unit->candidate;
      gint64 column = i < 5 ? i * WIDTH : 0;

      visit_part (visit, linear->weight, 0, column, the_case, prefix, "L", gates[i]);
      visit_part (visit, linear->weight, WIDTH, column, the_case, prefix, "R", gates[i]);
      visit_part (visit, linear->bias, -1, column, the_case, prefix, "b", gates[i]);
      visit_part (visit, unit->input.weight, -1, i * WIDTH, the_case, prefix, "X", gates[i]);
    }
}

static void
visit_down_cell (const PlaitCell *cell, const char *the_case, const char *prefix, Visit visit)
{
  static const char *const gates[] = { "r", "z", "h" };

  for (gint64 i = 0; i < 3; i++)
    {
      gboolean apart = cell->candidate.weight && i == 2;

      visit_part (visit, cell->input.weight, -1, i * WIDTH, the_case, prefix, "W", gates[i]);
      visit_part (visit, cell->input.bias, -1, i * WIDTH, the_case, prefix, "b", gates[i]);
      visit_part (visit, apart ? cell->candidate.weight : cell->recurrent.weight, -1, apart ? 0 : i * WIDTH, the_case,
                  prefix, "U", gates[i]);
    }
}

static void
visit_heads (const PlaitTreeHeadWords *heads, const char *the_case, Visit visit)
{
  visit_part (visit, heads->gate.weight, 0, 0, the_case, "head/", "L", "g");
  visit_part (visit, heads->gate.weight, INPUT, 0, the_case, "head/", "R", "g");
  visit_part (visit, heads->gate.bias, -1, 0, the_case, "head/", "b", "g");
}

static void
visit_down (const PlaitTreeTopDown *down, const char *the_case, Visit visit)
{
  visit_part (visit, down->root.weight, -1, 0, the_case, "down/root/", "W", "");
  visit_part (visit, down->root.bias, -1, 0, the_case, "down/root/", "b", "");
  visit_down_cell (&down->left, the_case, "down/L/", visit);
  visit_down_cell (&down->right, the_case, "down/R/", visit);
}

/* Returns one tree with @n inner nodes over @words leaves. */
static const PlaitTreeRows *
tree_of (Bench *bench, gint64 words, gint64 n, const gint64 *left, const gint64 *right)
{
  gint64 *offsets = plait_arena_new_array (bench->arena, gint64, 4), *nodes = offsets + 2;

  offsets[0] = nodes[0] = 0;
  offsets[1] = words;
  nodes[1] = n;
  return plait_tree_rows (bench->tape, (PlaitRagged){ 1, offsets }, offsets + 1, (PlaitRagged){ 1, nodes }, left,
                          right);
}

static const gint64 balanced_left[] = { 0, 3, 2, 5 }, balanced_right[] = { 1, 4, 6, 7 };
static const gint64 random_left[] = { 1, 0, 3, 5, 9, 8 }, random_right[] = { 2, 7, 4, 6, 10, 11 };

static void
hold_bidirectional (const char *name, PlaitResetOrder reset, PlaitTreeRoot root, gint64 words, gint64 n,
                    const gint64 *left, const gint64 *right)
{
  CONTEXT ("%s", name);
  g_auto (Bench) bench = bench_new (2);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitBitreeDeclaration declaration = {
    .reset = reset,
    .leaf_width = WIDTH,
    .candidate_bias = reset == PLAIT_RESET_AFTER, /* the authors' code has this bias */
    .root = root,
  };
  PlaitBitree bitree = plait_bitree_declare (parameters, "", &declaration);
  PlaitNode *x, *up, *rows;

  CHECK (plait_parameters_allocate (parameters, NULL));
  visit_unit (&bitree.up, name, "up/", reference_set);
  visit_down (&bitree.down, name, reference_set);
  x = reference_input (&bench, name, "h");
  rows = plait_bitree_apply (bench.tape, &bitree, tree_of (&bench, words, n, left, right), x, NULL, &up);
  CHECK_INT (rows->value.width, bitree.width);
  check_tensor ("rows", rows->value, reference (name, "outputs/rows")->numbers, NEAR);
  plait_tape_backward (bench.tape, bench_weigh (&bench, rows, reference (name, "cotangents/rows")->numbers));
  reference_check_input (x, name, "h");
  visit_unit (&bitree.up, name, "up/", check_gradient);
  visit_down (&bitree.down, name, check_gradient);
}

/* Tree-GRU bottom-up (Chen et al. 2017, eq. 8). Its states are the first columns of the reference's rows. */
TEST_CASE (tree, chen2017_equation_8_tree_gru)
{
  static const gint64 left[] = { 0, 4, 5 }, right[] = { 1, 2, 3 };
  const char *name = "trees/bigru_left4_before";
  g_auto (Bench) bench = bench_new (1);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitTreeUnitDeclaration declaration = { .kind = PLAIT_TREE_GRU, .reset = PLAIT_RESET_BEFORE, .width = WIDTH };
  PlaitTreeUnit unit = plait_tree_unit_declare (parameters, "up", &declaration);
  const ReferenceArray *rows = reference (name, "outputs/rows");
  PlaitNode *states;

  CHECK (plait_parameters_allocate (parameters, NULL));
  visit_unit (&unit, name, "up/", reference_set);
  states = plait_tree_unit_apply (bench.tape, &unit, tree_of (&bench, 4, 3, left, right),
                                  (PlaitCellState){ reference_input (&bench, name, "h"), NULL }, NULL)
               .state;
  CHECK_INT (states->value.rows, rows->rows);
  for (gint64 row = 0; row < rows->rows; row++)
    check_tensor ("rows", plait_tensor_rows (states->value, row, 1), rows->numbers + row * rows->width, NEAR);
}

/* A Tree-GRU bottom-up and then top-down, which begins with tanh (W h + b) at the root (Chen et al. 2017, eq. 8-10),
 * with PLAIT_RESET_BEFORE. */
TEST_CASE (tree, chen2017_equations_8_to_10_bidirectional)
{
  hold_bidirectional ("trees/bigru_balanced5_before", PLAIT_RESET_BEFORE, PLAIT_ROOT_TANH, 5, 4, balanced_left,
                      balanced_right);
}

/* The tree encoder in the code of Chen et al. 2017: PLAIT_RESET_AFTER, a bias in the candidate, and a step of the left
 * cell at the root. */
TEST_CASE (tree, bidirectional_as_the_authors_compute)
{
  hold_bidirectional ("trees/bigru_random7_after", PLAIT_RESET_AFTER, PLAIT_ROOT_GRU, 7, 6, random_left, random_right);
}

TEST_CASE (tree, chen2017_equation_9_one_word_is_the_root)
{
  hold_bidirectional ("trees/bigru_word_before", PLAIT_RESET_BEFORE, PLAIT_ROOT_TANH, 1, 0, NULL, NULL);
}

/* Tai et al. 2015, eq. 9-14. */
TEST_CASE (tree, lstm_over_two_children)
{
  const char *name = "trees/lstm_random7";
  g_auto (Bench) bench = bench_new (2);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitTreeUnitDeclaration declaration = { .kind = PLAIT_TREE_LSTM, .width = WIDTH };
  PlaitTreeUnit unit = plait_tree_unit_declare (parameters, "up", &declaration);
  PlaitCellState leaves, found;
  PlaitNode *roots[2];

  CHECK (plait_parameters_allocate (parameters, NULL));
  visit_unit (&unit, name, "", reference_set);
  leaves.state = reference_input (&bench, name, "h");
  leaves.cell = reference_input (&bench, name, "c");
  found = plait_tree_unit_apply (bench.tape, &unit, tree_of (&bench, 7, 6, random_left, random_right), leaves, NULL);
  check_tensor ("h", found.state->value, reference (name, "outputs/h")->numbers, NEAR);
  check_tensor ("c", found.cell->value, reference (name, "outputs/c")->numbers, NEAR);
  roots[0] = bench_weigh (&bench, found.state, reference (name, "cotangents/h")->numbers);
  roots[1] = bench_weigh (&bench, found.cell, reference (name, "cotangents/c")->numbers);
  plait_tape_backward (bench.tape, plait_add_n (bench.tape, roots, 2));
  reference_check_input (leaves.state, name, "h");
  reference_check_input (leaves.cell, name, "c");
  visit_unit (&unit, name, "", check_gradient);
}

/* Nodes also read their head word, besides their children (Teng & Zhang 2016). */
TEST_CASE (tree, nodes_read_the_words_of_their_heads)
{
  const char *name = "trees/lexical_random7";
  g_auto (Bench) bench = bench_new (1);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitTreeUnitDeclaration declaration
      = { .kind = PLAIT_TREE_GRU, .width = WIDTH, .input_width = INPUT, .candidate_bias = TRUE };
  PlaitTreeUnit unit = plait_tree_unit_declare (parameters, "up", &declaration);
  PlaitTreeHeadWords heads = plait_tree_head_words_declare (parameters, "heads", INPUT);
  const PlaitTreeRows *tree;
  PlaitNode *words, *leaves, *x, *found, *roots[2];

  CHECK (plait_parameters_allocate (parameters, NULL));
  visit_unit (&unit, name, "up/", reference_set);
  visit_heads (&heads, name, reference_set);
  tree = tree_of (&bench, 7, 6, random_left, random_right);
  words = reference_input (&bench, name, "e");
  leaves = reference_input (&bench, name, "h");
  x = plait_tree_head_words_apply (bench.tape, &heads, tree, words);
  check_tensor ("x", x->value, reference (name, "outputs/x")->numbers, NEAR);
  found = plait_tree_unit_apply (bench.tape, &unit, tree, (PlaitCellState){ leaves, NULL }, x).state;
  check_tensor ("rows", found->value, reference (name, "outputs/rows")->numbers, NEAR);
  roots[0] = bench_weigh (&bench, found, reference (name, "cotangents/rows")->numbers);
  roots[1] = bench_weigh (&bench, x, reference (name, "cotangents/x")->numbers);
  plait_tape_backward (bench.tape, plait_add_n (bench.tape, roots, 2));
  reference_check_input (words, name, "e");
  reference_check_input (leaves, name, "h");
  visit_unit (&unit, name, "up/", check_gradient);
  visit_heads (&heads, name, check_gradient);
}

/* Four sentences: a tree over three words and one word outside; no words; two words without a tree; a tree over two
 * words. */
static const gint64 leaf_offsets[] = { 0, 4, 4, 6, 8 }, node_offsets[] = { 0, 2, 2, 2, 3 };
static const gint64 batch_words[] = { 3, 0, 2, 2 };
static const gint64 batch_left[] = { 1, 0, 0 }, batch_right[] = { 2, 4, 1 };
static const PlaitRagged leaf_rows = { 4, leaf_offsets }, node_rows = { 4, node_offsets };

TEST_CASE (tree, rows_know_their_children_and_parents)
{
  static const gint64 offsets[] = { 0, 6, 6, 8, 11 };
  static const gint64 lefts[] = { -1, -1, -1, -1, 1, 0, -1, -1, -1, -1, 8 };
  static const gint64 rights[] = { -1, -1, -1, -1, 2, 4, -1, -1, -1, -1, 9 };
  static const gint64 parents[] = { 5, 4, 4, -1, 5, -1, -1, -1, 10, 10, -1 };
  g_auto (Bench) bench = bench_new (1);
  const PlaitTreeRows *tree;

  tree = plait_tree_rows (bench.tape, leaf_rows, batch_words, node_rows, batch_left, batch_right);
  CHECK (memcmp (tree->rows.offsets, offsets, sizeof offsets) == 0);
  CHECK (memcmp (tree->left, lefts, sizeof lefts) == 0);
  CHECK (memcmp (tree->right, rights, sizeof rights) == 0);
  CHECK (memcmp (tree->parent, parents, sizeof parents) == 0);
  CHECK_INT (tree->n_roots, 2);
  CHECK_INT (tree->roots[0], 5);
  CHECK_INT (tree->roots[1], 10);
  CHECK_INT (tree->up.n, 2);
  CHECK_INT (tree->down.n, 2);
}

/* A batch gives what its single trees give. Top-down states of rows outside trees are zero. */
TEST_CASE (tree, reads_each_tree_by_itself)
{
  g_auto (Bench) bench = bench_new (2);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitTreeUnitDeclaration up = { .kind = PLAIT_TREE_GRU, .width = WIDTH };
  PlaitCellDeclaration down = { .kind = PLAIT_CELL_GRU, .input_width = WIDTH, .width = WIDTH };
  PlaitTreeUnit unit = plait_tree_unit_declare (parameters, "up", &up);
  PlaitTreeTopDown way = plait_tree_top_down_declare (parameters, "down", &down, PLAIT_ROOT_TANH);
  const PlaitTreeRows *tree;
  PlaitNode *x, *upward, *downward;

  CHECK (plait_parameters_allocate (parameters, NULL));
  plait_parameters_initialise (parameters, bench.pool, 1);
  bench_begin (&bench, PLAIT_TAPE_EVALUATE);
  x = bench_random (&bench, 8, WIDTH, 1);
  tree = plait_tree_rows (bench.tape, leaf_rows, batch_words, node_rows, batch_left, batch_right);
  upward = plait_tree_unit_apply (bench.tape, &unit, tree, (PlaitCellState){ x, NULL }, NULL).state;
  downward = plait_tree_top_down_apply (bench.tape, &way, tree, upward);
  for (gint64 s = 0; s < 4; s++)
    {
      gint64 first = leaf_offsets[s], words = leaf_offsets[s + 1] - first, nodes = node_offsets[s];
      gint64 one_leaf[] = { 0, words }, one_node[] = { 0, node_offsets[s + 1] - nodes };
      const PlaitTreeRows *one
          = plait_tree_rows (bench.tape, (PlaitRagged){ 1, one_leaf }, batch_words + s, (PlaitRagged){ 1, one_node },
                             batch_left + nodes, batch_right + nodes);
      PlaitNode *leaves = plait_rows (bench.tape, x, first, words);
      PlaitNode *alone[2];

      alone[0] = plait_tree_unit_apply (bench.tape, &unit, one, (PlaitCellState){ leaves, NULL }, NULL).state;
      alone[1] = plait_tree_top_down_apply (bench.tape, &way, one, alone[0]);
      for (gint64 row = 0; row < one->rows.offsets[1]; row++)
        for (gint64 i = 0; i < WIDTH; i++)
          {
            CONTEXT ("sentence %d, row %d, column %d", (int)s, (int)row, (int)i);
            gint64 at = tree->rows.offsets[s] + row;
            PlaitScalar below = plait_tensor_row (downward->value, at)[i];

            CHECK_NEAR (plait_tensor_row (upward->value, at)[i], plait_tensor_row (alone[0]->value, row)[i], NEAR);
            CHECK_NEAR (below, plait_tensor_row (alone[1]->value, row)[i], NEAR);
            CHECK_INT (below == 0, s == 2 || (s == 0 && row == 3));
          }
    }
}
