/* SPDX-License-Identifier: MIT */
#include "layers/tree.h"

#include "reference.h"
#include "layers/parameter-set.h"
#include "layers/internal.h"

/*
 * Tests that a tree unit, bottom-up over a left-branching chain, computes what a recurrent cell computes over a
 * sequence. Each node has the previous state as its left child, and one word, the input, as its right child. So the
 * weights of left children are the recurrent weights of the cell, and the weights of right children are its input
 * weights.
 *
 *     Tree-LSTM   fl = f; words have no cell states, so fr does not matter
 *     Tree-GRU    r_L = r, z_L = z, z = 1 - z_L = sigmoid (- ...), and biases keep r_R at 1 and z_R at 0
 *
 * The state before the first node is the first word.
 */

#define WORDS 5
#define NODES (WORDS - 1)
#define WIDTH 4
#define ALWAYS 60 /* sigmoid (ALWAYS) is 1, and sigmoid (-ALWAYS) is 0, in any precision */

/* A gate of a tree unit, and the gate of a cell that is copied to it. */
typedef struct
{
  PlaitTensor left; /* [w, w]: weights for left children */
  PlaitTensor right;
  PlaitTensor bias; /* [1, w]: biases */
} Gate;

static Gate
gate_of_unit (const PlaitLinear *linear, gint64 gate)
{
  PlaitTensor weight = plait_tensor_columns (linear->weight->value, gate * WIDTH, WIDTH);

  return (Gate){ plait_tensor_rows (weight, 0, WIDTH), plait_tensor_rows (weight, WIDTH, WIDTH),
                 plait_tensor_columns (linear->bias->value, gate * WIDTH, WIDTH) };
}

static Gate
gate_of_cell (const PlaitCell *cell, gint64 gate)
{
  gboolean apart = cell->candidate.weight && gate == 2;
  PlaitTensor recurrent = apart ? cell->candidate.weight->value : cell->recurrent.weight->value;

  return (Gate){ plait_tensor_columns (recurrent, apart ? 0 : gate * WIDTH, WIDTH),
                 plait_tensor_columns (cell->input.weight->value, gate * WIDTH, WIDTH),
                 plait_tensor_columns (cell->input.bias->value, gate * WIDTH, WIDTH) };
}

static void
scale (PlaitTensor to, PlaitTensor from, PlaitScalar factor)
{
  for (gint64 row = 0; row < to.rows; row++)
    for (gint64 i = 0; i < to.width; i++)
      plait_tensor_row (to, row)[i] = factor * plait_tensor_row (from, row)[i];
}

static void
copy_gate (const PlaitLinear *to, gint64 to_gate, const PlaitCell *from, gint64 from_gate, PlaitScalar factor)
{
  Gate unit = gate_of_unit (to, to_gate), cell = gate_of_cell (from, from_gate);

  scale (unit.left, cell.left, factor);
  scale (unit.right, cell.right, factor);
  scale (unit.bias, cell.bias, factor);
}

/* Makes gate @gate of @to a constant for all children: the sigmoid of @bias. */
static void
hold_gate (const PlaitLinear *to, gint64 gate, PlaitScalar bias)
{
  Gate unit = gate_of_unit (to, gate);

  scale (unit.left, unit.left, 0);
  scale (unit.right, unit.right, 0);
  for (gint64 i = 0; i < WIDTH; i++)
    unit.bias.data[i] = bias;
}

static void
copy_cell (const PlaitTreeUnit *unit, const PlaitCell *cell)
{
  if (cell->declaration.kind == PLAIT_CELL_LSTM)
    {
      copy_gate (&unit->gates, 0, cell, 0, 1); /* input gate */
      copy_gate (&unit->gates, 1, cell, 1, 1); /* forget gate of left children */
      copy_gate (&unit->gates, 3, cell, 2, 1); /* candidate */
      copy_gate (&unit->gates, 4, cell, 3, 1); /* output gate */
      return;
    }
  copy_gate (&unit->gates, 0, cell, 0, 1);
  hold_gate (&unit->gates, 1, ALWAYS);
  copy_gate (&unit->gates, 2, cell, 1, 1);
  hold_gate (&unit->gates, 3, -ALWAYS);
  copy_gate (&unit->gates, 4, cell, 1, -1);
  copy_gate (&unit->candidate, 0, cell, 2, 1);
}

