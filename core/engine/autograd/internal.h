/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/operators.h"
#include "process/crash.h"
#include "kernels/activation.h"
#include "attention/sparse.h"
#include "tensor/elementwise.h"
#include "attention/sibling-attention.h"
#include "tensor/product.h"
#include "recurrent/rnn-step.h"
#include "kernels/gradient-terms.h"

/* What the tape offers to the operators of this floor and to the parameters above it; not part of
 * the plugin interface. */

/* Sets whose code works on the tape from now on, in this thread, and returns whose did. The core's own (NULL) does not
 * fail. Beginning a step sets that. */
PlaitCodeOwner plait_tape_set_caller (PlaitTape *tape, PlaitCodeOwner caller);

/* The leaf that stands for @key in this step: made from the other arguments at the first call, found again later. */
PlaitNode *plait_tape_keyed_leaf (PlaitTape *tape, gconstpointer key, PlaitTensor value, const PlaitTensor *gradient,
                                  const PlaitPacked *packed);

/* The gradient that has arrived at that leaf; no data if none has. */
PlaitTensor plait_tape_keyed_gradient (const PlaitTape *tape, gconstpointer key);

/*
 * How far backward has come, for those who want gradients before its end. Nodes that backward visits have places, from
 * 1 in the order in which they were made. @report is called (@data) where backward begins and after each node: all
 * nodes from place @left on have gone back. Once that is no more than the place of a keyed leaf, nothing more is added
 * to its gradient; of a leaf that no node reads, or that there is not, it is G_MAXINT. Until the tape is begun again.
 */
typedef void (*PlaitTapeReport) (gpointer data, gint left);
void plait_tape_report_backward (PlaitTape *tape, PlaitTapeReport report, gpointer data);
gint plait_tape_keyed_place (const PlaitTape *tape, gconstpointer key);

/* From now on until the tape is begun again, gradients of keyed leaves stay in the arena, where they take the place of
 * values that backward is done with, instead of being added to the storage given with the leaf. */
void plait_tape_keep_gradients (PlaitTape *tape);
gboolean plait_tape_keeps_gradients (const PlaitTape *tape);

/* From now on until the tape is begun again, products with weights are multiplied with @precision, which runs here and
 * is none of bytes: forward and backward of linear layers, of recurrent and tree cells, and of the output layer. Those
 * of attention and of pairs, softmax, norms, embeddings and all sums remain of numbers, as before and where nobody asks
 * for another precision. */
void plait_tape_set_precision (PlaitTape *tape, PlaitPrecision precision);
PlaitPrecision plait_tape_precision (const PlaitTape *tape);

/* Notes that the equations multiply @x and @y, with so many multiplications: once forward, and backward once more for
 * each of the two that needs a gradient. */
void plait_tape_note_product (PlaitTape *tape, const PlaitNode *x, const PlaitNode *y, gint64 multiplications);

/* How many numbers @node, a weight, has: the multiplications of a product for each row. None of NULL. */
static inline gint64
plait_tape_n_elements (const PlaitNode *node)
{
  return node ? node->value.rows * node->value.width : 0;
}

/* All that was noted since the tape began: the useful work of matrix products, whatever the kernels make of it. */
double plait_tape_multiplications (const PlaitTape *tape);

/* An uninitialised tensor of the tape's arena; plait_tensor_size is what to release. */
PlaitTensor plait_tape_tensor (PlaitTape *tape, gint64 rows, gint64 width);

/* Bytes of a tensor whose rows stand end to end, as they were taken. */
static inline gsize
plait_tensor_size (PlaitTensor tensor)
{
  return sizeof (PlaitScalar) * (gsize)MAX (tensor.rows * tensor.width, 1);
}

/* Gives back what plait_tape_tensor took. An empty tensor is allowed. */
void plait_tape_release (PlaitTape *tape, PlaitTensor tensor);

/* An uninitialised tensor that @node keeps until its backward is done, which gives it back. */
PlaitTensor plait_tape_save (PlaitTape *tape, PlaitNode *node, gint64 rows, gint64 width);

/* Gives that back before: where no backward comes. */
void plait_tape_release_saved (PlaitTape *tape, PlaitNode *node);

