/* SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/activation.h"
#include "kernels/attention-job.h"
#include "kernels/scan-job.h"
#include "kernels/update-job.h"

/*
 * Table of the functions that are compiled once for each processor variant. Each works on one piece of an operator, in
 * the calling thread. Arrays are contiguous unless a stride is given. beta is 0 (the output may be uninitialised) or 1.
 */

/* A dropout mask. Element i is dropped if plait_random_hash32 (key, key2, i) < threshold; other elements are multiplied
 * by @kept. */
typedef struct
{
  guint32 key;
  guint32 key2;
  guint32 threshold;
  PlaitScalar kept;
} PlaitMask;

/* Returns the mask of inverted dropout with probability @rate, 0 <= rate < 1, drawn from @key. */
static inline PlaitMask
plait_mask (PlaitRandomKey key, double rate)
{
  return (PlaitMask){ .key = (guint32)key.state,
                      .key2 = (guint32)(key.state >> 32),
                      .threshold = (guint32)(rate * 0x1p32),
                      .kept = (PlaitScalar)(1 / (1 - rate)) };
}

/* The largest number of scalars in a vector of any variant. */
#define PLAIT_MAX_VECTOR_LENGTH 16

/* The largest number of memories under one softmax. */
#define PLAIT_MAX_ATTENTION_MEMORIES 64

typedef struct
{
  const PlaitAttentionJob *job;
  gint64 sentence;
  guint head;
} PlaitAttentionPiece;

/* The vectors of one additive score, vector . tanh (query + key + extra); or the arrays for their gradients (NULL: not
 * computed). */
typedef struct
{
  PlaitScalar *query;
  PlaitScalar *key;
  PlaitScalar *extra; /* third summand inside tanh, or NULL */
  PlaitScalar *vector;
  gboolean replaces_key; /* gradients only: overwrite @key instead of adding to it */
  gboolean replaces_extra;
} PlaitAdditivePair;

/* Backward of the additive scores of one query with @n selected rows of a memory. Adds to dquery, dkeys and dvector;
 * dquery and dkeys may be NULL: not computed. */
typedef struct
{
  gint64 n;
  const gint64 *row;
  const PlaitScalar *dscores; /* gradients of the scores: [n] */
  const PlaitScalar *query;
  const PlaitScalar *keys;
  gint64 stride;
  const PlaitScalar *vector;
  PlaitScalar *dquery;
  PlaitScalar *dkeys;
  gint64 dstride;
  PlaitScalar *dvector; /* gradient of @vector, to which the kernel adds; never NULL */
} PlaitAdditiveRows;

/* Scores of one query with rows of a memory: scale * query . row, or vector . tanh (query + row), for one head of
 * @width columns. */
typedef struct
{
  const PlaitScalar *query;
  const PlaitScalar *rows; /* row i is at rows + i * stride */
  gint64 stride;
  gint64 width;
  PlaitScalar scale;
  const PlaitScalar *vector; /* vector of additive scores: [width]; NULL: dot products */
} PlaitRowScores;

/* Consecutive rows of a memory under one softmax, such as siblings in a pyramid. */
typedef struct
{
  gint64 first;
  gint64 n;
  gint64 column;    /* first column of the head */
  gint64 offset;    /* index in the output at which the weights and path weights of these rows begin */
  PlaitScalar path; /* path weight of the parent, by which these weights are multiplied: product of the weights of all
                       ancestors of the rows */
} PlaitSiblings;

/* A sibling group: the children of one row, or the rows of the top level. Rows are counted from the first row of their
 * sentence. */
typedef struct
{
  gint64 parent; /* -1 for the top level */
  gint64 first;
  gint64 n;
} PlaitSiblingGroup;

