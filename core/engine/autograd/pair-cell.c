/* SPDX-License-Identifier: MIT */
#include "autograd/internal.h"
#include "attention/pair-cell.h"
#include "tensor/rows.h"
#include "autograd/layer-operators.h"

/* The first inputs of the node. Two more follow for each PlaitPairInput: its x and its weight. */
enum
{
  CELL_ROW_PART,
  CELL_QUERY_PART,
  CELL_NUMBER,
  CELL_NUMBER_WEIGHT,
  CELL_STATES,
  CELL_RECURRENT,
  CELL_CANDIDATE,
  CELL_INPUTS
};

static PlaitNode *
link_x (const PlaitNode *node, guint k)
{
  return node->inputs[CELL_INPUTS + 2 * k];
}

static PlaitNode *
link_weight (const PlaitNode *node, guint k)
{
  return node->inputs[CELL_INPUTS + 2 * k + 1];
}

/* Sets the tensors of @cell from the values of @node and its inputs, which the tape may have moved. */
static void
set_values (PlaitTape *tape, PlaitPairCell *cell, const PlaitNode *node)
{
  cell->number = plait_tape_value_if_any (tape, node->inputs[CELL_NUMBER]);
  cell->number_weight = plait_tape_value_if_any (tape, node->inputs[CELL_NUMBER_WEIGHT]);
  cell->previous = plait_tape_value_if_any (tape, node->inputs[CELL_STATES]);
  cell->recurrent = (PlaitRnnWeight){ .weight = plait_tape_value_if_any (tape, node->inputs[CELL_RECURRENT]) };
  cell->candidate = (PlaitRnnWeight){ .weight = plait_tape_value_if_any (tape, node->inputs[CELL_CANDIDATE]) };
  cell->states = node->value;
  for (guint k = 0; k < cell->n; k++)
    cell->links[k].x = plait_tape_value_if_any (tape, link_x (node, k));
}

static gint64
linked_width (const PlaitPairCell *cell)
{
  gint64 width = 0;

  for (guint k = 0; k < cell->n; k++)
    width += cell->links[k].x.width;
  return width;
}

/* Stacks the weights of all links into one factor and packs it. Only the panels are kept. */
static void
pack_linked (PlaitTape *tape, PlaitPairCell *cell, const PlaitNode *node, gboolean transposed)
{
  PlaitTensor stacked = plait_tape_tensor (tape, linked_width (cell), 3 * cell->width);
  gint64 row = 0;

  for (guint k = 0; k < cell->n; row += cell->links[k++].x.width)
    plait_tensor_accumulate (plait_tape_pool (tape), plait_tensor_rows (stacked, row, cell->links[k].x.width), 0, 1,
                             plait_tape_value_if_any (tape, link_weight (node, k)));
  cell->linked = (PlaitRnnWeight){ .weight = stacked };
  if (transposed)
    cell->linked.weight = PLAIT_GRADIENT_TERM_TENSOR (tape, pair_cell_linked, stacked);
  plait_tape_pack (tape, &cell->linked, transposed);
  plait_tape_release (tape, stacked);
}

static void
pack (PlaitTape *tape, PlaitPairCell *cell, const PlaitNode *node, gboolean transposed)
{
  if (cell->n > 0)
    pack_linked (tape, cell, node, transposed);
  plait_weight_reuse_pack (tape, &cell->recurrent, node->inputs[CELL_RECURRENT], 1, transposed, TRUE);
  plait_weight_reuse_pack (tape, &cell->candidate, node->inputs[CELL_CANDIDATE], 1, transposed, TRUE);
}

static void
unpack (PlaitTape *tape, PlaitPairCell *cell)
{
  plait_tape_unpack (tape, &cell->candidate);
  plait_tape_unpack (tape, &cell->recurrent);
  plait_tape_unpack (tape, &cell->linked);
}

/* Writes to @pairs the index of each pair that has a link to another pair. Returns the number of these pairs. */
static gint64
find_readers (const PlaitPairCell *cell, gint64 *pairs)
{
  gint64 n = 0;

  for (gint64 i = 0; i < cell->gates.rows; i++)
    for (guint k = 0; k < cell->n; k++)
      if (cell->links[k].link[i] >= 0)
        {
          pairs[n++] = i;
          break;
        }
  return n;
}

