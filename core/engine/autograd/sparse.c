/* SPDX-License-Identifier: MIT */
#include "autograd/internal.h"
#include "autograd/layer-operators.h"

static void
check_choice (PlaitTape *tape, const PlaitSelectedRows *selected, PlaitNode *queries, PlaitNode *rows)
{
  plait_tape_expect (tape, plait_selected_rows_are_valid (selected, queries->value.rows, rows->value.rows));
  plait_tape_expect (tape, rows->value.width % selected->heads == 0);
}

/* Fails the step unless @node is contiguous [selected, 1]. */
static void
check_numbers (PlaitTape *tape, const PlaitSelectedRows *selected, PlaitNode *node)
{
  plait_tape_expect (tape, node->value.rows == plait_selected_rows_count (selected) && node->value.width == 1
                               && node->value.stride == 1);
}

/* Adds to the gradient of @numbers [selected, 1] the dot product of each selected row with its query. */
static void
dot_into (PlaitTape *tape, const PlaitSelectedRows *selected, PlaitNode *numbers, PlaitTensor queries, PlaitTensor rows)
{
  PlaitPool *pool = plait_tape_pool (tape);
  PlaitScalar beta;
  PlaitTensor target = plait_gradient_target (tape, numbers, &beta), products = target;

  if (beta != 0)
    products = plait_tape_tensor (tape, target.rows, 1);
  plait_sparse_dot_scores_forward (pool, selected, products.data, 1, queries, rows);
  if (beta == 0)
    return;
  plait_tensor_accumulate (pool, target, 1, 1, products);
  plait_tape_release (tape, products);
}

void
plait_sparse_dot_scores_add_gradients (PlaitTape *tape, PlaitNode *queries, PlaitNode *keys,
                                       const PlaitSelectedRows *selected, PlaitTensor for_queries, PlaitTensor for_keys)
{
  PlaitPool *pool = plait_tape_pool (tape);
  PlaitScalar beta;
  PlaitTensor target = plait_gradient_if_needed (tape, queries, &beta);

  if (target.data)
    plait_sparse_weighted_sum_forward (pool, selected, target, beta != 0, for_queries.data, keys->value);
  if (keys->needs_gradient)
    plait_sparse_weighted_sum_transposed (pool, plait_tape_arena (tape), selected, plait_gradient_to_add (tape, keys),
                                          for_keys.data, queries->value);
}

typedef struct
{
  PlaitSelectedRows selected;
  PlaitScalar scale;
} Products;

static void
products_backward (PlaitTape *tape, PlaitNode *node)
{
  const Products *products = node->payload;
  PlaitTensor scaled = plait_tape_tensor (tape, node->value.rows, 1);

  plait_tensor_accumulate (plait_tape_pool (tape), scaled, 0, products->scale, node->gradient);
  plait_sparse_dot_scores_add_gradients (tape, node->inputs[0], node->inputs[1], &products->selected,
                                         PLAIT_GRADIENT_TERM_TENSOR (tape, sparse_dot_scores_query, scaled),
                                         PLAIT_GRADIENT_TERM_TENSOR (tape, sparse_dot_scores_key, scaled));
  plait_tape_release (tape, scaled);
}

static const PlaitOperator products
    = { .name = "sparse_dot_scores", .backward = products_backward, .ignores_value = TRUE };

PlaitNode *
plait_sparse_dot_scores (PlaitTape *tape, const PlaitSelectedRows *selected, PlaitNode *queries, PlaitNode *keys,
                         double scale)
{
  PlaitNode *node;

  check_choice (tape, selected, queries, keys);
  plait_tape_expect (tape, queries->value.width == keys->value.width);
  node = plait_tape_node (tape, &products, plait_selected_rows_count (selected), 1, (PlaitNode *[]){ queries, keys }, 2,
                          sizeof (Products));
  *(Products *)node->payload = (Products){ *selected, (PlaitScalar)scale };
  plait_tape_note_product (tape, queries, keys, node->value.rows * (keys->value.width / selected->heads));
  plait_sparse_dot_scores_forward (plait_tape_pool (tape), selected, node->value.data, (PlaitScalar)scale,
                                   queries->value, keys->value);
  return node;
}

static PlaitAdditiveScores
additive_of (PlaitNode *const *inputs)
{
  return (
      PlaitAdditiveScores){ .queries = inputs[0]->value, .keys = inputs[1]->value, .vector = inputs[2]->value.data };
}