static void
check_same (const char *what, PlaitTensor a, PlaitTensor b)
{
  for (gint64 row = 0; row < a.rows; row++)
    for (gint64 i = 0; i < a.width; i++)
      {
        CONTEXT ("%s[%d, %d]", what, (int)row, (int)i);

        CHECK_NEAR (plait_tensor_row (a, row)[i], plait_tensor_row (b, row)[i], NEAR);
      }
}

static void
check_chain (PlaitCellKind kind, PlaitResetOrder reset)
{
  static const gint64 left[] = { 0, 5, 6, 7 }, right[] = { 1, 2, 3, 4 };
  static const gint64 words[] = { 0, WORDS }, nodes[] = { 0, NODES };
  g_auto (Bench) bench = bench_new (1);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitTreeUnitDeclaration up = { .kind = kind == PLAIT_CELL_GRU ? PLAIT_TREE_GRU : PLAIT_TREE_LSTM,
                                  .reset = reset,
                                  .width = WIDTH,
                                  .candidate_bias = kind == PLAIT_CELL_GRU };
  PlaitCellDeclaration along
      = { .kind = kind, .reset = reset, .input_width = WIDTH, .width = WIDTH, .forget_bias = 0.5 };
  PlaitTreeUnit unit = plait_tree_unit_declare (parameters, "up", &up);
  PlaitCell cell = plait_cell_declare (parameters, "along", &along);
  PlaitNode *x[2], *given[2], *roots[2];

  CHECK (plait_parameters_allocate (parameters, NULL));
  plait_parameters_initialise (parameters, bench.pool, 1);
  for (gint64 i = 0; i < cell.input.bias->value.width; i++)
    cell.input.bias->value.data[i] = (PlaitScalar)(0.1 * (double)(i % 5) - 0.2);
  copy_cell (&unit, &cell);
  for (guint i = 0; i < 2; i++)
    x[i] = bench_random (&bench, WORDS, WIDTH, 1);
  given[0] = plait_tree_unit_apply (bench.tape, &unit,
                                    plait_tree_rows (bench.tape, (PlaitRagged){ 1, words }, words + 1,
                                                     (PlaitRagged){ 1, nodes }, left, right),
                                    (PlaitCellState){ x[0], NULL }, NULL)
                 .state;
  given[0] = plait_rows (bench.tape, given[0], WORDS, NODES);
  given[1] = plait_cell_run (
                 bench.tape, &cell, plait_cell_project (bench.tape, &cell, plait_rows (bench.tape, x[1], 1, NODES)),
                 (PlaitRagged){ 1, nodes }, FALSE, (PlaitCellState){ plait_rows (bench.tape, x[1], 0, 1), NULL })
                 .state;
  check_same ("states", given[0]->value, given[1]->value);
  for (guint i = 0; i < 2; i++)
    roots[i]
        = plait_reduce_sum (bench.tape, plait_multiply (bench.tape, given[i], bench_random (&bench, NODES, WIDTH, 2)));
  plait_tape_backward (bench.tape, plait_add_n (bench.tape, roots, 2));
  check_same ("gradient of the words", x[0]->gradient, x[1]->gradient);
}

TEST_CASE (chain, of_a_tree_lstm_is_an_lstm)
{
  check_chain (PLAIT_CELL_LSTM, PLAIT_RESET_BEFORE);
}

TEST_CASE (chain, of_a_tree_gru_is_a_gru)
{
  check_chain (PLAIT_CELL_GRU, PLAIT_RESET_BEFORE);
  check_chain (PLAIT_CELL_GRU, PLAIT_RESET_AFTER);
}
