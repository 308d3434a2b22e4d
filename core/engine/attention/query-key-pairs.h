/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/arena.h"
#include "process/pool.h"
#include "types/tensor.h"

/*
 * Attention in separate steps: scores, softmax, weighted sum. For decoders whose scores are not scaled dot products,
 * and for coverage, which needs the weights. A pair is a query row and a memory row of the same sentence. The pairs of
 * sentence s are [its queries][its rows], sentences end to end; arrays over pairs have one row or one number for each
 * pair.
 */
typedef struct
{
  PlaitRagged queries;
  PlaitRagged rows;      /* rows of the memory, with as many sentences as @queries */
  const gint64 *offsets; /* first pair of each sentence, and at the end the number of pairs: [sentences + 1] */
} PlaitQueryKeyPairs;

/* Returns the pairs of @queries with @rows. The offsets are allocated in @arena; @queries and @rows are borrowed. */
PlaitQueryKeyPairs plait_query_key_pairs_new (PlaitArena *arena, PlaitRagged queries, PlaitRagged rows);

/* Returns @n sentences of one row each, with offsets allocated in @arena. */
PlaitRagged plait_ragged_units (PlaitArena *arena, gint64 n);

/* Returns the index, over all sentences, of the first row (if @first) or of the last row of each sentence; -1 for an
 * empty sentence: [sentences], allocated in @arena. */
const gint64 *plait_ragged_ends (PlaitArena *arena, PlaitRagged rows, gboolean first);

static inline gint64
plait_query_key_pairs_count (const PlaitQueryKeyPairs *pairs)
{
  return pairs->offsets[pairs->queries.n];
}

/* Inputs of additive scores: queries [query rows, a], keys [rows, a], extra [pairs, a] or no data, vector [a], bias one
 * number or NULL. */
typedef struct
{
  PlaitTensor queries;
  PlaitTensor keys;
  PlaitTensor extra;
  const PlaitScalar *vector;
  const PlaitScalar *bias;
} PlaitAdditiveScores;

/* Gradients of the inputs of additive scores, to which functions add; the caller must initialise them. A gradient whose
 * tensor has no data, or whose pointer is NULL, is not computed. */
typedef struct
{
  PlaitTensor queries;
  PlaitTensor keys;
  PlaitTensor extra;
  gboolean replaces_keys; /* TRUE: the functions overwrite @keys, which may be uninitialised */
  gboolean replaces_extra;
  PlaitScalar *vector;
  PlaitScalar *bias;
} PlaitAdditiveGradients;

/* scores[pair] = vector . tanh (query + key + extra) + bias (Bahdanau et al. 2015; Chen et al. 2017, eq. 12). */
void plait_additive_scores_forward (PlaitPool *pool, const PlaitQueryKeyPairs *pairs, PlaitScalar *scores,
                                    const PlaitAdditiveScores *additive);
void plait_additive_scores_backward (PlaitPool *pool, PlaitArena *arena, const PlaitQueryKeyPairs *pairs,
                                     const PlaitAdditiveGradients *gradients, const PlaitScalar *dscores,
                                     const PlaitAdditiveScores *additive);

/* scores[pair] = scale * query . key: queries [query rows, w], keys [rows, w]. */
void plait_dot_scores_forward (PlaitPool *pool, const PlaitQueryKeyPairs *pairs, PlaitScalar *scores, PlaitScalar scale,
                               PlaitTensor queries, PlaitTensor keys);

/* y[query] = sum of numbers[pair] * x[row] over the pairs of the query: x [rows, w], y [query rows, w]. If @add, the
 * sum is added to y; otherwise a query without pairs gets zeros. If numbers are weights and x are values, y is the
 * context. If numbers are scale * gradients of dot scores and x are keys, y is the gradient of the queries. */
void plait_weighted_sum_forward (PlaitPool *pool, PlaitArena *arena, const PlaitQueryKeyPairs *pairs, PlaitTensor y,
                                 gboolean add, const PlaitScalar *numbers, PlaitTensor x);

/* Transposed weighted sum: x[row] = (@add: x +) sum of numbers[pair] * y[query] over the pairs of the row. */
void plait_weighted_sum_transposed (PlaitPool *pool, const PlaitQueryKeyPairs *pairs, PlaitTensor x, gboolean add,
                                    const PlaitScalar *numbers, PlaitTensor y);

/* Softmax of each query over its pairs in all @n memories together. @scores and @weights hold the numbers of all pairs
 * of memory 0, then of memory 1, and so on. @weights may be @scores. */
void plait_ragged_softmax_forward (PlaitPool *pool, const PlaitQueryKeyPairs *pairs, guint n, PlaitScalar *weights,
                                   const PlaitScalar *scores);

/* For each memory m: dscores[m] = betas[m] * dscores[m] + weights * (dweights - mean). The mean of a query is the sum
 * of weights * dweights over its pairs in all memories. Each of @betas is 0 or 1. If dscores[m] is NULL, it is not
 * computed. */
void plait_ragged_softmax_backward (PlaitPool *pool, const PlaitQueryKeyPairs *pairs, guint n,
                                    PlaitScalar *const *dscores, const PlaitScalar *betas, const PlaitScalar *dweights,
                                    const PlaitScalar *weights);