/* Adds the gradients of the links' weights, with one product over the pairs that have a link. */
static void
add_linked_weights (PlaitTape *tape, const PlaitPairCell *cell, const PlaitNode *node, PlaitTensor dprojected)
{
  PlaitPool *pool = plait_tape_pool (tape);
  gint64 *pairs = plait_arena_new_array (plait_tape_arena (tape), gint64, 2 * dprojected.rows + 1);
  gint64 *from = pairs + dprojected.rows, n = find_readers (cell, pairs), column = 0;
  PlaitTensor gradient = plait_tape_tensor (tape, linked_width (cell), dprojected.width);
  PlaitTensor read = plait_tape_tensor (tape, n, gradient.rows), dread = plait_tape_tensor (tape, n, gradient.width);

  plait_rows_gather (pool, dread, 0, dprojected, pairs);
  for (guint k = 0; k < cell->n; column += cell->links[k++].x.width)
    {
      for (gint64 i = 0; i < n; i++)
        from[i] = cell->links[k].link[pairs[i]];
      plait_rows_gather (pool, plait_tensor_columns (read, column, cell->links[k].x.width), 0, cell->links[k].x, from);
    }
  plait_product (pool, gradient, 0, PLAIT_GRADIENT_TERM_TENSOR (tape, pair_cell_linked_weight, read), TRUE, dread,
                 FALSE, plait_tape_precision (tape));
  column = 0;
  for (guint k = 0; k < cell->n; column += cell->links[k++].x.width)
    plait_gradient_add (tape, link_weight (node, k), 1, plait_tensor_rows (gradient, column, cell->links[k].x.width));
  plait_tape_release (tape, dread);
  plait_tape_release (tape, read);
  plait_tape_release (tape, gradient);
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
    .drow_part = plait_gradient_to_add_if_needed (tape, node->inputs[CELL_ROW_PART]),
    .dquery_part = plait_gradient_to_add_if_needed (tape, node->inputs[CELL_QUERY_PART]),
    .dprevious = plait_gradient_to_add_if_needed (tape, node->inputs[CELL_STATES]),
    .dnumber = plait_gradient_to_add_if_needed (tape, node->inputs[CELL_NUMBER]),
  };

  set_values (tape, cell, node);
  products = cell->recurrent.weight.width;
  for (guint k = 0; k < cell->n; k++)
    cell->links[k].dx = plait_gradient_to_add_if_needed (tape, link_x (node, k));
  cell->recurrent.weight = PLAIT_GRADIENT_TERM_TENSOR (tape, pair_cell_state, cell->recurrent.weight);
  if (before)
    cell->candidate.weight = PLAIT_GRADIENT_TERM_TENSOR (tape, pair_cell_candidate_state, cell->candidate.weight);
  pack (tape, cell, node, TRUE);
  plait_pair_cell_backward (plait_tape_pool (tape), cell, &work);
  unpack (tape, cell);

  plait_weight_reuse_collect (tape, node->inputs[CELL_RECURRENT], NULL,
                              PLAIT_GRADIENT_TERM_TENSOR (tape, pair_cell_weight, cell->previous),
                              plait_tensor_columns (cell->gates, 0, products));
  if (before)
    plait_weight_reuse_collect (tape, node->inputs[CELL_CANDIDATE], NULL,
                                PLAIT_GRADIENT_TERM_TENSOR (tape, pair_cell_candidate_weight, cell->reset_states),
                                plait_tensor_columns (cell->gates, products, width));
  plait_weight_reuse_collect (tape, node->inputs[CELL_NUMBER_WEIGHT], NULL,
                              PLAIT_GRADIENT_TERM_TENSOR (tape, pair_cell_number_weight, cell->number),
                              work.dprojected);
  if (cell->n > 0)
    add_linked_weights (tape, cell, node, work.dprojected);
  if (!before)
    plait_tape_release (tape, work.dprojected);
}

/* The tape need not keep the inputs: set_values() restores the few values that backward reads. */
static const PlaitOperator cell_operator
    = { .name = "pair_cell", .backward = cell_backward, .ignores_value = TRUE, .ignores_inputs = TRUE };

