/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/arena.h"
#include "process/pool.h"
#include "types/tensor.h"
#include "tensor/packed.h"

/*
 * The vocabulary stage. logits = states table^T + bias: states [r, w], table [V, w]. It works on chunks of rows, so no
 * [r, V] matrix lives; a chunk's logits become its gradient in place.
 */
typedef struct
{
  PlaitTensor states;
  PlaitTensor table;
  const PlaitPacked *packed; /* the table packed (plait_pack (table, TRUE)), or NULL; bytes are read instead of it */
  PlaitPrecision precision;  /* of the three products, without @packed: of numbers or of bfloat16 */
  const PlaitScalar *bias;   /* V numbers or NULL */
  const gint32 *targets;     /* r ids, 0 .. V - 1 */
  double smoothing;          /* s: the target gets 1 - s (+ s / V) */
  gboolean others;           /* spread s over the V - 1 other words instead of over all V */
  double scale;              /* of the gradients: they are those of scale * sum of the losses */
  /* Gradients. NULL data: not wanted. With all three NULL only the losses are computed. */
  PlaitTensor dstates; /* overwritten */
  PlaitTensor dtable;  /* dtable_beta * dtable + the gradient */
  PlaitScalar dtable_beta;
  PlaitTensor dbias; /* [1, V], dbias_beta * dbias + the gradient */
  PlaitScalar dbias_beta;
  double *row_losses; /* NULL, or r numbers: negative log-likelihood of each row, without smoothing */
} PlaitOutputLayerWork;

typedef struct
{
  double loss;                    /* sum over rows, smoothing included, nats, not scaled */
  double negative_log_likelihood; /* sum over rows, without smoothing, nats */
  gint64 correct;                 /* rows whose most probable word is the target (ties: the lower id) */
} PlaitOutputLayerSums;

PlaitOutputLayerSums plait_output_layer_compute (PlaitPool *pool, PlaitArena *arena, const PlaitOutputLayerWork *work);

/*
 * Projection, log-softmax and the best words of each row in one pass over the table. @table is the table packed
 * (plait_pack (table, TRUE)). Writes for each row its @best best words, most probable first (ties: the lower id), with
 * their log-probabilities: ids [r][best], log_probabilities [r][best]. @best <= V.
 * @forbidden (n ids, distinct) are never chosen, but count in the normaliser; @forbid is NULL (every row) or a byte a
 * row saying whether they are forbidden there. Places that remain empty have id -1 and minus infinity.
 */
void plait_output_layer_top_k (PlaitPool *pool, PlaitArena *arena, PlaitTensor states, const PlaitPacked *table,
                               const PlaitScalar *bias, const gint32 *forbidden, guint n_forbidden,
                               const guint8 *forbid, guint best, gint32 *ids, PlaitScalar *log_probabilities);
