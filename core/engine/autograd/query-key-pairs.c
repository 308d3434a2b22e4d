/* SPDX-License-Identifier: MIT */
#include "autograd/internal.h"

#include <math.h>
#include "attention/sibling-softmax.h"

PlaitQueryKeyPairs
plait_query_key_pairs (PlaitTape *tape, PlaitRagged queries, PlaitRagged rows)
{
  plait_tape_expect (tape, plait_ragged_is_valid (queries) && plait_ragged_is_valid (rows));
  plait_tape_expect (tape, queries.n == rows.n);
  return plait_query_key_pairs_new (plait_tape_arena (tape), queries, rows);
}

enum
{
  ADDITIVE_QUERIES,
  ADDITIVE_KEYS,
  ADDITIVE_VECTOR,
  ADDITIVE_BIAS,  /* may be NULL */
  ADDITIVE_EXTRA, /* may be NULL */
  ADDITIVE_INPUTS
};

static PlaitAdditiveScores
additive_of (PlaitNode *const *inputs)
{
  const PlaitNode *bias = inputs[ADDITIVE_BIAS], *extra = inputs[ADDITIVE_EXTRA];

  return (PlaitAdditiveScores){
    .queries = inputs[ADDITIVE_QUERIES]->value,
    .keys = inputs[ADDITIVE_KEYS]->value,
    .extra = extra ? extra->value : (PlaitTensor){ 0 },
    .vector = inputs[ADDITIVE_VECTOR]->value.data,
    .bias = bias ? bias->value.data : NULL,
  };
}

static void
additive_backward (PlaitTape *tape, PlaitNode *node)
{
  PlaitAdditiveScores additive = additive_of (node->inputs);
  PlaitScalar keys_beta, extra_beta;
  PlaitAdditiveGradients gradients = {
    .queries = plait_gradient_to_add_if_needed (tape, node->inputs[ADDITIVE_QUERIES]),
    .keys = plait_gradient_if_needed (tape, node->inputs[ADDITIVE_KEYS], &keys_beta),
    .extra = plait_gradient_if_needed (tape, node->inputs[ADDITIVE_EXTRA], &extra_beta),
    .vector = plait_gradient_to_add_if_needed (tape, node->inputs[ADDITIVE_VECTOR]).data,
    .bias = plait_gradient_to_add_if_needed (tape, node->inputs[ADDITIVE_BIAS]).data,
  };

  gradients.replaces_keys = keys_beta == 0;
  gradients.replaces_extra = extra_beta == 0;
  plait_additive_scores_backward (plait_tape_pool (tape), plait_tape_arena (tape), node->payload, &gradients,
                                  node->gradient.data, &additive);
}

static const PlaitOperator additive
    = { .name = "additive_scores", .backward = additive_backward, .ignores_value = TRUE };

PlaitNode *
plait_additive_scores (PlaitTape *tape, const PlaitQueryKeyPairs *pairs, PlaitNode *queries, PlaitNode *keys,
                       PlaitNode *extra, PlaitNode *vector, PlaitNode *bias)
{
  PlaitNode *inputs[ADDITIVE_INPUTS] = { queries, keys, vector, bias, extra };
  PlaitNode *node;
  PlaitAdditiveScores from;

  plait_tape_expect (tape, queries->value.width == keys->value.width && vector->value.width == keys->value.width);
  plait_tape_expect (tape, queries->value.rows == plait_ragged_rows (pairs->queries)
                               && keys->value.rows == plait_ragged_rows (pairs->rows));
  plait_tape_expect (
      tape,
      !extra || (extra->value.rows == plait_query_key_pairs_count (pairs) && extra->value.width == keys->value.width));
  node = plait_tape_node (tape, &additive, plait_query_key_pairs_count (pairs), 1, inputs, ADDITIVE_INPUTS,
                          sizeof *pairs);
  *(PlaitQueryKeyPairs *)node->payload = *pairs;
  plait_tape_note_product (tape, queries, keys, node->value.rows * keys->value.width);
  from = additive_of (inputs);
  plait_additive_scores_forward (plait_tape_pool (tape), pairs, node->value.data, &from);
  return node;
}

typedef struct
{
  PlaitQueryKeyPairs pairs;
  PlaitScalar scale;
} Dot;

