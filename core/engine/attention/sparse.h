/* SPDX-License-Identifier: MIT */
#pragma once

#include "attention/query-key-pairs.h"

/*
 * Rows of a memory that each query has selected. An entry is one head of one query: entry q * heads + h is head h of
 * query q. An entry has sets of rows (siblings in a pyramid), a set has rows of the memory. Selected rows are stored
 * set by set and entry by entry. A row may be in several sets.
 */
typedef struct
{
  guint heads;
  PlaitRagged sets;  /* sets of each entry; its n is the number of entries */
  PlaitRagged rows;  /* selected rows of each set; its n is the number of sets */
  const gint64 *row; /* row number in the memory of the whole batch: [selected rows]; may be NULL if there are none */
} PlaitSelectedRows;

static inline gint64
plait_selected_rows_count (const PlaitSelectedRows *selected)
{
  return plait_ragged_rows (selected->rows);
}

/* Returns the numbers of the selected rows from number @at on; NULL if selected->row is NULL. */
static inline const gint64 *
plait_selected_rows_from (const PlaitSelectedRows *selected, gint64 at)
{
  return selected->row ? selected->row + at : NULL;
}

/*
 * In the functions below, numbers, scores and weights have one scalar for each selected row. Queries and rows are w
 * columns wide; head h uses the w / heads columns from h * w / heads on. The cost is proportional to the number of
 * selected rows and does not depend on the size of the memory. A small call runs in the calling thread alone. The
 * results have the same bits for any number of threads.
 */

/* TRUE if @selected is consistent, for @queries queries and a memory of @rows rows. */
gboolean plait_selected_rows_are_valid (const PlaitSelectedRows *selected, gint64 queries, gint64 rows);

/* Writes numbers = scale * query . row. */
void plait_sparse_dot_scores_forward (PlaitPool *pool, const PlaitSelectedRows *selected, PlaitScalar *numbers,
                                      PlaitScalar scale, PlaitTensor queries, PlaitTensor rows);

/* Writes numbers = vector . tanh (query + key). There must be one head; @additive must have no extra and no bias. */
void plait_sparse_additive_scores_forward (PlaitPool *pool, const PlaitSelectedRows *selected, PlaitScalar *numbers,
                                           const PlaitAdditiveScores *additive);

/* Adds the gradients of the inputs of additive scores to @gradients, whose replaces_keys must be FALSE. There must be
 * one head. @dnumbers: gradient of the scores. */
void plait_sparse_additive_scores_backward (PlaitPool *pool, PlaitArena *arena, const PlaitSelectedRows *selected,
                                            const PlaitAdditiveGradients *gradients, const PlaitScalar *dnumbers,
                                            const PlaitAdditiveScores *additive);

/* Writes the softmax of each set. @weights may be @scores. */
void plait_sparse_softmax_forward (PlaitPool *pool, const PlaitSelectedRows *selected, PlaitScalar *weights,
                                   const PlaitScalar *scores);

/* dscores = beta * dscores + weights * (dweights - mean). The mean of a set is its sum of weights * dweights. @beta is
 * 0 or 1. */
void plait_sparse_softmax_backward (PlaitPool *pool, const PlaitSelectedRows *selected, PlaitScalar *dscores,
                                    PlaitScalar beta, const PlaitScalar *dweights, const PlaitScalar *weights);

/* y[query] = (@add: y +) sum of numbers * selected row, heads side by side: x [rows, w], y [query rows, w]. Without
 * @add, a query without selected rows gets zeros. */
void plait_sparse_weighted_sum_forward (PlaitPool *pool, const PlaitSelectedRows *selected, PlaitTensor y, gboolean add,
                                        const PlaitScalar *numbers, PlaitTensor x);

/* Adds numbers * y[query] to the selected rows of x: the transpose of plait_sparse_weighted_sum_forward. Other rows of
 * x are not changed. */
void plait_sparse_weighted_sum_transposed (PlaitPool *pool, PlaitArena *arena, const PlaitSelectedRows *selected,
                                           PlaitTensor x, const PlaitScalar *numbers, PlaitTensor y);
