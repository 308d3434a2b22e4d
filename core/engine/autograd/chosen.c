/* SPDX-License-Identifier: MIT */
#include "autograd/internal.h"
#include "autograd/layer-operators.h"

static void
check_choice (PlaitTape *tape, const PlaitChosen *chosen, PlaitNode *queries, PlaitNode *rows)
{
  plait_tape_expect (tape, plait_chosen_fits (chosen, queries->value.rows, rows->value.rows));
  plait_tape_expect (tape, rows->value.width % chosen->heads == 0);
}

/* A number for each chosen row: @node's, which stand end to end. */
static void
check_numbers (PlaitTape *tape, const PlaitChosen *chosen, PlaitNode *node)
{
  plait_tape_expect (tape, node->value.rows == plait_chosen_number (chosen) && node->value.width == 1
                               && node->value.stride == 1);
}

/* The gradient of the numbers of chosen rows by a dot product of each. */
static void
dot_into (PlaitTape *tape, const PlaitChosen *chosen, PlaitNode *numbers, PlaitTensor queries, PlaitTensor rows)
{
  PlaitPool *pool = plait_tape_pool (tape);
  PlaitScalar beta;
  PlaitTensor target = plait_gradient_target (tape, numbers, &beta), products = target;

  if (beta != 0)
    products = plait_tape_tensor (tape, target.rows, 1);
  plait_chosen_dot (pool, chosen, products.data, 1, queries, rows);
  if (beta == 0)
    return;
  plait_tensor_accumulate (pool, target, 1, 1, products);
  plait_tape_release (tape, products);
}

void
plait_chosen_products_backward (PlaitTape *tape, PlaitNode *queries, PlaitNode *keys, const PlaitChosen *chosen,
                                PlaitTensor for_queries, PlaitTensor for_keys)
{
  PlaitPool *pool = plait_tape_pool (tape);
  PlaitScalar beta;
  PlaitTensor target = plait_gradient_if_needed (tape, queries, &beta);

  if (target.data)
    plait_chosen_sum (pool, chosen, target, beta != 0, for_queries.data, keys->value);
  if (keys->needs_gradient)
    plait_chosen_spread (pool, plait_tape_arena (tape), chosen, plait_gradient_to_add (tape, keys), for_keys.data,
                         queries->value);
}

typedef struct
{
  PlaitChosen chosen;
  PlaitScalar scale;
} Products;

static void
products_backward (PlaitTape *tape, PlaitNode *node)
{
  const Products *products = node->payload;
  PlaitTensor scaled = plait_tape_tensor (tape, node->value.rows, 1);

  plait_tensor_accumulate (plait_tape_pool (tape), scaled, 0, products->scale, node->gradient);
  plait_chosen_products_backward (tape, node->inputs[0], node->inputs[1], &products->chosen,
                                  PLAIT_TERM_TENSOR (tape, chosen_products_query, scaled),
                                  PLAIT_TERM_TENSOR (tape, chosen_products_key, scaled));
  plait_tape_release (tape, scaled);
}

static const PlaitOperator products
    = { .name = "chosen_products", .backward = products_backward, .ignores_value = TRUE };

PlaitNode *
plait_chosen_products (PlaitTape *tape, const PlaitChosen *chosen, PlaitNode *queries, PlaitNode *keys, double scale)
{
  PlaitNode *node;

  check_choice (tape, chosen, queries, keys);
  plait_tape_expect (tape, queries->value.width == keys->value.width);
  node = plait_tape_node (tape, &products, plait_chosen_number (chosen), 1, (PlaitNode *[]){ queries, keys }, 2,
                          sizeof (Products));
  *(Products *)node->payload = (Products){ *chosen, (PlaitScalar)scale };
  plait_tape_note_product (tape, queries, keys, node->value.rows * (keys->value.width / chosen->heads));
  plait_chosen_dot (plait_tape_pool (tape), chosen, node->value.data, (PlaitScalar)scale, queries->value, keys->value);
  return node;
}

static PlaitAdditive
additive_of (PlaitNode *const *inputs)
{
  return (PlaitAdditive){ .queries = inputs[0]->value, .keys = inputs[1]->value, .vector = inputs[2]->value.data };
}