/*
 * From now on until the tape is begun again, plait_tape_recomputed keeps nothing but what a segment gives, and backward
 * computes it once more: the same bits, with the same dropout (Chen et al. 2016, "Training deep nets with sublinear
 * memory cost").
 */
void plait_tape_enable_recompute (PlaitTape *tape);

/*
 * What @call gives on @tape: a node that an operator has made, with storage of its own. @call may be made again in
 * backward, and so does the same each time and touches nothing but the tape; @data, of @size bytes, is copied, and
 * what it points to stays until the tape is begun again. A weight is used in one segment alone. Within a segment
 * there are no others.
 */
typedef PlaitNode *(*PlaitRecomputedCall) (PlaitTape *tape, gconstpointer data);
PlaitNode *plait_tape_recomputed (PlaitTape *tape, PlaitRecomputedCall call, gconstpointer data, gsize size);

/* plait_tape_value, or an empty tensor for NULL. */
PlaitTensor plait_tape_value_if_any (PlaitTape *tape, PlaitNode *node);

/* A view: @value lies inside the value of @input. Consumers write straight into the gradient of what @input is a view
 * of. */
PlaitNode *plait_tape_view (PlaitTape *tape, PlaitNode *input, PlaitTensor value);

/* As plait_tape_node, but the value takes the storage of the value of inputs[@from], which has its shape, where that
 * one can be given up: made by an operator that can compute it again, and consumed by nobody else so far. The operator
 * then computes in place. */
PlaitNode *plait_tape_node_in_place (PlaitTape *tape, const PlaitOperator *operation, PlaitNode *const *inputs,
                                     guint n_inputs, guint from, gsize payload_size);

/* Notes that the value of @node may be given up once it has been consumed: it is cheap to compute again. */
void plait_tape_mark_discardable (PlaitTape *tape, PlaitNode *node);

/* Gives up the noted values that have been consumed: called where a sub-layer ends. */
void plait_tape_discard_values (PlaitTape *tape);

/* plait_dropout (plait_linear (...), rate) as one operator, which keeps one value instead of two. Not for tanh and
 * sigmoid, whose derivatives need what was dropped. */
PlaitNode *plait_linear_dropout (PlaitTape *tape, PlaitNode *x, PlaitNode *weight, PlaitNode *bias,
                                 PlaitActivation activation, double rate);

/* The gradient of @input, initialised: to be added to. */
PlaitTensor plait_gradient_to_add (PlaitTape *tape, PlaitNode *input);

/* The same, but an empty tensor where @input is NULL or needs no gradient. */
PlaitTensor plait_gradient_to_add_if_needed (PlaitTape *tape, PlaitNode *input);

/* As plait_gradient_target, but an empty tensor where @input is NULL or needs no gradient, for kernels that skip what
 * has no data. */
PlaitTensor plait_gradient_if_needed (PlaitTape *tape, PlaitNode *input, PlaitScalar *beta);

/* Adds row i of @gradient to row indices[i] of that of @input, where it is not -1; nothing where @input is NULL or
 * needs no gradient. */
void plait_gradient_scatter (PlaitTape *tape, PlaitNode *input, PlaitTensor gradient, const gint64 *indices);

/* Adds @factor * @from to the gradient of @input; nothing where @input is NULL or needs no gradient. */
void plait_gradient_add (PlaitTape *tape, PlaitNode *input, PlaitScalar factor, PlaitTensor from);

/*
 * As plait_gradient_target, but where nothing has arrived at @input yet, *gradient (contiguous, of the arena, of the
 * shape of @input: mostly the node's own) becomes its storage: gradient->data is then NULL, *beta 0, and what comes
 * back still holds what *gradient held, to be worked on in place. For the last contribution of a backward.
 */
PlaitTensor plait_gradient_inherit (PlaitTape *tape, PlaitTensor *gradient, PlaitNode *input, PlaitScalar *beta);

/* Adds @factor * *gradient to the gradient of @input by plait_gradient_inherit. */
void plait_gradient_pass (PlaitTape *tape, PlaitTensor *gradient, PlaitScalar factor, PlaitNode *input);

/* @weight as a factor, which may be NULL. */
PlaitRnnWeight plait_tape_rnn_weight (PlaitTape *tape, PlaitNode *weight);

