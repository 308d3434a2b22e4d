/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/tape.h"
#include "kernels/activation.h"
#include "recurrent/cell.h"
#include "attention/chosen.h"
#include "recurrent/heights.h"
#include "attention/pairs.h"
#include "attention/walk.h"

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
PLAIT_API PlaitNode *plait_sum (PlaitTape *tape, PlaitNode *const *terms, guint n);

/* x * y element by element, one shape. */
PLAIT_API PlaitNode *plait_multiply (PlaitTape *tape, PlaitNode *x, PlaitNode *y);

/* x / y element by element, one shape; y must not be 0. For few numbers: it uses one thread. */
PLAIT_API PlaitNode *plait_divide (PlaitTape *tape, PlaitNode *x, PlaitNode *y);

/* The greater or the lesser of x and y, element by element, one shape. Equal numbers share the gradient. */
PLAIT_API PlaitNode *plait_maximum (PlaitTape *tape, PlaitNode *x, PlaitNode *y);
PLAIT_API PlaitNode *plait_minimum (PlaitTape *tape, PlaitNode *x, PlaitNode *y);

/* factor * x. */
PLAIT_API PlaitNode *plait_scale (PlaitTape *tape, PlaitNode *x, double factor);

/* Row i of x times the number i of a column: x [r, w], factors [r, 1] -> [r, w]. */
PLAIT_API PlaitNode *plait_scale_rows (PlaitTape *tape, PlaitNode *x, PlaitNode *factors);

/* Column j of x times the number j of a row: x [r, w], factors [1, w] -> [r, w]. */
PLAIT_API PlaitNode *plait_scale_columns (PlaitTape *tape, PlaitNode *x, PlaitNode *factors);

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

/* Row i = scale * table[ids[i]]: table [V, w], @n ids of 0 .. V - 1, borrowed -> [n, w]. */
PLAIT_API PlaitNode *plait_embed (PlaitTape *tape, PlaitNode *table, const gint32 *ids, gint64 n, double scale);

/* dropout (x + table[first + place of the row in its sentence], rate): x [rows, w], table [positions, w] constant or
 * learned. */
PLAIT_API PlaitNode *plait_add_positions (PlaitTape *tape, PlaitNode *x, PlaitRagged rows, PlaitNode *table,
                                          gint64 first, double rate);

/* The sum of all elements, [1, 1]. */
PLAIT_API PlaitNode *plait_total (PlaitTape *tape, PlaitNode *x);

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
  const PlaitScalar *key_columns; /* NULL, or what plait_attended_keep_columns made of the keys */
} PlaitAttended;

typedef struct
{
  guint heads;
  double scale;    /* 0: 1 / sqrt (w / heads) */
  gboolean causal; /* query t sees keys 0 .. t (one memory) */
  double dropout;  /* of the weights, after the softmax */
} PlaitAttentionOptions;

PLAIT_API PlaitNode *plait_attention (PlaitTape *tape, PlaitNode *queries, PlaitRagged query_rows,
                                      const PlaitAttended *memories, guint n_memories,
                                      const PlaitAttentionOptions *options);

/* Attention of each query row over its own @n items (the contexts, eq. 7-8): keys[j], values[j] [rows, w] hold item
 * j of every row. present[j] is NULL or a byte a row: an absent item gets no weight; no item at all gives a zero row.
 * @weights is NULL or [heads][rows][n]. */
PLAIT_API PlaitNode *plait_attention_over_items (PlaitTape *tape, PlaitNode *queries, PlaitNode *const *keys,
                                                 PlaitNode *const *values, const guint8 *const *present, guint n,
                                                 const PlaitAttentionOptions *options, PlaitScalar *weights);

/*
 * Attention taken apart, for decoders that score otherwise, and for those who need the weights as numbers of the tape
 * (coverage). A pair is a query row of a sentence with a memory row of the same sentence; the pairs of sentence s are
 * [its queries][its rows], sentences end to end, one row a pair in what follows.
 */

/* The pairs of ragged queries and the rows of a memory with as many sentences; lives in the tape's arena. */
PLAIT_API PlaitPairs plait_pairs (PlaitTape *tape, PlaitRagged queries, PlaitRagged rows);

