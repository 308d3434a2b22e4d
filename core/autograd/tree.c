/* SPDX-License-Identifier: MIT */
#include "autograd/internal.h"
#include "autograd/operators.h"
#include "tensor/rows.h"
#include "tensor/tree.h"

enum
{
  CLIMB_LEAVES,
  CLIMB_LEAF_CELLS,
  CLIMB_PROJECTED,
  CLIMB_GATES,
  CLIMB_GATE_BIAS,
  CLIMB_CANDIDATE,
  CLIMB_CANDIDATE_BIAS,
  CLIMB_INPUTS
};

/* Panels that were made for one way up or down. */
typedef struct
{
  PlaitPacked *gates;
  PlaitPacked *candidate[2];
} Panels;

/* Whether the candidate's weight is multiplied child by child. */
static gboolean
is_after (const PlaitClimb *climb)
{
  return climb->kind == PLAIT_TREE_GRU && climb->reset == PLAIT_RESET_AFTER;
}

/* What @climb reads and writes; values may have moved since the last time. */
static void
set_values (PlaitTape *tape, PlaitClimb *climb, const PlaitNode *node)
{
  gint64 width = climb->width;
  PlaitTensor candidate = plait_tape_value_if_any (tape, node->inputs[CLIMB_CANDIDATE]);

  climb->gates = (PlaitStepFactor){ plait_tape_value_if_any (tape, node->inputs[CLIMB_GATES]), NULL };
  climb->candidate[0] = (PlaitStepFactor){ candidate, NULL };
  if (is_after (climb))
    for (gint64 side = 0; side < 2; side++)
      climb->candidate[side] = (PlaitStepFactor){ plait_tensor_rows (candidate, side * width, width), NULL };
  climb->gate_bias = plait_tape_value_if_any (tape, node->inputs[CLIMB_GATE_BIAS]).data;
  climb->candidate_bias = plait_tape_value_if_any (tape, node->inputs[CLIMB_CANDIDATE_BIAS]).data;
  climb->projected = plait_tape_value_if_any (tape, node->inputs[CLIMB_PROJECTED]);
  climb->states = plait_tensor_columns (node->value, 0, width);
  if (climb->kind == PLAIT_TREE_LSTM)
    climb->cells = plait_tensor_columns (node->value, width, width);
}

static PlaitPacked *
pack_one (PlaitTape *tape, PlaitStepFactor *factor, gboolean transposed)
{
  PlaitPacked *packed;

  if (!factor->weight.data)
    return NULL;
  packed = plait_pack_in (plait_tape_arena (tape), plait_tape_pool (tape), factor->weight, transposed);
  factor->packed = packed;
  return packed;
}

static Panels
pack (PlaitTape *tape, PlaitClimb *climb, gboolean transposed)
{
  Panels panels = { NULL, { NULL, NULL } };

  if (climb->levels->levels < 2)
    return panels;
  panels.gates = pack_one (tape, &climb->gates, transposed);
  for (gint side = 0; side < 2; side++)
    panels.candidate[side] = pack_one (tape, &climb->candidate[side], transposed);
  return panels;
}

static void
release_panels (PlaitTape *tape, const Panels *panels)
{
  plait_packed_release (plait_tape_arena (tape), panels->gates);
  for (gint side = 0; side < 2; side++)
    plait_packed_release (plait_tape_arena (tape), panels->candidate[side]);
}

static void
release_collected (PlaitTape *tape, const PlaitClimb *climb)
{
  plait_tape_release (tape, climb->children);
  plait_tape_release (tape, climb->kept);
  plait_tape_release (tape, climb->reset_children);
}

