/* SPDX-License-Identifier: MIT */
#include "autograd/internal.h"
#include "cases.h"
#include "autograd/layer-operators.h"

#define HEADS 2
#define QUERIES 3
#define ROWS 6
#define WIDTH 22 /* two heads of 11 */
#define CHOSEN 10

/* Two sets, no set; a set with a row twice; no row; one set and a set without rows. Rows are chosen by several entries,
 * and row 5 by none. */
static const gint64 sets[] = { 0, 2, 2, 3, 4, 6, 7 }, rows[] = { 0, 2, 3, 6, 6, 8, 8, 10 };
static const gint64 row[CHOSEN] = { 0, 1, 3, 2, 4, 2, 3, 1, 0, 4 };
static const PlaitChosen chosen = { HEADS, { HEADS * QUERIES, sets }, { 7, rows }, row };

/* One head: each query has two sets of those. */
static const gint64 single_sets[] = { 0, 2, 4, 7 };
static const PlaitChosen single = { 1, { QUERIES, single_sets }, { 7, rows }, row };

static PlaitNode *
products (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_chosen_products (tape, &chosen, leaves[0], leaves[1], 0.7);
}

/* Queries are keys, and have been read before; so gradients arrive where there are some. */
static PlaitNode *
products_shared (PlaitTape *tape, PlaitNode *const *leaves)
{
  static const gint64 one_each[] = { 0, 1, 2 }, two[] = { 0, 2, 4 }, both[] = { 0, 1, 0, 1 };
  PlaitChosen square = { 1, { 2, one_each }, { 2, two }, both };
  PlaitNode *x = plait_activate (tape, leaves[0], PLAIT_ACTIVATION_TANH);
  PlaitNode *scores = plait_chosen_products (tape, &square, x, x, 1);

  return plait_concatenate_columns (tape, (PlaitNode *[]){ plait_chosen_read (tape, &square, scores, x), x }, 2);
}

static PlaitNode *
additive (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_chosen_additive (tape, &single, leaves[0], leaves[1], leaves[2]);
}

static PlaitNode *
weights (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_chosen_weights (tape, &chosen, leaves[0]);
}

/* Scores that have another consumer. */
static PlaitNode *
weights_shared (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_multiply (tape, plait_chosen_weights (tape, &chosen, leaves[0]), leaves[0]);
}

/* Weights that have another consumer. */
static PlaitNode *
read_twice (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_concatenate_columns (tape,
                                    (PlaitNode *[]){ plait_chosen_read (tape, &chosen, leaves[0], leaves[1]),
                                                     plait_chosen_read (tape, &chosen, leaves[0], leaves[2]) },
                                    2);
}

/* Eight leaves in blocks of two or three, of which the last two share one; four rows above them, in two blocks. */
static const gint64 walk_level[] = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2 };
static const gint64 walk_first[] = { -1, -1, -1, -1, -1, -1, -1, -1, 0, 2, 4, 6, 8, 10 };
static const gint64 walk_number[] = { 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 3, 2, 2, 2 };
static const gint64 walk_offsets[] = { 0, 14 }, walk_queries[] = { 0, QUERIES };
#define WALK_ROWS 14

static PlaitNode *
walk_down (PlaitTape *tape, guint heads, gboolean normalise, PlaitNode *const *leaves, PlaitNode *vector)
{
  PlaitWalk walk
      = { { 1, walk_queries }, { 1, walk_offsets }, walk_level, walk_first, walk_number, 3, heads, 2, normalise };
  PlaitWalked walked;

  return plait_walk_down (tape, &walk, leaves[0], leaves[1], NULL, .3, vector, FALSE, &walked);
}

static PlaitNode *
walk_by_products (PlaitTape *tape, PlaitNode *const *leaves)
{
  return walk_down (tape, HEADS, TRUE, leaves, NULL);
}

static PlaitNode *
walk_by_scores (PlaitTape *tape, PlaitNode *const *leaves)
{
  return walk_down (tape, 1, FALSE, leaves, leaves[2]);
}

/* More queries than a vector has lanes, and heads that end within one; keys are values too. */
#define MANY 18
static const gint64 many_queries[] = { 0, MANY };

static const PlaitFamilies *
families_of (PlaitTape *tape)
{
  PlaitWalk walk
      = { .rows = { 1, walk_offsets }, .level = walk_level, .first_child = walk_first, .n_children = walk_number };
  PlaitFamilies *families = plait_arena_new_array (plait_tape_arena (tape), PlaitFamilies, 1);

  plait_tape_expect (tape, plait_families (plait_tape_arena (tape), &walk, families));
  return families;
}

static PlaitNode *
over_families (PlaitTape *tape, PlaitNode *const *leaves)
{
  const PlaitFamilies *families = families_of (tape);
  PlaitRagged queries = { 1, many_queries };
  PlaitAttentionOptions options = { .heads = HEADS, .scale = .6, .dropout = .2 };
  PlaitNode *one = plait_attention_over_families (tape, families, queries, leaves[0], leaves[1], leaves[2], &options);
  PlaitNode *other = plait_attention_over_families (tape, families, queries, leaves[0], leaves[1], leaves[1], &options);

  return plait_concatenate_columns (tape, (PlaitNode *[]){ one, other }, 2);
}

/* Scores that have another consumer, so that gradients arrive where there are some; weights alone, and read. */
static PlaitNode *
family_weights (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitRagged queries = { 1, walk_queries };
  PlaitPairs of_leaves;
  PlaitNode *of_families = plait_family_weights (tape, families_of (tape), queries, leaves[0], &of_leaves);

  return plait_concatenate_rows (
      tape, (PlaitNode *[]){ of_families, plait_pair_read (tape, &of_leaves, of_families, leaves[1]), leaves[0] }, 3);
}

#define MODE PLAIT_TAPE_CHECK

const GradientCase chosen_cases[] = {
  { "chosen products", "chosen_products_", products, MODE, 2, { { QUERIES, WIDTH }, { ROWS, WIDTH } } },
  { "chosen products, shared", NULL, products_shared, MODE, 1, { { 2, 5 } } },
  { "chosen additive", "chosen_additive_", additive, MODE, 3, { { QUERIES, WIDTH }, { ROWS, WIDTH }, { 1, WIDTH } } },
  { "chosen weights", "chosen_weights_", weights, MODE, 1, { { CHOSEN, 1 } } },
  { "chosen weights, shared", NULL, weights_shared, MODE, 1, { { CHOSEN, 1 } } },
  { "chosen read", "chosen_read_", read_twice, MODE, 3, { { CHOSEN, 1 }, { ROWS, WIDTH }, { ROWS, 4 } } },
  { "walk down", "walk_", walk_by_products, MODE, 2, { { QUERIES, WIDTH }, { WALK_ROWS, WIDTH } } },
  { "walk down, additive", NULL, walk_by_scores, MODE, 3, { { QUERIES, 9 }, { WALK_ROWS, 9 }, { 1, 9 } } },
  { "families",
    "families_attention_",
    over_families,
    PLAIT_TAPE_TRAIN,
    3,
    { { MANY, 6 }, { WALK_ROWS, 6 }, { WALK_ROWS, 6 } } },
  { "family weights", "family_weights_", family_weights, MODE, 2, { { QUERIES * WALK_ROWS, 1 }, { WALK_ROWS, 1 } } },
};
const guint n_chosen_cases = G_N_ELEMENTS (chosen_cases);
