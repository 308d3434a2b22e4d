/* SPDX-License-Identifier: MIT */
#include "autograd/internal.h"
#include "autograd/operators.h"
#include "tensor/pair-cell.h"
#include "tensor/rows.h"

/* The node's inputs; behind them, two for each input of the gates, what it reads and its weight. */
enum
{
  CELL_ROW_PART,
  CELL_QUERY_PART,
  CELL_STATES,
  CELL_RECURRENT,
  CELL_CANDIDATE,
  CELL_INPUTS
};

/* Factors that a call needs packed: the inputs', the recurrent one and the candidate's. */
typedef struct
{
  PlaitPacked **own; /* [n + 2]: those that the call made, to be released */
  guint n;
} Panels;

static PlaitNode *
input_x (const PlaitNode *node, guint k)
{
  return node->inputs[CELL_INPUTS + 2 * k];
}

static PlaitNode *
input_weight (const PlaitNode *node, guint k)
{
  return node->inputs[CELL_INPUTS + 2 * k + 1];
}

/* What @cell reads and writes; values may have moved since the last time. */
static void
set_values (PlaitTape *tape, PlaitPairCell *cell, const PlaitNode *node)
{
  cell->previous = plait_tape_value_if_any (tape, node->inputs[CELL_STATES]);
  cell->recurrent = (PlaitStepFactor){ plait_tape_value_if_any (tape, node->inputs[CELL_RECURRENT]), NULL };
  cell->candidate = (PlaitStepFactor){ plait_tape_value_if_any (tape, node->inputs[CELL_CANDIDATE]), NULL };
  cell->states = node->value;
  for (guint k = 0; k < cell->n; k++)
    {
      cell->inputs[k].x = plait_tape_value_if_any (tape, input_x (node, k));
      cell->inputs[k].factor = (PlaitStepFactor){ plait_tape_value_if_any (tape, input_weight (node, k)), NULL };
    }
}

static void
pack_one (PlaitTape *tape, Panels *panels, PlaitStepFactor *factor, PlaitNode *weight, gboolean transposed)
{
  if (weight == NULL)
    return;
  factor->packed
      = transposed ? plait_often_transposed (tape, weight, factor->weight, 1) : plait_often_packed (tape, weight, 1);
  if (factor->packed != NULL)
    return;
  panels->own[panels->n] = plait_pack_in (plait_tape_arena (tape), plait_tape_pool (tape), factor->weight, transposed);
  factor->packed = panels->own[panels->n++];
}

static Panels
pack (PlaitTape *tape, PlaitPairCell *cell, const PlaitNode *node, gboolean transposed)
{
  Panels panels = { plait_arena_new_array (plait_tape_arena (tape), PlaitPacked *, cell->n + 2), 0 };

  for (guint k = 0; k < cell->n; k++)
    if (cell->inputs[k].x.width > 1)
      pack_one (tape, &panels, &cell->inputs[k].factor, input_weight (node, k), transposed);
  pack_one (tape, &panels, &cell->recurrent, node->inputs[CELL_RECURRENT], transposed);
  pack_one (tape, &panels, &cell->candidate, node->inputs[CELL_CANDIDATE], transposed);
  return panels;
}

static void
release (PlaitTape *tape, const Panels *panels)
{
  for (guint i = panels->n; i > 0; i--)
    plait_packed_release (plait_tape_arena (tape), panels->own[i - 1]);
}

static PlaitTensor
to_add (PlaitTape *tape, PlaitNode *input)
{
  return input->needs_gradient ? plait_gradient_to_add (tape, input) : (PlaitTensor){ 0 };
}

/* The gradient of an input's weight, over the pairs that read it. */
static void
add_input_weight (PlaitTape *tape, const PlaitPairInput *input, PlaitNode *weight, PlaitTensor dprojected)
{
  PlaitPool *pool = plait_tape_pool (tape);
  PlaitTensor x = PLAIT_TERM_TENSOR (tape, pair_cell_input_weight, input->x), read, dread;
  gint64 *pairs, *from, n = 0;

  if (input->link == NULL)
    {
      plait_often_collect (tape, weight, NULL, x, dprojected);
      return;
    }
  pairs = plait_arena_new_array (plait_tape_arena (tape), gint64, 2 * dprojected.rows + 1);
  from = pairs + dprojected.rows;
  for (gint64 i = 0; i < dprojected.rows; i++)
    if (input->link[i] >= 0)
      {
        pairs[n] = i;
        from[n++] = input->link[i];
      }
  read = plait_tape_tensor (tape, n, x.width);
  dread = plait_tape_tensor (tape, n, dprojected.width);
  plait_rows_gather (pool, read, 0, x, from);
  plait_rows_gather (pool, dread, 0, dprojected, pairs);
  plait_often_collect (tape, weight, NULL, read, dread);
  plait_tape_release (tape, dread);
  plait_tape_release (tape, read);
}