void
plait_sparse_additive_scores_add_gradients (PlaitTape *tape, PlaitNode *const *inputs,
                                            const PlaitSelectedRows *selected, const PlaitScalar *dscores)
{
  PlaitAdditiveScores additive = additive_of (inputs);
  PlaitAdditiveGradients gradients = {
    .queries = plait_gradient_to_add_if_needed (tape, inputs[0]),
    .keys = plait_gradient_to_add_if_needed (tape, inputs[1]),
    .vector = plait_gradient_to_add_if_needed (tape, inputs[2]).data,
  };

  plait_sparse_additive_scores_backward (plait_tape_pool (tape), plait_tape_arena (tape), selected, &gradients, dscores,
                                         &additive);
}

static void
additive_backward (PlaitTape *tape, PlaitNode *node)
{
  plait_sparse_additive_scores_add_gradients (tape, node->inputs, node->payload, node->gradient.data);
}

static const PlaitOperator additive
    = { .name = "sparse_additive_scores", .backward = additive_backward, .ignores_value = TRUE };

PlaitNode *
plait_sparse_additive_scores (PlaitTape *tape, const PlaitSelectedRows *selected, PlaitNode *queries, PlaitNode *keys,
                              PlaitNode *vector)
{
  PlaitNode *inputs[] = { queries, keys, vector };
  PlaitNode *node;
  PlaitAdditiveScores from;

  check_choice (tape, selected, queries, keys);
  plait_tape_expect (tape, selected->heads == 1);
  plait_tape_expect (tape, queries->value.width == keys->value.width && vector->value.width == keys->value.width);
  node = plait_tape_node (tape, &additive, plait_selected_rows_count (selected), 1, inputs, G_N_ELEMENTS (inputs),
                          sizeof *selected);
  *(PlaitSelectedRows *)node->payload = *selected;
  plait_tape_note_product (tape, queries, keys, node->value.rows * keys->value.width);
  from = additive_of (inputs);
  plait_sparse_additive_scores_forward (plait_tape_pool (tape), selected, node->value.data, &from);
  return node;
}

static void
softmax_backward (PlaitTape *tape, PlaitNode *node)
{
  PlaitScalar beta;
  PlaitTensor target = plait_gradient_target (tape, node->inputs[0], &beta);

  plait_sparse_softmax_backward (plait_tape_pool (tape), node->payload, target.data, beta, node->gradient.data,
                                 node->value.data);
}

static const PlaitOperator softmax = { .name = "sparse_softmax", .backward = softmax_backward, .ignores_inputs = TRUE };

PlaitNode *
plait_sparse_softmax (PlaitTape *tape, const PlaitSelectedRows *selected, PlaitNode *scores)
{
  PlaitNode *node;

  check_numbers (tape, selected, scores);
  node = plait_tape_node (tape, &softmax, scores->value.rows, 1, &scores, 1, sizeof *selected);
  *(PlaitSelectedRows *)node->payload = *selected;
  plait_sparse_softmax_forward (plait_tape_pool (tape), selected, node->value.data, scores->value.data);
  return node;
}

static void
read_backward (PlaitTape *tape, PlaitNode *node)
{
  const PlaitSelectedRows *selected = node->payload;
  PlaitNode *numbers = node->inputs[0], *values = node->inputs[1];

  if (numbers->needs_gradient)
    dot_into (tape, selected, numbers, PLAIT_GRADIENT_TERM_TENSOR (tape, sparse_weighted_sum_weight, node->gradient),
              values->value);
  if (values->needs_gradient)
    plait_sparse_weighted_sum_transposed (plait_tape_pool (tape), plait_tape_arena (tape), selected,
                                          plait_gradient_to_add (tape, values), numbers->value.data,
                                          PLAIT_GRADIENT_TERM_TENSOR (tape, sparse_weighted_sum_value, node->gradient));
}

static const PlaitOperator read_chosen
    = { .name = "sparse_weighted_sum", .backward = read_backward, .ignores_value = TRUE };

PlaitNode *
plait_sparse_weighted_sum (PlaitTape *tape, const PlaitSelectedRows *selected, PlaitNode *weights, PlaitNode *values)
{
  PlaitNode *node;

  check_numbers (tape, selected, weights);
  node = plait_tape_node (tape, &read_chosen, selected->sets.n / selected->heads, values->value.width,
                          (PlaitNode *[]){ weights, values }, 2, sizeof *selected);
  check_choice (tape, selected, node, values);
  *(PlaitSelectedRows *)node->payload = *selected;
  plait_tape_note_product (tape, weights, values, weights->value.rows * (values->value.width / selected->heads));
  plait_sparse_weighted_sum_forward (plait_tape_pool (tape), selected, node->value, FALSE, weights->value.data,
                                     values->value);
  return node;
}
