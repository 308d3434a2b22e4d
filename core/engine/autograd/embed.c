/* SPDX-License-Identifier: MIT */
#include "autograd/internal.h"
#include "tensor/rows.h"
#include "autograd/layer-operators.h"

#include <math.h>

typedef struct
{
  const gint32 *ids;
  PlaitScalar scale;
} EmbedPayload;

static void
embed_backward (PlaitTape *tape, PlaitNode *node)
{
  const EmbedPayload *payload = node->payload;

  plait_embed_backward (plait_tape_pool (tape), plait_gradient_to_add (tape, node->inputs[0]), node->gradient,
                        payload->ids, PLAIT_GRADIENT_TERM (embed_table, payload->scale));
}

static void
embed_recompute (PlaitTape *tape, PlaitNode *node)
{
  const EmbedPayload *payload = node->payload;

  plait_embed_forward (plait_tape_pool (tape), node->value, node->inputs[0]->value, payload->ids, payload->scale);
}

static const PlaitOperator embed = {
  .name = "embed",
  .backward = embed_backward,
  .recompute = embed_recompute,
  .ignores_value = TRUE,
  .ignores_inputs = TRUE,
};

PlaitNode *
plait_embed (PlaitTape *tape, PlaitNode *table, const gint32 *ids, gint64 n, double scale)
{
  PlaitNode *node;

  plait_tape_expect (tape, table && (ids || n == 0) && isfinite ((PlaitScalar)scale));
  node = plait_tape_node (tape, &embed, n, table->value.width, &table, 1, sizeof (EmbedPayload));
  for (gint64 i = 0; i < n; i++)
    plait_tape_expect (tape, ids[i] >= 0 && ids[i] < table->value.rows);
  *(EmbedPayload *)node->payload = (EmbedPayload){ ids, (PlaitScalar)scale };
  plait_embed_forward (plait_tape_pool (tape), node->value, table->value, ids, (PlaitScalar)scale);
  return node;
}

enum
{
  POSITIONS_X,
  POSITIONS_TABLE,
  POSITIONS_INPUTS
};

typedef struct
{
  PlaitRagged rows;
  gint64 first;
  PlaitRandomKey key;
  double rate;
} PositionsPayload;

static void
positions_backward (PlaitTape *tape, PlaitNode *node)
{
  const PositionsPayload *payload = node->payload;
  PlaitPool *pool = plait_tape_pool (tape);
  PlaitNode *x = node->inputs[POSITIONS_X];
  PlaitNode *table = node->inputs[POSITIONS_TABLE];

  if (table->needs_gradient)
    plait_positions_backward (pool, plait_gradient_to_add (tape, table),
                              PLAIT_GRADIENT_TERM_TENSOR (tape, add_positions_table, node->gradient), payload->rows,
                              payload->first, payload->key, payload->rate);
  if (x->needs_gradient)
    {
      PlaitTensor dy = PLAIT_GRADIENT_TERM_TENSOR (tape, add_positions_input, node->gradient);
      PlaitScalar beta;
      PlaitTensor dx = plait_gradient_inherit (tape, &node->gradient, x, &beta);

      plait_tensor_dropout (pool, dx, beta, dy, payload->key, payload->rate);
    }
}

static const PlaitOperator positions = {
  .name = "add_positions",
  .backward = positions_backward,
  .ignores_value = TRUE,
  .ignores_inputs = TRUE,
};

PlaitNode *
plait_add_positions (PlaitTape *tape, PlaitNode *x, PlaitRagged rows, PlaitNode *table, gint64 first, double rate)
{
  PlaitNode *inputs[POSITIONS_INPUTS] = { x, table };
  PlaitTensor value;
  PlaitNode *node;
  PositionsPayload *payload;

  plait_tape_expect (tape, x && table && rate >= 0 && rate < 1 && plait_ragged_is_valid (rows));
  plait_tape_expect (tape,
                     plait_ragged_rows (rows) == x->value.rows && table->value.width == x->value.width && first >= 0);
  for (gint64 i = 0; i < rows.n; i++)
    plait_tape_expect (tape, first + plait_ragged_length (rows, i) <= table->value.rows);
  value = plait_tape_value (tape, x);
  node = plait_tape_node_in_place (tape, &positions, inputs, POSITIONS_INPUTS, POSITIONS_X, sizeof *payload);
  payload = node->payload;
  payload->rows = rows;
  payload->first = first;
  if (rate > 0 && plait_tape_mode (tape) == PLAIT_TAPE_TRAIN)
    {
      payload->key = plait_tape_next_key (tape);
      payload->rate = rate;
    }
  plait_positions_forward (plait_tape_pool (tape), node->value, value, rows, table->value, first, payload->key,
                           payload->rate);
  return node;
}