static void
dot_backward (PlaitTape *tape, PlaitNode *node)
{
  PlaitPool *pool = plait_tape_pool (tape);
  const Dot *dot = node->payload;
  PlaitNode *queries = node->inputs[0], *keys = node->inputs[1];
  PlaitTensor scaled = plait_tape_tensor (tape, node->value.rows, 1), target;
  PlaitScalar beta;

  plait_tensor_accumulate (pool, scaled, 0, dot->scale, node->gradient);
  target = plait_gradient_if_needed (tape, queries, &beta);
  if (target.data)
    plait_weighted_sum_forward (pool, plait_tape_arena (tape), &dot->pairs, target, beta != 0,
                                PLAIT_GRADIENT_TERM_TENSOR (tape, dot_scores_query, scaled).data, keys->value);
  target = plait_gradient_if_needed (tape, keys, &beta);
  if (target.data)
    plait_weighted_sum_transposed (pool, &dot->pairs, target, beta != 0,
                                   PLAIT_GRADIENT_TERM_TENSOR (tape, dot_scores_key, scaled).data, queries->value);
}

static const PlaitOperator dot = { .name = "dot_scores", .backward = dot_backward, .ignores_value = TRUE };

PlaitNode *
plait_dot_scores (PlaitTape *tape, const PlaitQueryKeyPairs *pairs, PlaitNode *queries, PlaitNode *keys, double scale)
{
  PlaitNode *node;

  plait_tape_expect (tape, queries && keys && isfinite ((PlaitScalar)scale));
  plait_tape_expect (tape, queries->value.width == keys->value.width);
  plait_tape_expect (tape, queries->value.rows == plait_ragged_rows (pairs->queries)
                               && keys->value.rows == plait_ragged_rows (pairs->rows));
  node = plait_tape_node (tape, &dot, plait_query_key_pairs_count (pairs), 1, (PlaitNode *[]){ queries, keys }, 2,
                          sizeof (Dot));
  *(Dot *)node->payload = (Dot){ *pairs, (PlaitScalar)scale };
  plait_tape_note_product (tape, queries, keys, node->value.rows * keys->value.width);
  plait_dot_scores_forward (plait_tape_pool (tape), pairs, node->value.data, (PlaitScalar)scale, queries->value,
                            keys->value);
  return node;
}

static void
softmax_backward (PlaitTape *tape, PlaitNode *node)
{
  const PlaitQueryKeyPairs *pairs = *(const PlaitQueryKeyPairs **)node->payload;
  PlaitArena *arena = plait_tape_arena (tape);
  PlaitScalar **targets = plait_arena_new_array (arena, PlaitScalar *, node->n_inputs);
  PlaitScalar *betas = plait_arena_new_array (arena, PlaitScalar, node->n_inputs);

  for (guint m = 0; m < node->n_inputs; m++)
    targets[m] = plait_gradient_if_needed (tape, node->inputs[m], &betas[m]).data;
  plait_ragged_softmax_backward (plait_tape_pool (tape), pairs, node->n_inputs, targets, betas, node->gradient.data,
                                 node->value.data);
}

static const PlaitOperator softmax = { .name = "ragged_softmax", .backward = softmax_backward, .ignores_inputs = TRUE };

PlaitNode *
plait_ragged_softmax (PlaitTape *tape, const PlaitQueryKeyPairs *pairs, PlaitNode *const *scores, guint n)
{
  PlaitQueryKeyPairs *kept = plait_arena_new_array (plait_tape_arena (tape), PlaitQueryKeyPairs, n);
  PlaitNode **inputs = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, n);
  gint64 rows = 0;
  PlaitNode *node;

  for (guint m = 0; m < n; m++)
    {
      kept[m] = pairs[m];
      inputs[m] = plait_end_to_end (tape, scores[m]);
      plait_tape_expect (tape, scores[m]->value.rows == plait_query_key_pairs_count (&pairs[m])
                                   && scores[m]->value.width == 1);
      rows += scores[m]->value.rows;
    }
  node = plait_tape_node (tape, &softmax, rows, 1, inputs, n, sizeof kept);
  *(const PlaitQueryKeyPairs **)node->payload = kept;
  rows = 0;
  for (guint m = 0; m < n; rows += scores[m]->value.rows, m++)
    plait_tensor_accumulate (plait_tape_pool (tape), plait_tensor_rows (node->value, rows, scores[m]->value.rows), 0, 1,
                             scores[m]->value);
  plait_ragged_softmax_forward (plait_tape_pool (tape), kept, n, node->value.data, node->value.data);
  return node;
}

