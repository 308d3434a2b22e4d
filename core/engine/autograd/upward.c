/* SPDX-License-Identifier: MIT */
#include "autograd/internal.h"
#include "tensor/rows.h"
#include "recurrent/upward.h"
#include "autograd/layer-operators.h"

enum
{
  UPWARD_LEAVES,
  UPWARD_LEAF_CELLS,
  UPWARD_PROJECTED,
  UPWARD_GATES,
  UPWARD_GATE_BIAS,
  UPWARD_CANDIDATE,
  UPWARD_CANDIDATE_BIAS,
  UPWARD_INPUTS
};

/* TRUE if the candidate's weight is multiplied child by child. */
static gboolean
is_after (const PlaitUpward *upward)
{
  return upward->kind == PLAIT_TREE_GRU && upward->reset == PLAIT_RESET_AFTER;
}

/* What @upward reads and writes; values may have moved since the last time. */
static void
set_values (PlaitTape *tape, PlaitUpward *upward, const PlaitNode *node)
{
  gint64 width = upward->width;
  PlaitStepFactor candidate = plait_tape_factor (tape, node->inputs[UPWARD_CANDIDATE]);

  upward->gates = plait_tape_factor (tape, node->inputs[UPWARD_GATES]);
  upward->candidate[0] = candidate;
  for (gint64 side = 0; side < 2 && is_after (upward); side++)
    {
      upward->candidate[side] = candidate;
      upward->candidate[side].weight = plait_tensor_rows (candidate.weight, side * width, width);
    }
  upward->gate_bias = plait_tape_value_if_any (tape, node->inputs[UPWARD_GATE_BIAS]).data;
  upward->candidate_bias = plait_tape_value_if_any (tape, node->inputs[UPWARD_CANDIDATE_BIAS]).data;
  upward->projected = plait_tape_value_if_any (tape, node->inputs[UPWARD_PROJECTED]);
  upward->states = plait_tensor_columns (node->value, 0, width);
  if (upward->kind == PLAIT_TREE_LSTM)
    upward->cells = plait_tensor_columns (node->value, width, width);
}

static void
pack (PlaitTape *tape, PlaitUpward *upward, gboolean transposed)
{
  if (upward->heights->n < 2)
    return;
  plait_tape_pack (tape, &upward->gates, transposed);
  for (gint side = 0; side < 2; side++)
    plait_tape_pack (tape, &upward->candidate[side], transposed);
}

static void
unpack (PlaitTape *tape, PlaitUpward *upward)
{
  plait_tape_unpack (tape, &upward->gates);
  for (gint side = 0; side < 2; side++)
    plait_tape_unpack (tape, &upward->candidate[side]);
}

/* Gradients of the candidate's weight and bias. */
static void
add_candidate_gradients (PlaitTape *tape, const PlaitUpward *upward, PlaitNode *weight, PlaitNode *bias)
{
  gint64 width = upward->width;
  gboolean after = is_after (upward);
  PlaitScalar beta;
  PlaitTensor dweight = plait_gradient_if_needed (tape, weight, &beta), dbias;
  PlaitTensor x
      = PLAIT_TERM_TENSOR (tape, upward_gru_candidate_weight, after ? upward->children : upward->reset_children);

  for (gint64 side = 0; side < 2 && dweight.data; side++)
    {
      PlaitLinearBackward work = {
        .dz = plait_tensor_columns (upward->kept, (after ? 5 + side : 5) * width, width),
        .x = plait_tensor_columns (x, side * width, width),
        .dweight = plait_tensor_rows (dweight, side * width, width),
        .dweight_beta = beta,
        .precision = plait_tape_precision (tape),
      };

      plait_linear_backward (plait_tape_pool (tape), &work);
    }
  dbias = plait_gradient_if_needed (tape, bias, &beta);
  if (dbias.data)
    plait_rows_sum (plait_tape_pool (tape), dbias, beta,
                    PLAIT_TERM_TENSOR (tape, upward_gru_candidate_bias,
                                       plait_tensor_columns (upward->kept, (after ? 7 : 5) * width, width)));
}

