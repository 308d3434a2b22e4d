/* SPDX-License-Identifier: MIT */
#include "autograd/internal.h"
#include "cases.h"
#include "autograd/layer-operators.h"

#define HEADS 2
#define QUERIES 3
#define ROWS 6
#define WIDTH 22 /* two heads of 11 columns */
#define CHOSEN 10

/* Six entries, with: two sets; no set; a set that selects a row twice; an empty set; a set and an empty set; one set.
 * Several entries select some of the rows; no entry selects row 5. */
static const gint64 sets[] = { 0, 2, 2, 3, 4, 6, 7 }, rows[] = { 0, 2, 3, 6, 6, 8, 8, 10 };
static const gint64 row[CHOSEN] = { 0, 1, 3, 2, 4, 2, 3, 1, 0, 4 };
static const PlaitSelectedRows selected = { HEADS, { HEADS * QUERIES, sets }, { 7, rows }, row };

/* Sets for one head: each query has two or three of them. */
static const gint64 single_sets[] = { 0, 2, 4, 7 };
static const PlaitSelectedRows single = { 1, { QUERIES, single_sets }, { 7, rows }, row };

static PlaitNode *
products (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_sparse_dot_scores (tape, &selected, leaves[0], leaves[1], 0.7);
}

/* The queries are also keys and values, and another operator reads them, so gradients are added to existing ones. */
static PlaitNode *
products_shared (PlaitTape *tape, PlaitNode *const *leaves)
{
  static const gint64 one_each[] = { 0, 1, 2 }, two[] = { 0, 2, 4 }, both[] = { 0, 1, 0, 1 };
  PlaitSelectedRows square = { 1, { 2, one_each }, { 2, two }, both };
  PlaitNode *x = plait_activate (tape, leaves[0], PLAIT_ACTIVATION_TANH);
  PlaitNode *scores = plait_sparse_dot_scores (tape, &square, x, x, 1);

  return plait_concatenate_columns (tape, (PlaitNode *[]){ plait_sparse_weighted_sum (tape, &square, scores, x), x },
                                    2);
}

static PlaitNode *
additive (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_sparse_additive_scores (tape, &single, leaves[0], leaves[1], leaves[2]);
}

static PlaitNode *
weights (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_sparse_softmax (tape, &selected, leaves[0]);
}

/* Another operator also reads the scores. */
static PlaitNode *
weights_shared (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_multiply (tape, plait_sparse_softmax (tape, &selected, leaves[0]), leaves[0]);
}

/* Another operator also reads the weights. */
static PlaitNode *
read_twice (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_concatenate_columns (
      tape,
      (PlaitNode *[]){ plait_sparse_weighted_sum (tape, &selected, leaves[0], leaves[1]),
                       plait_sparse_weighted_sum (tape, &selected, leaves[0], leaves[2]) },
      2);
}

/* A pyramid: eight leaves in blocks of two or three, of which the last two blocks share a leaf; above them four rows in
 * two blocks. */
static const gint64 descent_level[] = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2 };
static const gint64 descent_first[] = { -1, -1, -1, -1, -1, -1, -1, -1, 0, 2, 4, 6, 8, 10 };
static const gint64 descent_number[] = { 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 3, 2, 2, 2 };
static const gint64 descent_offsets[] = { 0, 14 }, descent_queries[] = { 0, QUERIES };
#define DESCENT_ROWS 14

static PlaitNode *
descend (PlaitTape *tape, guint heads, gboolean normalise, PlaitNode *const *leaves, PlaitNode *vector)
{
  PlaitTreeDescent descent = {
    { 1, descent_queries }, { 1, descent_offsets }, descent_level, descent_first, descent_number, 3, heads, 2, normalise
  };
  PlaitTreeDescentResult result;

  return plait_tree_descent (tape, &descent, leaves[0], leaves[1], NULL, .3, vector, FALSE, &result);
}

static PlaitNode *
descend_by_products (PlaitTape *tape, PlaitNode *const *leaves)
{
  return descend (tape, HEADS, TRUE, leaves, NULL);
}

