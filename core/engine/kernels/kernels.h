/* SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/activation.h"
#include "kernels/attention-job.h"
#include "kernels/update-job.h"

/*
 * The functions that are compiled once for each processor variant, and the table of the variant that this processor
 * has. They work on one piece each, in the calling thread, and know nothing of pools. Numbers stand end to end unless a
 * stride is given; beta is 0 (the output may be uninitialised) or 1.
 */

/* A dropout mask: element i is dropped if plait_random_hash32 (key, key2, i) < threshold; others are multiplied by
 * kept. */
typedef struct
{
  guint32 key;
  guint32 key2;
  guint32 threshold;
  PlaitScalar kept;
} PlaitMask;

/* The mask of inverted dropout with probability @rate (0 .. 1, 1 not included) drawn from @key. */
static inline PlaitMask
plait_mask (PlaitRandomKey key, double rate)
{
  return (PlaitMask){ .key = (guint32)key.state,
                      .key2 = (guint32)(key.state >> 32),
                      .threshold = (guint32)(rate * 0x1p32),
                      .kept = (PlaitScalar)(1 / (1 - rate)) };
}

/* Scalars in a vector of any variant, at most. */
#define PLAIT_MAX_VECTOR_LENGTH 16

/* Most memories of one softmax. */
#define PLAIT_MAX_ATTENTION_MEMORIES 64

typedef struct
{
  const PlaitAttentionJob *job;
  gint64 sentence;
  guint head;
} PlaitAttentionPiece;

/* A pair of an additive score, or where its gradients are added (NULL: nowhere). */
typedef struct
{
  PlaitScalar *query;
  PlaitScalar *key;
  PlaitScalar *extra; /* or NULL */
  PlaitScalar *vector;
  gboolean replaces_key; /* of gradients: it is written, not added */
  gboolean replaces_extra;
} PlaitAdditivePair;

/* A query of additive scores with @n rows that stand anywhere, row[i] * stride from the first, and where their
 * gradients are added (NULL: nowhere). */
typedef struct
{
  gint64 n;
  const gint64 *row;
  const PlaitScalar *dscores; /* [n] */
  const PlaitScalar *query;
  const PlaitScalar *keys;
  gint64 stride;
  const PlaitScalar *vector;
  PlaitScalar *dquery;
  PlaitScalar *dkeys;
  gint64 dstride;
  PlaitScalar *dvector; /* always */
} PlaitAdditiveRows;

/* Scores of a query with rows: scale * query . row, or vector . tanh (query + row), of a head that is @width wide. */
typedef struct
{
  const PlaitScalar *query;
  const PlaitScalar *rows; /* number i at rows + i * stride */
  gint64 stride;
  gint64 width;
  PlaitScalar scale;
  const PlaitScalar *vector; /* NULL: products */
} PlaitRowScores;

/* Rows that follow one another, under one softmax. */
typedef struct
{
  gint64 first;
  gint64 n;
  gint64 column;    /* the first of the head that weighs them */
  gint64 place;     /* where what is found of them begins */
  PlaitScalar path; /* what their weights are multiplied by */
} PlaitSiblings;

/* The children of a row, or the rows at the top: places in their sentence. */
typedef struct
{
  gint64 parent; /* -1: the top */
  gint64 first;
  gint64 n;
} PlaitSiblingGroup;

/* All families of a sentence with some of its queries, a column each. */
typedef struct
{
  const PlaitSiblingGroup *groups; /* [n]: from the top down, and each level from its end on */
  gint64 n;
  gint64 rows;
  gint64 columns; /* whole vectors */
  gint64 stride;  /* of the rows of what follows */
  PlaitScalar scale;
  PlaitScalar *scores;  /* [rows] */
  PlaitScalar *weights; /* [rows of the largest family], or where it @keeps them of all families, one after another */
  gboolean keeps;
  PlaitScalar *path; /* [rows] */
} PlaitSiblingTile;

/* A row of a recurrent cell, or a node of a tree: what stands for it where. Arrays have the cell's width, or so many
 * gates of it; what comes before a node is its two children, whose states stand side by side, left and right. */
