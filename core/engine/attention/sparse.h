/* SPDX-License-Identifier: MIT */
#pragma once

#include "attention/query-key-pairs.h"

/*
 * Rows that each query has chosen. An entry is one head of one query: entry q * heads + h is head h of query q. An
 * entry has sets of rows (siblings in a pyramid), a set has rows of the memory; chosen rows stand set after set, entry
 * after entry. A row may stand in several sets.
 */
typedef struct
{
  guint heads;
  PlaitRagged sets;  /* n = entries: the sets of each entry */
  PlaitRagged rows;  /* n = sets: the chosen rows of each set */
  const gint64 *row; /* [chosen rows]: their numbers in the memory, of the whole batch */
} PlaitSelectedRows;

static inline gint64
plait_selected_rows_count (const PlaitSelectedRows *selected)
{
  return plait_ragged_rows (selected->rows);
}

/*
 * What is known of chosen rows is one number each, end to end. Head h of queries [query rows, w] and rows [rows, w] is
 * the columns h * w / heads ... of them. The work is proportional to the chosen rows, however many the memory has;
 * where there is little of it the calling thread does it alone. Bits depend neither on that nor on the number of
 * threads.
 */

/* TRUE if the numbers fit each other, so many queries and a memory of @rows rows. */
gboolean plait_selected_rows_are_valid (const PlaitSelectedRows *selected, gint64 queries, gint64 rows);

/* numbers = scale * query . row. */
void plait_sparse_dot_scores_forward (PlaitPool *pool, const PlaitSelectedRows *selected, PlaitScalar *numbers,
                                      PlaitScalar scale, PlaitTensor queries, PlaitTensor rows);

/* numbers = vector . tanh (query + key); one head, no extra and no bias. */
void plait_sparse_additive_scores_forward (PlaitPool *pool, const PlaitSelectedRows *selected, PlaitScalar *numbers,
                                           const PlaitAdditiveScores *additive);

/* Its gradients: all are added to. */
void plait_sparse_additive_scores_backward (PlaitPool *pool, PlaitArena *arena, const PlaitSelectedRows *selected,
                                            const PlaitAdditiveGradients *gradients, const PlaitScalar *dnumbers,
                                            const PlaitAdditiveScores *additive);

/* The softmax of each set. weights may be scores. */
void plait_sparse_softmax_forward (PlaitPool *pool, const PlaitSelectedRows *selected, PlaitScalar *weights,
                                   const PlaitScalar *scores);

/* dscores = beta dscores + weights * (dweights - sum of weights * dweights), the sum being over a set. */
void plait_sparse_softmax_backward (PlaitPool *pool, const PlaitSelectedRows *selected, PlaitScalar *dscores,
                                    PlaitScalar beta, const PlaitScalar *dweights, const PlaitScalar *weights);

/* y[query] (+)= the sum of numbers * row, heads side by side: x [rows, w], y [query rows, w]; zeros where none is
 * chosen. */
void plait_sparse_weighted_sum_forward (PlaitPool *pool, const PlaitSelectedRows *selected, PlaitTensor y, gboolean add,
                                        const PlaitScalar *numbers, PlaitTensor x);

/* Adds numbers * query to the rows of x: the transpose of the sum. Other rows of x are not touched. */
void plait_sparse_weighted_sum_transposed (PlaitPool *pool, PlaitArena *arena, const PlaitSelectedRows *selected,
                                           PlaitTensor x, const PlaitScalar *numbers, PlaitTensor y);
