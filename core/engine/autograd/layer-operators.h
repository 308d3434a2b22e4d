/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/operators.h"
#include "recurrent/cell.h"
#include "attention/copied-words.h"
#include "attention/sparse.h"
#include "recurrent/heights.h"
#include "attention/tree-descent.h"

/*
 * Operators for layers, cross-attention and the output layer. Plugins call the layers instead of these operators. The
 * rules of operators.h apply. The shape [selected, 1] has one number for each selected row.
 */

/* Returns a node [n, w] whose row i is scale * table[ids[i]]. table [V, w]; @ids: @n numbers below V, borrowed. */
PlaitNode *plait_embed (PlaitTape *tape, PlaitNode *table, const gint32 *ids, gint64 n, double scale);

/* Returns a node [rows, w]: dropout (x + table[first + position of the row in its sentence], rate). x [rows, w]; table
 * [positions, w], constant or learned. */
PlaitNode *plait_add_positions (PlaitTape *tape, PlaitNode *x, PlaitRagged rows, PlaitNode *table, gint64 first,
                                double rate);

/* Returns a node [rows, w]: attention of each query row over its own @n items, such as the contexts of several memories
 * (Libovicky et al. 2018, eq. 7-8). keys[j] and values[j] [rows, w] hold item j of every row. present[j]: one byte for
 * each row, 0 if item j is absent and gets no weight; @present or present[j] NULL: no item is absent. A row without any
 * item gives zeros. @weights: NULL, or receives [heads][rows][n]. Only heads, scale and dropout of @options count. */
PlaitNode *plait_attention_over_items (PlaitTape *tape, PlaitNode *queries, PlaitNode *const *keys,
                                       PlaitNode *const *values, const guint8 *const *present, guint n,
                                       const PlaitAttentionOptions *options, PlaitScalar *weights);

/*
 * Sparse attention: each query attends to selected rows only, as in a descent through a pyramid. The selected children
 * of one row form a set and share one softmax. The arrays of PlaitSelectedRows are borrowed. The work is proportional
 * to the number of selected rows, except that the first contribution to a gradient zeroes the whole gradient.
 */

/* Returns a node [selected, 1]: scale * query . key of each selected row with its query. queries [query rows, w], keys
 * [rows, w]. */
PlaitNode *plait_sparse_dot_scores (PlaitTape *tape, const PlaitSelectedRows *selected, PlaitNode *queries,
                                    PlaitNode *keys, double scale);

/* Returns a node [selected, 1]: vector . tanh (query + key) of each selected row with its query; one head only. queries
 * [query rows, a], keys [rows, a], vector [1, a]. */
PlaitNode *plait_sparse_additive_scores (PlaitTape *tape, const PlaitSelectedRows *selected, PlaitNode *queries,
                                         PlaitNode *keys, PlaitNode *vector);

/* Returns a node [selected, 1]: the softmax of scores [selected, 1] within each set. */
PlaitNode *plait_sparse_softmax (PlaitTape *tape, const PlaitSelectedRows *selected, PlaitNode *scores);

/* Returns a node [query rows, w] whose row i is the sum of weight * value over the selected rows of query i, heads side
 * by side. weights [selected, 1], values [rows, w]. A head without selected rows gives zeros. */
PlaitNode *plait_sparse_weighted_sum (PlaitTape *tape, const PlaitSelectedRows *selected, PlaitNode *weights,
                                      PlaitNode *values);

/*
 * Each head of each query descends from the top level of a memory to some leaves (attention/tree-descent.h). Returns a
 * node [reached leaves, 1] of the weights of these leaves. The score of a row is scale * query . key or, if @vector
 * [1, w] is not NULL, vector . tanh (query + key). queries [query rows, w], keys [rows, w]. The choice of rows has no
 * gradient. *result lies in the arena. It lists all weighed rows if @all is TRUE or the mode computes gradients.
 * @values: NULL, or the values of all rows [rows, w], from which the function only prefetches those of reached leaves.
 */
PlaitNode *plait_tree_descent (PlaitTape *tape, const PlaitTreeDescent *descent, PlaitNode *queries, PlaitNode *keys,
                               PlaitNode *values, double scale, PlaitNode *vector, gboolean all,
                               PlaitTreeDescentResult *result);

/*
 * Blocks of rows. Each row has a number, such as a halting probability, which is the row's halting weight. But the last
 * row of a full block gets the weight with which the weights of the block sum to 1. The remainder of its number is
 * dropped (adaptive computation time, Graves 2016) or goes to the next block as another weight of the same row
 * (continuous integrate-and-fire, Dong & Xu 2020). The arrays are borrowed.
 */
typedef struct
{
  PlaitRagged blocks; /* block b has the weights offsets[b] .. offsets[b + 1] - 1, at least one */
  const gint64 *row;  /* row of each weight, ascending within a block: [weights]. A row may have a weight at the end of
                         one block and a weight at the start of the next */
  const guint8 *full; /* [blocks] TRUE if the block's weights sum to 1 */
} PlaitHaltingWeights;

