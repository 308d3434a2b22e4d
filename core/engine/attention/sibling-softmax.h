/* SPDX-License-Identifier: MIT */
#pragma once

#include "attention/sibling-attention.h"
#include "attention/query-key-pairs.h"

/*
 * The softmax of each family over scores of pairs, where attention is taken apart: what the leaves have for each query.
 */
typedef struct
{
  const PlaitSiblingGroups *groups;
  PlaitQueryKeyPairs pairs;  /* of queries with all rows */
  PlaitQueryKeyPairs leaves; /* with those of the leaves alone: every other sentence has the rest, and no query */
  PlaitScalar *softmax;      /* of each query the softmax of its families, from the top down */
  PlaitScalar *path;         /* [pairs]: times what the parent has */
} PlaitSiblingSoftmax;

/* What stands there lives in @arena; @groups and @queries are borrowed. */
PlaitSiblingSoftmax plait_sibling_softmax_new (PlaitArena *arena, const PlaitSiblingGroups *groups,
                                               PlaitRagged queries);

/* weights [pairs of leaves] from scores [pairs]. */
void plait_sibling_softmax_forward (PlaitPool *pool, const PlaitSiblingSoftmax *sibling_softmax, PlaitScalar *weights,
                                    const PlaitScalar *scores);

/* dscores = (@add: dscores +) the gradient. */
void plait_sibling_softmax_backward (PlaitPool *pool, const PlaitSiblingSoftmax *sibling_softmax, PlaitScalar *dscores,
                                     gboolean add, const PlaitScalar *dweights);