/* Gives @factor panels of its own of its weight, if it has one, or of the transpose; and takes its own ones away. */
void plait_tape_pack (PlaitTape *tape, PlaitRnnWeight *factor, gboolean transposed);
void plait_tape_unpack (PlaitTape *tape, PlaitRnnWeight *factor);

/*
 * A weight that is used at many steps of time: it is laid out in panels once, and the rows of its uses are collected
 * and make its gradient in few products, the last of them where nobody before reads it. All this is for leaves that are
 * used often in a step with few rows at a time; for others the answer is NULL, and gradients are made at once.
 */
typedef struct PlaitWeightReuse PlaitWeightReuse;

/* The panels of @weight for a product of @rows rows with @precision, or NULL; in PLAIT_TAPE_EVALUATE those that its
 * owner packed. */
const PlaitPacked *plait_weight_reuse_packed (PlaitTape *tape, PlaitNode *weight, gint64 rows,
                                              PlaitPrecision precision);

/* The panels of the transpose of @value, which is the value of @weight or, under a mutation test, a multiple of it. */
const PlaitPacked *plait_weight_reuse_transposed (PlaitTape *tape, PlaitNode *weight, PlaitTensor value, gint64 rows,
                                                  PlaitPrecision precision);

/* Gives @factor, whose value is that of @weight (NULL: nothing is done), either of those panels, or where there are
 * none and @many steps to come own ones. */
void plait_weight_reuse_pack (PlaitTape *tape, PlaitRnnWeight *factor, PlaitNode *weight, gint64 rows,
                              gboolean transposed, gboolean many);

/* Adds x^T dz to the gradient of @weight and the sum of dz's rows to that of @bias (may be NULL), now or later. */
void plait_weight_reuse_collect (PlaitTape *tape, PlaitNode *weight, PlaitNode *bias, PlaitTensor x, PlaitTensor dz);

/* Makes the gradients of what is collected for weights and biases that no node before place @left reads. */
void plait_weight_reuse_flush (PlaitTape *tape, gint left);

/* Adds the gradients of products of chosen rows, of @queries and @keys from those of the numbers, the cotangents for
 * either of them. */
void plait_sparse_dot_scores_add_gradients (PlaitTape *tape, PlaitNode *queries, PlaitNode *keys,
                                            const PlaitSelectedRows *selected, PlaitTensor for_queries,
                                            PlaitTensor for_keys);

/* Adds the gradients of additive scores of chosen rows; @inputs begin with the queries, the keys and the vector. */
void plait_sparse_additive_scores_add_gradients (PlaitTape *tape, PlaitNode *const *inputs,
                                                 const PlaitSelectedRows *selected, const PlaitScalar *dscores);

/*
 * Attention from the top of a memory's levels down all branches (attention/sibling-attention.h): the rows at the top,
 * and the children of each row, are under one softmax; a row has its weight times what its parent has, and row i of the
 * result is the sum of what the leaves have for query i times their values. queries [query rows, w], keys and values
 * [rows, w]; @groups is borrowed.
 */
PlaitNode *plait_sibling_attention (PlaitTape *tape, const PlaitSiblingGroups *groups, PlaitRagged query_rows,
                                    PlaitNode *queries, PlaitNode *keys, PlaitNode *values,
                                    const PlaitAttentionOptions *options);

/* What the leaves of @groups, which is borrowed, have for each query, from scores [pairs, 1] of its pairs with all
 * rows. *leaves: its pairs with the leaves, as plait_weighted_sum wants them. */
PlaitNode *plait_sibling_softmax (PlaitTape *tape, const PlaitSiblingGroups *groups, PlaitRagged queries,
                                  PlaitNode *scores, PlaitQueryKeyPairs *leaves);

/*
 * PLAIT_GRADIENT_TERM for a contribution that one call of a kernel computes: the cotangent @dy to call it with. Every
 * contribution is linear in it.
 */
#ifdef PLAIT_SCALAR_DOUBLE
PlaitTensor plait_gradient_term_tensor (PlaitTape *tape, double factor, PlaitTensor dy);
#define PLAIT_GRADIENT_TERM_TENSOR(tape, name, dy)                                                                     \
  plait_gradient_term_tensor ((tape), PLAIT_GRADIENT_TERM_FACTOR (#name), (dy))
#else
#define PLAIT_GRADIENT_TERM_TENSOR(tape, name, dy) (dy)
#endif
