/* SPDX-License-Identifier: MIT */
#include "autograd/internal.h"

#include <math.h>

/* Fails the step if @x and @y differ in shape. @function: the public function to name in the message. */
static void
expect_one_shape (PlaitTape *tape, const char *function, const PlaitNode *x, const PlaitNode *y)
{
  if (x->value.rows != y->value.rows || x->value.width != y->value.width)
    plait_tape_fail (tape, "%s was given nodes of the shapes [%jd, %jd] and [%jd, %jd]: give it nodes of one shape",
                     function, x->value.rows, x->value.width, y->value.rows, y->value.width);
}

/* Returns a node of the shape of inputs[0]. */
static PlaitNode *
node_like (PlaitTape *tape, const PlaitOperator *operation, PlaitNode *const *inputs, guint n, gsize payload_size)
{
  return plait_tape_node (tape, operation, inputs[0]->value.rows, inputs[0]->value.width, inputs, n, payload_size);
}

static void
activate_backward (PlaitTape *tape, PlaitNode *node)
{
  const PlaitActivation *activation = node->payload;
  PlaitNode *x = node->inputs[0];
  PlaitTensor dy = node->gradient;
  PlaitScalar beta;
  PlaitTensor dx = plait_gradient_inherit (tape, &node->gradient, x, &beta);

  plait_activation_backward (plait_tape_pool (tape), *activation, dx, beta, dy,
                             plait_activation_saves_input (*activation) ? x->value : node->value);
}

static const PlaitOperator activate = { "activate", activate_backward };

static PlaitNode *
apply (PlaitTape *tape, PlaitNode *x, PlaitActivation activation)
{
  PlaitNode *node = node_like (tape, &activate, &x, 1, sizeof activation);

  *(PlaitActivation *)node->payload = activation;
  plait_activation_forward (plait_tape_pool (tape), activation, node->value, x->value);
  return node;
}

PlaitNode *
plait_activate (PlaitTape *tape, PlaitNode *x, PlaitActivation activation)
{
  plait_tape_expect (tape, x && plait_activation_is_known (activation));
  return activation == PLAIT_ACTIVATION_NONE ? x : apply (tape, x, activation);
}

PlaitNode *
plait_exp (PlaitTape *tape, PlaitNode *x)
{
  plait_tape_expect (tape, x);
  return apply (tape, x, PLAIT_ACTIVATION_EXP);
}

PlaitNode *
plait_log (PlaitTape *tape, PlaitNode *x)
{
  plait_tape_expect (tape, x);
  return apply (tape, x, PLAIT_ACTIVATION_LOG);
}

static void
sum_backward (PlaitTape *tape, PlaitNode *node)
{
  PlaitNode *last = NULL;

  for (guint i = 0; i < node->n_inputs; i++)
    if (node->inputs[i]->needs_gradient)
      {
        plait_gradient_add (tape, last, PLAIT_GRADIENT_TERM (add_n, 1), node->gradient);
        last = node->inputs[i];
      }
  plait_gradient_pass (tape, &node->gradient, PLAIT_GRADIENT_TERM (add_n, 1), last);
}

static const PlaitOperator sum = {
  .name = "add_n",
  .backward = sum_backward,
  .ignores_value = TRUE,
  .ignores_inputs = TRUE,
};

PlaitNode *
plait_add_n (PlaitTape *tape, PlaitNode *const *terms, guint n)
{
  PlaitTensor *values = plait_arena_new_array (plait_tape_arena (tape), PlaitTensor, n);
  PlaitNode *node;

  plait_tape_expect (tape, n > 0);
  for (guint i = 0; i < n; i++)
    {
      expect_one_shape (tape, G_STRFUNC, terms[0], terms[i]);
      values[i] = plait_tape_value (tape, terms[i]);
    }
  node = plait_tape_node_in_place (tape, &sum, terms, n, 0, 0);
  plait_tensor_add_n (plait_tape_pool (tape), node->value, values, n);
  return node;
}

static void
multiply_backward (PlaitTape *tape, PlaitNode *node)
{
  PlaitPool *pool = plait_tape_pool (tape);
  PlaitNode *x = node->inputs[0], *y = node->inputs[1];
  PlaitScalar beta;
  PlaitTensor dx = plait_gradient_if_needed (tape, x, &beta);

  if (dx.data)
    plait_tensor_multiply (pool, dx, beta, PLAIT_GRADIENT_TERM_TENSOR (tape, multiply_left, node->gradient), y->value);
  if (y->needs_gradient)
    {
      PlaitTensor dz = PLAIT_GRADIENT_TERM_TENSOR (tape, multiply_right, node->gradient);
      PlaitTensor dy = plait_gradient_inherit (tape, &node->gradient, y, &beta);

      plait_tensor_multiply (pool, dy, beta, dz, x->value);
    }
}