void
plait_chosen_additive_backward (PlaitTape *tape, PlaitNode *const *inputs, const PlaitChosen *chosen,
                                const PlaitScalar *dscores)
{
  PlaitAdditive additive = additive_of (inputs);
  PlaitAdditiveGradients gradients = {
    .queries = plait_gradient_to_add_if_needed (tape, inputs[0]),
    .keys = plait_gradient_to_add_if_needed (tape, inputs[1]),
    .vector = plait_gradient_to_add_if_needed (tape, inputs[2]).data,
  };

  plait_chosen_tanh_backward (plait_tape_pool (tape), plait_tape_arena (tape), chosen, &gradients, dscores, &additive);
}

static void
additive_backward (PlaitTape *tape, PlaitNode *node)
{
  plait_chosen_additive_backward (tape, node->inputs, node->payload, node->gradient.data);
}

static const PlaitOperator additive
    = { .name = "chosen_additive", .backward = additive_backward, .ignores_value = TRUE };

PlaitNode *
plait_chosen_additive (PlaitTape *tape, const PlaitChosen *chosen, PlaitNode *queries, PlaitNode *keys,
                       PlaitNode *vector)
{
  PlaitNode *inputs[] = { queries, keys, vector };
  PlaitNode *node;
  PlaitAdditive from;

  check_choice (tape, chosen, queries, keys);
  plait_tape_expect (tape, chosen->heads == 1);
  plait_tape_expect (tape, queries->value.width == keys->value.width && vector->value.width == keys->value.width);
  node = plait_tape_node (tape, &additive, plait_chosen_number (chosen), 1, inputs, G_N_ELEMENTS (inputs),
                          sizeof *chosen);
  *(PlaitChosen *)node->payload = *chosen;
  plait_tape_note_product (tape, queries, keys, node->value.rows * keys->value.width);
  from = additive_of (inputs);
  plait_chosen_tanh (plait_tape_pool (tape), chosen, node->value.data, &from);
  return node;
}

static void
softmax_backward (PlaitTape *tape, PlaitNode *node)
{
  PlaitScalar beta;
  PlaitTensor target = plait_gradient_target (tape, node->inputs[0], &beta);

  plait_chosen_softmax_backward (plait_tape_pool (tape), node->payload, target.data, beta, node->gradient.data,
                                 node->value.data);
}

static const PlaitOperator softmax = { .name = "chosen_weights", .backward = softmax_backward, .ignores_inputs = TRUE };

PlaitNode *
plait_chosen_weights (PlaitTape *tape, const PlaitChosen *chosen, PlaitNode *scores)
{
  PlaitNode *node;

  check_numbers (tape, chosen, scores);
  node = plait_tape_node (tape, &softmax, scores->value.rows, 1, &scores, 1, sizeof *chosen);
  *(PlaitChosen *)node->payload = *chosen;
  plait_chosen_softmax (plait_tape_pool (tape), chosen, node->value.data, scores->value.data);
  return node;
}

static void
read_backward (PlaitTape *tape, PlaitNode *node)
{
  const PlaitChosen *chosen = node->payload;
  PlaitNode *numbers = node->inputs[0], *values = node->inputs[1];

  if (numbers->needs_gradient)
    dot_into (tape, chosen, numbers, PLAIT_TERM_TENSOR (tape, chosen_read_weight, node->gradient), values->value);
  if (values->needs_gradient)
    plait_chosen_spread (plait_tape_pool (tape), plait_tape_arena (tape), chosen, plait_gradient_to_add (tape, values),
                         numbers->value.data, PLAIT_TERM_TENSOR (tape, chosen_read_value, node->gradient));
}

static const PlaitOperator read_chosen = { .name = "chosen_read", .backward = read_backward, .ignores_value = TRUE };

PlaitNode *
plait_chosen_read (PlaitTape *tape, const PlaitChosen *chosen, PlaitNode *weights, PlaitNode *values)
{
  PlaitNode *node;

  check_numbers (tape, chosen, weights);
  node = plait_tape_node (tape, &read_chosen, chosen->sets.n / chosen->heads, values->value.width,
                          (PlaitNode *[]){ weights, values }, 2, sizeof *chosen);
  check_choice (tape, chosen, node, values);
  *(PlaitChosen *)node->payload = *chosen;
  plait_tape_note_product (tape, weights, values, weights->value.rows * (values->value.width / chosen->heads));
  plait_chosen_sum (plait_tape_pool (tape), chosen, node->value, FALSE, weights->value.data, values->value);
  return node;
}