/* All sibling groups of a sentence, for some of its queries. Rows of scalars are @stride apart; a column is a query. */
typedef struct
{
  const PlaitSiblingGroup *groups; /* [n], the top level first, then groups by descending @parent */
  gint64 n;
  gint64 rows;
  gint64 columns; /* number of queries, rounded up to whole vectors */
  gint64 stride;  /* distance of rows in scores, weights and path */
  PlaitScalar scale;
  PlaitScalar *scores;  /* scores; in backward, gradients of @path: [rows, stride] */
  PlaitScalar *weights; /* if @keeps, the weights of all groups, one group after another; else room for the largest
                           group */
  gboolean keeps;
  PlaitScalar *path; /* total weight of a row: the product of its weight and those of its ancestors; for a row of
                        several groups, the sum of these products; after backward, gradients of the unscaled scores:
                        [rows, stride] */
} PlaitSiblingTile;

/* The arrays of one row of a recurrent cell, or of one node of a binary tree. Each array is one or several times as
 * wide as the cell. The previous states of a node are those of its left and right child, side by side. */
typedef struct
{
  const PlaitScalar *projected;      /* projected input of the gates; in a tree it may be NULL */
  const PlaitScalar *candidate_bias; /* bias of the candidate of a node, or NULL */
  PlaitScalar *gates;
  const PlaitScalar *previous;      /* previous state, or states of both children */
  const PlaitScalar *previous_cell; /* row: previous cell state, NULL: zeros; node: left child's cell state */
  const PlaitScalar *right_cell;    /* cell state of the right child */
  PlaitScalar *state;
  PlaitScalar *next; /* second copy of a row's new state, which the next step reads; or NULL */
  PlaitScalar *cell;
  PlaitScalar *reset_state; /* output: reset * previous */

  /* Backward only. */
  const PlaitScalar *dstate;
  const PlaitScalar *dcell;
  /* In, only for rows: the gradient of the row's state from the next step. Out, except in an LSTM: the gradient that
   * the previous states get through the gates. The caller adds the gradient through the recurrent product. */
  PlaitScalar *carried;
  /* Row: in, the gradient of its cell state from the next step; out, the gradient of the previous cell state. Node:
   * gradient of the left child's cell state, to which the kernel adds. */
  PlaitScalar *carried_cell;
  PlaitScalar *carried_right; /* node: gradient of the right child's cell state, to which the kernel adds */
  const PlaitScalar *dreset;  /* gradient of reset_state */
  PlaitScalar *dprojected;    /* output: gradient of @projected, or NULL */
  gboolean adds;              /* TRUE: add to @dprojected; FALSE: overwrite it */
} PlaitCellRow;

/* Computes one row or node of a cell, forward or backward. */
typedef void (*PlaitCellKernel) (const PlaitCellRow *row, gint64 width);

