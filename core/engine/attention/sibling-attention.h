/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/arena.h"
#include "attention/attention.h"
#include "kernels/kernels.h"
#include "attention/tree-descent.h"

/*
 * Down all branches of a memory's levels at once, for many queries: products of whole matrices as in attention.h, with
 * a softmax a family in the place of the one over all rows.
 */

typedef struct
{
  PlaitRagged rows;
  PlaitRagged of;                 /* the families of each sentence */
  const PlaitSiblingGroup *group; /* from the top down, and each level from its end on */
  const gint64 *group_rows;       /* of each sentence, and once more: the rows of its families before each */
  const gint64 *weighed;          /* [sentences]: rows of all families, but for levels of one row at the top */
  /* The rows taken apart: the leaves of each sentence, which stand first, and the others behind them. */
  PlaitRagged leaves_and_others;
} PlaitSiblingGroups;

static inline gint64
plait_sibling_groups_leaves (const PlaitSiblingGroups *groups, gint64 sentence)
{
  return plait_ragged_length (groups->leaves_and_others, 2 * sentence);
}

/* Rows of all families of @sentence together; a row may be in two. */
static inline gint64
plait_sibling_groups_rows (const PlaitSiblingGroups *groups, gint64 sentence)
{
  return groups->group_rows[groups->of.offsets[sentence + 1] + sentence];
}

/* The families of the memory of @descent; the arrays are the arena's. FALSE: children of a row are not rows of its
 * sentence, or do not stand in order before it. */
gboolean plait_sibling_groups_find (PlaitArena *arena, const PlaitTreeDescent *descent, PlaitSiblingGroups *groups);

typedef struct
{
  PlaitTensor queries; /* [query rows, w] */
  PlaitTensor keys;    /* [rows, w] */
  PlaitTensor values;  /* [rows, w], of which those of the leaves are read */
  PlaitRagged query_rows;
  const PlaitSiblingGroups *groups;
  const PlaitAttentionSettings *settings; /* not causal; dropout is that of what the leaves have */
} PlaitSiblingAttention;

/* Where gradients go, and the right factors of the products that make them: queries, keys and dcontext. Targets are
 * written whole; where several are one tensor, in the order values, keys, queries, of which only the first may have
 * beta 0. */
typedef struct
{
  PlaitGradientTarget keys, queries, values;
  PlaitTensor of_keys, of_queries, of_values;
} PlaitSiblingAttentionGradients;

/* context [query rows, w]: heads side by side, the sum of what the leaves have times their values. With @gradients,
 * goes back from its gradient, which @context then is, and makes the weights again. */
void plait_sibling_attention_run (PlaitPool *pool, PlaitTensor context, const PlaitSiblingAttentionGradients *gradients,
                                  const PlaitSiblingAttention *attention);
