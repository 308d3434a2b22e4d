/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/arena.h"
#include "process/pool.h"
#include "types/tensor.h"
#include "tensor/output-mixture.h"
#include "tensor/packed.h"

/*
 * Output layer: logits = states table^T + bias, softmax and cross-entropy loss, with states [r, w] and table [V, w].
 * Processes chunks of rows, so that no matrix [r, V] is stored. The logits of a chunk are overwritten by their
 * gradient.
 */
typedef struct
{
  PlaitTensor states;
  PlaitTensor table;
  const PlaitPacked *packed; /* packed table (plait_pack (table, TRUE)), or NULL; used only if the pack is not in full
                                precision and no gradient is computed */
  PlaitPrecision precision;  /* precision of the products unless @packed is used */
  const PlaitScalar *bias;   /* bias of each word: [V], or NULL */
  const gint32 *targets;     /* id of each row's target: [r]. At or above V only in rows with copied words */
  const PlaitOutputMixture *mixture; /* copied words, or NULL */
  double smoothing; /* label smoothing s: spreads probability s over words (see @others), adds 1 - s to the target */
  gboolean others;  /* TRUE: s is spread over all words except the target; FALSE: over all V words, the target too */
  double scale;     /* factor of the loss in the gradients */
  const double *weights; /* [r] factor of each row's loss in addition to @scale; NULL: 1 for each row */
  /* Gradients of scale * sum of weight * loss of each row. A gradient whose data is NULL is not computed. */
  PlaitTensor dstates; /* [r, w]; overwritten */
  PlaitTensor dtable;  /* dtable = dtable_beta * dtable + gradient: [V, w] */
  PlaitScalar dtable_beta;
  PlaitTensor dbias; /* dbias = dbias_beta * dbias + gradient: [1, V] */
  PlaitScalar dbias_beta;
  double *row_losses; /* output: negative log-likelihood of each row in nats, without smoothing, [r]; or NULL */
} PlaitOutputLayerWork;

typedef struct
{
  double loss;                    /* sum of the losses of all rows in nats, with smoothing, without scale and weights */
  double weighted;                /* sum of the losses times the weights of their rows */
  double negative_log_likelihood; /* sum over all rows in nats, without smoothing */
  gint64 correct;                 /* number of rows whose most probable word is the target (ties: the lower id) */
} PlaitOutputLayerSums;

PlaitOutputLayerSums plait_output_layer_compute (PlaitPool *pool, PlaitArena *arena, const PlaitOutputLayerWork *work);

/*
 * Finds the @best most probable words of each row in one pass over the table, without storing all logits. @table is
 * packed (plait_pack (table, TRUE)). Writes ids [r][best], most probable first (ties: the lower id), and
 * log_probabilities [r][best]. @best <= V.
 *
 * @forbidden: @n_forbidden different ids that are not returned, but count in the softmax. @forbid: a byte for each row,
 * FALSE if this row may return the ids; NULL: no row may. If a row has fewer than @best words to return, its last ids
 * are -1 with log-probability minus infinity. @mixture: copied words, whose ids may be at or above V; or NULL.
 */
void plait_output_layer_top_k (PlaitPool *pool, PlaitArena *arena, PlaitTensor states, const PlaitPacked *table,
                               const PlaitScalar *bias, const gint32 *forbidden, guint n_forbidden,
                               const guint8 *forbid, const PlaitOutputMixture *mixture, guint best, gint32 *ids,
                               PlaitScalar *log_probabilities);

/* Computes the log-probabilities of all words of each row: @log_probabilities [r, V], or more columns for words of
 * @mixture at or above V. The bits are those of plait_output_layer_top_k. Pass few rows at a time, to save
 * memory. */
void plait_output_layer_log_probabilities (PlaitPool *pool, PlaitArena *arena, PlaitTensor states,
                                           const PlaitPacked *table, const PlaitScalar *bias,
                                           const PlaitOutputMixture *mixture, PlaitTensor log_probabilities);