/* Returns a node [weights, 1]: the halting weights made of numbers [rows, 1]. Uses one thread. The derivative treats
 * the ends of the blocks as constants. */
PlaitNode *plait_halting_weights (PlaitTape *tape, PlaitNode *numbers, const PlaitHaltingWeights *halting_weights);

/*
 * A recurrent cell over ragged rows: step t works on all sentences longer than t, without padding. The products of the
 * inputs with the input weight do not depend on the step; the caller gives them, with biases, as projected [rows, gates
 * w]. With h the previous state, x the projected input and U the recurrent weight, gates side by side in the order of
 * recurrent/cell.h:
 *
 *   GRU (Cho et al. 2014b):  r = sigmoid (x_r + h U_r),  z = sigmoid (x_z + h U_z),  h <- z h + (1 - z) c;
 *                            c = tanh (x_c + (r h) U_c) with PLAIT_RESET_BEFORE, tanh (x_c + r (h U_c)) with AFTER
 *   LSTM:                    i, f, o = sigmoid (x + h U),  c = tanh (x_c + h U_c),  m <- f m + i c,  h <- o tanh (m)
 */
typedef struct
{
  PlaitCellKind kind;
  PlaitResetOrder reset; /* GRU only */
  PlaitNode *recurrent;  /* U, [w, gates w]; for a GRU with PLAIT_RESET_BEFORE [w, 2 w], for r and z */
  PlaitNode *bias;       /* [1, gates w], added to h U, or NULL; must be NULL for a GRU with PLAIT_RESET_BEFORE */
  PlaitNode *candidate;  /* U_c [w, w] for a GRU with PLAIT_RESET_BEFORE, else NULL */
} PlaitRecurrentCell;

/* Returns a node with the state of each row: [rows, w], or for an LSTM [rows, 2 w] with the cell state in the right
 * half. @backwards: from the last row of each sentence to its first. @state and, for an LSTM, @memory (cell state):
 * initial states [sentences, w], or NULL for zeros. */
PlaitNode *plait_rnn (PlaitTape *tape, const PlaitRecurrentCell *cell, PlaitNode *projected, PlaitRagged rows,
                      gboolean backwards, PlaitNode *state, PlaitNode *memory);

/* A term of a pair cell's gates that comes from another pair: for pair i, row link[i] of @x times @weight. */
typedef struct
{
  const gint64 *link; /* [pairs] index of another pair of the same sentence, -1: none; borrowed */
  PlaitNode *x;       /* [pairs, in] values of all pairs */
  PlaitNode *weight;  /* [in, 3 w] weight for reset gate, update gate and candidate */
} PlaitPairInput;

/* Returns a node [pairs, w]: one step of a GRU that has a state for each pair of a query and a memory row, as coverage
 * needs (Chen et al. 2017, eq. 11 and 13; there @number is the attention weight). The projected input of a pair is the
 * sum of row_part [rows, 3 w] at its row, query_part [query rows, 3 w] at its query, number [pairs, 1] times
 * number_weight [1, 3 w], and the @n terms @pair_inputs, which come from other pairs. @states [pairs, w]: previous
 * states. @gru must have no bias. */
PlaitNode *plait_pair_cell (PlaitTape *tape, const PlaitRecurrentCell *gru, const PlaitPairIndices *indices,
                            PlaitNode *row_part, PlaitNode *query_part, PlaitNode *number, PlaitNode *number_weight,
                            const PlaitPairInput *pair_inputs, guint n, PlaitNode *states);

/*
 * A recurrent cell over binary trees, bottom-up, all nodes of one height together. With h_L and h_R the children's
 * states, [h_L h_R] the two side by side, and sigma the logistic function:
 *
 *   GRU (Chen et al. 2017, eq. 8):  r_L, r_R, z_L, z_R, z = sigma ([h_L h_R] U + b),  h = z_L h_L + z_R h_R + z c;
 *                                   c = tanh ([r_L h_L, r_R h_R] U_c + b_c) with PLAIT_RESET_BEFORE,
 *                                   tanh (r_L (h_L U_cL) + r_R (h_R U_cR) + b_c) with PLAIT_RESET_AFTER
 *   LSTM (Tai et al. 2015, eq. 9-14, two children):  i, f_L, f_R, o = sigma ([h_L h_R] U + b),
 *                                   c = tanh ([h_L h_R] U + b),  m = i c + f_L m_L + f_R m_R,  h = o tanh (m);
 *                                   gates in the order i, f_L, f_R, c, o
 *   head word (Teng & Zhang 2016):  g = sigma ([h_L h_R] U + b),  h = g h_L + (1 - g) h_R, where h is an embedding
 */
