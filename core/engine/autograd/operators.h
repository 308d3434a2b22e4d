/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/tape.h"
#include "kernels/activation.h"
#include "attention/query-key-pairs.h"

/*
 * Differentiable operators. "[r, w]" is a value of r rows and w columns. Each operator returns a node (transfer none)
 * that belongs to @tape, like its input nodes. Shapes that do not fit end the step with an error (plait_tape_fail).
 */

/* Returns a node [r, out]: activation (x W + b). x [r, in], W (@weight) [in, out], b (@bias) [1, out] or NULL. */
PLAIT_API PlaitNode *plait_linear (PlaitTape *tape, PlaitNode *x, PlaitNode *weight, PlaitNode *bias,
                                   PlaitActivation activation);

/* Returns a node in the shape of @x: @activation of each element. */
PLAIT_API PlaitNode *plait_activate (PlaitTape *tape, PlaitNode *x, PlaitActivation activation);

/* Return a node in the shape of @x: exp (x) or log (x) of each element. log (0) is -infinity, log of a negative number
 * is NaN. */
PLAIT_API PlaitNode *plait_exp (PlaitTape *tape, PlaitNode *x);
PLAIT_API PlaitNode *plait_log (PlaitTape *tape, PlaitNode *x);

/* Returns a node in the shape of @x: the softmax of each row. */
PLAIT_API PlaitNode *plait_softmax (PlaitTape *tape, PlaitNode *x);

/* Returns columns @first .. @first + @width - 1 of @x as a view: no copy, and gradients go into the gradient of @x. */
PLAIT_API PlaitNode *plait_columns (PlaitTape *tape, PlaitNode *x, gint64 first, gint64 width);

/* Returns rows @first .. @first + @rows - 1 of @x as a view: no copy, and gradients go into the gradient of @x. */
PLAIT_API PlaitNode *plait_rows (PlaitTape *tape, PlaitNode *x, gint64 first, gint64 rows);

/* Returns the sum of the @n nodes @terms, all of one shape, element by element. */
PLAIT_API PlaitNode *plait_add_n (PlaitTape *tape, PlaitNode *const *terms, guint n);

/* Returns x * y, element by element. @x and @y must have the same shape. */
PLAIT_API PlaitNode *plait_multiply (PlaitTape *tape, PlaitNode *x, PlaitNode *y);

/* Returns x / y, element by element. @x and @y must have the same shape, and @y must not contain 0. Uses one thread:
 * meant for few numbers. */
PLAIT_API PlaitNode *plait_divide (PlaitTape *tape, PlaitNode *x, PlaitNode *y);

/* Return the larger or the smaller of x and y, element by element. @x and @y must have the same shape. Where they are
 * equal, each gets half of the gradient. */
PLAIT_API PlaitNode *plait_maximum (PlaitTape *tape, PlaitNode *x, PlaitNode *y);
PLAIT_API PlaitNode *plait_minimum (PlaitTape *tape, PlaitNode *x, PlaitNode *y);

/* Returns factor * x. @factor must be finite. */
PLAIT_API PlaitNode *plait_scale (PlaitTape *tape, PlaitNode *x, double factor);

/* Returns a node [r, w]: x * factors, element by element, for x [r, w]. @factors is [r, 1], one factor for each row, or
 * [1, w], one for each column. */
PLAIT_API PlaitNode *plait_multiply_broadcast (PlaitTape *tape, PlaitNode *x, PlaitNode *factors);

/* Returns the @n nodes @parts side by side: [r, w1], [r, w2], ... give [r, w1 + w2 + ...]. */
PLAIT_API PlaitNode *plait_concatenate_columns (PlaitTape *tape, PlaitNode *const *parts, guint n);

/* Returns the @n nodes @parts one below the other: [r1, w], [r2, w], ... give [r1 + r2 + ..., w]. */
PLAIT_API PlaitNode *plait_concatenate_rows (PlaitTape *tape, PlaitNode *const *parts, guint n);