/* Gradients of the candidate's weight and bias. */
static void
add_candidate_gradients (PlaitTape *tape, const PlaitClimb *climb, PlaitNode *weight, PlaitNode *bias)
{
  gint64 width = climb->width;
  gboolean after = is_after (climb);
  PlaitScalar beta;
  PlaitTensor dweight = plait_gradient_if_needed (tape, weight, &beta), dbias;
  PlaitTensor x = PLAIT_TERM_TENSOR (tape, climb_gru_candidate_weight, after ? climb->children : climb->reset_children);

  for (gint64 side = 0; side < 2 && dweight.data; side++)
    {
      PlaitLinearBackward work = {
        .dz = plait_tensor_columns (climb->kept, (after ? 5 + side : 5) * width, width),
        .x = plait_tensor_columns (x, side * width, width),
        .dweight = plait_tensor_rows (dweight, side * width, width),
        .dweight_beta = beta,
      };

      plait_linear_backward (plait_tape_pool (tape), &work);
    }
  dbias = plait_gradient_if_needed (tape, bias, &beta);
  if (dbias.data)
    plait_rows_sum (plait_tape_pool (tape), dbias, beta,
                    PLAIT_TERM_TENSOR (tape, climb_gru_candidate_bias,
                                       plait_tensor_columns (climb->kept, (after ? 7 : 5) * width, width)));
}

/* Adds the rows of the leaves to the gradient of @input. */
static void
add_leaves (PlaitTape *tape, const PlaitClimb *climb, PlaitNode *input, PlaitTensor gradient)
{
  if (input && input->needs_gradient)
    plait_rows_scatter_add (plait_tape_pool (tape), plait_gradient_to_add (tape, input), gradient, climb->levels->leaf);
}

/* Nodes of the largest level. */
static gint64
most_nodes (const PlaitTreeLevels *levels)
{
  gint64 most = 0;

  for (gint64 l = 0; l < levels->levels; l++)
    most = MAX (most, levels->first[l + 1] - levels->first[l]);
  return most;
}

static void
climb_backward (PlaitTape *tape, PlaitNode *node)
{
  PlaitClimb *climb = node->payload;
  PlaitPool *pool = plait_tape_pool (tape);
  gint64 width = climb->width, most = most_nodes (climb->levels);
  gboolean lstm = climb->kind == PLAIT_TREE_LSTM;
  PlaitScalar beta;
  PlaitClimbBackward work = {
    .dstates = plait_tensor_columns (node->gradient, 0, width),
    .dcells = lstm ? plait_tensor_columns (node->gradient, width, width) : (PlaitTensor){ NULL, 0, 0, 0 },
    .dprojected = plait_gradient_if_needed (tape, node->inputs[CLIMB_PROJECTED], &beta),
    .adds = beta != 0,
    .dchildren = plait_tape_tensor (tape, most, 2 * width),
  };
  PlaitLinearBackward gates = { .dz = plait_tensor_columns (climb->kept, 0, plait_climb_gates (climb->kind) * width) };
  Panels panels;

  set_values (tape, climb, node);
  if (climb->reset_children.data)
    work.dreset = plait_tape_tensor (tape, most, 2 * width);
  climb->gates.weight = PLAIT_TERM_TENSOR (tape, climb_gates, climb->gates.weight);
  for (gint side = 0; side < 2; side++)
    if (climb->candidate[side].weight.data)
      climb->candidate[side].weight = PLAIT_TERM_TENSOR (tape, climb_gru_reset_product, climb->candidate[side].weight);
  panels = pack (tape, climb, TRUE);
  plait_climb_backward (pool, climb, &work);
  release_panels (tape, &panels);

  gates.x = PLAIT_TERM_TENSOR (tape, climb_gates_weight, climb->children);
  gates.dweight = plait_gradient_if_needed (tape, node->inputs[CLIMB_GATES], &gates.dweight_beta);
  gates.dbias = plait_gradient_if_needed (tape, node->inputs[CLIMB_GATE_BIAS], &gates.dbias_beta);
  plait_linear_backward (pool, &gates);
  if (climb->kind == PLAIT_TREE_GRU)
    add_candidate_gradients (tape, climb, node->inputs[CLIMB_CANDIDATE], node->inputs[CLIMB_CANDIDATE_BIAS]);
  add_leaves (tape, climb, node->inputs[CLIMB_LEAVES], PLAIT_TERM_TENSOR (tape, climb_leaf, work.dstates));
  if (lstm)
    add_leaves (tape, climb, node->inputs[CLIMB_LEAF_CELLS], PLAIT_TERM_TENSOR (tape, climb_lstm_leaf, work.dcells));
  plait_tape_release (tape, work.dreset);
  plait_tape_release (tape, work.dchildren);
  release_collected (tape, climb);
}