static void
sibling_softmax_backward (PlaitTape *tape, PlaitNode *node)
{
  PlaitScalar beta;
  PlaitTensor target = plait_gradient_target (tape, node->inputs[0], &beta);

  plait_sibling_softmax_backward (plait_tape_pool (tape), node->payload, target.data, beta != 0, node->gradient.data);
}

static const PlaitOperator sibling_softmax = {
  .name = "sibling_softmax", .backward = sibling_softmax_backward, .ignores_inputs = TRUE, .ignores_value = TRUE
};

PlaitNode *
plait_sibling_softmax (PlaitTape *tape, const PlaitSiblingGroups *groups, PlaitRagged queries, PlaitNode *scores,
                       PlaitQueryKeyPairs *leaves)
{
  PlaitSiblingSoftmax made;
  PlaitNode *node;

  plait_tape_expect (tape, queries.n == groups->rows.n);
  made = plait_sibling_softmax_new (plait_tape_arena (tape), groups, queries);
  *leaves = made.leaves;
  plait_tape_expect (tape, scores->value.rows == plait_query_key_pairs_count (&made.pairs) && scores->value.width == 1);
  node = plait_tape_node (tape, &sibling_softmax, plait_query_key_pairs_count (leaves), 1, &scores, 1, sizeof made);
  *(PlaitSiblingSoftmax *)node->payload = made;
  plait_sibling_softmax_forward (plait_tape_pool (tape), node->payload, node->value.data, scores->value.data);
  return node;
}

static void
read_backward (PlaitTape *tape, PlaitNode *node)
{
  PlaitPool *pool = plait_tape_pool (tape);
  const PlaitQueryKeyPairs *pairs = node->payload;
  PlaitNode *weights = node->inputs[0], *values = node->inputs[1];
  PlaitScalar beta;
  PlaitTensor target = plait_gradient_if_needed (tape, weights, &beta);

  if (target.data)
    {
      PlaitTensor term = PLAIT_GRADIENT_TERM_TENSOR (tape, weighted_sum_weight, node->gradient);
      PlaitTensor products = beta != 0 ? plait_tape_tensor (tape, target.rows, 1) : target;

      plait_dot_scores_forward (pool, pairs, products.data, 1, term, values->value);
      if (beta != 0)
        plait_tensor_accumulate (pool, target, 1, 1, products);
    }
  target = plait_gradient_if_needed (tape, values, &beta);
  if (target.data)
    plait_weighted_sum_transposed (pool, pairs, target, beta != 0, weights->value.data,
                                   PLAIT_GRADIENT_TERM_TENSOR (tape, weighted_sum_value, node->gradient));
}

static const PlaitOperator read_pairs = { .name = "weighted_sum", .backward = read_backward, .ignores_value = TRUE };

PlaitNode *
plait_weighted_sum (PlaitTape *tape, const PlaitQueryKeyPairs *pairs, PlaitNode *weights, PlaitNode *values)
{
  PlaitNode *node;

  plait_tape_expect (tape, weights->value.rows == plait_query_key_pairs_count (pairs) && weights->value.width == 1);
  plait_tape_expect (tape, values->value.rows == plait_ragged_rows (pairs->rows));
  weights = plait_end_to_end (tape, weights);
  node = plait_tape_node (tape, &read_pairs, plait_ragged_rows (pairs->queries), values->value.width,
                          (PlaitNode *[]){ weights, values }, 2, sizeof *pairs);
  *(PlaitQueryKeyPairs *)node->payload = *pairs;
  plait_tape_note_product (tape, weights, values, weights->value.rows * values->value.width);
  plait_weighted_sum_forward (plait_tape_pool (tape), plait_tape_arena (tape), pairs, node->value, FALSE,
                              weights->value.data, values->value);
  return node;
}
