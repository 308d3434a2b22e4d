/* SPDX-License-Identifier: MIT */
#include "autograd/internal.h"
#include "tensor/rows.h"
#include "recurrent/bottom-up.h"
#include "autograd/layer-operators.h"

enum
{
  BOTTOM_UP_LEAVES,
  BOTTOM_UP_LEAF_CELLS,
  BOTTOM_UP_PROJECTED,
  BOTTOM_UP_GATES,
  BOTTOM_UP_GATE_BIAS,
  BOTTOM_UP_CANDIDATE,
  BOTTOM_UP_CANDIDATE_BIAS,
  BOTTOM_UP_INPUTS
};

/* TRUE for a GRU that resets after its products: each child then has its own half of the candidate's weight. */
static gboolean
is_after (const PlaitBottomUp *bottom_up)
{
  return bottom_up->kind == PLAIT_TREE_GRU && bottom_up->reset == PLAIT_RESET_AFTER;
}

/* Sets the tensors of @bottom_up from the values of @node and its inputs, which the tape may have moved. */
static void
set_values (PlaitTape *tape, PlaitBottomUp *bottom_up, const PlaitNode *node)
{
  gint64 width = bottom_up->width;
  PlaitRnnWeight candidate = plait_tape_rnn_weight (tape, node->inputs[BOTTOM_UP_CANDIDATE]);

  bottom_up->gates = plait_tape_rnn_weight (tape, node->inputs[BOTTOM_UP_GATES]);
  bottom_up->candidate[0] = candidate;
  for (gint64 side = 0; side < 2 && is_after (bottom_up); side++)
    {
      bottom_up->candidate[side] = candidate;
      bottom_up->candidate[side].weight = plait_tensor_rows (candidate.weight, side * width, width);
    }
  bottom_up->gate_bias = plait_tape_value_if_any (tape, node->inputs[BOTTOM_UP_GATE_BIAS]).data;
  bottom_up->candidate_bias = plait_tape_value_if_any (tape, node->inputs[BOTTOM_UP_CANDIDATE_BIAS]).data;
  bottom_up->projected = plait_tape_value_if_any (tape, node->inputs[BOTTOM_UP_PROJECTED]);
  bottom_up->states = plait_tensor_columns (node->value, 0, width);
  if (bottom_up->kind == PLAIT_TREE_LSTM)
    bottom_up->cells = plait_tensor_columns (node->value, width, width);
}

static void
pack (PlaitTape *tape, PlaitBottomUp *bottom_up, gboolean transposed)
{
  if (bottom_up->heights->n < 2)
    return;
  plait_tape_pack (tape, &bottom_up->gates, transposed);
  for (gint side = 0; side < 2; side++)
    plait_tape_pack (tape, &bottom_up->candidate[side], transposed);
}

static void
unpack (PlaitTape *tape, PlaitBottomUp *bottom_up)
{
  plait_tape_unpack (tape, &bottom_up->gates);
  for (gint side = 0; side < 2; side++)
    plait_tape_unpack (tape, &bottom_up->candidate[side]);
}

/* Adds the gradients of the candidate's weight and bias. */
static void
add_candidate_gradients (PlaitTape *tape, const PlaitBottomUp *bottom_up, PlaitNode *weight, PlaitNode *bias)
{
  gint64 width = bottom_up->width;
  gboolean after = is_after (bottom_up);
  PlaitScalar beta;
  PlaitTensor dweight = plait_gradient_if_needed (tape, weight, &beta), dbias;
  PlaitTensor x = PLAIT_GRADIENT_TERM_TENSOR (tape, bottom_up_gru_candidate_weight,
                                              after ? bottom_up->children : bottom_up->reset_children);

  for (gint64 side = 0; side < 2 && dweight.data; side++)
    {
      PlaitLinearBackward work = {
        .dz = plait_tensor_columns (bottom_up->saved, (after ? 5 + side : 5) * width, width),
        .x = plait_tensor_columns (x, side * width, width),
        .dweight = plait_tensor_rows (dweight, side * width, width),
        .dweight_beta = beta,
        .precision = plait_tape_precision (tape),
      };

      plait_linear_backward (plait_tape_pool (tape), &work);
    }
  dbias = plait_gradient_if_needed (tape, bias, &beta);
  if (dbias.data)
    plait_rows_sum (
        plait_tape_pool (tape), dbias, beta,
        PLAIT_GRADIENT_TERM_TENSOR (tape, bottom_up_gru_candidate_bias,
                                    plait_tensor_columns (bottom_up->saved, (after ? 7 : 5) * width, width)));
}