/* What backward reads of the inputs it asks for itself. */
static const PlaitOperator climb_operator = { .name = "climb", .backward = climb_backward, .ignores_inputs = TRUE };

static void
expect_climb_shapes (PlaitTape *tape, const PlaitTreeCell *cell, PlaitNode *const *inputs,
                     const PlaitTreeLevels *levels, gint64 width)
{
  gboolean gru = cell->kind == PLAIT_TREE_GRU;
  gint64 gates = plait_climb_gates (cell->kind);
  const PlaitNode *leaf_cells = inputs[CLIMB_LEAF_CELLS], *projected = inputs[CLIMB_PROJECTED];

  plait_tape_expect (tape, cell->gates->value.rows == 2 * width && cell->gates->value.width == gates * width);
  plait_tape_expect (tape, gru == (cell->candidate != NULL) && (gru || !cell->candidate_bias));
  plait_tape_expect (tape, !gru || (cell->candidate->value.rows == 2 * width && cell->candidate->value.width == width));
  plait_tape_expect (tape, !leaf_cells || (cell->kind == PLAIT_TREE_LSTM && leaf_cells->value.width == width));
  plait_tape_expect (tape, !projected
                               || (projected->value.rows == plait_tree_nodes (levels)
                                   && projected->value.width == (gates + gru) * width));
}

PlaitNode *
plait_climb (PlaitTape *tape, const PlaitTreeCell *cell, const PlaitTreeLevels *levels, PlaitNode *leaves,
             PlaitNode *leaf_cells, PlaitNode *projected)
{
  PlaitNode *inputs[CLIMB_INPUTS]
      = { leaves, leaf_cells, projected, cell->gates, cell->gate_bias, cell->candidate, cell->candidate_bias };
  gint64 width = leaves->value.width, nodes = plait_tree_nodes (levels);
  gboolean lstm = cell->kind == PLAIT_TREE_LSTM;
  PlaitPool *pool = plait_tape_pool (tape);
  PlaitNode *node;
  PlaitClimb *climb;
  Panels panels;

  expect_climb_shapes (tape, cell, inputs, levels, width);
  node = plait_tape_node (tape, &climb_operator, levels->rows, lstm ? 2 * width : width, inputs, CLIMB_INPUTS,
                          sizeof *climb);
  plait_tape_note_product (tape, leaves, cell->gates,
                           nodes * (plait_tape_numbers (cell->gates) + plait_tape_numbers (cell->candidate)));
  climb = node->payload;
  *climb = (PlaitClimb){ .kind = cell->kind, .reset = cell->reset, .width = width, .levels = levels };
  set_values (tape, climb, node);
  climb->children = plait_tape_tensor (tape, nodes, 2 * width);
  climb->kept = plait_tape_tensor (tape, nodes, plait_climb_kept (cell->kind, cell->reset) * width);
  if (cell->kind == PLAIT_TREE_GRU && cell->reset == PLAIT_RESET_BEFORE)
    climb->reset_children = plait_tape_tensor (tape, nodes, 2 * width);

  plait_rows_gather (pool, climb->states, 0, leaves->value, levels->leaf);
  if (lstm && leaf_cells)
    plait_rows_gather (pool, climb->cells, 0, leaf_cells->value, levels->leaf);
  else if (lstm)
    plait_tensor_fill (pool, climb->cells, 0, 0);
  panels = pack (tape, climb, FALSE);
  plait_climb_forward (pool, climb);
  release_panels (tape, &panels);
  if (!node->needs_gradient)
    release_collected (tape, climb);
  return node;
}
