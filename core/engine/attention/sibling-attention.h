/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/arena.h"
#include "attention/attention.h"
#include "kernels/kernels.h"
#include "attention/tree-descent.h"

/*
 * Attention that descends all branches of a pyramid, for many queries at once. Like attention.h it multiplies whole
 * matrices, but it computes a softmax in each sibling group instead of one softmax over all rows.
 */

typedef struct
{
  PlaitRagged rows;
  PlaitRagged of;                 /* sibling groups of each sentence: entries of @group */
  const PlaitSiblingGroup *group; /* all sibling groups, sentence by sentence. In each sentence the top level is first;
                                     within a level, the last group is first */
  /* For each sentence: index of each group's first weight among the weights of the sentence, then the number of these
   * weights: [groups + sentences] */
  const gint64 *group_rows;
  const gint64 *weighed; /* number of rows in the groups of each sentence, without the groups at the beginning of the
                            list that have one row which is not a leaf: [sentences] */
  /* Rows of each sentence in two entries: entry 2 s is the leaves of sentence s, entry 2 s + 1 its other rows. */
  PlaitRagged leaves_and_others;
} PlaitSiblingGroups;

static inline gint64
plait_sibling_groups_leaves (const PlaitSiblingGroups *groups, gint64 sentence)
{
  return plait_ragged_length (groups->leaves_and_others, 2 * sentence);
}

/* Returns the number of rows in all groups of @sentence. A row that is in two groups counts twice. */
static inline gint64
plait_sibling_groups_rows (const PlaitSiblingGroups *groups, gint64 sentence)
{
  return groups->group_rows[groups->of.offsets[sentence + 1] + sentence];
}

/* Finds the sibling groups of the memory of @descent and allocates them in @arena. FALSE if the children of a row are
 * not earlier rows of its sentence, or if children are not in the order of their parents. */
gboolean plait_sibling_groups_find (PlaitArena *arena, const PlaitTreeDescent *descent, PlaitSiblingGroups *groups);

typedef struct
{
  PlaitTensor queries; /* [query rows, w] */
  PlaitTensor keys;    /* [rows, w] */
  PlaitTensor values;  /* values of the rows, [rows, w]; only the values of leaves are read */
  PlaitRagged query_rows;
  const PlaitSiblingGroups *groups;
  const PlaitAttentionSettings *settings; /* causal must be FALSE; dropout applies to the weights of the leaves */
} PlaitSiblingAttention;

/* Targets for the gradients of keys, queries and values. Each gradient is a product whose right factor is @of_keys (the
 * queries), @of_queries (the keys) or @of_values (the gradient of the context). The backward pass writes all rows of a
 * target. If targets are the same tensor, only one of them can have beta 0: the values if they are among these targets,
 * else the keys. */
typedef struct
{
  PlaitGradientTarget keys, queries, values;
  PlaitTensor of_keys, of_queries, of_values;
} PlaitSiblingAttentionGradients;

/* Writes to @context [query rows, w] the sum of the leaves' weights times their values, heads side by side. If
 * @gradients is not NULL, runs the backward pass instead: @context is then the gradient of the context, and the weights
 * are recomputed. */
void plait_sibling_attention_run (PlaitPool *pool, PlaitTensor context, const PlaitSiblingAttentionGradients *gradients,
                                  const PlaitSiblingAttention *attention);