static void
upward_backward (PlaitTape *tape, PlaitNode *node)
{
  PlaitUpward *upward = node->payload;
  PlaitPool *pool = plait_tape_pool (tape);
  gint64 width = upward->width, most = upward->heights->n > 0 ? upward->heights->first[1] : 0;
  gboolean lstm = upward->kind == PLAIT_TREE_LSTM;
  PlaitScalar beta;
  PlaitUpwardBackward work = {
    .dstates = plait_tensor_columns (node->gradient, 0, width),
    .dcells = lstm ? plait_tensor_columns (node->gradient, width, width) : (PlaitTensor){ NULL, 0, 0, 0 },
    .dprojected = plait_gradient_if_needed (tape, node->inputs[UPWARD_PROJECTED], &beta),
    .adds = beta != 0,
    .dchildren = plait_tape_tensor (tape, most, 2 * width),
  };
  PlaitLinearBackward gates = { .dz = plait_tensor_columns (upward->kept, 0, plait_upward_gates (upward->kind) * width),
                                .precision = plait_tape_precision (tape) };

  set_values (tape, upward, node);
  if (upward->reset_children.data)
    work.dreset = plait_tape_tensor (tape, most, 2 * width);
  upward->gates.weight = PLAIT_TERM_TENSOR (tape, upward_gates, upward->gates.weight);
  for (gint side = 0; side < 2; side++)
    if (upward->candidate[side].weight.data)
      upward->candidate[side].weight
          = PLAIT_TERM_TENSOR (tape, upward_gru_reset_product, upward->candidate[side].weight);
  pack (tape, upward, TRUE);
  plait_upward_run (pool, upward, &work);
  unpack (tape, upward);

  gates.x = PLAIT_TERM_TENSOR (tape, upward_gates_weight, upward->children);
  gates.dweight = plait_gradient_if_needed (tape, node->inputs[UPWARD_GATES], &gates.dweight_beta);
  gates.dbias = plait_gradient_if_needed (tape, node->inputs[UPWARD_GATE_BIAS], &gates.dbias_beta);
  plait_linear_backward (pool, &gates);
  if (upward->kind == PLAIT_TREE_GRU)
    add_candidate_gradients (tape, upward, node->inputs[UPWARD_CANDIDATE], node->inputs[UPWARD_CANDIDATE_BIAS]);
  plait_gradient_scatter (tape, node->inputs[UPWARD_LEAVES], PLAIT_TERM_TENSOR (tape, upward_leaf, work.dstates),
                          upward->heights->leaf);
  if (lstm)
    plait_gradient_scatter (tape, node->inputs[UPWARD_LEAF_CELLS],
                            PLAIT_TERM_TENSOR (tape, upward_lstm_leaf, work.dcells), upward->heights->leaf);
  plait_tape_release (tape, work.dreset);
  plait_tape_release (tape, work.dchildren);
}

/* What backward reads of the inputs it asks for itself. */
static const PlaitOperator upward_operator = { .name = "upward", .backward = upward_backward, .ignores_inputs = TRUE };

static void
expect_upward_shapes (PlaitTape *tape, const PlaitTreeCell *cell, PlaitNode *const *inputs,
                      const PlaitTreeHeights *heights, gint64 width)
{
  gboolean gru = cell->kind == PLAIT_TREE_GRU;
  gint64 gates = plait_upward_gates (cell->kind);
  const PlaitNode *leaf_cells = inputs[UPWARD_LEAF_CELLS], *projected = inputs[UPWARD_PROJECTED];

  plait_tape_expect (tape, (guint)cell->kind <= PLAIT_TREE_HEAD && (guint)cell->reset <= PLAIT_RESET_AFTER);
  plait_tape_expect (tape, cell->gates->value.rows == 2 * width && cell->gates->value.width == gates * width);
  plait_tape_expect (tape, gru == (cell->candidate != NULL) && (gru || !cell->candidate_bias));
  plait_tape_expect (tape, !gru || (cell->candidate->value.rows == 2 * width && cell->candidate->value.width == width));
  plait_tape_expect (tape, !leaf_cells || (cell->kind == PLAIT_TREE_LSTM && leaf_cells->value.width == width));
  plait_tape_expect (tape, !projected
                               || (projected->value.rows == plait_tree_nodes (heights)
                                   && projected->value.width == (gates + gru) * width));
}

PlaitNode *
plait_upward (PlaitTape *tape, const PlaitTreeCell *cell, const PlaitTreeHeights *heights, PlaitNode *leaves,
              PlaitNode *leaf_cells, PlaitNode *projected)
{
  PlaitNode *inputs[UPWARD_INPUTS]
      = { leaves, leaf_cells, projected, cell->gates, cell->gate_bias, cell->candidate, cell->candidate_bias };
  gint64 width = leaves->value.width, nodes = plait_tree_nodes (heights);
  gboolean lstm = cell->kind == PLAIT_TREE_LSTM;
  PlaitPool *pool = plait_tape_pool (tape);
  PlaitNode *node;
  PlaitUpward *upward;

  expect_upward_shapes (tape, cell, inputs, heights, width);
  node = plait_tape_node (tape, &upward_operator, heights->rows, lstm ? 2 * width : width, inputs, UPWARD_INPUTS,
                          sizeof *upward);
  plait_tape_note_product (tape, leaves, cell->gates,
                           nodes * (plait_tape_numbers (cell->gates) + plait_tape_numbers (cell->candidate)));
  upward = node->payload;
  *upward = (PlaitUpward){ .kind = cell->kind, .reset = cell->reset, .width = width, .heights = heights };
  set_values (tape, upward, node);
  upward->children = plait_tape_keep (tape, node, nodes, 2 * width);
  upward->kept = plait_tape_keep (tape, node, nodes, plait_upward_kept (cell->kind, cell->reset) * width);
  if (cell->kind == PLAIT_TREE_GRU && cell->reset == PLAIT_RESET_BEFORE)
    upward->reset_children = plait_tape_keep (tape, node, nodes, 2 * width);

  plait_rows_gather (pool, upward->states, 0, leaves->value, heights->leaf);
  if (lstm && leaf_cells)
    plait_rows_gather (pool, upward->cells, 0, leaf_cells->value, heights->leaf);
  else if (lstm)
    plait_tensor_fill (pool, upward->cells, 0, 0);
  pack (tape, upward, FALSE);
  plait_upward_run (pool, upward, NULL);
  unpack (tape, upward);
  if (!node->needs_gradient)
    plait_tape_release_kept (tape, node);
  return node;
}
