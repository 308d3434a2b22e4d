/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/operators.h"
#include "recurrent/cell.h"
#include "attention/sparse.h"
#include "recurrent/heights.h"
#include "attention/tree-descent.h"

/*
 * Operators that layers, sites and the output layer are made of, which are how plugins come to them. The rules are
 * those of operators.h.
 */

/* Row i = scale * table[ids[i]]: table [V, w], @n ids of 0 .. V - 1, borrowed -> [n, w]. */
PlaitNode *plait_embed (PlaitTape *tape, PlaitNode *table, const gint32 *ids, gint64 n, double scale);

/* dropout (x + table[first + place of the row in its sentence], rate): x [rows, w], table [positions, w] constant or
 * learned. */
PlaitNode *plait_add_positions (PlaitTape *tape, PlaitNode *x, PlaitRagged rows, PlaitNode *table, gint64 first,
                                double rate);

/* Attention of each query row over its own @n items (the contexts, eq. 7-8): keys[j], values[j] [rows, w] hold item j
 * of every row. present[j] is NULL or a byte a row: an absent item gets no weight; no item at all gives a zero row.
 * @weights is NULL or [heads][rows][n]. */
PlaitNode *plait_attention_over_items (PlaitTape *tape, PlaitNode *queries, PlaitNode *const *keys,
                                       PlaitNode *const *values, const guint8 *const *present, guint n,
                                       const PlaitAttentionOptions *options, PlaitScalar *weights);

/*
 * Attention to rows that are chosen for each query, as in a descent through a pyramid of rows from its top: siblings
 * below a chosen row are a set of the next level, and under one softmax. What is in a PlaitSelectedRows is borrowed.
 * Values of chosen rows are one number a row, [chosen, 1]. The work of forward and backward is proportional to the
 * chosen rows; but the first gradient that arrives at a node writes all of it.
 */

/* scale * query . key of each chosen row and its entry: queries [query rows, w], keys [rows, w] -> [chosen, 1]. */
PlaitNode *plait_sparse_dot_scores (PlaitTape *tape, const PlaitSelectedRows *selected, PlaitNode *queries,
                                    PlaitNode *keys, double scale);

/* vector . tanh (query + key): queries [query rows, a], keys [rows, a], vector [1, a]; one head -> [chosen, 1]. */
PlaitNode *plait_sparse_additive_scores (PlaitTape *tape, const PlaitSelectedRows *selected, PlaitNode *queries,
                                         PlaitNode *keys, PlaitNode *vector);

/* The softmax of each set: scores [chosen, 1] -> weights [chosen, 1]. */
PlaitNode *plait_sparse_softmax (PlaitTape *tape, const PlaitSelectedRows *selected, PlaitNode *scores);

/* Row i = the sum over the rows of query i of weight * value, heads side by side: weights [chosen, 1], values [rows, w]
 * -> [query rows, w]. An entry without rows gives zeros. */
PlaitNode *plait_sparse_weighted_sum (PlaitTape *tape, const PlaitSelectedRows *selected, PlaitNode *weights,
                                      PlaitNode *values);

/*
 * Walks from the top of a memory's levels down to its leaves (attention/tree-descent.h), by scale * query . key, or
 * with @vector [1, a] by vector . tanh (query + key): queries [query rows, w], keys [rows, w] -> what the leaves that
 * are reached have, [leaves, 1]. It is what products, weights and paths give level by level, in one go; what chooses
 * the rows has no gradient. *walked is the tape's, with all rows that were weighed where @all asks for them. @values
 * [rows, w] or NULL: what will be read of the leaves, which is only fetched meanwhile.
 */
PlaitNode *plait_tree_descent (PlaitTape *tape, const PlaitTreeDescent *descent, PlaitNode *queries, PlaitNode *keys,
                               PlaitNode *values, double scale, PlaitNode *vector, gboolean all,
                               PlaitTreeDescentResult *result);

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
} PlaitHaltingWeights;

