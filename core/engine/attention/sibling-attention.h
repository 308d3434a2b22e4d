/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/arena.h"
#include "attention/attention.h"
#include "kernels/kernels.h"
#include "attention/tree-descent.h"

/*
 * Attention down all branches of a pyramid at once, for many queries. Multiplies whole matrices as attention.h does,
 * but with a softmax in each sibling group instead of one over all rows.
 */

typedef struct
{
  PlaitRagged rows;
  PlaitRagged of;                 /* sibling groups of each sentence */
  const PlaitSiblingGroup *group; /* all sibling groups, from the top level down; in each level, the last group first */
  const gint64 *group_rows; /* [groups + sentences]: for each group, the number of rows in the earlier groups of its
                               sentence; after the groups of each sentence, the number of rows in all of them */
  const gint64 *weighed;    /* rows in all groups, without top levels of one row: [sentences] */
  /* Two entries for each sentence: its leaves, which come first, and its other rows. */
  PlaitRagged leaves_and_others;
} PlaitSiblingGroups;

static inline gint64
plait_sibling_groups_leaves (const PlaitSiblingGroups *groups, gint64 sentence)
{
  return plait_ragged_length (groups->leaves_and_others, 2 * sentence);
}

/* Returns the number of rows in all groups of @sentence. A row may be in two groups. */
static inline gint64
plait_sibling_groups_rows (const PlaitSiblingGroups *groups, gint64 sentence)
{
  return groups->group_rows[groups->of.offsets[sentence + 1] + sentence];
}

/* Finds the sibling groups of the memory of @descent; arrays are allocated in @arena. FALSE if children of a row are
 * not rows of its sentence, or are not in order before the row. */
gboolean plait_sibling_groups_find (PlaitArena *arena, const PlaitTreeDescent *descent, PlaitSiblingGroups *groups);

typedef struct
{
  PlaitTensor queries; /* [query rows, w] */
  PlaitTensor keys;    /* [rows, w] */
  PlaitTensor values;  /* values of the rows, of which only the leaves are read: [rows, w] */
  PlaitRagged query_rows;
  const PlaitSiblingGroups *groups;
  const PlaitAttentionSettings *settings; /* causal must be FALSE; dropout applies to the weights of the leaves */
} PlaitSiblingAttention;

/* Targets of gradients, and the right factors of the products that compute them: queries, keys and dcontext. Every
 * target is written completely. Targets may be the same tensor. They are written in the order values, keys, queries, so
 * only the first of equal targets may have beta 0. */
typedef struct
{
  PlaitGradientTarget keys, queries, values;
  PlaitTensor of_keys, of_queries, of_values;
} PlaitSiblingAttentionGradients;

/* Writes context [query rows, w]: the sum of the leaves' weights times their values, heads side by side. With
 * @gradients it is the backward pass: @context is the gradient of the context, and the weights are recomputed. */
void plait_sibling_attention_run (PlaitPool *pool, PlaitTensor context, const PlaitSiblingAttentionGradients *gradients,
                                  const PlaitSiblingAttention *attention);
