/* SPDX-License-Identifier: MIT */
#include "autograd/internal.h"
#include "autograd/operators.h"
#include "tensor/descent.h"
#include "tensor/rows.h"

enum
{
  DESCEND_ROOTS,
  DESCEND_SIDES, /* then of each side: */
};

enum
{
  SIDE_PROJECTED,
  SIDE_RECURRENT,
  SIDE_BIAS,
  SIDE_CANDIDATE,
  SIDE_INPUTS,
};

#define DESCEND_INPUTS (DESCEND_SIDES + 2 * SIDE_INPUTS)

static PlaitNode *
input_of (const PlaitNode *node, gint64 side, guint input)
{
  return node->inputs[DESCEND_SIDES + side * SIDE_INPUTS + input];
}

/* What @descent reads and writes; values may have moved since the last time. */
static void
set_values (PlaitTape *tape, PlaitDescent *descent, const PlaitNode *node)
{
  descent->states = node->value;
  for (gint64 i = 0; i < 2; i++)
    {
      PlaitDescentSide *side = &descent->sides[i];

      side->recurrent = (PlaitStepFactor){ plait_tape_value (tape, input_of (node, i, SIDE_RECURRENT)), NULL };
      side->candidate = (PlaitStepFactor){ plait_tape_value_if_any (tape, input_of (node, i, SIDE_CANDIDATE)), NULL };
      side->bias = plait_tape_value_if_any (tape, input_of (node, i, SIDE_BIAS)).data;
    }
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

/* Runs @way with the factors packed, where there is more than one depth. */
static void
run_packed (PlaitTape *tape, PlaitDescent *descent, gboolean transposed,
            void (*way) (PlaitPool *pool, const PlaitDescent *descent))
{
  PlaitPacked *panels[4] = { NULL, NULL, NULL, NULL };

  for (gint64 i = 0; i < 2 && descent->levels->levels > 1; i++)
    {
      panels[2 * i] = pack_one (tape, &descent->sides[i].recurrent, transposed);
      panels[2 * i + 1] = pack_one (tape, &descent->sides[i].candidate, transposed);
    }
  way (plait_tape_pool (tape), descent);
  for (gint64 i = 3; i >= 0; i--)
    plait_packed_release (plait_tape_arena (tape), panels[i]);
}

static void
release_collected (PlaitTape *tape, const PlaitDescent *descent)
{
  for (gint64 i = 0; i < 2; i++)
    {
      plait_tape_release (tape, descent->sides[i].previous);
      plait_tape_release (tape, descent->sides[i].gates);
      plait_tape_release (tape, descent->sides[i].reset_states);
    }
}

static void
descend_backward (PlaitTape *tape, PlaitNode *node)
{
  PlaitDescent *descent = node->payload;
  PlaitNode *roots = node->inputs[DESCEND_ROOTS];
  gint64 width = descent->width, children = descent->levels->sides[0].first[descent->levels->levels];

  set_values (tape, descent, node);
  descent->dstates = node->gradient;
  descent->dparent = plait_tape_tensor (tape, children, width);
  if (descent->reset == PLAIT_RESET_BEFORE)
    descent->dreset = plait_tape_tensor (tape, children, width);
  for (gint64 i = 0; i < 2; i++)
    {
      PlaitDescentSide *side = &descent->sides[i];
      PlaitScalar beta;

      side->dprojected = plait_gradient_if_needed (tape, input_of (node, i, SIDE_PROJECTED), &beta);
      side->adds = beta != 0;
      side->recurrent.weight = PLAIT_TERM_TENSOR (tape, descend_state, side->recurrent.weight);
      if (side->candidate.weight.data)
        side->candidate.weight = PLAIT_TERM_TENSOR (tape, descend_reset, side->candidate.weight);
    }
  run_packed (tape, descent, TRUE, plait_descent_backward);
  for (gint64 i = 0; i < 2; i++)
    {
      const PlaitDescentSide *side = &descent->sides[i];
      gint64 products = side->recurrent.weight.width;

      plait_often_collect (tape, input_of (node, i, SIDE_RECURRENT), input_of (node, i, SIDE_BIAS),
                           PLAIT_TERM_TENSOR (tape, descend_weight, side->previous),
                           plait_tensor_columns (side->gates, 0, products));
      if (side->candidate.weight.data)
        plait_often_collect (tape, input_of (node, i, SIDE_CANDIDATE), NULL,
                             PLAIT_TERM_TENSOR (tape, descend_candidate_weight, side->reset_states),
                             plait_tensor_columns (side->gates, products, width));
    }
  if (roots->needs_gradient)
    plait_rows_scatter_add (plait_tape_pool (tape), plait_gradient_to_add (tape, roots),
                            PLAIT_TERM_TENSOR (tape, descend_root, descent->dstates), descent->levels->root);
  plait_tape_release (tape, descent->dreset);
  plait_tape_release (tape, descent->dparent);
  release_collected (tape, descent);
}

/* What backward reads of the inputs it asks for itself. */
static const PlaitOperator descend = { .name = "descend", .backward = descend_backward, .ignores_inputs = TRUE };

PlaitNode *
plait_descend (PlaitTape *tape, const PlaitRecurrentCell *cells, const PlaitTreeDescent *levels, PlaitNode *roots,
               PlaitNode *const *projected)
{
  PlaitNode *inputs[DESCEND_INPUTS] = { roots };
  gint64 width = roots->value.width;
  gboolean before = cells[0].reset == PLAIT_RESET_BEFORE;
  PlaitNode *node;
  PlaitDescent *descent;

  for (gint64 i = 0; i < 2; i++)
    {
      PlaitNode **side = inputs + DESCEND_SIDES + i * SIDE_INPUTS;

      side[SIDE_PROJECTED] = projected[i];
      side[SIDE_RECURRENT] = cells[i].recurrent;
      side[SIDE_BIAS] = cells[i].bias;
      side[SIDE_CANDIDATE] = cells[i].candidate;
      plait_tape_expect (tape, cells[i].kind == PLAIT_CELL_GRU && cells[i].reset == cells[0].reset);
      plait_tape_expect (tape, before == (cells[i].candidate != NULL) && !(before && cells[i].bias));
      plait_tape_expect (tape, cells[i].recurrent->value.rows == width && projected[i]->value.width == 3 * width);
      plait_tape_expect (tape, projected[i]->value.rows == levels->sides[i].first[levels->levels]);
    }
  node = plait_tape_node (tape, &descend, levels->rows, width, inputs, DESCEND_INPUTS, sizeof *descent);
  descent = node->payload;
  *descent = (PlaitDescent){ .reset = cells[0].reset, .width = width, .levels = levels };
  set_values (tape, descent, node);
  for (gint64 i = 0; i < 2; i++)
    {
      gint64 rows = projected[i]->value.rows;
      PlaitDescentSide *side = &descent->sides[i];

      plait_tape_note_product (
          tape, projected[i], cells[i].recurrent,
          rows * (plait_tape_numbers (cells[i].recurrent) + plait_tape_numbers (cells[i].candidate)));
      side->projected = projected[i]->value;
      side->previous = plait_tape_tensor (tape, rows, width);
      side->gates = plait_tape_tensor (tape, rows, plait_recurrence_kept (PLAIT_CELL_GRU, descent->reset) * width);
      if (before)
        side->reset_states = plait_tape_tensor (tape, rows, width);
    }
  plait_rows_gather (plait_tape_pool (tape), node->value, 0, roots->value, levels->root);
  run_packed (tape, descent, FALSE, plait_descent_forward);
  if (!node->needs_gradient)
    release_collected (tape, descent);
  return node;
}