static const PlaitOperator multiply = { .name = "multiply", .backward = multiply_backward, .ignores_value = TRUE };

PlaitNode *
plait_multiply (PlaitTape *tape, PlaitNode *x, PlaitNode *y)
{
  PlaitNode *inputs[] = { x, y };
  PlaitNode *node;

  expect_one_shape (tape, G_STRFUNC, x, y);
  node = node_like (tape, &multiply, inputs, 2, 0);
  plait_tensor_multiply (plait_tape_pool (tape), node->value, 0, x->value, y->value);
  return node;
}

/* For z = x / y: dx = dz / y, dy = -z dz / y. */
static void
divide_backward (PlaitTape *tape, PlaitNode *node)
{
  PlaitNode *x = node->inputs[0], *y = node->inputs[1];
  PlaitTensor dx = plait_gradient_to_add_if_needed (tape, x), dy = plait_gradient_to_add_if_needed (tape, y);

  for (gint64 row = 0; row < node->value.rows; row++)
    for (gint64 i = 0; i < node->value.width; i++)
      {
        PlaitScalar share = plait_tensor_row (node->gradient, row)[i] / plait_tensor_row (y->value, row)[i];

        if (dx.data)
          plait_tensor_row (dx, row)[i] += PLAIT_GRADIENT_TERM (divide_numerator, share);
        if (dy.data)
          plait_tensor_row (dy, row)[i]
              -= PLAIT_GRADIENT_TERM (divide_denominator, share * plait_tensor_row (node->value, row)[i]);
      }
}

static const PlaitOperator divide = { .name = "divide", .backward = divide_backward };

PlaitNode *
plait_divide (PlaitTape *tape, PlaitNode *x, PlaitNode *y)
{
  PlaitNode *inputs[] = { x, y };
  PlaitNode *node;

  expect_one_shape (tape, G_STRFUNC, x, y);
  node = node_like (tape, &divide, inputs, 2, 0);
  for (gint64 row = 0; row < node->value.rows; row++)
    for (gint64 i = 0; i < node->value.width; i++)
      plait_tensor_row (node->value, row)[i]
          = plait_tensor_row (x->value, row)[i] / plait_tensor_row (y->value, row)[i];
  return node;
}

/* Backward of plait_maximum (payload 1) and plait_minimum (payload -1). */
static void
maximum_backward (PlaitTape *tape, PlaitNode *node)
{
  PlaitPool *pool = plait_tape_pool (tape);
  PlaitScalar sign = *(const PlaitScalar *)node->payload, beta;
  PlaitNode *x = node->inputs[0], *y = node->inputs[1];
  PlaitTensor target = plait_gradient_if_needed (tape, x, &beta);

  if (target.data)
    plait_tensor_maximum_backward (pool, target, beta, sign,
                                   PLAIT_GRADIENT_TERM_TENSOR (tape, maximum_left, node->gradient), x->value, y->value);
  target = plait_gradient_if_needed (tape, y, &beta);
  if (target.data)
    plait_tensor_maximum_backward (
        pool, target, beta, sign, PLAIT_GRADIENT_TERM_TENSOR (tape, maximum_right, node->gradient), y->value, x->value);
}

static const PlaitOperator maximum = { .name = "maximum", .backward = maximum_backward, .ignores_value = TRUE };

static PlaitNode *
extreme (PlaitTape *tape, const char *function, PlaitNode *x, PlaitNode *y, PlaitScalar sign)
{
  PlaitNode *inputs[] = { x, y };
  PlaitNode *node;

  expect_one_shape (tape, function, x, y);
  node = node_like (tape, &maximum, inputs, 2, sizeof sign);
  *(PlaitScalar *)node->payload = sign;
  plait_tensor_maximum (plait_tape_pool (tape), node->value, sign, x->value, y->value);
  return node;
}

PlaitNode *
plait_maximum (PlaitTape *tape, PlaitNode *x, PlaitNode *y)
{
  return extreme (tape, G_STRFUNC, x, y, 1);
}

PlaitNode *
plait_minimum (PlaitTape *tape, PlaitNode *x, PlaitNode *y)
{
  return extreme (tape, G_STRFUNC, x, y, -1);
}

static void
scale_backward (PlaitTape *tape, PlaitNode *node)
{
  const PlaitScalar *factor = node->payload;

  plait_gradient_pass (tape, &node->gradient, PLAIT_GRADIENT_TERM (scale, *factor), node->inputs[0]);
}

static const PlaitOperator scale = {
  .name = "scale",
  .backward = scale_backward,
  .ignores_value = TRUE,
  .ignores_inputs = TRUE,
};

PlaitNode *
plait_scale (PlaitTape *tape, PlaitNode *x, double factor)
{
  PlaitNode *node;

  plait_tape_expect (tape, x && isfinite ((PlaitScalar)factor));
  node = node_like (tape, &scale, &x, 1, sizeof (PlaitScalar));
  *(PlaitScalar *)node->payload = (PlaitScalar)factor;
  plait_tensor_accumulate (plait_tape_pool (tape), node->value, 0, (PlaitScalar)factor, x->value);
  return node;
}