/* Returns a node [n, w] whose row i is row indices[i] of @x [r, w], or zeros if indices[i] is -1. @indices: @n numbers,
 * borrowed. */
PLAIT_API PlaitNode *plait_gather_rows (PlaitTape *tape, PlaitNode *x, const gint64 *indices, gint64 n);

/* Returns a node [n, size w], as the input of a convolution: row i holds the rows indices[i * size] .. indices[i * size
 * + size - 1] of @x [r, w] side by side, zeros for an index of -1. @indices: @n * @size numbers, borrowed. */
PLAIT_API PlaitNode *plait_gather_windows (PlaitTape *tape, PlaitNode *x, const gint64 *indices, gint64 n, gint64 size);

/* Returns a node whose row i comes from @x if take[i] is not 0, else from @y, which has the same shape. @y NULL: zeros.
 * @take: one byte for each row, borrowed. */
PLAIT_API PlaitNode *plait_select_rows (PlaitTape *tape, const guint8 *take, PlaitNode *x, PlaitNode *y);

/*
 * Returns @x [rows, w] with positions as rotations (rotary positions: Su et al. 2021, eq. 34). Each of the @heads heads
 * is d = w / heads wide, d even; its columns 2 i and 2 i + 1 are turned by the angle position * base^(-2 i / d), from
 * the first towards the second. Then the product of a query and a key depends on the difference of their positions.
 * @positions: a number from 0 to 2^24 for each row, borrowed. @base: 10000 in the paper; above 0.
 */
PLAIT_API PlaitNode *plait_rotate (PlaitTape *tape, PlaitNode *x, const gint64 *positions, guint heads, double base);

/*
 * Returns a node [rows, w]: the linear recurrence h_t = a_t * h_(t - 1) + b_t along each sentence, element by element.
 * a and b [rows, w]. @initial [sentences, w] is h before the first row of each sentence; NULL: zeros. One step of
 * search, with the previous state as a node, is plait_add_n of plait_multiply (a, h) and b.
 */
PLAIT_API PlaitNode *plait_scan (PlaitTape *tape, PlaitNode *a, PlaitNode *b, PlaitNode *initial, PlaitRagged rows);

/* Returns @x with inverted dropout: each element is set to 0 with probability @rate (0 <= rate < 1), the others are
 * divided by 1 - rate. Uses the tape's next random key. Returns @x itself outside training or if @rate is 0. */
PLAIT_API PlaitNode *plait_dropout (PlaitTape *tape, PlaitNode *x, double rate);

/* Returns x + dropout (y, rate), element by element. @x and @y must have the same shape. 0 <= @rate < 1; no dropout
 * outside training. */
PLAIT_API PlaitNode *plait_residual (PlaitTape *tape, PlaitNode *x, PlaitNode *y, double rate);

/* Returns layer normalisation of each row of @x [r, w]: gain * (x - mean) / sqrt (variance + epsilon) + bias, with the
 * biased variance (Ba et al. 2016). gain and bias [1, w]. */
PLAIT_API PlaitNode *plait_layer_norm (PlaitTape *tape, PlaitNode *x, PlaitNode *gain, PlaitNode *bias, double epsilon);

/* Returns a node [1, 1]: the sum of all elements of @x. */
PLAIT_API PlaitNode *plait_reduce_sum (PlaitTape *tape, PlaitNode *x);

/* One memory for plait_attention. All pointers are borrowed. */
typedef struct
{
  PlaitNode *keys;      /* [rows, w] */
  PlaitNode *values;    /* [rows, w] */
  PlaitRagged rows;     /* keys of each sentence: rows of @keys, or entries of @gather if that is set */
  const gint64 *gather; /* NULL, or for each key its row in @keys and @values; only without gradients */
  PlaitScalar *weights; /* NULL, or receives the weights before dropout: [heads][pairs], where the pairs of sentence s
                           are [its queries][its keys], sentences end to end */
  /* NULL, or the keys as plait_key_values_transpose laid them out; not with gradients, @gather or causal attention.
   * Set for all memories or for none */
  const PlaitScalar *transposed_keys;
} PlaitKeyValues;