static void
cell_backward (PlaitTape *tape, PlaitNode *node)
{
  PlaitPairCell *cell = node->payload;
  gint64 width = cell->width, products;
  gboolean before = cell->reset == PLAIT_RESET_BEFORE;
  PlaitPairCellBackward work = {
    .dstates = node->gradient,
    .dprojected
    = before ? plait_tensor_columns (cell->gates, 0, 3 * width) : plait_tape_tensor (tape, cell->gates.rows, 3 * width),
    .drow_part = to_add (tape, node->inputs[CELL_ROW_PART]),
    .dquery_part = to_add (tape, node->inputs[CELL_QUERY_PART]),
    .dprevious = to_add (tape, node->inputs[CELL_STATES]),
  };
  Panels panels;

  set_values (tape, cell, node);
  products = cell->recurrent.weight.width;
  for (guint k = 0; k < cell->n; k++)
    {
      cell->inputs[k].dx = to_add (tape, input_x (node, k));
      cell->inputs[k].factor.weight = PLAIT_TERM_TENSOR (tape, pair_cell_input, cell->inputs[k].factor.weight);
    }
  cell->recurrent.weight = PLAIT_TERM_TENSOR (tape, pair_cell_back, cell->recurrent.weight);
  if (before)
    cell->candidate.weight = PLAIT_TERM_TENSOR (tape, pair_cell_candidate_back, cell->candidate.weight);
  panels = pack (tape, cell, node, TRUE);
  plait_pair_cell_backward (plait_tape_pool (tape), cell, &work);
  release (tape, &panels);

  plait_often_collect (tape, node->inputs[CELL_RECURRENT], NULL,
                       PLAIT_TERM_TENSOR (tape, pair_cell_weight, cell->previous),
                       plait_tensor_columns (cell->gates, 0, products));
  if (before)
    plait_often_collect (tape, node->inputs[CELL_CANDIDATE], NULL,
                         PLAIT_TERM_TENSOR (tape, pair_cell_candidate_weight, cell->reset_states),
                         plait_tensor_columns (cell->gates, products, width));
  for (guint k = 0; k < cell->n; k++)
    add_input_weight (tape, &cell->inputs[k], input_weight (node, k), work.dprojected);
  if (!before)
    plait_tape_release (tape, work.dprojected);
  plait_tape_release (tape, cell->reset_states);
  plait_tape_release (tape, cell->gates);
}

/* What backward reads of the inputs it asks for itself. */
static const PlaitOperator cell_operator
    = { .name = "pair_cell", .backward = cell_backward, .ignores_value = TRUE, .ignores_inputs = TRUE };

static void
assert_shapes (const PlaitNode *node, const PlaitPairCell *cell, const PlaitRecurrentCell *gru)
{
  gint64 width = cell->width, pairs = plait_pairs_number (&cell->pairs);
  gboolean before = gru->reset == PLAIT_RESET_BEFORE;

  g_assert (gru->kind == PLAIT_CELL_GRU && gru->bias == NULL && before == (gru->candidate != NULL));
  g_assert (gru->recurrent->value.rows == width && gru->recurrent->value.width == (before ? 2 : 3) * width);
  g_assert (node->inputs[CELL_STATES]->value.rows == pairs);
  g_assert (cell->row_part.width == 3 * width && cell->row_part.rows == plait_ragged_rows (cell->pairs.rows));
  g_assert (cell->query_part.width == 3 * width && cell->query_part.rows == plait_ragged_rows (cell->pairs.queries));
  for (guint k = 0; k < cell->n; k++)
    g_assert (input_x (node, k)->value.rows == pairs && input_weight (node, k)->value.width == 3 * width
              && input_weight (node, k)->value.rows == input_x (node, k)->value.width);
}

PlaitNode *
plait_pair_cell (PlaitTape *tape, const PlaitRecurrentCell *gru, const PlaitPairPlaces *places, PlaitNode *row_part,
                 PlaitNode *query_part, const PlaitPairReading *readings, guint n, PlaitNode *states)
{
  PlaitArena *arena = plait_tape_arena (tape);
  PlaitNode **inputs = plait_arena_new_array (arena, PlaitNode *, CELL_INPUTS + 2 * n);
  gint64 width = states->value.width, pairs = states->value.rows;
  PlaitNode *node;
  PlaitPairCell *cell;
  Panels panels;

  inputs[CELL_ROW_PART] = row_part;
  inputs[CELL_QUERY_PART] = query_part;
  inputs[CELL_STATES] = states;
  inputs[CELL_RECURRENT] = gru->recurrent;
  inputs[CELL_CANDIDATE] = gru->candidate;
  for (guint k = 0; k < n; k++)
    {
      inputs[CELL_INPUTS + 2 * k] = readings[k].x;
      inputs[CELL_INPUTS + 2 * k + 1] = readings[k].weight;
    }
  node = plait_tape_node (tape, &cell_operator, pairs, width, inputs, CELL_INPUTS + 2 * n, sizeof *cell);
  cell = node->payload;
  *cell = (PlaitPairCell){
    .pairs = places->pairs,
    .rows = places->rows,
    .queries = places->queries,
    .reset = gru->reset,
    .width = width,
    .row_part = row_part->value,
    .query_part = query_part->value,
    .inputs = plait_arena_new_array (arena, PlaitPairInput, n + 1),
    .n = n,
    .gates = plait_tape_tensor (tape, pairs, plait_recurrence_kept (PLAIT_CELL_GRU, gru->reset) * width),
  };
  for (guint k = 0; k < n; k++)
    cell->inputs[k] = (PlaitPairInput){ .link = readings[k].link };
  assert_shapes (node, cell, gru);
  if (gru->reset == PLAIT_RESET_BEFORE)
    cell->reset_states = plait_tape_tensor (tape, pairs, width);
  set_values (tape, cell, node);
  panels = pack (tape, cell, node, FALSE);
  plait_pair_cell_forward (plait_tape_pool (tape), cell);
  release (tape, &panels);
  if (!node->needs_gradient)
    {
      plait_tape_release (tape, cell->reset_states);
      plait_tape_release (tape, cell->gates);
    }
  return node;
}
