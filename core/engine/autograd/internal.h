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

/* Functions of the tape that only the host calls. */

/* Sets the plugin whose code works on @tape in this thread, and returns the previous one. {NULL} is the host, whose
 * errors abort the process. plait_tape_begin sets the tape's caller to {NULL}. */
PlaitCodeOwner plait_tape_set_caller (PlaitTape *tape, PlaitCodeOwner caller);

/* Returns the leaf with key @key of this step. The first call makes the leaf from the other arguments; later calls
 * return the same node. */
PlaitNode *plait_tape_keyed_leaf (PlaitTape *tape, gconstpointer key, PlaitTensor value, const PlaitTensor *gradient,
                                  const PlaitPacked *packed);

/* Returns the gradient of the leaf with key @key. No data if there is no such leaf, if the leaf needs no gradient or,
 * with plait_tape_keep_gradients, if no gradient has arrived. */
PlaitTensor plait_tape_keyed_gradient (const PlaitTape *tape, gconstpointer key);

/* For callers who use gradients before the end of backward. Recorded nodes have the numbers 1, 2, ...; backward visits
 * the highest number first. Backward calls @report at its start and after each node, when all nodes with numbers >=
 * @left are done. plait_tape_keyed_place () returns the number of the first node that reads a leaf: the gradient of
 * the leaf is complete as soon as @left <= this number. Without such a node, or without the leaf, it returns G_MAXINT.
 * plait_tape_begin removes the report. */
typedef void (*PlaitTapeReport) (gpointer data, gint left);
void plait_tape_report_backward (PlaitTape *tape, PlaitTapeReport report, gpointer data);
gint plait_tape_keyed_place (const PlaitTape *tape, gconstpointer key);

/* From now on until plait_tape_begin, new keyed leaves have their gradients in the arena, which reuses the memory of
 * released values. Backward does not add to the gradient given for such a leaf. */
void plait_tape_keep_gradients (PlaitTape *tape);
gboolean plait_tape_keeps_gradients (const PlaitTape *tape);

/* Sets the precision of matrix products until plait_tape_begin: forward and backward in linear layers, recurrent cells,
 * tree cells, the output layer and attention to many keys; in pair cells, only the gradients of the weights. All other
 * computation is in PlaitScalar. The processor must support @precision, which must not be int8. */
void plait_tape_set_precision (PlaitTape *tape, PlaitPrecision precision);
PlaitPrecision plait_tape_precision (const PlaitTape *tape);

/* Chooses the kernel of attention for each sentence separately, so that the bits of a sentence do not depend on the
 * other sentences of the pass. Otherwise, one kernel computes all sentences. Holds until plait_tape_begin. */
void plait_tape_separate_sentences (PlaitTape *tape);
gboolean plait_tape_separates_sentences (const PlaitTape *tape);

/* Adds a matrix product of @x and @y to the count of multiplications: @multiplications for forward, and as many in
 * backward for each of @x and @y that needs a gradient. */
void plait_tape_note_product (PlaitTape *tape, const PlaitNode *x, const PlaitNode *y, gint64 multiplications);

/* Returns the number of elements of the weight @node, which equals the multiplications per row of a product with it. 0
 * for NULL. */
static inline gint64
plait_tape_n_elements (const PlaitNode *node)
{
  return node ? node->value.rows * node->value.width : 0;
}

/* Returns the multiplications counted by plait_tape_note_product since plait_tape_begin: the useful work of the step's
 * matrix products. */
double plait_tape_multiplications (const PlaitTape *tape);

/* Returns an uninitialised tensor in the tape's arena, to be released with plait_tape_release. */
PlaitTensor plait_tape_tensor (PlaitTape *tape, gint64 rows, gint64 width);

/* Returns the number of bytes that the arena holds for a tensor made by plait_tape_tensor. */
static inline gsize
plait_tensor_size (PlaitTensor tensor)
{
  return sizeof (PlaitScalar) * (gsize)MAX (tensor.rows * tensor.width, 1);
}

/* Releases a tensor made by plait_tape_tensor. A tensor without data is allowed. */
void plait_tape_release (PlaitTape *tape, PlaitTensor tensor);

/* Returns an uninitialised tensor in the arena for activations that the backward of @node reads. The tape releases the
 * tensor after that backward. */
PlaitTensor plait_tape_save (PlaitTape *tape, PlaitNode *node, gint64 rows, gint64 width);

/* Releases the tensors of plait_tape_save now, for a node that needs no gradient. */
void plait_tape_release_saved (PlaitTape *tape, PlaitNode *node);

/*
 * Turns recomputation (gradient checkpointing) on until plait_tape_begin. plait_tape_recomputed then keeps only the
 * result of its call, and backward makes the call again: same bits, same dropout (Chen et al. 2016, "Training deep nets
 * with sublinear memory cost").
 */
void plait_tape_enable_recompute (PlaitTape *tape);

