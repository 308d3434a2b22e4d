/* SPDX-License-Identifier: MIT */
#include "autograd/internal.h"
#include "recurrent/downward.h"
#include "tensor/rows.h"
#include "autograd/layer-operators.h"

enum
{
  DOWNWARD_ROOTS,
  DOWNWARD_SIDES, /* then of each side: */
};

enum
{
  SIDE_PROJECTED,
  SIDE_RECURRENT,
  SIDE_BIAS,
  SIDE_CANDIDATE,
  SIDE_INPUTS,
};

#define DOWNWARD_INPUTS (DOWNWARD_SIDES + 2 * SIDE_INPUTS)

static PlaitNode *
input_of (const PlaitNode *node, gint64 side, guint input)
{
  return node->inputs[DOWNWARD_SIDES + side * SIDE_INPUTS + input];
}

/* What @downward reads and writes; values may have moved since the last time. */
static void
set_values (PlaitTape *tape, PlaitDownward *downward, const PlaitNode *node)
{
  downward->states = node->value;
  for (gint64 i = 0; i < 2; i++)
    {
      PlaitDownwardSide *side = &downward->sides[i];

      side->recurrent = plait_tape_factor (tape, input_of (node, i, SIDE_RECURRENT));
      side->candidate = plait_tape_factor (tape, input_of (node, i, SIDE_CANDIDATE));
      side->bias = plait_tape_value_if_any (tape, input_of (node, i, SIDE_BIAS)).data;
    }
}

/* Packs the factors for it where there is more than one depth. */
static void
run_packed (PlaitTape *tape, PlaitDownward *downward, gboolean backward)
{
  for (gint64 i = 0; i < 2 && downward->depths->n > 1; i++)
    {
      plait_tape_pack (tape, &downward->sides[i].recurrent, backward);
      plait_tape_pack (tape, &downward->sides[i].candidate, backward);
    }
  plait_downward_run (plait_tape_pool (tape), downward, backward);
  for (gint64 i = 1; i >= 0; i--)
    {
      plait_tape_unpack (tape, &downward->sides[i].candidate);
      plait_tape_unpack (tape, &downward->sides[i].recurrent);
    }
}

static void
downward_backward (PlaitTape *tape, PlaitNode *node)
{
  PlaitDownward *downward = node->payload;
  gint64 width = downward->width, children = downward->depths->sides[0].first[downward->depths->n];

  set_values (tape, downward, node);
  downward->dstates = node->gradient;
  downward->dparent = plait_tape_tensor (tape, children, width);
  if (downward->reset == PLAIT_RESET_BEFORE)
    downward->dreset = plait_tape_tensor (tape, children, width);
  for (gint64 i = 0; i < 2; i++)
    {
      PlaitDownwardSide *side = &downward->sides[i];
      PlaitScalar beta;

      side->dprojected = plait_gradient_if_needed (tape, input_of (node, i, SIDE_PROJECTED), &beta);
      side->adds = beta != 0;
      side->recurrent.weight = PLAIT_TERM_TENSOR (tape, downward_state, side->recurrent.weight);
      if (side->candidate.weight.data)
        side->candidate.weight = PLAIT_TERM_TENSOR (tape, downward_reset, side->candidate.weight);
    }
  run_packed (tape, downward, TRUE);
  for (gint64 i = 0; i < 2; i++)
    {
      const PlaitDownwardSide *side = &downward->sides[i];
      gint64 products = side->recurrent.weight.width;

      plait_often_collect (tape, input_of (node, i, SIDE_RECURRENT), input_of (node, i, SIDE_BIAS),
                           PLAIT_TERM_TENSOR (tape, downward_weight, side->previous),
                           plait_tensor_columns (side->gates, 0, products));
      if (side->candidate.weight.data)
        plait_often_collect (tape, input_of (node, i, SIDE_CANDIDATE), NULL,
                             PLAIT_TERM_TENSOR (tape, downward_candidate_weight, side->reset_states),
                             plait_tensor_columns (side->gates, products, width));
    }
  plait_gradient_scatter (tape, node->inputs[DOWNWARD_ROOTS],
                          PLAIT_TERM_TENSOR (tape, downward_root, downward->dstates), downward->depths->root);
  plait_tape_release (tape, downward->dreset);
  plait_tape_release (tape, downward->dparent);
}

/* What backward reads of the inputs it asks for itself. */
static const PlaitOperator downward_operator
    = { .name = "downward", .backward = downward_backward, .ignores_inputs = TRUE };

PlaitNode *
plait_downward (PlaitTape *tape, const PlaitRecurrentCell *cells, const PlaitTreeDepths *depths, PlaitNode *roots,
                PlaitNode *const *projected)
{
  PlaitNode *inputs[DOWNWARD_INPUTS] = { roots };
  gint64 width = roots->value.width;
  gboolean before = cells[0].reset == PLAIT_RESET_BEFORE;
  PlaitNode *node;
  PlaitDownward *downward;

  for (gint64 i = 0; i < 2; i++)
    {
      PlaitNode **side = inputs + DOWNWARD_SIDES + i * SIDE_INPUTS;

      side[SIDE_PROJECTED] = projected[i];
      side[SIDE_RECURRENT] = cells[i].recurrent;
      side[SIDE_BIAS] = cells[i].bias;
      side[SIDE_CANDIDATE] = cells[i].candidate;
      plait_tape_expect (tape, cells[i].kind == PLAIT_CELL_GRU && cells[i].reset == cells[0].reset);
      plait_tape_expect (tape, before == (cells[i].candidate != NULL) && !(before && cells[i].bias));
      plait_tape_expect (tape, cells[i].recurrent->value.rows == width && projected[i]->value.width == 3 * width);
      plait_tape_expect (tape, projected[i]->value.rows == depths->sides[i].first[depths->n]);
    }
  node = plait_tape_node (tape, &downward_operator, depths->rows, width, inputs, DOWNWARD_INPUTS, sizeof *downward);
  downward = node->payload;
  *downward = (PlaitDownward){ .reset = cells[0].reset, .width = width, .depths = depths };
  set_values (tape, downward, node);
  for (gint64 i = 0; i < 2; i++)
    {
      gint64 rows = projected[i]->value.rows;
      PlaitDownwardSide *side = &downward->sides[i];

      plait_tape_note_product (
          tape, projected[i], cells[i].recurrent,
          rows * (plait_tape_numbers (cells[i].recurrent) + plait_tape_numbers (cells[i].candidate)));
      side->projected = projected[i]->value;
      side->previous = plait_tape_keep (tape, node, rows, width);
      side->gates = plait_tape_keep (tape, node, rows, plait_recurrence_kept (PLAIT_CELL_GRU, downward->reset) * width);
      if (before)
        side->reset_states = plait_tape_keep (tape, node, rows, width);
    }
  plait_rows_gather (plait_tape_pool (tape), node->value, 0, roots->value, depths->root);
  run_packed (tape, downward, FALSE);
  if (!node->needs_gradient)
    plait_tape_release_kept (tape, node);
  return node;
}
