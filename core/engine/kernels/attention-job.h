/* SPDX-License-Identifier: MIT */
#pragma once

#include <math.h>

#include "process/random.h"
#include "types/tensor.h"

/* One memory of keys and values; all memories of a job share one softmax. */
typedef struct
{
  PlaitTensor keys;     /* [rows, w] */
  PlaitTensor values;   /* [rows, w] */
  PlaitRagged rows;     /* keys of each sentence: without @gather, a range of rows of @keys and @values; with @gather, a
                           range of entries of @gather */
  const gint64 *gather; /* entry i: row of key i in @keys and @values; NULL: row i. Without backward pass */
  /* Attention weights before dropout, written by the forward pass: [heads][pairs], or NULL. The pairs of a sentence are
   * [its queries][its keys], sentences end to end. Keys that a query cannot see have weight 0. */
  PlaitScalar *weights;
  const PlaitScalar *transposed_keys; /* copy of @keys from plait_transpose_keys, or NULL. Set for all memories or
                                         for none; forward only; not with @gather or causal attention */
} PlaitAttentionMemory;

typedef struct
{
  guint heads;
  double scale;             /* factor of the scores; 0: 1 / sqrt (w / heads) */
  gboolean causal;          /* query t of a sentence sees only keys 0 .. t; allowed with one memory only */
  double dropout;           /* probability of dropping a weight after the softmax (inverted dropout) */
  PlaitPrecision precision; /* precision of products; full precision for few keys, for transposed_keys, in the
                               single-query kernel and over items */
  PlaitRandomKey key;       /* random key of the dropout, from which the weight of each head, query and attention key
                               gets its own random number */
  gboolean linear_bias; /* subtract plait_attention_slope times the distance of query and key from each scaled score */
  gint64 window;        /* a query sees only keys at a distance less than @window; 0: all keys */
} PlaitAttentionSettings;

/*
 * TRUE if scores depend on distances: there is a linear bias or a window. This is allowed with one memory only, without
 * transposed_keys. In causal attention, query t has the position of key t. Otherwise the last query of a sentence has
 * the position of the sentence's last key, like the only query of a step in search. Distances are absolute values; only
 * an encoder has keys after the query.
 */
static inline gboolean
plait_attention_is_relative (const PlaitAttentionSettings *settings)
{
  return settings->linear_bias || settings->window > 0;
}

/*
 * Returns the slope of head @head of @heads (ALiBi, Press et al. 2022, section 3). If @heads is a power of two, the
 * slopes are 2^(-8 / heads), 2^(-16 / heads), ... Otherwise, with n the next lower power of two, they are the slopes of
 * n heads, then the first, third, fifth, ... of the slopes of 2 n heads (the authors' code).
 */
static inline double
plait_attention_slope (guint heads, guint head)
{
  guint power = 1;

  while (2 * power <= heads)
    power *= 2;
  return head < power ? exp2 (-8. * (head + 1) / power) : exp2 (-8. * (2 * (head - power) + 1) / (2 * power));
}

/* A gradient that backward writes: gradient = beta * gradient + contribution. If @gradient has no data, it is not
 * computed. */
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

/* One call of attention, forward and backward. */
typedef struct
{
  PlaitTensor context; /* output of the forward pass: [r, w] */
  PlaitTensor queries;
  PlaitRagged query_rows;
  const PlaitAttentionMemory *memories;
  guint n_memories;
  const PlaitAttentionSettings *settings;
  gboolean separate;     /* TRUE: the single-query kernel computes every sentence with one query; FALSE: only if all
                            sentences have one query. Jobs that this kernel does not support use the general kernel */
  PlaitScalar *log_sums; /* log-sum-exp of the scores, [r][heads], which forward writes and backward reads; or NULL */

  /* Backward only. All rows of each target are written. For one sentence and head, the order is queries, keys of memory
   * 0, values of memory 0, keys of memory 1, ... Several targets may be one tensor (queries that are also keys); then
   * only the first of them may have beta 0. */
  PlaitTensor dcontext;
  PlaitGradientTarget dqueries;
  const PlaitAttentionMemoryGradient *dmemories;
} PlaitAttentionJob;

/*
 * Attention of each row over its own @n items (the contexts of a hierarchical combiner: Libovicky et al. 2018, eq.
 * 7-8). Item j of row r is row r of keys[j] and values[j]. A row without items gets a zero context.
 */
typedef struct
{
  PlaitTensor context; /* output of the forward pass */
  PlaitTensor queries;
  const PlaitTensor *keys;
  const PlaitTensor *values;
  const guint8 *const *present; /* [n] arrays: present[j][r] is 0 if row r lacks item j. present[j] NULL: all rows have
                                   item j; @present NULL: all rows have all items */
  guint n;
  const PlaitAttentionSettings *settings; /* only heads, scale, dropout and key are used */
  PlaitScalar *weights; /* output: weights before dropout, [heads][rows][n], 0 for absent items; or NULL */

  /* Backward only. For one row and head, targets are written in the order queries, keys[0], values[0], keys[1], ...
   * If several targets are one tensor, only the first of them may have beta 0. */
  PlaitTensor dcontext;
  PlaitGradientTarget dqueries;
  const PlaitGradientTarget *dkeys;
  const PlaitGradientTarget *dvalues;
} PlaitItemsJob;