typedef struct
{
  guint heads;
  double scale;    /* factor of query . key; 0: 1 / sqrt (w / heads) */
  gboolean causal; /* TRUE: query t of a sentence sees only keys 0 .. t; allowed with one memory only */
  double dropout;  /* rate of dropout on the weights, after the softmax: 0 <= dropout < 1 */
  /* The next two options need one memory, without transposed_keys. A sentence must have as many memory rows as queries;
   * without @causal, it may have more rows, as in search. Its last query has the position of its last memory row. */
  gboolean linear_bias; /* TRUE: subtract slope * distance from the scaled scores (ALiBi, Press et al. 2022) */
  gint64 window;        /* a query sees only keys at a distance less than @window; 0: all keys */
} PlaitAttentionOptions;

PLAIT_API PlaitNode *plait_attention (PlaitTape *tape, PlaitNode *queries, PlaitRagged query_rows,
                                      const PlaitKeyValues *memories, guint n_memories,
                                      const PlaitAttentionOptions *options);

/*
 * Attention in separate steps, for other score functions and for combiners that need the weights as a node (coverage).
 * A pair is a query row and a memory row of the same sentence. The pairs of sentence s are [its queries][its rows],
 * sentences end to end. "[pairs, n]": one row for each pair.
 */

/* Returns all pairs of a query row and a memory row of the same sentence. @queries and @rows must have equal numbers of
 * sentences and are borrowed. The result lives in the tape's arena. */
PLAIT_API PlaitQueryKeyPairs plait_query_key_pairs (PlaitTape *tape, PlaitRagged queries, PlaitRagged rows);

/* Returns a node [pairs, 1] of additive scores: vector . tanh (query + key + extra) + bias (Bahdanau et al. 2015,
 * A.1.2; with coverage as @extra, Chen et al. 2017, eq. 5 and 12). queries [query rows, a] and keys [rows, a], both
 * projected; extra [pairs, a] or NULL; vector [1, a]; bias [1, 1] or NULL. */
PLAIT_API PlaitNode *plait_additive_scores (PlaitTape *tape, const PlaitQueryKeyPairs *pairs, PlaitNode *queries,
                                            PlaitNode *keys, PlaitNode *extra, PlaitNode *vector, PlaitNode *bias);

/* Returns a node [pairs, 1] of dot-product scores: scale * query . key (Luong et al. 2015, eq. 8). queries [query rows,
 * w], keys [rows, w]. */
PLAIT_API PlaitNode *plait_dot_scores (PlaitTape *tape, const PlaitQueryKeyPairs *pairs, PlaitNode *queries,
                                       PlaitNode *keys, double scale);

/* Returns the attention weights of each query: one softmax over its pairs in all @n memories together. scores[m] [pairs
 * of memory m, 1] are scores of pairs[m]. The weights of memory 0 come first, then those of memory 1, and so on, one
 * below the other; plait_rows separates them. */
PLAIT_API PlaitNode *plait_ragged_softmax (PlaitTape *tape, const PlaitQueryKeyPairs *pairs, PlaitNode *const *scores,
                                           guint n);

/* Returns a node [query rows, w] whose row i is the sum of weight * value over the pairs of query i. weights [pairs,
 * 1], values [rows, w]. A query without pairs gives zeros. */
PLAIT_API PlaitNode *plait_weighted_sum (PlaitTape *tape, const PlaitQueryKeyPairs *pairs, PlaitNode *weights,
                                         PlaitNode *values);

/* Query-key pairs with the row and the query of each pair. The arrays are borrowed. */
typedef struct
{
  PlaitQueryKeyPairs pairs;
  const gint64 *rows;    /* [pairs] memory row of each pair */
  const gint64 *queries; /* [pairs] query row of each pair */
} PlaitPairIndices;
