/* SPDX-License-Identifier: MIT */
#include "autograd/internal.h"

typedef struct
{
  PlaitActivation activation;
  PlaitTensor preactivation; /* x W + b, if backward reads it; else no data */
  PlaitRandomKey key;        /* random key of the dropout after the activation; unused if rate is 0 */
  double rate;
} LinearPayload;

enum
{
  LINEAR_X,
  LINEAR_WEIGHT,
  LINEAR_BIAS,
  LINEAR_INPUTS
};

static void
linear_backward (PlaitTape *tape, PlaitNode *node)
{
  LinearPayload *payload = node->payload;
  PlaitPool *pool = plait_tape_pool (tape);
  PlaitNode *x = node->inputs[LINEAR_X];
  PlaitNode *weight = node->inputs[LINEAR_WEIGHT];
  PlaitLinearBackward work = {
    .dz = node->gradient,
    .x = PLAIT_GRADIENT_TERM_TENSOR (tape, linear_weight, x->value),
    .weight = PLAIT_GRADIENT_TERM_TENSOR (tape, linear_input, weight->value),
    .precision = plait_tape_precision (tape),
  };

  if (payload->rate > 0)
    plait_tensor_dropout (pool, work.dz, 0, PLAIT_GRADIENT_TERM_TENSOR (tape, dropout, work.dz), payload->key,
                          payload->rate);
  if (payload->activation != PLAIT_ACTIVATION_NONE)
    plait_activation_backward (pool, payload->activation, work.dz, 0, node->gradient,
                               payload->preactivation.data ? payload->preactivation : node->value);
  work.dx = plait_gradient_if_needed (tape, x, &work.dx_beta);
  if (work.dx.data)
    {
      work.packed = plait_weight_reuse_transposed (tape, weight, work.weight, work.dz.rows, work.precision);
      plait_linear_backward (pool, &work);
    }
  plait_weight_reuse_collect (tape, weight, node->inputs[LINEAR_BIAS], work.x, work.dz);
}

/* Computes the value of @node, without dropout. */
static void
linear_recompute (PlaitTape *tape, PlaitNode *node)
{
  const LinearPayload *payload = node->payload;
  PlaitNode *weight = node->inputs[LINEAR_WEIGHT], *bias = node->inputs[LINEAR_BIAS];
  PlaitPrecision precision = plait_tape_precision (tape);

  plait_linear_forward (plait_tape_pool (tape), node->value, node->inputs[LINEAR_X]->value, weight->value,
                        plait_weight_reuse_packed (tape, weight, node->value.rows, precision), precision,
                        !bias ? NULL : bias->value.data, payload->activation,
                        !payload->preactivation.data ? NULL : &payload->preactivation);
}

/* Backward of ReLU, tanh and sigmoid reads the value, so the value of an activated node is never discarded. Neither is
 * a value after dropout, which linear_recompute does not compute. */
static const PlaitOperator activated_linear = { .name = "linear", .backward = linear_backward };
static const PlaitOperator linear = {
  .name = "linear",
  .backward = linear_backward,
  .recompute = linear_recompute,
  .ignores_value = TRUE,
};

PlaitNode *
plait_linear (PlaitTape *tape, PlaitNode *x, PlaitNode *weight, PlaitNode *bias, PlaitActivation activation)
{
  return plait_linear_dropout (tape, x, weight, bias, activation, 0);
}

/* The value after dropout is stored, but not the one before. The next layer reads the stored value, and so does ReLU's
 * derivative: kept elements suffice to compute it, and dropped elements have no gradient. */
PlaitNode *
plait_linear_dropout (PlaitTape *tape, PlaitNode *x, PlaitNode *weight, PlaitNode *bias, PlaitActivation activation,
                      double rate)
{
  PlaitNode *inputs[LINEAR_INPUTS] = { x, weight, bias };
  gboolean drops = rate > 0 && plait_tape_mode (tape) == PLAIT_TAPE_TRAIN;
  gboolean keeps = activation != PLAIT_ACTIVATION_NONE || drops;
  PlaitNode *node;
  LinearPayload *payload;

  plait_tape_expect (tape, x && weight && plait_activation_is_known (activation));
  plait_tape_expect (tape, x->value.width == weight->value.rows);
  plait_tape_expect (tape, !bias || (bias->value.rows == 1 && bias->value.width == weight->value.width));
  plait_tape_expect (tape, rate >= 0 && rate < 1);
  plait_tape_expect (tape,
                     rate == 0 || (activation != PLAIT_ACTIVATION_TANH && activation != PLAIT_ACTIVATION_SIGMOID));
  node = plait_tape_node (tape, keeps ? &activated_linear : &linear, x->value.rows, weight->value.width, inputs,
                          LINEAR_INPUTS, sizeof *payload);
  plait_tape_note_product (tape, x, weight, x->value.rows * plait_tape_n_elements (weight));
  payload = node->payload;
  payload->activation = activation;
  if (node->needs_gradient && plait_activation_saves_input (activation))
    payload->preactivation = plait_tape_save (tape, node, node->value.rows, node->value.width);
  linear_recompute (tape, node);
  if (drops)
    {
      payload->key = plait_tape_next_key (tape);
      payload->rate = rate;
      plait_tensor_dropout (plait_tape_pool (tape), node->value, 0, node->value, payload->key, rate);
    }
  return node;
}