static void
expect_cell_shapes (PlaitTape *tape, const PlaitNode *node, const PlaitPairCell *cell, const PlaitRecurrentCell *gru)
{
  gint64 width = cell->width, pairs = plait_query_key_pairs_count (&cell->pairs);
  gboolean before = gru->reset == PLAIT_RESET_BEFORE;

  plait_tape_expect (tape, gru->kind == PLAIT_CELL_GRU && !gru->bias && before == (gru->candidate != NULL));
  plait_tape_expect (tape,
                     gru->recurrent->value.rows == width && gru->recurrent->value.width == (before ? 2 : 3) * width);
  plait_tape_expect (tape, node->inputs[CELL_STATES]->value.rows == pairs);
  plait_tape_expect (tape,
                     cell->row_part.width == 3 * width && cell->row_part.rows == plait_ragged_rows (cell->pairs.rows));
  plait_tape_expect (tape, cell->query_part.width == 3 * width
                               && cell->query_part.rows == plait_ragged_rows (cell->pairs.queries));
  plait_tape_expect (tape,
                     cell->number.rows == pairs && cell->number.width == 1 && cell->number_weight.width == 3 * width);
  for (guint k = 0; k < cell->n; k++)
    plait_tape_expect (tape, link_x (node, k)->value.rows == pairs && link_weight (node, k)->value.width == 3 * width
                                 && link_weight (node, k)->value.rows == link_x (node, k)->value.width);
}

/* Counts the multiplications of one step: previous states and linked inputs times their weights. */
static void
note_products (PlaitTape *tape, const PlaitRecurrentCell *gru, const PlaitPairInput *pair_inputs, guint n,
               PlaitNode *states)
{
  gint64 pairs = states->value.rows;

  plait_tape_note_product (tape, states, gru->recurrent,
                           pairs * (plait_tape_n_elements (gru->recurrent) + plait_tape_n_elements (gru->candidate)));
  for (guint k = 0; k < n; k++)
    {
      gint64 linked = 0;

      for (gint64 i = 0; i < pairs; i++)
        linked += pair_inputs[k].link[i] >= 0;
      plait_tape_note_product (tape, pair_inputs[k].x, pair_inputs[k].weight,
                               linked * plait_tape_n_elements (pair_inputs[k].weight));
    }
}

PlaitNode *
plait_pair_cell (PlaitTape *tape, const PlaitRecurrentCell *gru, const PlaitPairIndices *indices, PlaitNode *row_part,
                 PlaitNode *query_part, PlaitNode *number, PlaitNode *number_weight, const PlaitPairInput *pair_inputs,
                 guint n, PlaitNode *states)
{
  PlaitArena *arena = plait_tape_arena (tape);
  PlaitNode **inputs = plait_arena_new_array (arena, PlaitNode *, CELL_INPUTS + 2 * n);
  gint64 width = states->value.width, pairs = states->value.rows;
  PlaitNode *node;
  PlaitPairCell *cell;

  inputs[CELL_ROW_PART] = row_part;
  inputs[CELL_QUERY_PART] = query_part;
  inputs[CELL_NUMBER] = number;
  inputs[CELL_NUMBER_WEIGHT] = number_weight;
  inputs[CELL_STATES] = states;
  inputs[CELL_RECURRENT] = gru->recurrent;
  inputs[CELL_CANDIDATE] = gru->candidate;
  for (guint k = 0; k < n; k++)
    {
      inputs[CELL_INPUTS + 2 * k] = pair_inputs[k].x;
      inputs[CELL_INPUTS + 2 * k + 1] = pair_inputs[k].weight;
    }
  node = plait_tape_node (tape, &cell_operator, pairs, width, inputs, CELL_INPUTS + 2 * n, sizeof *cell);
  cell = node->payload;
  *cell = (PlaitPairCell){
    .pairs = indices->pairs,
    .rows = indices->rows,
    .queries = indices->queries,
    .reset = gru->reset,
    .width = width,
    .row_part = row_part->value,
    .query_part = query_part->value,
    .links = plait_arena_new_array (arena, PlaitPairLink, n + 1),
    .n = n,
    .gates = plait_tape_save (tape, node, pairs, plait_recurrence_saved (PLAIT_CELL_GRU, gru->reset) * width),
  };
  for (guint k = 0; k < n; k++)
    cell->links[k] = (PlaitPairLink){ .link = pair_inputs[k].link };
  if (gru->reset == PLAIT_RESET_BEFORE)
    cell->reset_states = plait_tape_save (tape, node, pairs, width);
  set_values (tape, cell, node);
  expect_cell_shapes (tape, node, cell, gru);
  note_products (tape, gru, pair_inputs, n, states);
  pack (tape, cell, node, FALSE);
  plait_pair_cell_forward (plait_tape_pool (tape), cell);
  unpack (tape, cell);
  if (!node->needs_gradient)
    plait_tape_release_saved (tape, node);
  return node;
}
