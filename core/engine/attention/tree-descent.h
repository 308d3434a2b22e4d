/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/arena.h"
#include "attention/sparse.h"

/*
 * Descends from the top level of a pyramid to its leaves. Each entry, which is one head of one query, descends
 * separately. The rows of the top level form one set of siblings; the children of a selected row form another set. The
 * path weight of a row is its softmax weight in its set times the path weight of its parent. On each level above
 * the leaves, the rows with the greatest path weights are selected.
 */
typedef struct
{
  PlaitRagged queries; /* queries of each sentence */
  PlaitRagged rows;    /* memory rows of each sentence, those of the top level last */

  /* Level, first child and number of children of each row: [rows]. The children of a row are consecutive. The last
   * child of one row may also be the first child of the next row. */
  const gint64 *level;
  const gint64 *first_child;
  const gint64 *n_children;

  gint64 max_children; /* largest number of children of a row */
  guint heads;
  gint64 branches;    /* maximum number of rows selected on each level above the leaves; of rows with equal weights the
                         first are selected; G_MAXINT64: all */
  gboolean normalise; /* divide the weights of the leaves by their sum */
} PlaitTreeDescent;

/* Score function: scale * query . key; or, with @vector, vector . tanh (query + key), which needs one head. */
typedef struct
{
  PlaitTensor queries;
  PlaitTensor keys;
  PlaitScalar scale;
  const PlaitScalar *vector; /* vector of additive scores; NULL: dot products */
  PlaitTensor values; /* values of the rows; those of leaves are prefetched; a tensor without columns: no prefetching */
} PlaitTreeDescentScores;

/* Result of a tree descent. Its arrays are allocated in the arena. */
typedef struct
{
  gint64 weighed; /* number of rows that all entries weighed; -1: children of a row are not rows of its sentence, or are
                     too many */
  PlaitSelectedRows leaves;  /* reached leaves, one set for each entry */
  PlaitScalar *leaf_weights; /* weight of each reached leaf */
  gboolean normalised;

  /* Only if the caller asked for them: all weighed rows, for each entry from the top level down to the leaves. */
  PlaitSelectedRows all;
  const gint64 *parent; /* index in @all of the parent of each set's rows; -1 at the top level: [sets]. If a parent
                           occurs several times in @all, the index is that of the first occurrence, and the path weight
                           of the parent is the sum over all occurrences. */
  const PlaitScalar *weights; /* softmax weight of each row in its set */
  const PlaitScalar *path;    /* product of the softmax weights of a row and its ancestors, not normalised */
} PlaitTreeDescentResult;

/* Returns the descents of all queries. @all: also return all weighed rows, as backward needs. Top levels of one row are
 * skipped, because the weight of this row is 1. The cost depends on the number of weighed rows, not on the size of the
 * memory. The bits of one query do not depend on other queries. */
PlaitTreeDescentResult plait_tree_descent_forward (PlaitPool *pool, PlaitArena *arena, const PlaitTreeDescent *descent,
                                                   const PlaitTreeDescentScores *scores, gboolean all);

/* Writes dscores = factor * gradient of the scores of all weighed rows. @dleaves is the gradient of the leaf weights.
 * The selection of rows has no gradient. */
void plait_tree_descent_backward (PlaitPool *pool, PlaitArena *arena, const PlaitTreeDescentResult *result,
                                  PlaitScalar *dscores, PlaitScalar factor, const PlaitScalar *dleaves);