static PlaitNode *
descend_by_scores (PlaitTape *tape, PlaitNode *const *leaves)
{
  return descend (tape, 1, FALSE, leaves, leaves[2]);
}

/* More queries than a vector has lanes, and heads narrower than a vector; keys are also values. */
#define MANY 18
static const gint64 many_queries[] = { 0, MANY };

static const PlaitSiblingGroups *
sibling_groups_of (PlaitTape *tape)
{
  PlaitTreeDescent descent = {
    .rows = { 1, descent_offsets }, .level = descent_level, .first_child = descent_first, .n_children = descent_number
  };
  PlaitSiblingGroups *groups = plait_arena_new_array (plait_tape_arena (tape), PlaitSiblingGroups, 1);

  plait_tape_expect (tape, plait_sibling_groups_find (plait_tape_arena (tape), &descent, groups));
  return groups;
}

static PlaitNode *
over_sibling_groups (PlaitTape *tape, PlaitNode *const *leaves)
{
  const PlaitSiblingGroups *groups = sibling_groups_of (tape);
  PlaitRagged queries = { 1, many_queries };
  PlaitAttentionOptions options = { .heads = HEADS, .scale = .6, .dropout = .2 };
  PlaitNode *one = plait_sibling_attention (tape, groups, queries, leaves[0], leaves[1], leaves[2], &options);
  PlaitNode *other = plait_sibling_attention (tape, groups, queries, leaves[0], leaves[1], leaves[1], &options);

  return plait_concatenate_columns (tape, (PlaitNode *[]){ one, other }, 2);
}

/* Another operator also reads the scores, so gradients are added to existing ones. The weights are read alone and
 * together with values. */
static PlaitNode *
sibling_softmax (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitRagged queries = { 1, descent_queries };
  PlaitQueryKeyPairs leaf_weights;
  PlaitNode *of_sibling_groups
      = plait_sibling_softmax (tape, sibling_groups_of (tape), queries, leaves[0], &leaf_weights);

  return plait_concatenate_rows (
      tape,
      (PlaitNode *[]){ of_sibling_groups, plait_weighted_sum (tape, &leaf_weights, of_sibling_groups, leaves[1]),
                       leaves[0] },
      3);
}

#define MODE PLAIT_TAPE_CHECK

const GradientCase sparse_cases[] = {
  { "sparse dot scores", "sparse_dot_scores_", products, MODE, 2, { { QUERIES, WIDTH }, { ROWS, WIDTH } } },
  { "sparse dot scores, shared", NULL, products_shared, MODE, 1, { { 2, 5 } } },
  { "sparse additive scores",
    "sparse_additive_scores_",
    additive,
    MODE,
    3,
    { { QUERIES, WIDTH }, { ROWS, WIDTH }, { 1, WIDTH } } },
  { "sparse softmax", "sparse_softmax_", weights, MODE, 1, { { CHOSEN, 1 } } },
  { "sparse softmax, shared", NULL, weights_shared, MODE, 1, { { CHOSEN, 1 } } },
  { "sparse weighted sum",
    "sparse_weighted_sum_",
    read_twice,
    MODE,
    3,
    { { CHOSEN, 1 }, { ROWS, WIDTH }, { ROWS, 4 } } },
  { "tree descent", "tree_descent_", descend_by_products, MODE, 2, { { QUERIES, WIDTH }, { DESCENT_ROWS, WIDTH } } },
  { "tree descent, additive", NULL, descend_by_scores, MODE, 3, { { QUERIES, 9 }, { DESCENT_ROWS, 9 }, { 1, 9 } } },
  { "sibling attention",
    "sibling_attention_",
    over_sibling_groups,
    PLAIT_TAPE_TRAIN,
    3,
    { { MANY, 6 }, { DESCENT_ROWS, 6 }, { DESCENT_ROWS, 6 } } },
  { "sibling softmax",
    "sibling_softmax_",
    sibling_softmax,
    MODE,
    2,
    { { QUERIES * DESCENT_ROWS, 1 }, { DESCENT_ROWS, 1 } } },
};
const guint n_sparse_cases = G_N_ELEMENTS (sparse_cases);
