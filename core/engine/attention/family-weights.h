/* SPDX-License-Identifier: MIT */
#pragma once

#include "attention/families.h"
#include "attention/pairs.h"

/*
 * The softmax of each family over scores of pairs, where attention is taken apart: what the leaves have for each query.
 */
typedef struct
{
  const PlaitFamilies *families;
  PlaitPairs pairs;    /* of queries with all rows */
  PlaitPairs leaves;   /* with those of the leaves alone: every other sentence has the rest, and no query */
  PlaitScalar *shares; /* of each query the softmax of its families, from the top down */
  PlaitScalar *path;   /* [pairs]: times what the parent has */
} PlaitFamilyWeights;

/* What stands there lives in @arena; @families and @queries are borrowed. */
PlaitFamilyWeights plait_family_weights_new (PlaitArena *arena, const PlaitFamilies *families, PlaitRagged queries);

/* weights [pairs of leaves] from scores [pairs]. */
void plait_family_weights_forward (PlaitPool *pool, const PlaitFamilyWeights *family_weights, PlaitScalar *weights,
                                   const PlaitScalar *scores);

/* dscores = (@add: dscores +) the gradient. */
void plait_family_weights_backward (PlaitPool *pool, const PlaitFamilyWeights *family_weights, PlaitScalar *dscores,
                                    gboolean add, const PlaitScalar *dweights);
