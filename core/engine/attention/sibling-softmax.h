/* SPDX-License-Identifier: MIT */
#pragma once

#include "attention/sibling-attention.h"
#include "attention/query-key-pairs.h"

/* Softmax in each sibling group of a pyramid, over given scores of query-key pairs. The result is the weight of each
 * leaf. */
typedef struct
{
  const PlaitSiblingGroups *groups;
  PlaitQueryKeyPairs pairs;  /* pairs of the queries with all rows */
  PlaitQueryKeyPairs leaves; /* pairs of the queries with the leaves, as if each sentence s were two: number 2 * s has
                                its queries and leaves, number 2 * s + 1 its other rows and no query */
  PlaitScalar *softmax; /* softmax of the groups: all groups of one query from the top level down, then those of the
                           next query */
  PlaitScalar *path;    /* weight of each pair: softmax of its row times the weight of the row's parent, summed over the
                           groups of the row: [pairs] */
} PlaitSiblingSoftmax;

/* Returns a sibling softmax whose arrays are allocated in @arena; @groups and @queries are borrowed. */
PlaitSiblingSoftmax plait_sibling_softmax_new (PlaitArena *arena, const PlaitSiblingGroups *groups,
                                               PlaitRagged queries);

/* Writes the weight of each pair of a query and a leaf to @weights: [pairs in @leaves]. @scores: [pairs]. */
void plait_sibling_softmax_forward (PlaitPool *pool, const PlaitSiblingSoftmax *sibling_softmax, PlaitScalar *weights,
                                    const PlaitScalar *scores);

/* Writes the gradient of the scores to @dscores, or adds it if @add. @dweights: gradient of the leaves' weights. */
void plait_sibling_softmax_backward (PlaitPool *pool, const PlaitSiblingSoftmax *sibling_softmax, PlaitScalar *dscores,
                                     gboolean add, const PlaitScalar *dweights);