typedef struct
{
  PlaitTreeKind kind;
  PlaitResetOrder reset; /* GRU only */
  /* U, [2 w, 5 w]; for PLAIT_TREE_HEAD_WORD [2 w, w]. The rows for the left child come first, then those for the
   * right */
  PlaitNode *gates;
  PlaitNode *gate_bias;      /* b, [1, 5 w]; for PLAIT_TREE_HEAD_WORD [1, w]; NULL: no bias */
  PlaitNode *candidate;      /* U_c, [2 w, w] for a GRU, else NULL */
  PlaitNode *candidate_bias; /* b_c, [1, w] for a GRU, or NULL; Chen et al. 2017 have no such bias */
} PlaitTreeCell;

/*
 * Returns a node with the state of each row of the memory: [heights->rows, w], or for an LSTM [rows, 2 w] with the cell
 * state in the right half. leaves [leaves, w]: states of the leaves. leaf_cells [leaves, w]: cell states of the leaves
 * for an LSTM, or NULL for zeros. projected: NULL, or one row for each inner node, in the order of @heights. The row is
 * added to the node's gates and, for a GRU, to its candidate. Shape: [nodes, 5 w], GRU [nodes, 6 w], head word [nodes,
 * w]. @heights is borrowed.
 */
PlaitNode *plait_tree_bottom_up (PlaitTape *tape, const PlaitTreeCell *cell, const PlaitTreeHeights *heights,
                                 PlaitNode *leaves, PlaitNode *leaf_cells, PlaitNode *projected);

/*
 * Returns a node [depths->rows, w]: the states of a GRU that goes down binary trees (Chen et al. 2017, eq. 10). One
 * step of cells[0] computes the state of a left child from the parent's state and the child's projected input; cells[1]
 * does so for right children. projected[0] and projected[1] [children, 3 w]: left and right children in the order of
 * @depths. roots [roots, w]: states of the roots (eq. 9). Rows outside trees are zero. @depths is borrowed.
 */
PlaitNode *plait_tree_top_down (PlaitTape *tape, const PlaitRecurrentCell *cells, const PlaitTreeDepths *depths,
                                PlaitNode *roots, PlaitNode *const *projected);

/* Copied words of an output layer: p (v) = g softmax (v) + (1 - g) c (v), with g = sigmoid (gate) and c the
 * distribution of attention/copied-words.h. The caller keeps all arrays and nodes alive. */
typedef struct
{
  PlaitNode *gate;                 /* input of the sigmoid that gives g: [r, 1] */
  const PlaitCopyableWords *words; /* words of the n memories */
  const PlaitQueryKeyPairs *pairs; /* [n] for each memory, the pairs of the r rows (as queries) and the memory's rows */
  PlaitNode *const *weights;       /* attention weights [pairs, 1] on each memory, not negative: [n] */
} PlaitOutputCopies;

/* Returns the distributions over copied words of all rows, computed from the values of the nodes gate and weights. The
 * arrays are in the tape's arena. */
PlaitOutputMixture plait_output_copies_mixture (PlaitTape *tape, const PlaitOutputCopies *copies);

/* Options of plait_output_loss. */
typedef struct
{
  double smoothing;      /* label smoothing s, 0 .. 1: the target's probability is 1 - s, plus s / V unless @others */
  gboolean others;       /* TRUE: spread s over the V - 1 other words (fairseq); FALSE: over all V words (PyTorch) */
  double scale;          /* factor of the sum of losses in the returned value */
  const double *weights; /* factor of each row's loss in the returned value; NULL: 1 for each row */
  const struct PlaitPacked *packed; /* packed table (plait_pack (table, TRUE)), or NULL; used only if the pack is not in
                                       full precision and no gradient is computed */
  const PlaitOutputCopies *copies;  /* copied words, or NULL; a target may be a copied word */
} PlaitOutputLossOptions;

typedef struct
{
  double loss;                    /* sum over rows, in nats, with label smoothing, without scale and weights */
  double negative_log_likelihood; /* sum over rows, in nats, without label smoothing, scale and weights */
  gint64 correct; /* number of rows whose most probable word is the target; of equally probable words, the one with the
                     lowest id counts */
} PlaitOutputLossSums;

/* Returns a node [1, 1]: scale * the cross-entropy of softmax (states table^T + bias), mixed with copied words if
 * options->copies is set, with @targets, summed over rows with their weights. Works in chunks, so no [r, V] matrix is
 * stored. states [r, w]; table [V, w], the embedding if tied; bias [1, V] or NULL; @targets: r ids. Gradients are
 * computed in the forward pass, so the node may only be the root of backward or a summand of it. When the function
 * returns, *sums is filled and @row_losses has the negative log-likelihood of each row; each of the two may be NULL. */
PlaitNode *plait_output_loss (PlaitTape *tape, PlaitNode *states, PlaitNode *table, PlaitNode *bias,
                              const gint32 *targets, const PlaitOutputLossOptions *options, PlaitOutputLossSums *sums,
                              double *row_losses);