static void
bottom_up_backward (PlaitTape *tape, PlaitNode *node)
{
  PlaitBottomUp *bottom_up = node->payload;
  PlaitPool *pool = plait_tape_pool (tape);
  gint64 width = bottom_up->width, most = bottom_up->heights->n > 0 ? bottom_up->heights->first[1] : 0;
  gboolean lstm = bottom_up->kind == PLAIT_TREE_LSTM;
  PlaitScalar beta;
  PlaitBottomUpBackward work = {
    .dstates = plait_tensor_columns (node->gradient, 0, width),
    .dcells = lstm ? plait_tensor_columns (node->gradient, width, width) : (PlaitTensor){ NULL, 0, 0, 0 },
    .dprojected = plait_gradient_if_needed (tape, node->inputs[BOTTOM_UP_PROJECTED], &beta),
    .adds = beta != 0,
    .dchildren = plait_tape_tensor (tape, most, 2 * width),
  };
  PlaitLinearBackward gates
      = { .dz = plait_tensor_columns (bottom_up->saved, 0, plait_bottom_up_gates (bottom_up->kind) * width),
          .precision = plait_tape_precision (tape) };

  set_values (tape, bottom_up, node);
  if (bottom_up->reset_children.data)
    work.dreset = plait_tape_tensor (tape, most, 2 * width);
  bottom_up->gates.weight = PLAIT_GRADIENT_TERM_TENSOR (tape, bottom_up_gates, bottom_up->gates.weight);
  for (gint side = 0; side < 2; side++)
    if (bottom_up->candidate[side].weight.data)
      bottom_up->candidate[side].weight
          = PLAIT_GRADIENT_TERM_TENSOR (tape, bottom_up_gru_reset_product, bottom_up->candidate[side].weight);
  pack (tape, bottom_up, TRUE);
  plait_bottom_up_run (pool, bottom_up, &work);
  unpack (tape, bottom_up);

  gates.x = PLAIT_GRADIENT_TERM_TENSOR (tape, bottom_up_gates_weight, bottom_up->children);
  gates.dweight = plait_gradient_if_needed (tape, node->inputs[BOTTOM_UP_GATES], &gates.dweight_beta);
  gates.dbias = plait_gradient_if_needed (tape, node->inputs[BOTTOM_UP_GATE_BIAS], &gates.dbias_beta);
  plait_linear_backward (pool, &gates);
  if (bottom_up->kind == PLAIT_TREE_GRU)
    add_candidate_gradients (tape, bottom_up, node->inputs[BOTTOM_UP_CANDIDATE],
                             node->inputs[BOTTOM_UP_CANDIDATE_BIAS]);
  plait_gradient_scatter (tape, node->inputs[BOTTOM_UP_LEAVES],
                          PLAIT_GRADIENT_TERM_TENSOR (tape, bottom_up_leaf, work.dstates), bottom_up->heights->leaf);
  if (lstm)
    plait_gradient_scatter (tape, node->inputs[BOTTOM_UP_LEAF_CELLS],
                            PLAIT_GRADIENT_TERM_TENSOR (tape, bottom_up_lstm_leaf, work.dcells),
                            bottom_up->heights->leaf);
  plait_tape_release (tape, work.dreset);
  plait_tape_release (tape, work.dchildren);
}