/* Additive scores, vector . tanh (query + key + extra) + bias (Bahdanau et al. 2015; Chen et al. 2017, eq. 5 and 12):
 * queries [query rows, a] and keys [rows, a] projected, extra [pairs, a] or NULL, vector [1, a], bias [1, 1] or NULL
 * -> [pairs, 1]. */
PLAIT_API PlaitNode *plait_pair_scores (PlaitTape *tape, const PlaitPairs *pairs, PlaitNode *queries, PlaitNode *keys,
                                        PlaitNode *extra, PlaitNode *vector, PlaitNode *bias);

/* scale * query . key (Luong et al. 2015): queries [query rows, w], keys [rows, w] -> [pairs, 1]. */
PLAIT_API PlaitNode *plait_pair_products (PlaitTape *tape, const PlaitPairs *pairs, PlaitNode *queries, PlaitNode *keys,
                                          double scale);

/* Each query's softmax over its pairs in all of @n memories together -> the weights of memory 0, of memory 1, ...,
 * below one another; plait_rows takes them apart. pairs[m] belongs to scores[m]. */
PLAIT_API PlaitNode *plait_pair_weights (PlaitTape *tape, const PlaitPairs *pairs, PlaitNode *const *scores, guint n);

/* Row i = the sum over the pairs of query i of weight * value: weights [pairs, 1], values [rows, w] -> [query rows, w].
 * A query without pairs gives zeros. */
PLAIT_API PlaitNode *plait_pair_read (PlaitTape *tape, const PlaitPairs *pairs, PlaitNode *weights, PlaitNode *values);

/*
 * Attention to rows that are chosen for each query, as in a descent through a pyramid of rows from its top: siblings
 * below a chosen row are a set of the next level, and under one softmax. What is in a PlaitChosen is borrowed. Values
 * of chosen rows are one number a row, [chosen, 1]. The work of forward and backward is proportional to the chosen
 * rows; but the first gradient that arrives at a node writes all of it.
 */

/* scale * query . key of each chosen row and its entry: queries [query rows, w], keys [rows, w] -> [chosen, 1]. */
PLAIT_API PlaitNode *plait_chosen_products (PlaitTape *tape, const PlaitChosen *chosen, PlaitNode *queries,
                                            PlaitNode *keys, double scale);

/* vector . tanh (query + key): queries [query rows, a], keys [rows, a], vector [1, a]; one head -> [chosen, 1]. */
PLAIT_API PlaitNode *plait_chosen_additive (PlaitTape *tape, const PlaitChosen *chosen, PlaitNode *queries,
                                            PlaitNode *keys, PlaitNode *vector);

/* The softmax of each set: scores [chosen, 1] -> weights [chosen, 1]. */
PLAIT_API PlaitNode *plait_chosen_weights (PlaitTape *tape, const PlaitChosen *chosen, PlaitNode *scores);

/* Row i = the sum over the rows of query i of weight * value, heads side by side: weights [chosen, 1], values [rows, w]
 * -> [query rows, w]. An entry without rows gives zeros. */
PLAIT_API PlaitNode *plait_chosen_read (PlaitTape *tape, const PlaitChosen *chosen, PlaitNode *weights,
                                        PlaitNode *values);

/*
 * Walks from the top of a memory's levels down to its leaves (attention/walk.h), by scale * query . key, or with
 * @vector [1, a] by vector . tanh (query + key): queries [query rows, w], keys [rows, w] -> what the leaves that are
 * reached have, [leaves, 1]. It is what products, weights and paths give level by level, in one go; what chooses the
 * rows has no gradient. *walked is the tape's, with all rows that were weighed where @all asks for them.
 * @values [rows, w] or NULL: what will be read of the leaves, which is only fetched meanwhile.
 */
PLAIT_API PlaitNode *plait_walk_down (PlaitTape *tape, const PlaitWalk *walk, PlaitNode *queries, PlaitNode *keys,
                                      PlaitNode *values, double scale, PlaitNode *vector, gboolean all,
                                      PlaitWalked *walked);

/*
 * Blocks of rows that numbers cut: the last row of a block has what the others leave of one, and the surplus of its
 * number is lost (adaptive computation time, Graves 2016) or is the row's share in the next block (continuous integrate
 * and fire, Dong & Xu 2020). The arrays are borrowed.
 */