/*
 * Returns the node that @call makes on @tape. The node must come from an operator and own its storage. Backward may
 * run @call again, so @call must give the same result each time and change nothing except the tape. @data, of @size
 * bytes, is copied; memory it points to must live until plait_tape_begin. If @call uses a weight, no other code may use
 * this weight in the step. Calls do not nest.
 */
typedef PlaitNode *(*PlaitRecomputedCall) (PlaitTape *tape, gconstpointer data);
PlaitNode *plait_tape_recomputed (PlaitTape *tape, PlaitRecomputedCall call, gconstpointer data, gsize size);

/* Turns recomputation off for the running call of plait_tape_recomputed, if any: all nodes of the call stay on the
 * tape. Use it if nodes other than the result of the call are read later. */
void plait_tape_keep_piece (PlaitTape *tape);

/* Returns plait_tape_value (@tape, @node), or a tensor without data if @node is NULL. */
PlaitTensor plait_tape_value_if_any (PlaitTape *tape, PlaitNode *node);

/* Returns a node that is a view: @value is a part of the value of @input. A gradient of the view is added to the
 * gradient of the node that owns the storage. */
PlaitNode *plait_tape_view (PlaitTape *tape, PlaitNode *input, PlaitTensor value);

/* Returns @x, or a contiguous copy of @x if there are gaps between its rows, as in a view of columns. */
PlaitNode *plait_end_to_end (PlaitTape *tape, PlaitNode *x);

/* Like plait_tape_node, with a value in the shape of the input inputs[@from]. The value takes over the storage of this
 * input, for computation in place, if the input can be recomputed, has no other consumer and no view, and has a
 * backward that does not read its value. */
PlaitNode *plait_tape_node_in_place (PlaitTape *tape, const PlaitOperator *operation, PlaitNode *const *inputs,
                                     guint n_inputs, guint from, gsize payload_size);

/* Marks the value of @node as cheap to recompute, so it may be discarded once it has been consumed. */
void plait_tape_mark_discardable (PlaitTape *tape, PlaitNode *node);

/* Discards the values that are marked as discardable, have been consumed and have no view. Called at the end of each
 * sublayer. */
void plait_tape_discard_values (PlaitTape *tape);

/* Returns plait_dropout (plait_linear (...), @rate) as one operator, which keeps one value instead of two. If
 * @rate is above 0, @activation must not be tanh or sigmoid, whose derivatives need the values before dropout. */
PlaitNode *plait_linear_dropout (PlaitTape *tape, PlaitNode *x, PlaitNode *weight, PlaitNode *bias,
                                 PlaitActivation activation, double rate);

/* Returns the gradient of @input, zeroed at first use, for the caller to add to. */
PlaitTensor plait_gradient_to_add (PlaitTape *tape, PlaitNode *input);

/* Like plait_gradient_to_add, but returns a tensor without data if @input is NULL or needs no gradient. */
PlaitTensor plait_gradient_to_add_if_needed (PlaitTape *tape, PlaitNode *input);

/* Like plait_gradient_target, but returns a tensor without data if @input is NULL or needs no gradient. Kernels do not
 * compute outputs without data. */
PlaitTensor plait_gradient_if_needed (PlaitTape *tape, PlaitNode *input, PlaitScalar *beta);

/* Adds row i of @gradient to row indices[i] of the gradient of @input; skips indices of -1. Does nothing if @input is
 * NULL or needs no gradient. */
void plait_gradient_scatter (PlaitTape *tape, PlaitNode *input, PlaitTensor gradient, const gint64 *indices);

/* Adds @factor * @from to the gradient of @input. Does nothing if @input is NULL or needs no gradient. */
void plait_gradient_add (PlaitTape *tape, PlaitNode *input, PlaitScalar factor, PlaitTensor from);

/* If @input already has a gradient or is a view, does the same as plait_gradient_target. Otherwise returns *gradient,
 * which the caller changes in place and which is then the gradient of @input, and sets gradient->data to NULL and *beta
 * to 0. *gradient must be contiguous, lie in the arena, and have the shape of @input. This must be the last
 * contribution of a backward function. */
PlaitTensor plait_gradient_inherit (PlaitTape *tape, PlaitTensor *gradient, PlaitNode *input, PlaitScalar *beta);

/* Adds @factor * *gradient to the gradient of @input. Calls plait_gradient_inherit, which can move the storage to
 * @input. */
void plait_gradient_pass (PlaitTape *tape, PlaitTensor *gradient, PlaitScalar factor, PlaitNode *input);

/* Returns the value of @weight, neither rounded nor packed, and the tape's precision. @weight may be NULL. */
PlaitRnnWeight plait_tape_rnn_weight (PlaitTape *tape, PlaitNode *weight);

/* plait_tape_pack packs the weight of @factor, or its transpose, into panels that @factor owns; it does nothing for a
 * weight without data. plait_tape_unpack frees these panels. */