/* The tape need not keep the inputs: set_values() restores the few values that backward reads. */
static const PlaitOperator bottom_up_operator
    = { .name = "bottom_up", .backward = bottom_up_backward, .ignores_inputs = TRUE };

static void
expect_bottom_up_shapes (PlaitTape *tape, const PlaitTreeCell *cell, PlaitNode *const *inputs,
                         const PlaitTreeHeights *heights, gint64 width)
{
  gboolean gru = cell->kind == PLAIT_TREE_GRU;
  gint64 gates = plait_bottom_up_gates (cell->kind);
  const PlaitNode *leaf_cells = inputs[BOTTOM_UP_LEAF_CELLS], *projected = inputs[BOTTOM_UP_PROJECTED];

  plait_tape_expect (tape, (guint)cell->kind <= PLAIT_TREE_HEAD_WORD && (guint)cell->reset <= PLAIT_RESET_AFTER);
  plait_tape_expect (tape, cell->gates->value.rows == 2 * width && cell->gates->value.width == gates * width);
  plait_tape_expect (tape, gru == (cell->candidate != NULL) && (gru || !cell->candidate_bias));
  plait_tape_expect (tape, !gru || (cell->candidate->value.rows == 2 * width && cell->candidate->value.width == width));
  plait_tape_expect (tape, !leaf_cells || (cell->kind == PLAIT_TREE_LSTM && leaf_cells->value.width == width));
  plait_tape_expect (tape, !projected
                               || (projected->value.rows == plait_tree_nodes (heights)
                                   && projected->value.width == (gates + gru) * width));
}

PlaitNode *
plait_tree_bottom_up (PlaitTape *tape, const PlaitTreeCell *cell, const PlaitTreeHeights *heights, PlaitNode *leaves,
                      PlaitNode *leaf_cells, PlaitNode *projected)
{
  PlaitNode *inputs[BOTTOM_UP_INPUTS]
      = { leaves, leaf_cells, projected, cell->gates, cell->gate_bias, cell->candidate, cell->candidate_bias };
  gint64 width = leaves->value.width, nodes = plait_tree_nodes (heights);
  gboolean lstm = cell->kind == PLAIT_TREE_LSTM;
  PlaitPool *pool = plait_tape_pool (tape);
  PlaitNode *node;
  PlaitBottomUp *bottom_up;

  expect_bottom_up_shapes (tape, cell, inputs, heights, width);
  node = plait_tape_node (tape, &bottom_up_operator, heights->rows, lstm ? 2 * width : width, inputs, BOTTOM_UP_INPUTS,
                          sizeof *bottom_up);
  plait_tape_note_product (tape, leaves, cell->gates,
                           nodes * (plait_tape_n_elements (cell->gates) + plait_tape_n_elements (cell->candidate)));
  bottom_up = node->payload;
  *bottom_up = (PlaitBottomUp){ .kind = cell->kind, .reset = cell->reset, .width = width, .heights = heights };
  set_values (tape, bottom_up, node);
  bottom_up->children = plait_tape_save (tape, node, nodes, 2 * width);
  bottom_up->saved = plait_tape_save (tape, node, nodes, plait_bottom_up_saved (cell->kind, cell->reset) * width);
  if (cell->kind == PLAIT_TREE_GRU && cell->reset == PLAIT_RESET_BEFORE)
    bottom_up->reset_children = plait_tape_save (tape, node, nodes, 2 * width);

  plait_rows_gather (pool, bottom_up->states, 0, leaves->value, heights->leaf);
  if (lstm && leaf_cells)
    plait_rows_gather (pool, bottom_up->cells, 0, leaf_cells->value, heights->leaf);
  else if (lstm)
    plait_tensor_fill (pool, bottom_up->cells, 0, 0);
  pack (tape, bottom_up, FALSE);
  plait_bottom_up_run (pool, bottom_up, NULL);
  unpack (tape, bottom_up);
  if (!node->needs_gradient)
    plait_tape_release_saved (tape, node);
  return node;
}