typedef struct
{
  PlaitRagged blocks; /* block b has the shares offsets[b] .. offsets[b + 1] - 1, at least one */
  const gint64 *row;  /* [shares] whose share it is, ascending in a block; where the last of a block is the first of the
                         next, the row's number is divided between both */
  const guint8 *full; /* [blocks] whether its shares add up to one */
} PlaitShares;

/* numbers [rows, 1] -> the shares, [shares, 1]. It uses one thread. The derivative is that within blocks: where they
 * end is given. */
PLAIT_API PlaitNode *plait_shares (PlaitTape *tape, PlaitNode *numbers, const PlaitShares *shares);

/*
 * A recurrent cell over ragged rows: step t of all sentences that are longer than t at once, no padding. The product
 * with the input does not depend on the step and is given, projected [rows, gates w] with its biases. With the state h
 * before, x the projected input and U the recurrent weight, the gates side by side as recurrent/cell.h has them:
 *
 *   GRU (Cho et al. 2014b):  r = sigmoid (x_r + h U_r),  z = sigmoid (x_z + h U_z),  h <- z h + (1 - z) c;
 *                            c = tanh (x_c + (r h) U_c) with the reset before, tanh (x_c + r (h U_c)) after
 *   LSTM:                    i, f, o = sigmoid (x + h U),  c = tanh (x_c + h U_c),  m <- f m + i c,  h <- o tanh (m)
 */
typedef struct
{
  PlaitCellKind kind;
  PlaitResetPlace reset; /* of a GRU */
  PlaitNode *recurrent;  /* U, [w, gates w]; with the reset before, [w, 2 w]: those of r and z */
  PlaitNode *bias;       /* [1, gates w], added to h U, or NULL; not with the reset before */
  PlaitNode *candidate;  /* with the reset before, U_c [w, w], else NULL */
} PlaitRecurrentCell;

/* -> the states [rows, w]; of an LSTM [rows, 2 w], the states beside the cells. @backwards goes from the last row of
 * each sentence to its first. @state and, of an LSTM, @memory (its cell) [sentences, w] are what the sentences begin
 * with, NULL for zeros. */
PLAIT_API PlaitNode *plait_recur (PlaitTape *tape, const PlaitRecurrentCell *cell, PlaitNode *projected,
                                  PlaitRagged rows, gboolean backwards, PlaitNode *state, PlaitNode *memory);

/* Where pairs stand. The arrays [pairs] are borrowed. */
typedef struct
{
  PlaitPairs pairs;
  const gint64 *rows;    /* the row of each pair */
  const gint64 *queries; /* its query */
} PlaitPairPlaces;

/* What the gates of a pair's GRU read at another pair: row link[i] of x for pair i, times @weight. */
typedef struct
{
  const gint64 *link; /* [pairs]: a pair of the same sentence, or -1 for nothing. Borrowed. */
  PlaitNode *x;       /* [pairs, in] */
  PlaitNode *weight;  /* [in, 3 w] */
} PlaitPairReading;

/* A step of a GRU (without a bias of its own) of which every pair has a state, [pairs, w]. Its projected input is the
 * sum of @row_part [rows, 3 w], @query_part [query rows, 3 w], @number [pairs, 1] times @number_weight [1, 3 w], and
 * the @n readings. Coverage (Chen et al. 2017, eq. 11 and 13), the number being the attention. */
PLAIT_API PlaitNode *plait_pair_cell (PlaitTape *tape, const PlaitRecurrentCell *gru, const PlaitPairPlaces *places,
                                      PlaitNode *row_part, PlaitNode *query_part, PlaitNode *number,
                                      PlaitNode *number_weight, const PlaitPairReading *readings, guint n,
                                      PlaitNode *states);

