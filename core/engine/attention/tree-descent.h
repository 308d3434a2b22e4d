/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/arena.h"
#include "attention/sparse.h"

/*
 * Descends from the top level of a pyramid to its leaves, for each head of each query (an entry, as in
 * PlaitSelectedRows). The rows of the top level are one set of siblings; so are the children of each selected row. The
 * path of a row is its softmax weight in its set times the path of its parent. On each level the rows with the greatest
 * paths are selected.
 */
typedef struct
{
  PlaitRagged queries; /* queries of each sentence */
  PlaitRagged rows;    /* memory rows of each sentence, those of the top level last */

  /* Level, first child and number of children of each row: [rows]. The children of a row are consecutive; neighbouring
   * rows may share one child. */
  const gint64 *level;
  const gint64 *first_child;
  const gint64 *n_children;

  gint64 max_children; /* largest number of children of a row */
  guint heads;
  gint64 branches;    /* number of rows selected on each level, the first ones if weights are equal; G_MAXINT64: all */
  gboolean normalise; /* divide the weights of the leaves by their sum */
} PlaitTreeDescent;

/* Score function: scale * query . key, or, with one head, vector . tanh (query + key). */
typedef struct
{
  PlaitTensor queries;
  PlaitTensor keys;
  PlaitScalar scale;
  const PlaitScalar *vector; /* vector of additive scores; NULL: dot products */
  PlaitTensor values;        /* values of the rows, so that those of leaves can be prefetched; or no columns */
} PlaitTreeDescentScores;

/* Result of a tree descent. Its arrays are allocated in the arena. */
typedef struct
{
  gint64 weighed; /* rows weighed by all entries together; -1: children of a row are not rows of its sentence */
  PlaitSelectedRows leaves;  /* reached leaves, one set for each entry */
  PlaitScalar *leaf_weights; /* weight of each reached leaf */
  gboolean normalised;

  /* Only if asked for: all rows that were weighed, for each entry from the top level down to the leaves. */
  PlaitSelectedRows all;
  const gint64 *parent; /* [sets]: for each set, the index in @all of the row whose children it holds; -1 at the top
                           level. One row may be in two neighbouring sets; its path is the sum of both entries. */
  const PlaitScalar *weights; /* softmax weight of each row in its set */
  const PlaitScalar *path;    /* product of the weights from the top level down, not normalised */
} PlaitTreeDescentResult;

/* Descends for all queries. @all: also return all weighed rows, as backward needs. Top levels of one row are skipped,
 * as their weight is 1. The cost is that of the weighed rows, however large the memory is. Bits do not depend on other
 * queries. */
PlaitTreeDescentResult plait_tree_descent_forward (PlaitPool *pool, PlaitArena *arena, const PlaitTreeDescent *descent,
                                                   const PlaitTreeDescentScores *scores, gboolean all);

/* Writes dscores = factor * gradient of the scores of all weighed rows. @dleaves is the gradient of the leaf weights.
 * The selection of rows has no gradient. */
void plait_tree_descent_backward (PlaitPool *pool, PlaitArena *arena, const PlaitTreeDescentResult *result,
                                  PlaitScalar *dscores, PlaitScalar factor, const PlaitScalar *dleaves);
