/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "autograd/internal.h"
#include "autograd/layer-operators.h"

enum
{
  WALK_QUERIES,
  WALK_KEYS,
  WALK_VECTOR,
  WALK_INPUTS
};

typedef struct
{
  PlaitWalked walked;
  PlaitScalar scale;
} Payload;

static void
walk_backward (PlaitTape *tape, PlaitNode *node)
{
  const Payload *payload = node->payload;
  const PlaitWalked *walked = &payload->walked;
  PlaitTensor dscores = plait_tape_tensor (tape, walked->weighed, 1);

  plait_walk_backward (plait_tape_pool (tape), plait_tape_arena (tape), walked, dscores.data, payload->scale,
                       node->gradient.data);
  if (node->inputs[WALK_VECTOR])
    plait_chosen_additive_backward (tape, node->inputs, &walked->all, dscores.data);
  else
    plait_chosen_products_backward (tape, node->inputs[WALK_QUERIES], node->inputs[WALK_KEYS], &walked->all,
                                    PLAIT_TERM_TENSOR (tape, walk_query, dscores),
                                    PLAIT_TERM_TENSOR (tape, walk_key, dscores));
  plait_tape_release (tape, dscores);
}

static const PlaitOperator walk_down = { .name = "walk_down", .backward = walk_backward, .ignores_value = TRUE };

PlaitNode *
plait_walk_down (PlaitTape *tape, const PlaitWalk *walk, PlaitNode *queries, PlaitNode *keys, PlaitNode *values,
                 double scale, PlaitNode *vector, gboolean all, PlaitWalked *walked)
{
  PlaitNode *inputs[WALK_INPUTS] = { queries, keys, vector };
  PlaitWalkScores scores = { .queries = plait_tape_value (tape, queries),
                             .keys = plait_tape_value (tape, keys),
                             .scale = (PlaitScalar)scale };
  gboolean records = plait_tape_mode (tape) != PLAIT_TAPE_EVALUATE;
  PlaitNode *node;

  plait_tape_expect (tape, walk->heads > 0 && walk->branches > 0 && walk->most_children >= 0);
  plait_tape_expect (tape, walk->queries.n == walk->rows.n);
  plait_tape_expect (tape, plait_ragged_rows (walk->queries) == scores.queries.rows);
  plait_tape_expect (tape, plait_ragged_rows (walk->rows) == scores.keys.rows);
  plait_tape_expect (tape, scores.queries.width == scores.keys.width && scores.keys.width % walk->heads == 0);
  if (values)
    {
      scores.values = plait_tape_value (tape, values);
      plait_tape_expect (tape, scores.values.rows == scores.keys.rows);
    }
  if (vector)
    {
      plait_tape_expect (tape, walk->heads == 1 && vector->value.width == scores.keys.width);
      scores.vector = plait_tape_value (tape, vector).data;
    }
  *walked = plait_walk (plait_tape_pool (tape), plait_tape_arena (tape), walk, &scores, all || records);
  if (walked->weighed < 0)
    plait_tape_fail (tape, "%s: children of a row are not rows of its sentence", G_STRFUNC);
  node = plait_tape_node (tape, &walk_down, plait_chosen_number (&walked->leaves), 1, inputs, WALK_INPUTS,
                          sizeof (Payload));
  *(Payload *)node->payload = (Payload){ *walked, vector ? 1 : (PlaitScalar)scale };
  plait_tape_note_product (tape, queries, keys, walked->weighed * (scores.keys.width / walk->heads));
  memcpy (node->value.data, walked->of_leaves, sizeof (PlaitScalar) * (gsize)node->value.rows);
  return node;
}