typedef struct
{
  const char *variant;
  gint64 vector_length; /* number of scalars in a vector */
  gint64 tile_width;    /* columns of a packed panel of a right factor, a multiple of vector_length */
  gint64 packed_width;  /* columns of a panel of a packed weight; tile_width is a multiple of it */
  /* Use BLAS if the result has at least this many rows; 0: never. [0]: left factor as stored; [1]: left factor
   * transposed. */
  gint64 blas_rows[2];

  /* Computes c [rows, width] = (@add: c +) a b over @depth. a[i][k] is at a[i * row + k * step], so a may be
   * transposed. Row k of b starts at b + k * b_stride and must be readable up to a whole vector. Nothing outside c is
   * written. Each element is one chain of multiply-adds in the order of k, so its bits do not depend on the shape. */
  void (*multiply) (gint64 rows, gint64 width, gint64 depth, const PlaitScalar *a, gint64 row, gint64 step,
                    const PlaitScalar *b, gint64 b_stride, PlaitScalar *c, gint64 c_stride, gboolean add);
  /* Computes c [rows, width] = (@add: c +) a b, where b is part of a packed weight: @depth rows of at most tile_width
   * columns, in panels that begin @distance scalars apart. The panels of the next call, at @next, are prefetched. */
  void (*multiply_packed) (gint64 rows, gint64 width, gint64 depth, const PlaitScalar *a, gint64 row,
                           const PlaitScalar *b, gint64 distance, PlaitScalar *c, gint64 c_stride, gboolean add,
                           const PlaitScalar *next);
  /* Computes to[j][i] = from[i][j] for @rows x @columns scalars, and zeros for i from @rows to @padded - 1. */
  void (*transpose) (PlaitScalar *to, gint64 to_stride, gint64 padded, const PlaitScalar *from, gint64 from_stride,
                     gint64 rows, gint64 columns);

  /* y = beta y + alpha x. */
  void (*accumulate) (PlaitScalar *y, PlaitScalar beta, PlaitScalar alpha, const PlaitScalar *x, gint64 n);
  /* y = sum of factors[k] * x[k] over @terms arrays x[k]. */
  void (*combine) (PlaitScalar *y, const PlaitScalar *const *x, const PlaitScalar *factors, guint terms, gint64 n);
  /* z = beta z + x * y. */
  void (*multiply_elements) (PlaitScalar *z, PlaitScalar beta, const PlaitScalar *x, const PlaitScalar *y, gint64 n);
  /* Rotates pairs of columns: y = beta y + x rotated. x has @heads heads of 2 @pairs columns. Pair i of a head is
   * rotated by the angle with cosines[i] and sines[i], and backwards if @sign is -1. @y may be @x if beta is 0. */
  void (*rotate) (PlaitScalar *y, PlaitScalar beta, PlaitScalar sign, const PlaitScalar *x, const PlaitScalar *cosines,
                  const PlaitScalar *sines, guint heads, gint64 pairs);
  /* z = elementwise maximum for @sign 1, minimum for @sign -1. NaN if x or y is NaN. */
  void (*maximum) (PlaitScalar *z, PlaitScalar sign, const PlaitScalar *x, const PlaitScalar *y, gint64 n);
  /* dx = beta dx + share dz. share is 1 where x is greater (@sign -1: less) than y, 1/2 where x equals y, else 0. */
  void (*maximum_backward) (PlaitScalar *dx, PlaitScalar beta, PlaitScalar sign, const PlaitScalar *dz,
                            const PlaitScalar *x, const PlaitScalar *y, gint64 n);
  /* y = base + factor * x * mask; @base NULL: zeros. Element @first of the mask belongs to x[0]. */
  void (*dropout) (PlaitScalar *y, const PlaitScalar *base, PlaitScalar factor, const PlaitScalar *x, gint64 n,
                   const PlaitMask *mask, guint32 first);
  /* y = activation (x). */
  void (*activate) (PlaitActivation activation, PlaitScalar *y, const PlaitScalar *x, gint64 n);
  /* dx = beta dx + dy * activation'. @kept is the input of the activation for both GELUs, swish and log, else its
   * output. */
  void (*activate_backward) (PlaitActivation activation, PlaitScalar *dx, PlaitScalar beta, const PlaitScalar *dy,
                             const PlaitScalar *kept, gint64 n);
  double (*total) (const PlaitScalar *x, gint64 n);
  double (*squares) (const PlaitScalar *x, gint64 n);
  /* Updates elements @first .. @first + @n - 1 of a parameter. Then sets their gradients to 0, unless @settings keeps
   * them. */
  void (*adam) (const PlaitUpdateSlot *slot, gint64 first, gint64 n, const PlaitUpdateSettings *settings);
  void (*adadelta) (const PlaitUpdateSlot *slot, gint64 first, gint64 n, const PlaitUpdateSettings *settings);

  /* Normalises one row. Writes the mean of @x to *mean and 1 / sqrt (variance + @epsilon) to *inverse. @mean and
   * @inverse may be NULL. */
  void (*layer_norm) (PlaitScalar *y, const PlaitScalar *x, const PlaitScalar *gain, const PlaitScalar *bias, gint64 n,
                      PlaitScalar epsilon, PlaitScalar *mean, PlaitScalar *inverse);
  /* Backward of layer_norm for one row: adds to dgain and dbias, and computes dx = beta dx + gradient of x (@dx NULL:
   * not computed). */
  void (*layer_norm_backward) (PlaitScalar *dx, PlaitScalar beta, PlaitScalar *dgain, PlaitScalar *dbias,
                               const PlaitScalar *dy, const PlaitScalar *x, const PlaitScalar *gain, gint64 n,
                               PlaitScalar mean, PlaitScalar inverse);

  /* Returns the greatest scalar, ignoring NaN. */
  PlaitScalar (*greatest) (const PlaitScalar *x, gint64 n);
  /* Writes to @places, in ascending order, the indices i with x[i] >= @bound, and returns their number. */
  gint64 (*at_least) (const PlaitScalar *x, PlaitScalar bound, gint64 n, gint32 *places);
  /* Returns the number of indices i with x[i] >= @bound. */
  gint64 (*count_at_least) (const PlaitScalar *x, PlaitScalar bound, gint64 n);
  /* Adds @bias (NULL: zeros) to x, sets *greatest to the greatest sum, and returns the sum of exp (x - *greatest). */
  double (*logits) (PlaitScalar *x, const PlaitScalar *bias, gint64 n, PlaitScalar *greatest);
  /* Replaces x by exp (x - shift) and returns the sum. */
  double (*exponentials) (PlaitScalar *x, PlaitScalar shift, gint64 n);
  /* x = factor * x - offset. */
  void (*scale_shift) (PlaitScalar *x, PlaitScalar factor, PlaitScalar offset, gint64 n);

  /* Attention for one sentence and head. Returns the bytes that @scratch must have; if @scratch is NULL, does nothing
   * else. */
  gsize (*attention_forward) (const PlaitAttentionPiece *piece, gpointer scratch);
  gsize (*attention_backward) (const PlaitAttentionPiece *piece, gpointer scratch);
  /* Attention for a sentence with one query and one memory: all heads, without dropout, weights or log_sums. @scratch
   * has room for heads * (keys rounded up to whole vectors) scalars. Returns FALSE, with nothing done, if the variant
   * does not support the width of the heads. */
  gboolean (*attention_single_query) (const PlaitAttentionJob *job, gint64 sentence, PlaitScalar *scratch);
  /* attention_forward, attention_backward and attention_single_query for jobs with a linear bias or a window. */
  gsize (*relative_attention_forward) (const PlaitAttentionPiece *piece, gpointer scratch);
  gsize (*relative_attention_backward) (const PlaitAttentionPiece *piece, gpointer scratch);
  gboolean (*relative_attention_single_query) (const PlaitAttentionJob *job, gint64 sentence, PlaitScalar *scratch);
  PlaitScalar (*dot) (const PlaitScalar *x, const PlaitScalar *y, gint64 n);
  /* Returns vector . tanh (query + key + extra); @extra may be NULL. */
  PlaitScalar (*additive_score) (const PlaitScalar *query, const PlaitScalar *key, const PlaitScalar *extra,
                                 const PlaitScalar *vector, gint64 n);
  /* Adds the gradients of an additive score to the arrays of @to, or overwrites those that @to replaces. */
  void (*additive_score_backward) (const PlaitAdditivePair *to, PlaitScalar dscore, const PlaitAdditivePair *from,
                                   gint64 n);

  /* y[i] = scale * x . row i, for @n selected rows of @width columns. Row i is at rows + row[i] * stride. */
  void (*dot_rows) (PlaitScalar *y, PlaitScalar scale, const PlaitScalar *x, const PlaitScalar *rows, gint64 stride,
                    const gint64 *row, gint64 n, gint64 width);
  /* y = (@add: y +) sum of numbers[i] * row i over @n selected rows. Each element is one chain of multiply-adds in the
   * order of i. Row i is at rows + row[i] * stride. */
  void (*sum_rows) (PlaitScalar *y, gboolean add, const PlaitScalar *numbers, const PlaitScalar *rows, gint64 stride,
                    const gint64 *row, gint64 n, gint64 width);
  /* Adds numbers[i] * x to row i of @n selected rows. Row i is at rows + row[i] * stride. */
  void (*spread_rows) (PlaitScalar *rows, gint64 stride, const gint64 *row, gint64 n, const PlaitScalar *numbers,
                       const PlaitScalar *x, gint64 width);
  /* Computes the backward pass of @job, whose rows have @width columns. */
  void (*additive_rows_backward) (const PlaitAdditiveRows *job, gint64 width);
  /* Writes to @weights the softmax of the scores in each of @n sets, and to @path the weights times the path of the
   * set. The kernel may write up to PLAIT_MAX_VECTOR_LENGTH scalars beyond the end of a set. Sets are written in order,
   * so the next set overwrites these scalars. */
  void (*weigh_siblings) (const PlaitRowScores *from, const PlaitSiblings *sets, gint64 n, PlaitScalar *weights,
                          PlaitScalar *path);
  /* Returns an integer whose bit i is set if x[i] is among the @most greatest of @n scalars. Of equal scalars, the
   * first counts as greater. @n is at most the length of a vector. */
  guint32 (*best_lanes) (const PlaitScalar *x, gint64 n, gint64 most);
  /* Writes to @weights the softmax of scale * scores in each sibling group, and to @path the weights times the path
   * weight of the parent. A row in several groups gets the sum of its path weights; a row without a group gets 0. */
  void (*weigh_sibling_groups) (const PlaitSiblingTile *tile);
  /* Backward of weigh_sibling_groups, which must have run on @tile with @keeps TRUE. @scores holds the gradients of the
   * path of childless rows; the kernel writes those of parents. Overwrites @path with the gradients of the unscaled
   * scores. */
  void (*weigh_sibling_groups_backward) (const PlaitSiblingTile *tile);
  /* Writes the least and the greatest of @n integers; *greatest is at least -1. With n = 0: G_MAXINT64 and -1. */
  void (*extent) (const gint64 *numbers, gint64 n, gint64 *least, gint64 *greatest);
  /* Writes the softmax of each of @n sets; set s has the elements offsets[s] .. offsets[s + 1] - 1. */
  void (*softmax_sets) (PlaitScalar *weights, const PlaitScalar *scores, const gint64 *offsets, gint64 n);
  /* Computes dscores = (@add: dscores +) weights * (dweights - sum of weights * dweights) for each set. */
  void (*softmax_sets_backward) (PlaitScalar *dscores, gboolean add, const PlaitScalar *dweights,
                                 const PlaitScalar *weights, const gint64 *offsets, gint64 n);

  /* Computes attention of one row over its items, for all heads. @scratch has room for 2 n scalars. */
  void (*items_forward) (const PlaitItemsJob *job, gint64 row, PlaitScalar *scratch);
  void (*items_backward) (const PlaitItemsJob *job, gint64 row, PlaitScalar *scratch);

  /* Recurrent cells. A GRU with PLAIT_RESET_BEFORE needs two kernels: gru_reset, then gru_candidate; backward runs them
   * in reverse order. */
  PlaitCellKernel gru_after, gru_reset, gru_candidate, lstm;
  PlaitCellKernel gru_after_backward, gru_candidate_backward, gru_reset_backward, lstm_backward;
  /* Compute a linear recurrence in one sentence, for @n columns from @first on. The @scratch of scan_backward has room
   * for 2 n scalars. */
  void (*scan) (const PlaitScanJob *job, gint64 sentence, gint64 first, gint64 n);
  void (*scan_backward) (const PlaitScanJob *job, gint64 sentence, gint64 first, gint64 n, PlaitScalar *scratch);
  /* Cells of tree nodes with two children. */
  PlaitCellKernel tree_gru_after, tree_gru_reset, tree_gru_candidate, tree_lstm, tree_head;
  PlaitCellKernel tree_gru_after_backward, tree_gru_candidate_backward, tree_gru_reset_backward;
  PlaitCellKernel tree_lstm_backward, tree_head_backward;
} PlaitKernels;

/* Returns the index of the first scalar of a sentence's transposed keys. Each sentence has room for its keys and for
 * PLAIT_MAX_VECTOR_LENGTH keys of padding. */
static inline gint64
plait_transposed_keys_offset (PlaitRagged rows, gint64 sentence, gint64 width)
{
  return (rows.offsets[sentence] + sentence * PLAIT_MAX_VECTOR_LENGTH) * width;
}

/* Returns the table of kernels for this processor. The first call selects it. */
const PlaitKernels *plait_kernels (void);

/* Selects the table of @variant (NULL: the best) for tests. Returns FALSE if the processor or the build lacks it. Call
 * it only while no kernel runs. */
gboolean plait_kernels_choose (const char *variant);
