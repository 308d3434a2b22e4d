/* SPDX-License-Identifier: MIT */
#include "autograd/internal.h"
#include "recurrent/top-down.h"
#include "tensor/rows.h"
#include "autograd/layer-operators.h"

enum
{
  TOP_DOWN_ROOTS,
  TOP_DOWN_SIDES, /* first input of the left side; each side has SIDE_INPUTS inputs */
};

enum
{
  SIDE_PROJECTED,
  SIDE_RECURRENT,
  SIDE_BIAS,
  SIDE_CANDIDATE,
  SIDE_INPUTS,
};

#define TOP_DOWN_INPUTS (TOP_DOWN_SIDES + 2 * SIDE_INPUTS)

static PlaitNode *
input_of (const PlaitNode *node, gint64 side, guint input)
{
  return node->inputs[TOP_DOWN_SIDES + side * SIDE_INPUTS + input];
}

/* Sets the tensors of @top_down from the values of @node and its inputs, which the tape may have moved. */
static void
set_values (PlaitTape *tape, PlaitTopDown *top_down, const PlaitNode *node)
{
  top_down->states = node->value;
  for (gint64 i = 0; i < 2; i++)
    {
      PlaitTopDownSide *side = &top_down->sides[i];

      side->recurrent = plait_tape_rnn_weight (tape, input_of (node, i, SIDE_RECURRENT));
      side->candidate = plait_tape_rnn_weight (tape, input_of (node, i, SIDE_CANDIDATE));
      side->bias = plait_tape_value_if_any (tape, input_of (node, i, SIDE_BIAS)).data;
    }
}

/* Runs the recurrence, with packed weights if there is more than one depth below the roots. */
static void
run_packed (PlaitTape *tape, PlaitTopDown *top_down, gboolean backward)
{
  for (gint64 i = 0; i < 2 && top_down->depths->n > 1; i++)
    {
      plait_tape_pack (tape, &top_down->sides[i].recurrent, backward);
      plait_tape_pack (tape, &top_down->sides[i].candidate, backward);
    }
  plait_top_down_run (plait_tape_pool (tape), top_down, backward);
  for (gint64 i = 1; i >= 0; i--)
    {
      plait_tape_unpack (tape, &top_down->sides[i].candidate);
      plait_tape_unpack (tape, &top_down->sides[i].recurrent);
    }
}

static void
top_down_backward (PlaitTape *tape, PlaitNode *node)
{
  PlaitTopDown *top_down = node->payload;
  gint64 width = top_down->width, children = top_down->depths->sides[0].first[top_down->depths->n];

  set_values (tape, top_down, node);
  top_down->dstates = node->gradient;
  top_down->dparent = plait_tape_tensor (tape, children, width);
  if (top_down->reset == PLAIT_RESET_BEFORE)
    top_down->dreset = plait_tape_tensor (tape, children, width);
  for (gint64 i = 0; i < 2; i++)
    {
      PlaitTopDownSide *side = &top_down->sides[i];
      PlaitScalar beta;

      side->dprojected = plait_gradient_if_needed (tape, input_of (node, i, SIDE_PROJECTED), &beta);
      side->adds = beta != 0;
      side->recurrent.weight = PLAIT_GRADIENT_TERM_TENSOR (tape, top_down_state, side->recurrent.weight);
      if (side->candidate.weight.data)
        side->candidate.weight = PLAIT_GRADIENT_TERM_TENSOR (tape, top_down_candidate_state, side->candidate.weight);
    }
  run_packed (tape, top_down, TRUE);
  for (gint64 i = 0; i < 2; i++)
    {
      const PlaitTopDownSide *side = &top_down->sides[i];
      gint64 products = side->recurrent.weight.width;

      plait_weight_reuse_collect (tape, input_of (node, i, SIDE_RECURRENT), input_of (node, i, SIDE_BIAS),
                                  PLAIT_GRADIENT_TERM_TENSOR (tape, top_down_weight, side->previous),
                                  plait_tensor_columns (side->gates, 0, products));
      if (side->candidate.weight.data)
        plait_weight_reuse_collect (tape, input_of (node, i, SIDE_CANDIDATE), NULL,
                                    PLAIT_GRADIENT_TERM_TENSOR (tape, top_down_candidate_weight, side->reset_states),
                                    plait_tensor_columns (side->gates, products, width));
    }
  plait_gradient_scatter (tape, node->inputs[TOP_DOWN_ROOTS],
                          PLAIT_GRADIENT_TERM_TENSOR (tape, top_down_root, top_down->dstates), top_down->depths->root);
  plait_tape_release (tape, top_down->dreset);
  plait_tape_release (tape, top_down->dparent);
}

/* The tape need not keep the inputs: set_values() restores the few values that backward reads. */
static const PlaitOperator top_down_operator
    = { .name = "top_down", .backward = top_down_backward, .ignores_inputs = TRUE };

PlaitNode *
plait_tree_top_down (PlaitTape *tape, const PlaitRecurrentCell *cells, const PlaitTreeDepths *depths, PlaitNode *roots,
                     PlaitNode *const *projected)
{
  PlaitNode *inputs[TOP_DOWN_INPUTS] = { roots };
  gint64 width = roots->value.width;
  gboolean before = cells[0].reset == PLAIT_RESET_BEFORE;
  PlaitNode *node;
  PlaitTopDown *top_down;

  for (gint64 i = 0; i < 2; i++)
    {
      PlaitNode **side = inputs + TOP_DOWN_SIDES + i * SIDE_INPUTS;

      side[SIDE_PROJECTED] = projected[i];
      side[SIDE_RECURRENT] = cells[i].recurrent;
      side[SIDE_BIAS] = cells[i].bias;
      side[SIDE_CANDIDATE] = cells[i].candidate;
      plait_tape_expect (tape, cells[i].kind == PLAIT_CELL_GRU && cells[i].reset == cells[0].reset);
      plait_tape_expect (tape, before == (cells[i].candidate != NULL) && !(before && cells[i].bias));
      plait_tape_expect (tape, cells[i].recurrent->value.rows == width && projected[i]->value.width == 3 * width);
      plait_tape_expect (tape, projected[i]->value.rows == depths->sides[i].first[depths->n]);
    }
  node = plait_tape_node (tape, &top_down_operator, depths->rows, width, inputs, TOP_DOWN_INPUTS, sizeof *top_down);
  top_down = node->payload;
  *top_down = (PlaitTopDown){ .reset = cells[0].reset, .width = width, .depths = depths };
  set_values (tape, top_down, node);
  for (gint64 i = 0; i < 2; i++)
    {
      gint64 rows = projected[i]->value.rows;
      PlaitTopDownSide *side = &top_down->sides[i];

      plait_tape_note_product (
          tape, projected[i], cells[i].recurrent,
          rows * (plait_tape_n_elements (cells[i].recurrent) + plait_tape_n_elements (cells[i].candidate)));
      side->projected = projected[i]->value;
      side->previous = plait_tape_save (tape, node, rows, width);
      side->gates
          = plait_tape_save (tape, node, rows, plait_recurrence_saved (PLAIT_CELL_GRU, top_down->reset) * width);
      if (before)
        side->reset_states = plait_tape_save (tape, node, rows, width);
    }
  plait_rows_gather (plait_tape_pool (tape), node->value, 0, roots->value, depths->root);
  run_packed (tape, top_down, FALSE);
  if (!node->needs_gradient)
    plait_tape_release_saved (tape, node);
  return node;
}