/* numbers [rows, 1] -> the shares, [shares, 1]. It uses one thread. The derivative is that within blocks: where they
 * end is given. */
PlaitNode *plait_halting_weights (PlaitTape *tape, PlaitNode *numbers, const PlaitHaltingWeights *halting_weights);

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
  PlaitResetOrder reset; /* of a GRU */
  PlaitNode *recurrent;  /* U, [w, gates w]; with the reset before, [w, 2 w]: those of r and z */
  PlaitNode *bias;       /* [1, gates w], added to h U, or NULL; not with the reset before */
  PlaitNode *candidate;  /* with the reset before, U_c [w, w], else NULL */
} PlaitRecurrentCell;

/* -> the states [rows, w]; of an LSTM [rows, 2 w], the states beside the cells. @backwards goes from the last row of
 * each sentence to its first. @state and, of an LSTM, @memory (its cell) [sentences, w] are what the sentences begin
 * with, NULL for zeros. */
PlaitNode *plait_rnn (PlaitTape *tape, const PlaitRecurrentCell *cell, PlaitNode *projected, PlaitRagged rows,
                      gboolean backwards, PlaitNode *state, PlaitNode *memory);

/* What the gates of a pair's GRU read at another pair: row link[i] of x for pair i, times @weight. */
typedef struct
{
  const gint64 *link; /* [pairs]: a pair of the same sentence, or -1 for nothing. Borrowed. */
  PlaitNode *x;       /* [pairs, in] */
  PlaitNode *weight;  /* [in, 3 w] */
} PlaitPairInput;

/* A step of a GRU (without a bias of its own) of which every pair has a state, [pairs, w]. Its projected input is the
 * sum of @row_part [rows, 3 w], @query_part [query rows, 3 w], @number [pairs, 1] times @number_weight [1, 3 w], and
 * the @n readings. Coverage (Chen et al. 2017, eq. 11 and 13), the number being the attention. */
PlaitNode *plait_pair_cell (PlaitTape *tape, const PlaitRecurrentCell *gru, const PlaitPairIndices *indices,
                            PlaitNode *row_part, PlaitNode *query_part, PlaitNode *number, PlaitNode *number_weight,
                            const PlaitPairInput *pair_inputs, guint n, PlaitNode *states);

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
  PlaitResetOrder reset;     /* of a GRU */
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
PlaitNode *plait_tree_bottom_up (PlaitTape *tape, const PlaitTreeCell *cell, const PlaitTreeHeights *heights,
                                 PlaitNode *leaves, PlaitNode *leaf_cells, PlaitNode *projected);

/*
 * A GRU down the same trees (Chen et al. 2017, eq. 10): the state of a row is that of its parent after one step with
 * the row's projected input, by cells[0] for left children and cells[1] for right ones. @projected has the rows of each
 * side in the order of @depths, [children, 3 w]. @roots [roots, w] are the states of the roots (eq. 9) ->
 * [depths->rows, w], zeros in rows below no root. @depths is borrowed.
 */
PlaitNode *plait_tree_top_down (PlaitTape *tape, const PlaitRecurrentCell *cells, const PlaitTreeDepths *depths,
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
} PlaitOutputLossOptions;

typedef struct
{
  double loss;                    /* sum over rows, smoothing included, nats */
  double negative_log_likelihood; /* sum over rows, without smoothing, nats */
  gint64 correct;                 /* rows whose most probable word is the target (ties: the lower id) */
} PlaitOutputLossSums;

/* states [r, w], table [V, w] (the transposed embedding when tied), bias [1, V] or NULL, @targets r ids -> [1, 1].
 * Gradients of table and bias are added at once, so the node's cotangent must be 1: it may only be the root or a
 * summand of it. @sums is filled at once. @row_losses is NULL or r numbers: negative log-likelihood of each row. */
PlaitNode *plait_output_loss (PlaitTape *tape, PlaitNode *states, PlaitNode *table, PlaitNode *bias,
                              const gint32 *targets, const PlaitOutputLossOptions *options, PlaitOutputLossSums *sums,
                              double *row_losses);
