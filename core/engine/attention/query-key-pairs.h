/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/arena.h"
#include "process/pool.h"
#include "types/tensor.h"

/*
 * Attention taken apart, for decoders that score otherwise than by scaled dot products, and that need the weights for
 * themselves (coverage). A pair is a query row of a sentence with a memory row of the same sentence. The pairs of
 * sentence s are [its queries][its rows], sentences end to end; what is known of pairs is one row, or one number, a
 * pair.
 */
typedef struct
{
  PlaitRagged queries;
  PlaitRagged rows;      /* as many sentences */
  const gint64 *offsets; /* [sentences + 1]: the first pair of each sentence, and the number of pairs */
} PlaitQueryKeyPairs;

/* The offsets live in @arena, the ragged ones are borrowed. */
PlaitQueryKeyPairs plait_query_key_pairs_new (PlaitArena *arena, PlaitRagged queries, PlaitRagged rows);

/* @n sentences of one row each; the offsets live in @arena. */
PlaitRagged plait_ragged_units (PlaitArena *arena, gint64 n);

/* The first row of each sentence, or the last; -1 where it has none. They live in @arena. */
const gint64 *plait_ragged_ends (PlaitArena *arena, PlaitRagged rows, gboolean first);

static inline gint64
plait_query_key_pairs_count (const PlaitQueryKeyPairs *pairs)
{
  return pairs->offsets[pairs->queries.n];
}

/* What additive scores are made of. queries [query rows, a], keys [rows, a], extra [pairs, a] or no data, vector [a],
 * bias one number or NULL. */
typedef struct
{
  PlaitTensor queries;
  PlaitTensor keys;
  PlaitTensor extra;
  const PlaitScalar *vector;
  const PlaitScalar *bias;
} PlaitAdditiveScores;

/* The gradients, initialised, to be added to; data NULL (and vector, bias NULL): not wanted. */
typedef struct
{
  PlaitTensor queries;
  PlaitTensor keys;
  PlaitTensor extra;
  gboolean replaces_keys; /* keys are uninitialised, and written */
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

/* y[query] (+)= sum over the pairs of the query of numbers[pair] * x[row]: x [rows, w], y [query rows, w]. A query
 * without pairs gives zeros. The context of weights (x the values); also the gradient of dot products for queries. */
void plait_weighted_sum_forward (PlaitPool *pool, PlaitArena *arena, const PlaitQueryKeyPairs *pairs, PlaitTensor y,
                                 gboolean add, const PlaitScalar *numbers, PlaitTensor x);

/* x[row] (+)= sum over the pairs of the row of numbers[pair] * y[query]: the transpose of reading. */
void plait_weighted_sum_transposed (PlaitPool *pool, const PlaitQueryKeyPairs *pairs, PlaitTensor x, gboolean add,
                                    const PlaitScalar *numbers, PlaitTensor y);

/* The softmax of each query over its pairs in all of @n memories together: pairs[m] has the numbers at scores + begin
 * and weights + begin, begin being the number of pairs of the memories before m. weights may be scores. */
void plait_ragged_softmax_forward (PlaitPool *pool, const PlaitQueryKeyPairs *pairs, guint n, PlaitScalar *weights,
                                   const PlaitScalar *scores);

/* dscores = beta dscores + weights * (dweights - sum of weights * dweights), the sum being over the pairs of a query;
 * @sum is the factor of the latter term (1). */
void plait_ragged_softmax_backward (PlaitPool *pool, const PlaitQueryKeyPairs *pairs, guint n,
                                    PlaitScalar *const *dscores, const PlaitScalar *betas, const PlaitScalar *dweights,
                                    const PlaitScalar *weights);
