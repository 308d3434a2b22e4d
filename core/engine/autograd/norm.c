/* SPDX-License-Identifier: MIT */
#include "autograd/internal.h"
#include "tensor/norm.h"

#include <math.h>

enum
{
  NORM_X,
  NORM_GAIN,
  NORM_BIAS,
  NORM_INPUTS
};

typedef struct
{
  PlaitTensor statistics; /* [2, rows] mean and 1 / standard deviation of each row */
  double epsilon;
} NormPayload;

static void
layer_norm_backward (PlaitTape *tape, PlaitNode *node)
{
  NormPayload *payload = node->payload;
  PlaitNode *x = node->inputs[NORM_X];
  PlaitTensor dy = node->gradient;
  PlaitTensor dx = { 0 };
  PlaitScalar dx_beta = 0, dgain_beta, dbias_beta;
  PlaitTensor dgain = plait_gradient_if_needed (tape, node->inputs[NORM_GAIN], &dgain_beta);
  PlaitTensor dbias = plait_gradient_if_needed (tape, node->inputs[NORM_BIAS], &dbias_beta);

  if (x->needs_gradient)
    dx = plait_gradient_inherit (tape, &node->gradient, x, &dx_beta);
  plait_layer_norm_backward (plait_tape_pool (tape), plait_tape_arena (tape), dx, dx_beta, dgain, dgain_beta, dbias,
                             dbias_beta, dy, x->value, node->inputs[NORM_GAIN]->value.data,
                             plait_tensor_row (payload->statistics, 0), plait_tensor_row (payload->statistics, 1));
}

static void
layer_norm_recompute (PlaitTape *tape, PlaitNode *node)
{
  const NormPayload *payload = node->payload;

  plait_layer_norm_forward (plait_tape_pool (tape), node->value, node->inputs[NORM_X]->value,
                            node->inputs[NORM_GAIN]->value.data, node->inputs[NORM_BIAS]->value.data, payload->epsilon,
                            NULL, NULL);
}

static const PlaitOperator layer_norm = {
  .name = "layer_norm",
  .backward = layer_norm_backward,
  .recompute = layer_norm_recompute,
  .ignores_value = TRUE,
};

PlaitNode *
plait_layer_norm (PlaitTape *tape, PlaitNode *x, PlaitNode *gain, PlaitNode *bias, double epsilon)
{
  PlaitNode *inputs[NORM_INPUTS] = { x, gain, bias };
  PlaitNode *node;
  NormPayload *payload;
  PlaitScalar *mean = NULL, *inverse = NULL;

  plait_tape_expect (tape, x && gain && bias && epsilon >= 0 && isfinite (epsilon));
  plait_tape_expect (tape, gain->value.rows == 1 && gain->value.width == x->value.width);
  plait_tape_expect (tape, bias->value.rows == 1 && bias->value.width == x->value.width);
  node = plait_tape_node (tape, &layer_norm, x->value.rows, x->value.width, inputs, NORM_INPUTS, sizeof *payload);
  payload = node->payload;
  payload->epsilon = epsilon;
  if (node->needs_gradient)
    {
      payload->statistics = plait_tape_save (tape, node, 2, x->value.rows);
      mean = plait_tensor_row (payload->statistics, 0);
      inverse = plait_tensor_row (payload->statistics, 1);
    }
  plait_layer_norm_forward (plait_tape_pool (tape), node->value, x->value, gain->value.data, bias->value.data, epsilon,
                            mean, inverse);
  plait_tape_mark_discardable (tape, node);
  return node;
}