typedef struct
{
  const PlaitScalar *projected;      /* of a node or NULL */
  const PlaitScalar *candidate_bias; /* of a node, or NULL */
  PlaitScalar *gates;
  const PlaitScalar *previous;      /* the state before */
  const PlaitScalar *previous_cell; /* the left child's; of a row or NULL: zeros */
  const PlaitScalar *right_cell;    /* of a node */
  PlaitScalar *state;
  PlaitScalar *next; /* of a row: where to leave the state too, or NULL */
  PlaitScalar *cell;
  PlaitScalar *reset_state; /* reset * previous */

  /* Backward. */
  const PlaitScalar *dstate;
  const PlaitScalar *dcell;
  PlaitScalar *carried;       /* the cotangent of the state, from the row after to the row before; a node writes it */
  PlaitScalar *carried_cell;  /* of the cell; a node adds to its children's */
  PlaitScalar *carried_right; /* of a node */
  const PlaitScalar *dreset;  /* of reset_state */
  PlaitScalar *dprojected;    /* or NULL */
  gboolean adds;              /* to dprojected */
} PlaitCellRow;

/* Works on one row. */
typedef void (*PlaitCellKernel) (const PlaitCellRow *row, gint64 width);

typedef struct
{
  const char *variant;
  gint64 vector_length; /* scalars in a vector */
  gint64 tile_width;    /* columns of a panel, a multiple of vector_length */
  gint64 packed_width;  /* the same of a packed weight; tile_width is a multiple of it */
  /* Products of so many rows or more are BLAS's, 0: none is. With the left factor as it stands, and transposed. */
  gint64 blas_rows[2];

  /* c [rows, width] = (@add: c +) a b over depth k, where a[i][k] is at a[i * row + k * step], so that a may be
   * transposed, and row k of b starts at b[k * b_stride], readable up to a multiple of the vector length. c is written
   * exactly. Every element is one chain of multiply-adds in the order of k, whatever the shape. */
  void (*multiply) (gint64 rows, gint64 width, gint64 depth, const PlaitScalar *a, gint64 row, gint64 step,
                    const PlaitScalar *b, gint64 b_stride, PlaitScalar *c, gint64 c_stride, gboolean add);
  /* The same, where b are @depth rows of @width columns, at most tile_width, of a packed weight: panels that begin
   * @distance numbers apart. @next: where those begin that are multiplied next, fetched into the cache meanwhile. */
  void (*multiply_packed) (gint64 rows, gint64 width, gint64 depth, const PlaitScalar *a, gint64 row,
                           const PlaitScalar *b, gint64 distance, PlaitScalar *c, gint64 c_stride, gboolean add,
                           const PlaitScalar *next);
  /* to[j][i] = from[i][j] for @rows x @columns numbers, and zeros in to's columns from @rows up to @padded. */
  void (*transpose) (PlaitScalar *to, gint64 to_stride, gint64 padded, const PlaitScalar *from, gint64 from_stride,
                     gint64 rows, gint64 columns);

  /* y = beta y + alpha x. */
  void (*accumulate) (PlaitScalar *y, PlaitScalar beta, PlaitScalar alpha, const PlaitScalar *x, gint64 n);
  /* y = the sum of factors[k] x[k], k < @terms. */
  void (*combine) (PlaitScalar *y, const PlaitScalar *const *x, const PlaitScalar *factors, guint terms, gint64 n);
  /* z = beta z + x * y. */
  void (*multiply_elements) (PlaitScalar *z, PlaitScalar beta, const PlaitScalar *x, const PlaitScalar *y, gint64 n);
  /* z = sign * max (sign * x, sign * y): the lesser number with the sign -1. NaN if either is. */
  void (*maximum) (PlaitScalar *z, PlaitScalar sign, const PlaitScalar *x, const PlaitScalar *y, gint64 n);
  /* dx = beta dx + dz where @maximum took x, half of dz where x equals y. */
  void (*maximum_backward) (PlaitScalar *dx, PlaitScalar beta, PlaitScalar sign, const PlaitScalar *dz,
                            const PlaitScalar *x, const PlaitScalar *y, gint64 n);
  /* y = base + factor * x * mask, @base NULL meaning zeros; the elements are @first .. of the mask. */
  void (*dropout) (PlaitScalar *y, const PlaitScalar *base, PlaitScalar factor, const PlaitScalar *x, gint64 n,
                   const PlaitMask *mask, guint32 first);
  /* y = activation (x). */
  void (*activate) (PlaitActivation activation, PlaitScalar *y, const PlaitScalar *x, gint64 n);
  /* dx = beta dx + dy activation'. */
  void (*activate_backward) (PlaitActivation activation, PlaitScalar *dx, PlaitScalar beta, const PlaitScalar *dy,
                             const PlaitScalar *kept, gint64 n);
  double (*total) (const PlaitScalar *x, gint64 n);
  double (*squares) (const PlaitScalar *x, gint64 n);
  /* Elements first .. first + n - 1 of a slot. */
  void (*adam) (const PlaitUpdateSlot *slot, gint64 first, gint64 n, const PlaitUpdateSettings *settings);
  void (*adadelta) (const PlaitUpdateSlot *slot, gint64 first, gint64 n, const PlaitUpdateSettings *settings);

  /* One row. @mean and @inverse may be NULL. */
  void (*layer_norm) (PlaitScalar *y, const PlaitScalar *x, const PlaitScalar *gain, const PlaitScalar *bias, gint64 n,
                      PlaitScalar epsilon, PlaitScalar *mean, PlaitScalar *inverse);
  /* One row: adds to dgain and dbias, writes dx (may be NULL). */
  void (*layer_norm_backward) (PlaitScalar *dx, PlaitScalar beta, PlaitScalar *dgain, PlaitScalar *dbias,
                               const PlaitScalar *dy, const PlaitScalar *x, const PlaitScalar *gain, gint64 n,
                               PlaitScalar mean, PlaitScalar inverse);

  /* The greatest number, NaN passed over. */
  PlaitScalar (*greatest) (const PlaitScalar *x, gint64 n);
  /* Writes the places of the numbers that are at least @bound, in order, to @places and returns how many they are. */
  gint64 (*at_least) (const PlaitScalar *x, PlaitScalar bound, gint64 n, gint32 *places);
  /* How many of the numbers are at least @bound. */
  gint64 (*count_at_least) (const PlaitScalar *x, PlaitScalar bound, gint64 n);
  /* x += bias, which may be NULL; *greatest as above, and returns the sum of exp (x - *greatest). */
  double (*logits) (PlaitScalar *x, const PlaitScalar *bias, gint64 n, PlaitScalar *greatest);
  /* x = exp (x - shift); returns the sum. */
  double (*exponentials) (PlaitScalar *x, PlaitScalar shift, gint64 n);
  /* x = factor * x - offset. */
  void (*scale_shift) (PlaitScalar *x, PlaitScalar factor, PlaitScalar offset, gint64 n);

  /* One sentence and head. They return the bytes that @scratch must have; with NULL they do nothing else. */
  gsize (*attention_forward) (const PlaitAttentionPiece *piece, gpointer scratch);
  gsize (*attention_backward) (const PlaitAttentionPiece *piece, gpointer scratch);
  /* One sentence with one query, all heads, one memory, no dropout and nothing kept; scratch for heads times the keys,
   * rounded up to whole vectors. FALSE, with nothing done, if heads have a width that it does not know. */
  gboolean (*attention_single_query) (const PlaitAttentionJob *job, gint64 sentence, PlaitScalar *scratch);
  PlaitScalar (*dot) (const PlaitScalar *x, const PlaitScalar *y, gint64 n);
  /* vector . tanh (query + key + extra); @extra may be NULL. */
  PlaitScalar (*additive_score) (const PlaitScalar *query, const PlaitScalar *key, const PlaitScalar *extra,
                                 const PlaitScalar *vector, gint64 n);
  /* Adds the gradients of it to @to. */
  void (*additive_score_backward) (const PlaitAdditivePair *to, PlaitScalar dscore, const PlaitAdditivePair *from,
                                   gint64 n);

  /* Of rows that stand anywhere, row i at rows + row[i] * stride: y[i] = scale * x . row i, for @n rows of @width. */
  void (*dot_rows) (PlaitScalar *y, PlaitScalar scale, const PlaitScalar *x, const PlaitScalar *rows, gint64 stride,
                    const gint64 *row, gint64 n, gint64 width);
  /* y = (@add: y +) the sum of numbers[i] * row i. Every element is one chain of multiply-adds in the order of i. */
  void (*sum_rows) (PlaitScalar *y, gboolean add, const PlaitScalar *numbers, const PlaitScalar *rows, gint64 stride,
                    const gint64 *row, gint64 n, gint64 width);
  /* Adds numbers[i] * x to row i. */
  void (*spread_rows) (PlaitScalar *rows, gint64 stride, const gint64 *row, gint64 n, const PlaitScalar *numbers,
                       const PlaitScalar *x, gint64 width);
  /* Adds the gradients of additive scores. */
  void (*additive_rows_backward) (const PlaitAdditiveRows *job, gint64 width);
  /* The softmax of the scores of each of @n sets from its place on, and in path the same times that of the set. Up to
   * PLAIT_MAX_VECTOR_LENGTH numbers behind a set are written over before the next set is. */
  void (*weigh_siblings) (const PlaitRowScores *from, const PlaitSiblings *sets, gint64 n, PlaitScalar *weights,
                          PlaitScalar *path);
  /* The @most greatest of @n numbers, which share a vector: a bit each. Of those alike the first. */
  guint32 (*best_lanes) (const PlaitScalar *x, gint64 n, gint64 most);
  /* In weights the softmax of scale * scores of each family, in path the same times what the parent's path is, summed
   * over the families that a row is in; zeros for rows of no family. */
  void (*weigh_sibling_groups) (const PlaitSiblingTile *tile);
  /* With weights and path as that left them, and in scores the gradients of the path: leaves in path the gradients of
   * the unscaled scores. */
  void (*weigh_sibling_groups_backward) (const PlaitSiblingTile *tile);
  /* The least of @n numbers, and the greatest, but -1 at least. No number: G_MAXINT64 and -1. */
  void (*extent) (const gint64 *numbers, gint64 n, gint64 *least, gint64 *greatest);
  /* The softmax of each of @n sets, set s having the numbers offsets[s] .. offsets[s + 1] - 1. */
  void (*softmax_sets) (PlaitScalar *weights, const PlaitScalar *scores, const gint64 *offsets, gint64 n);
  /* dscores = (@add: dscores +) weights * (dweights - sum of weights * dweights), set by set. */
  void (*softmax_sets_backward) (PlaitScalar *dscores, gboolean add, const PlaitScalar *dweights,
                                 const PlaitScalar *weights, const gint64 *offsets, gint64 n);

  /* One row, all heads; scratch for 2 n numbers. */
  void (*items_forward) (const PlaitItemsJob *job, gint64 row, PlaitScalar *scratch);
  void (*items_backward) (const PlaitItemsJob *job, gint64 row, PlaitScalar *scratch);

  /* Recurrent cells. A GRU with the reset before the product has two parts, the reset and the candidate; backward takes
   * them the other way round. */
  PlaitCellKernel gru_after, gru_reset, gru_candidate, lstm;
  PlaitCellKernel gru_after_backward, gru_candidate_backward, gru_reset_backward, lstm_backward;
  /* The same over the children of a node. */
  PlaitCellKernel tree_gru_after, tree_gru_reset, tree_gru_candidate, tree_lstm, tree_head;
  PlaitCellKernel tree_gru_after_backward, tree_gru_candidate_backward, tree_gru_reset_backward;
  PlaitCellKernel tree_lstm_backward, tree_head_backward;
} PlaitKernels;

/* Where the columns of a sentence's keys begin: behind those of the sentences before it, each with room to be rounded
 * up to the longest vector. */
static inline gint64
plait_transposed_keys_offset (PlaitRagged rows, gint64 sentence, gint64 width)
{
  return (rows.offsets[sentence] + sentence * PLAIT_MAX_VECTOR_LENGTH) * width;
}

/* The table of this processor, chosen once. */
const PlaitKernels *plait_kernels (void);

/* For tests: chooses the table called @variant instead, NULL the best; FALSE if this processor or build lacks it. Not
 * while kernels run. */
gboolean plait_kernels_choose (const char *variant);