static void
total_backward (PlaitTape *tape, PlaitNode *node)
{
  PlaitScalar beta;
  PlaitTensor dx = plait_gradient_target (tape, node->inputs[0], &beta);

  plait_tensor_fill (plait_tape_pool (tape), dx, beta, PLAIT_GRADIENT_TERM (reduce_sum, node->gradient.data[0]));
}

static const PlaitOperator total = {
  .name = "reduce_sum",
  .backward = total_backward,
  .ignores_value = TRUE,
  .ignores_inputs = TRUE,
};

PlaitNode *
plait_reduce_sum (PlaitTape *tape, PlaitNode *x)
{
  PlaitNode *node = plait_tape_node (tape, &total, 1, 1, &x, 1, 0);

  node->value.data[0]
      = (PlaitScalar)plait_tensor_reduce_sum (plait_tape_pool (tape), plait_tape_arena (tape), x->value);
  return node;
}

/* Dropout masks are not stored: backward draws them again from the key. */
typedef struct
{
  PlaitRandomKey key;
  double rate;
} DropoutPayload;

static void
dropout_backward (PlaitTape *tape, PlaitNode *node)
{
  const DropoutPayload *payload = node->payload;
  PlaitTensor dy = PLAIT_GRADIENT_TERM_TENSOR (tape, dropout, node->gradient);
  PlaitScalar beta;
  PlaitTensor dx = plait_gradient_inherit (tape, &node->gradient, node->inputs[0], &beta);

  plait_tensor_dropout (plait_tape_pool (tape), dx, beta, dy, payload->key, payload->rate);
}

static void
dropout_recompute (PlaitTape *tape, PlaitNode *node)
{
  const DropoutPayload *payload = node->payload;

  plait_tensor_dropout (plait_tape_pool (tape), node->value, 0, node->inputs[0]->value, payload->key, payload->rate);
}

static const PlaitOperator dropout = {
  .name = "dropout",
  .backward = dropout_backward,
  .recompute = dropout_recompute,
  .ignores_value = TRUE,
  .ignores_inputs = TRUE,
};

PlaitNode *
plait_dropout (PlaitTape *tape, PlaitNode *x, double rate)
{
  PlaitTensor value;
  PlaitNode *node;
  DropoutPayload *payload;

  plait_tape_expect (tape, rate >= 0 && rate < 1);
  if (rate == 0 || plait_tape_mode (tape) != PLAIT_TAPE_TRAIN)
    return x;
  value = plait_tape_value (tape, x);
  node = plait_tape_node_in_place (tape, &dropout, &x, 1, 0, sizeof *payload);
  payload = node->payload;
  *payload = (DropoutPayload){ plait_tape_next_key (tape), rate };
  plait_tensor_dropout (plait_tape_pool (tape), node->value, 0, value, payload->key, rate);
  return node;
}

static void
residual_backward (PlaitTape *tape, PlaitNode *node)
{
  const DropoutPayload *payload = node->payload;
  PlaitNode *x = node->inputs[0], *y = node->inputs[1];
  PlaitScalar beta;
  PlaitTensor dy = plait_gradient_if_needed (tape, y, &beta);

  if (dy.data)
    plait_tensor_dropout (plait_tape_pool (tape), dy, beta,
                          PLAIT_GRADIENT_TERM_TENSOR (tape, residual_branch, node->gradient), payload->key,
                          payload->rate);
  if (x->needs_gradient)
    plait_gradient_pass (tape, &node->gradient, PLAIT_GRADIENT_TERM (residual_stream, 1), x);
}

static const PlaitOperator residual = {
  .name = "residual",
  .backward = residual_backward,
  .ignores_value = TRUE,
  .ignores_inputs = TRUE,
};

PlaitNode *
plait_residual (PlaitTape *tape, PlaitNode *x, PlaitNode *y, double rate)
{
  PlaitNode *inputs[] = { x, y };
  PlaitTensor branch;
  PlaitNode *node;
  DropoutPayload *payload;

  expect_one_shape (tape, G_STRFUNC, x, y);
  plait_tape_expect (tape, rate >= 0 && rate < 1);
  branch = plait_tape_value (tape, y);
  node = plait_tape_node_in_place (tape, &residual, inputs, 2, 1, sizeof *payload);
  payload = node->payload;
  if (rate > 0 && plait_tape_mode (tape) == PLAIT_TAPE_TRAIN)
    *payload = (DropoutPayload){ plait_tape_next_key (tape), rate };
  plait_residual_forward (plait_tape_pool (tape), node->value, x->value, branch, payload->key, payload->rate);
  plait_tape_discard_values (tape);
  return node;
}
