/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/arena.h"
#include "attention/sparse.h"

/*
 * Walks from the top of a memory's levels down to its leaves, one for each head of each query (an entry, as in
 * PlaitSelectedRows). The rows at the top are one set of siblings, and so are the children of every row that goes on; a
 * row has the softmax of its set times what its parent has. Of each level the rows that have most go on.
 */
typedef struct
{
  PlaitRagged queries; /* of each sentence */
  PlaitRagged rows;    /* likewise; those of the highest level stand last */

  /* Of each row; children stand beside each other, and those of neighbours may have one in common. */
  const gint64 *level;
  const gint64 *first_child;
  const gint64 *n_children;

  gint64 max_children; /* that a row has */
  guint heads;
  gint64 branches;    /* rows of a level that go on, of those alike the first; G_MAXINT64: all */
  gboolean normalise; /* what leaves have is divided by their sum */
} PlaitTreeDescent;

/* How rows are scored: scale * query . key, or with one head vector . tanh (query + key). */
typedef struct
{
  PlaitTensor queries;
  PlaitTensor keys;
  PlaitScalar scale;
  const PlaitScalar *vector; /* NULL: products */
  PlaitTensor values;        /* what will be read of the leaves, to be fetched meanwhile; or no columns */
} PlaitTreeDescentScores;

/* What was found. Arrays are the arena's. */
typedef struct
{
  gint64 weighed;            /* rows, of all entries together; -1: children of a row are not rows of its sentence */
  PlaitSelectedRows leaves;  /* that were reached, a set an entry */
  PlaitScalar *leaf_weights; /* what they have */
  gboolean normalised;

  /* Only where it was asked for: all rows that were weighed, of each entry from the top down, the leaves last. */
  PlaitSelectedRows all;
  const gint64 *parent;       /* [sets]: the place, in all, of the row that a set stands below, which may stand beside
                                 itself and then has a part in each place; -1: a top */
  const PlaitScalar *weights; /* the softmax of each set */
  const PlaitScalar *path;    /* times what the parent has; not normalised */
} PlaitTreeDescentResult;

/* Walks; @all: that is asked for. A level of one row at the top is passed by: its weight is one. The cost is that of
 * the rows that are weighed, however many the memory has. Bits do not depend on what other queries there are. */
PlaitTreeDescentResult plait_tree_descent_forward (PlaitPool *pool, PlaitArena *arena, const PlaitTreeDescent *descent,
                                                   const PlaitTreeDescentScores *scores, gboolean all);

/* The gradient of the scores of all rows that were weighed, times @factor, from @dleaves, that of what the leaves have.
 * Which rows were chosen has none. */
void plait_tree_descent_backward (PlaitPool *pool, PlaitArena *arena, const PlaitTreeDescentResult *result,
                                  PlaitScalar *dscores, PlaitScalar factor, const PlaitScalar *dleaves);
