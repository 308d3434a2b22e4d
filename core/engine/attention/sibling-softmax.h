/* SPDX-License-Identifier: MIT */
#pragma once

#include "attention/sibling-attention.h"
#include "attention/query-key-pairs.h"

/* Softmax in each sibling group of a pyramid, over given scores of query-key pairs. Gives the weights of the leaves. */
typedef struct
{
  const PlaitSiblingGroups *groups;
  PlaitQueryKeyPairs pairs;  /* pairs of the queries with all rows */
  PlaitQueryKeyPairs leaves; /* pairs of the queries with the leaves. Every second sentence of them holds the other rows
                                and has no query */
  PlaitScalar *softmax;      /* softmax of each group, groups from the top level down, for one query after another */
  PlaitScalar *path;         /* product of the weights from the top level down to a row: [pairs] */
} PlaitSiblingSoftmax;

/* Returns a sibling softmax whose arrays are allocated in @arena; @groups and @queries are borrowed. */
PlaitSiblingSoftmax plait_sibling_softmax_new (PlaitArena *arena, const PlaitSiblingGroups *groups,
                                               PlaitRagged queries);

/* Writes weights [pairs with leaves] for scores [pairs]. */
void plait_sibling_softmax_forward (PlaitPool *pool, const PlaitSiblingSoftmax *sibling_softmax, PlaitScalar *weights,
                                    const PlaitScalar *scores);

/* dscores = (@add: dscores +) gradient of the scores. */
void plait_sibling_softmax_backward (PlaitPool *pool, const PlaitSiblingSoftmax *sibling_softmax, PlaitScalar *dscores,
                                     gboolean add, const PlaitScalar *dweights);
