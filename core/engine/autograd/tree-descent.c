/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "autograd/internal.h"
#include "autograd/layer-operators.h"

enum
{
  DESCENT_QUERIES,
  DESCENT_KEYS,
  DESCENT_VECTOR,
  DESCENT_INPUTS
};

typedef struct
{
  PlaitTreeDescentResult result;
  PlaitScalar scale;
} Payload;

static void
descent_backward (PlaitTape *tape, PlaitNode *node)
{
  const Payload *payload = node->payload;
  const PlaitTreeDescentResult *result = &payload->result;
  PlaitTensor dscores = plait_tape_tensor (tape, result->weighed, 1);

  plait_tree_descent_backward (plait_tape_pool (tape), plait_tape_arena (tape), result, dscores.data, payload->scale,
                               node->gradient.data);
  if (node->inputs[DESCENT_VECTOR])
    plait_sparse_additive_scores_add_gradients (tape, node->inputs, &result->all, dscores.data);
  else
    plait_sparse_dot_scores_add_gradients (tape, node->inputs[DESCENT_QUERIES], node->inputs[DESCENT_KEYS],
                                           &result->all, PLAIT_GRADIENT_TERM_TENSOR (tape, tree_descent_query, dscores),
                                           PLAIT_GRADIENT_TERM_TENSOR (tape, tree_descent_key, dscores));
  plait_tape_release (tape, dscores);
}

static const PlaitOperator tree_descent
    = { .name = "tree_descent", .backward = descent_backward, .ignores_value = TRUE };

PlaitNode *
plait_tree_descent (PlaitTape *tape, const PlaitTreeDescent *descent, PlaitNode *queries, PlaitNode *keys,
                    PlaitNode *values, double scale, PlaitNode *vector, gboolean all, PlaitTreeDescentResult *result)
{
  PlaitNode *inputs[DESCENT_INPUTS] = { queries, keys, vector };
  PlaitTreeDescentScores scores = { .queries = plait_tape_value (tape, queries),
                                    .keys = plait_tape_value (tape, keys),
                                    .scale = (PlaitScalar)scale };
  gboolean records = plait_tape_mode (tape) != PLAIT_TAPE_EVALUATE;
  PlaitNode *node;

  plait_tape_expect (tape, descent->heads > 0 && descent->branches > 0 && descent->max_children >= 0);
  plait_tape_expect (tape, descent->queries.n == descent->rows.n);
  plait_tape_expect (tape, plait_ragged_rows (descent->queries) == scores.queries.rows);
  plait_tape_expect (tape, plait_ragged_rows (descent->rows) == scores.keys.rows);
  plait_tape_expect (tape, scores.queries.width == scores.keys.width && scores.keys.width % descent->heads == 0);
  if (values)
    {
      scores.values = plait_tape_value (tape, values);
      plait_tape_expect (tape, scores.values.rows == scores.keys.rows);
    }
  if (vector)
    {
      plait_tape_expect (tape, descent->heads == 1 && vector->value.width == scores.keys.width);
      scores.vector = plait_tape_value (tape, vector).data;
    }
  *result
      = plait_tree_descent_forward (plait_tape_pool (tape), plait_tape_arena (tape), descent, &scores, all || records);
  if (result->weighed < 0)
    plait_tape_fail (
        tape,
        "%s: the children of a memory row are not rows of its sentence: mend first_child and n_children of the memory",
        G_STRFUNC);
  node = plait_tape_node (tape, &tree_descent, plait_selected_rows_count (&result->leaves), 1, inputs, DESCENT_INPUTS,
                          sizeof (Payload));
  *(Payload *)node->payload = (Payload){ *result, vector ? 1 : (PlaitScalar)scale };
  plait_tape_note_product (tape, queries, keys, result->weighed * (scores.keys.width / descent->heads));
  memcpy (node->value.data, result->leaf_weights, sizeof (PlaitScalar) * (gsize)node->value.rows);
  return node;
}
