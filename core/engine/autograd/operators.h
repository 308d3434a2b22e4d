/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/tape.h"
#include "kernels/activation.h"
#include "attention/query-key-pairs.h"

/*
 * Differentiable operators. "node [r, w]" means a value of r rows and w columns. Every operator returns a new node of
 * the tape of its inputs' (transfer none); shapes and numbers of rows that do not fit leave the step
 * (plait_tape_fail).
 */

/* activation (x W + b): x [r, in], W [in, out], b [1, out] or NULL -> [r, out]. */
PLAIT_API PlaitNode *plait_linear (PlaitTape *tape, PlaitNode *x, PlaitNode *weight, PlaitNode *bias,
                                   PlaitActivation activation);

/* activation (x), element by element. */
PLAIT_API PlaitNode *plait_activate (PlaitTape *tape, PlaitNode *x, PlaitActivation activation);

/* exp (x) and log (x), element by element: log (0) is -infinity, log of a negative number is NaN. */
PLAIT_API PlaitNode *plait_exp (PlaitTape *tape, PlaitNode *x);
PLAIT_API PlaitNode *plait_log (PlaitTape *tape, PlaitNode *x);

/* The softmax of each row. */
PLAIT_API PlaitNode *plait_softmax (PlaitTape *tape, PlaitNode *x);

/* Columns @first .. @first + @width - 1 of x as a view: no copy, the gradient goes to the whole's. */
PLAIT_API PlaitNode *plait_columns (PlaitTape *tape, PlaitNode *x, gint64 first, gint64 width);

/* Rows @first .. @first + @rows - 1 of x as a view. */
PLAIT_API PlaitNode *plait_rows (PlaitTape *tape, PlaitNode *x, gint64 first, gint64 rows);

/* The sum of @n nodes of one shape. */
PLAIT_API PlaitNode *plait_add_n (PlaitTape *tape, PlaitNode *const *terms, guint n);

/* x * y element by element, one shape. */
PLAIT_API PlaitNode *plait_multiply (PlaitTape *tape, PlaitNode *x, PlaitNode *y);

/* x / y element by element, one shape; y must not be 0. For few numbers: it uses one thread. */
PLAIT_API PlaitNode *plait_divide (PlaitTape *tape, PlaitNode *x, PlaitNode *y);

/* The greater or the lesser of x and y, element by element, one shape. Equal numbers share the gradient. */
PLAIT_API PlaitNode *plait_maximum (PlaitTape *tape, PlaitNode *x, PlaitNode *y);
PLAIT_API PlaitNode *plait_minimum (PlaitTape *tape, PlaitNode *x, PlaitNode *y);

/* factor * x. */
PLAIT_API PlaitNode *plait_scale (PlaitTape *tape, PlaitNode *x, double factor);

/* x * factors element by element, where factors repeats: x [r, w], a column [r, 1] or a row [1, w] -> [r, w]. */
PLAIT_API PlaitNode *plait_multiply_broadcast (PlaitTape *tape, PlaitNode *x, PlaitNode *factors);

/* Side by side: [r, w1], [r, w2], ... -> [r, w1 + w2 + ...]. */
PLAIT_API PlaitNode *plait_concatenate_columns (PlaitTape *tape, PlaitNode *const *parts, guint n);

/* One below the other: [r1, w], [r2, w], ... -> [r1 + r2 + ..., w]. */
PLAIT_API PlaitNode *plait_concatenate_rows (PlaitTape *tape, PlaitNode *const *parts, guint n);

/* Row i is row @indices[i] of x, or zeros where it is -1. @n indices, borrowed. */
PLAIT_API PlaitNode *plait_gather_rows (PlaitTape *tape, PlaitNode *x, const gint64 *indices, gint64 n);

/* Row i is the @size rows @indices[i * size] .. of x side by side, zeros in the place of a -1: what a convolution of
 * that width reads. @n * @size indices, borrowed -> [n, size w]. */
PLAIT_API PlaitNode *plait_gather_windows (PlaitTape *tape, PlaitNode *x, const gint64 *indices, gint64 n, gint64 size);

/* Row i from x where @take[i], else from y; y NULL means zeros. @take has one byte a row, borrowed. */
PLAIT_API PlaitNode *plait_select_rows (PlaitTape *tape, const guint8 *take, PlaitNode *x, PlaitNode *y);

/* Inverted dropout with probability @rate (0 .. 1, 1 not included), from the tape's next key; x itself outside training
 * or at rate 0. */
PLAIT_API PlaitNode *plait_dropout (PlaitTape *tape, PlaitNode *x, double rate);