/*
 * A recurrent cell up binary trees, height by height over all trees of a batch. With h_L and h_R the states of the
 * children, [h_L h_R] both side by side, and sigma the logistic function:
 *
 *   GRU (Chen et al. 2017, eq. 8):  r_L, r_R, z_L, z_R, z = sigma ([h_L h_R] U + b),  h = z_L h_L + z_R h_R + z c;
 *                                   c = tanh ([r_L h_L, r_R h_R] U_c + b_c) with the reset before,
 *                                   tanh (r_L (h_L U_cL) + r_R (h_R U_cR) + b_c) after
 *   LSTM (Tai et al. 2015, eq. 9-14, two children):  i, f_L, f_R, o = sigma ([h_L h_R] U + b),  c = tanh (the same),
 *                                   m = i c + f_L m_L + f_R m_R,  h = o tanh (m); the order is i, f_L, f_R, c, o
 *   head (Teng & Zhang 2016):       g = sigma ([h_L h_R] U + b),  h = g h_L + (1 - g) h_R: a way to choose the word
 * that stands for a node, h being embeddings
 */
typedef struct
{
  PlaitTreeKind kind;
  PlaitResetPlace reset;     /* of a GRU */
  PlaitNode *gates;          /* U, [2 w, 5 w], a head's [2 w, w]: the left child's above the right one's */
  PlaitNode *gate_bias;      /* b, [1, 5 w] or [1, w], or NULL */
  PlaitNode *candidate;      /* U_c, [2 w, w], of a GRU; else NULL */
  PlaitNode *candidate_bias; /* b_c, [1, w], of a GRU, or NULL: the paper has none */
} PlaitTreeCell;

/*
 * @leaves [leaves, w] and, of an LSTM, @leaf_cells [leaves, w] (NULL: zeros) -> the states of all rows of the memory,
 * [heights->rows, w]; of an LSTM [rows, 2 w], the states beside the cells. @projected is NULL or what an input of each
 * node adds to its gates (and a GRU's candidate, behind them): [nodes, 5 w, 6 w or w], in the order of @heights, which
 * is borrowed.
 */
PLAIT_API PlaitNode *plait_upward (PlaitTape *tape, const PlaitTreeCell *cell, const PlaitTreeHeights *heights,
                                   PlaitNode *leaves, PlaitNode *leaf_cells, PlaitNode *projected);

/*
 * A GRU down the same trees (Chen et al. 2017, eq. 10): the state of a row is that of its parent after one step with
 * the row's projected input, by cells[0] for left children and cells[1] for right ones. @projected has the rows of each
 * side in the order of @depths, [children, 3 w]. @roots [roots, w] are the states of the roots (eq. 9) ->
 * [depths->rows, w], zeros in rows below no root. @depths is borrowed.
 */
PLAIT_API PlaitNode *plait_downward (PlaitTape *tape, const PlaitRecurrentCell *cells, const PlaitTreeDepths *depths,
                                     PlaitNode *roots, PlaitNode *const *projected);

/*
 * Vocabulary projection, softmax, label smoothing, cross entropy and all their gradients as one chunked operator: no
 * [rows, V] matrix lives through the step.
 */
typedef struct
{
  double smoothing;                 /* s: the target gets 1 - s (+ s / V) */
  gboolean others;                  /* spread s over the V - 1 other words (fairseq) instead of over all V (torch) */
  double scale;                     /* the root is scale * sum of the rows' losses */
  const struct PlaitPacked *packed; /* the table laid out for search, or NULL: read where it is of bytes */
} PlaitVocabularyLossOptions;

typedef struct
{
  double loss;                    /* sum over rows, smoothing included, nats */
  double negative_log_likelihood; /* sum over rows, without smoothing, nats */
  gint64 correct;                 /* rows whose most probable word is the target (ties: the lower id) */
} PlaitVocabularyLossSums;

/* states [r, w], table [V, w] (the transposed embedding when tied), bias [1, V] or NULL, @targets r ids -> [1, 1].
 * Gradients of table and bias are added at once, so the node's cotangent must be 1: it may only be the root or a
 * summand of it.
 * @sums is filled at once. @row_losses is NULL or r numbers: negative log-likelihood of each row. */
PLAIT_API PlaitNode *plait_vocabulary_loss (PlaitTape *tape, PlaitNode *states, PlaitNode *table, PlaitNode *bias,
                                            const gint32 *targets, const PlaitVocabularyLossOptions *options,
                                            PlaitVocabularyLossSums *sums, double *row_losses);