void plait_tape_pack (PlaitTape *tape, PlaitRnnWeight *factor, gboolean transposed);
void plait_tape_unpack (PlaitTape *tape, PlaitRnnWeight *factor);

/*
 * State of a leaf that is the weight of many products of few rows, such as those of time steps. The weight is packed
 * once. The rows of the products are collected, so that few large products compute the gradient of the weight. The last
 * of these runs when no node that is left for backward reads the weight. Other weights have no such state: their
 * gradients are computed at once.
 */
typedef struct PlaitWeightReuse PlaitWeightReuse;

/* Returns the panels of @weight for a product of @rows rows in @precision, or NULL. With PLAIT_TAPE_EVALUATE, returns
 * the panels that the owner of the weight has packed, whatever their precision. */
const PlaitPacked *plait_weight_reuse_packed (PlaitTape *tape, PlaitNode *weight, gint64 rows,
                                              PlaitPrecision precision);

/* Returns the panels of the transpose of @value for a product of @rows rows in @precision, or NULL. @value: the value
 * of @weight, which mutation tests multiply by a factor. */
const PlaitPacked *plait_weight_reuse_transposed (PlaitTape *tape, PlaitNode *weight, PlaitTensor value, gint64 rows,
                                                  PlaitPrecision precision);

/* Sets factor->packed to the result of plait_weight_reuse_packed or, if @transposed, of plait_weight_reuse_transposed.
 * If this is NULL and @many is TRUE (many steps will use @factor), packs panels that only @factor uses. Does nothing if
 * @weight is NULL. */
void plait_weight_reuse_pack (PlaitTape *tape, PlaitRnnWeight *factor, PlaitNode *weight, gint64 rows,
                              gboolean transposed, gboolean many);

/* Adds x^T dz to the gradient of @weight, and the sum of the rows of @dz to the gradient of @bias (may be NULL), either
 * at once or later in the backward pass. */
void plait_weight_reuse_collect (PlaitTape *tape, PlaitNode *weight, PlaitNode *bias, PlaitTensor x, PlaitTensor dz);

/* Adds the collected gradients to the gradients of their weights and biases. Backward has run for the nodes from place
 * @left on. Leaves out the pairs of a weight and a bias that a node before place @left can still use. */
void plait_weight_reuse_flush (PlaitTape *tape, gint left);

/* Adds to the gradients of @queries and @keys the derivatives of dot products between queries and selected rows.
 * @for_queries and @for_keys: gradients of the products [selected, 1]; they differ only in mutation tests. */
void plait_sparse_dot_scores_add_gradients (PlaitTape *tape, PlaitNode *queries, PlaitNode *keys,
                                            const PlaitSelectedRows *selected, PlaitTensor for_queries,
                                            PlaitTensor for_keys);

/* Adds the derivatives of additive scores of selected rows to the gradients of @inputs. @inputs begins with the
 * queries, the keys and the vector; @dscores [selected] are the gradients of the scores. */
void plait_sparse_additive_scores_add_gradients (PlaitTape *tape, PlaitNode *const *inputs,
                                                 const PlaitSelectedRows *selected, const PlaitScalar *dscores);

/*
 * Returns a node [query rows, w] whose row i is the sum of weight * value over the leaves of the memory of query i,
 * heads side by side. There is one softmax over the top rows, and one over the children of each row. The weight of a
 * row is its softmax value times its parent's weight, summed over its parents. queries [query rows, w], keys and values
 * [rows, w]; @groups is borrowed.
 */
PlaitNode *plait_sibling_attention (PlaitTape *tape, const PlaitSiblingGroups *groups, PlaitRagged query_rows,
                                    PlaitNode *queries, PlaitNode *keys, PlaitNode *values,
                                    const PlaitAttentionOptions *options);

/* Returns a node [pairs in *leaves, 1]: the weight of each leaf for each query. scores [pairs, 1]: scores of the
 * queries with all rows. *leaves receives the pairs of queries and leaves, for plait_weighted_sum. @groups is
 * borrowed. */
PlaitNode *plait_sibling_softmax (PlaitTape *tape, const PlaitSiblingGroups *groups, PlaitRagged queries,
                                  PlaitNode *scores, PlaitQueryKeyPairs *leaves);

/*
 * Like PLAIT_GRADIENT_TERM, for a term that one kernel call computes. The term must be linear in the tensor @dy, such
 * as the output gradient. Returns @dy, multiplied by the factor that a mutation test sets.
 */
#ifdef PLAIT_SCALAR_DOUBLE
PlaitTensor plait_gradient_term_tensor (PlaitTape *tape, double factor, PlaitTensor dy);
#define PLAIT_GRADIENT_TERM_TENSOR(tape, name, dy)                                                                     \
  plait_gradient_term_tensor ((tape), PLAIT_GRADIENT_TERM_FACTOR (#name), (dy))
#else
#define PLAIT_GRADIENT_TERM_TENSOR(tape, name, dy) (dy)
#endif