/* x + dropout (y, rate). */
PLAIT_API PlaitNode *plait_residual (PlaitTape *tape, PlaitNode *x, PlaitNode *y, double rate);

/* gain * (x - mean) / sqrt (variance + epsilon) + bias, row by row, biased variance; gain, bias [1, w]. */
PLAIT_API PlaitNode *plait_layer_norm (PlaitTape *tape, PlaitNode *x, PlaitNode *gain, PlaitNode *bias, double epsilon);

/* The sum of all elements, [1, 1]. */
PLAIT_API PlaitNode *plait_reduce_sum (PlaitTape *tape, PlaitNode *x);

/*
 * Multi-head scaled dot-product attention over ragged rows (Libovicky et al. 2018, eq. 1-3, without the projections).
 *
 * The queries of sentence s, rows query_rows(s), attend to the keys of sentence s in each of the memories under ONE
 * softmax over all of them (several memories: eq. 5-6). Head h reads columns h * w / heads ... of queries, keys and
 * values. At most 64 memories. A sentence without any key gives a zero context and finite gradients.
 */
typedef struct
{
  PlaitNode *keys;      /* [rows, w] */
  PlaitNode *values;    /* [rows, w] */
  PlaitRagged rows;     /* of the keys; with @gather, of the indices */
  const gint64 *gather; /* NULL, or for each key its row in @keys and @values (only where no gradient is needed) */
  PlaitScalar *weights; /* NULL, or where to put the weights, before dropout: [heads][pairs], the pairs of sentence s
                           being [its queries][its keys], sentences end to end */
  const PlaitScalar *transposed_keys; /* NULL, or what plait_key_values_transpose made of the keys */
} PlaitKeyValues;

typedef struct
{
  guint heads;
  double scale;    /* 0: 1 / sqrt (w / heads) */
  gboolean causal; /* query t sees keys 0 .. t (one memory) */
  double dropout;  /* of the weights, after the softmax */
} PlaitAttentionOptions;

PLAIT_API PlaitNode *plait_attention (PlaitTape *tape, PlaitNode *queries, PlaitRagged query_rows,
                                      const PlaitKeyValues *memories, guint n_memories,
                                      const PlaitAttentionOptions *options);

/*
 * Attention taken apart, for decoders that score otherwise, and for those who need the weights as numbers of the tape
 * (coverage). A pair is a query row of a sentence with a memory row of the same sentence; the pairs of sentence s are
 * [its queries][its rows], sentences end to end, one row a pair in what follows.
 */

/* The pairs of ragged queries and the rows of a memory with as many sentences; lives in the tape's arena. */
PLAIT_API PlaitQueryKeyPairs plait_query_key_pairs (PlaitTape *tape, PlaitRagged queries, PlaitRagged rows);

/* Additive scores, vector . tanh (query + key + extra) + bias (Bahdanau et al. 2015; Chen et al. 2017, eq. 5 and 12):
 * queries [query rows, a] and keys [rows, a] projected, extra [pairs, a] or NULL, vector [1, a], bias [1, 1] or NULL
 * -> [pairs, 1]. */
PLAIT_API PlaitNode *plait_additive_scores (PlaitTape *tape, const PlaitQueryKeyPairs *pairs, PlaitNode *queries,
                                            PlaitNode *keys, PlaitNode *extra, PlaitNode *vector, PlaitNode *bias);

/* scale * query . key (Luong et al. 2015): queries [query rows, w], keys [rows, w] -> [pairs, 1]. */
PLAIT_API PlaitNode *plait_dot_scores (PlaitTape *tape, const PlaitQueryKeyPairs *pairs, PlaitNode *queries,
                                       PlaitNode *keys, double scale);

/* Each query's softmax over its pairs in all of @n memories together -> the weights of memory 0, of memory 1, ...,
 * below one another; plait_rows takes them apart. pairs[m] belongs to scores[m]. */
PLAIT_API PlaitNode *plait_ragged_softmax (PlaitTape *tape, const PlaitQueryKeyPairs *pairs, PlaitNode *const *scores,
                                           guint n);

/* Row i = the sum over the pairs of query i of weight * value: weights [pairs, 1], values [rows, w] -> [query rows, w].
 * A query without pairs gives zeros. */
PLAIT_API PlaitNode *plait_weighted_sum (PlaitTape *tape, const PlaitQueryKeyPairs *pairs, PlaitNode *weights,
                                         PlaitNode *values);

/* Where pairs stand. The arrays [pairs] are borrowed. */
typedef struct
{
  PlaitQueryKeyPairs pairs;
  const gint64 *rows;    /* the row of each pair */
  const gint64 *queries; /* its query */
} PlaitPairIndices;
