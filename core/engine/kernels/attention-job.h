/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/random.h"
#include "types/tensor.h"

/* Arguments of attention (attention/attention.h), forward and backward. */

/* Keys and values that take part in the softmax. */
typedef struct
{
  PlaitTensor keys;     /* [rows, w] */
  PlaitTensor values;   /* [rows, w] */
  PlaitRagged rows;     /* of the keys, as many sentences as the queries have; with @gather, of the indices */
  const gint64 *gather; /* NULL, or for each key its row in @keys and @values; forward only */
  /* NULL, or where to put the weights, before dropout: [heads][pairs], the pairs of sentence s being [its queries][its
   * keys], sentences end to end; forward only. Keys a causal query cannot see: 0 */
  PlaitScalar *weights;
  const PlaitScalar *transposed_keys; /* NULL, or the same keys as plait_transpose_keys gives them: of all memories
                                     or of none; not with @gather; forward only */
} PlaitAttentionMemory;

typedef struct
{
  guint heads;
  double scale;             /* of the scores; 0: 1 / sqrt (w / heads) */
  gboolean causal;          /* query t of a sentence sees keys 0 .. t; one memory only */
  double dropout;           /* of the weights, after the softmax, inverted */
  PlaitPrecision precision; /* of the products of sentences with many keys: of numbers or of bfloat16; items: numbers */
  PlaitRandomKey key;       /* of the dropout; the draw of (head, query row, key of all memories of the sentence) */
} PlaitAttentionSettings;

/* Where gradients go: gradient = beta * gradient + contribution; data NULL: not wanted. */
typedef struct
{
  PlaitTensor gradient;
  PlaitScalar beta;
} PlaitGradientTarget;

typedef struct
{
  PlaitGradientTarget keys;
  PlaitGradientTarget values;
} PlaitAttentionMemoryGradient;

/* What is given of attention forward and backward. */
typedef struct
{
  PlaitTensor context; /* [r, w], which forward writes */
  PlaitTensor queries;
  PlaitRagged query_rows;
  const PlaitAttentionMemory *memories;
  guint n_memories;
  const PlaitAttentionSettings *settings;
  PlaitScalar *log_sums; /* heads * r numbers, [row][head], which forward leaves for backward; or NULL */

  /* Backward. Every target is written whole. Targets may be one and the same tensor (queries that are also keys): they
   * are written in the order queries, keys and values of memory 0, keys and values of memory 1, ..., so only the first
   * of them may have beta 0. */
  PlaitTensor dcontext;
  PlaitGradientTarget dqueries;
  const PlaitAttentionMemoryGradient *dmemories;
} PlaitAttentionJob;

/*
 * Attention of each row over its own @n items (the contexts, eq. 7-8): row r of keys[j] and values[j] is its item j. No
 * item at all gives a zero row.
 */
typedef struct
{
  PlaitTensor context; /* which forward writes */
  PlaitTensor queries;
  const PlaitTensor *keys;
  const PlaitTensor *values;
  const guint8 *const *present; /* NULL, or of each item NULL (all present) or a byte a row */
  guint n;
  const PlaitAttentionSettings *settings; /* causal is ignored */
  PlaitScalar *weights; /* NULL or [heads][rows][n], before dropout, absent items 0, which forward writes */

  /* Backward. Targets as above, in the order queries, keys[0], values[0], keys[1], ... */
  PlaitTensor dcontext;
  PlaitGradientTarget dqueries;
  const PlaitGradientTarget *dkeys;
  const PlaitGradientTarget *dvalues;
} PlaitItemsJob;
