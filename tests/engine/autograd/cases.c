/* SPDX-License-Identifier: MIT */
#include "cases.h"

#include "autograd/check.h"
#include "autograd/layer-operators.h"

#include <string.h>

/* Widths in these cases are not multiples of a vector, so the kernels of every processor variant also run their
 * remainder loops. */

static PlaitNode *
linear_plain (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_linear (tape, leaves[0], leaves[1], leaves[2], PLAIT_ACTIVATION_NONE);
}

static PlaitNode *
linear_without_bias (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_linear (tape, leaves[0], leaves[1], NULL, PLAIT_ACTIVATION_TANH);
}

static PlaitNode *
linear_bias_alone (PlaitTape *tape, PlaitNode *const *leaves)
{
  static PlaitScalar ones[] = { 1, 2, 3, 4, 5, 6 };
  PlaitNode *x = plait_leaf (tape, plait_tensor (ones, 3, 2), NULL);
  PlaitNode *weight = plait_leaf (tape, plait_tensor (ones, 2, 3), NULL);

  return plait_linear (tape, x, weight, leaves[0], PLAIT_ACTIVATION_NONE);
}

static PlaitNode *
linear_gelu (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_linear (tape, leaves[0], leaves[1], leaves[2], PLAIT_ACTIVATION_GELU);
}

static PlaitNode *
linear_relu (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_linear (tape, leaves[0], leaves[1], leaves[2], PLAIT_ACTIVATION_RELU);
}

/* The input is a view and is read twice. */
static PlaitNode *
linear_view (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitNode *wide = plait_scale (tape, leaves[0], 0.5);
  PlaitNode *x = plait_columns (tape, wide, 2, 3);
  PlaitNode *y = plait_linear (tape, x, leaves[1], NULL, PLAIT_ACTIVATION_NONE);

  return plait_concatenate_columns (tape, (PlaitNode *[]){ y, wide, x }, 3);
}

static PlaitNode *
relu (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_activate (tape, leaves[0], PLAIT_ACTIVATION_RELU);
}

static PlaitNode *
gelu (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_activate (tape, leaves[0], PLAIT_ACTIVATION_GELU);
}

static PlaitNode *
gelu_tanh (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_activate (tape, leaves[0], PLAIT_ACTIVATION_GELU_TANH);
}

static PlaitNode *
swish (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_activate (tape, leaves[0], PLAIT_ACTIVATION_SWISH);
}

static PlaitNode *
hyperbolic (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_activate (tape, leaves[0], PLAIT_ACTIVATION_TANH);
}

static PlaitNode *
sigmoid (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_activate (tape, leaves[0], PLAIT_ACTIVATION_SIGMOID);
}

static PlaitNode *
exponential (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_exp (tape, leaves[0]);
}

/* Takes the logarithm of squares, because they are positive. */
static PlaitNode *
logarithm (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_log (tape, plait_multiply (tape, leaves[0], leaves[0]));
}

static const gint64 some_positions[] = { 7, 0, 3, 3, 12 };

static PlaitNode *
rotate (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_rotate (tape, leaves[0], some_positions, 3, 100);
}

/* The input is a view to which a gradient was added before. */
static PlaitNode *
rotate_view (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitNode *wide = plait_scale (tape, leaves[0], 0.5);
  PlaitNode *y = plait_rotate (tape, plait_columns (tape, wide, 1, 4), some_positions, 2, 100);

  return plait_concatenate_columns (tape, (PlaitNode *[]){ y, wide }, 2);
}

static PlaitNode *
softmax (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_softmax (tape, leaves[0]);
}

/* The input is a view with gaps between rows, to which a gradient was added before. */
static PlaitNode *
softmax_view (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitNode *wide = plait_scale (tape, leaves[0], 0.5), *y = plait_softmax (tape, plait_columns (tape, wide, 1, 3));

  return plait_concatenate_columns (tape, (PlaitNode *[]){ y, wide }, 2);
}

static PlaitNode *
maximum (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_maximum (tape, leaves[0], leaves[1]);
}

static PlaitNode *
minimum (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_minimum (tape, leaves[0], leaves[1]);
}

static PlaitNode *
multiply_broadcast (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_multiply_broadcast (tape, leaves[0], leaves[1]);
}

/* The factors are a column of the input x. */
static PlaitNode *
multiply_by_column_view (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitNode *x = plait_scale (tape, leaves[0], 0.5);

  return plait_multiply_broadcast (tape, x, plait_columns (tape, x, 1, 1));
}

/* The factors are a row of the input x. */
static PlaitNode *
multiply_by_row_view (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitNode *x = plait_scale (tape, leaves[0], 0.5);

  return plait_multiply_broadcast (tape, x, plait_rows (tape, x, 1, 1));
}

static PlaitNode *
add_n (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitNode *first = plait_activate (tape, leaves[0], PLAIT_ACTIVATION_TANH);
  PlaitNode *second = plait_activate (tape, leaves[1], PLAIT_ACTIVATION_TANH);

  return plait_add_n (tape, (PlaitNode *[]){ first, second, leaves[2], first, second }, 5);
}

static PlaitNode *
multiply (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_multiply (tape, leaves[0], leaves[1]);
}

static PlaitNode *
square (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitNode *x = plait_scale (tape, leaves[0], 2);

  return plait_multiply (tape, x, x);
}

static PlaitNode *
scale (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_scale (tape, leaves[0], -1.75);
}

static PlaitNode *
reduce_sum (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_reduce_sum (tape, leaves[0]);
}

/* Views of a view: some parts of the whole get no gradient, some get one, and some get two. Another view is of the
 * leaf. */
static PlaitNode *
views (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitNode *whole = plait_activate (tape, leaves[0], PLAIT_ACTIVATION_TANH);
  PlaitNode *rows = plait_rows (tape, whole, 1, 3);
  PlaitNode *corner = plait_columns (tape, rows, 2, 2);
  PlaitNode *squares = plait_multiply (tape, corner, corner);

  return plait_concatenate_columns (
      tape, (PlaitNode *[]){ squares, plait_rows (tape, whole, 0, 3), plait_rows (tape, leaves[0], 2, 3) }, 3);
}

static PlaitNode *
concatenate_columns (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_concatenate_columns (tape, leaves, 3);
}

static PlaitNode *
concatenate_rows (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_concatenate_rows (tape, leaves, 3);
}

static PlaitNode *
gather_rows (PlaitTape *tape, PlaitNode *const *leaves)
{
  static const gint64 indices[] = { 2, -1, 0, 2, 4, -1, 2 };

  return plait_gather_rows (tape, leaves[0], indices, G_N_ELEMENTS (indices));
}

/* Gathers windows of two rows: two windows overlap, and one ends in zeros. */
static PlaitNode *
gather_windows (PlaitTape *tape, PlaitNode *const *leaves)
{
  static const gint64 indices[] = { 0, 1, 3, 4, 4, -1 };

  return plait_gather_windows (tape, plait_scale (tape, leaves[0], 1), indices, 3, 2);
}

static const guint8 some[] = { 1, 0, 1, 1, 0 };

static PlaitNode *
select_rows (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_select_rows (tape, some, leaves[0], leaves[1]);
}

static PlaitNode *
select_or_zero (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_select_rows (tape, some, plait_scale (tape, leaves[0], 3), NULL);
}

static PlaitNode *
dropout (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_dropout (tape, leaves[0], 0.4);
}

static PlaitNode *
residual (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_residual (tape, leaves[0], leaves[1], 0.4);
}

/* The next branch also reads the residual stream, as in a Transformer. */
static PlaitNode *
residual_chain (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitNode *x = plait_activate (tape, leaves[0], PLAIT_ACTIVATION_TANH);

  x = plait_residual (tape, x, plait_linear (tape, x, leaves[1], NULL, PLAIT_ACTIVATION_RELU), 0.3);
  return plait_residual (tape, x, plait_linear (tape, x, leaves[2], NULL, PLAIT_ACTIVATION_GELU), 0.3);
}

static PlaitNode *
layer_norm (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_layer_norm (tape, leaves[0], leaves[1], leaves[2], 1e-6);
}

static PlaitNode *
layer_norm_shared (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitNode *x = plait_scale (tape, leaves[0], 1.5);
  PlaitNode *y = plait_layer_norm (tape, x, leaves[1], leaves[2], 1e-2);

  return plait_add_n (tape, (PlaitNode *[]){ x, y }, 2);
}

static PlaitNode *
embed (PlaitTape *tape, PlaitNode *const *leaves)
{
  static const gint32 ids[] = { 3, 0, 3, 1, 4 };

  return plait_embed (tape, leaves[0], ids, G_N_ELEMENTS (ids), 2.5);
}

/* The table of embeddings is a computed node, not a leaf. */
static PlaitNode *
embed_computed (PlaitTape *tape, PlaitNode *const *leaves)
{
  static const gint32 ids[] = { 1, 1, 2 };
  PlaitNode *table = plait_activate (tape, leaves[0], PLAIT_ACTIVATION_TANH);

  return plait_embed (tape, table, ids, G_N_ELEMENTS (ids), 1);
}

static const gint64 three_sentences[] = { 0, 2, 2, 5 };
static const PlaitRagged five_rows = { 3, three_sentences };

static PlaitNode *
add_positions (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_add_positions (tape, leaves[0], five_rows, leaves[1], 1, 0.25);
}

#define WIDTH 22    /* two heads of 11 columns */
#define PAIRS 6     /* pairs of queries and rows of the first memory */
#define PAIRS_TOO 4 /* pairs of queries and rows of the second memory */
/* Four sentences: with both memories; without queries; with only the second memory; without memories. */
static const gint64 query_offsets[] = { 0, 2, 2, 3, 5 };
static const gint64 first_offsets[] = { 0, 3, 7, 7, 7 };
static const gint64 second_offsets[] = { 0, 1, 1, 3, 3 };
static const PlaitRagged query_rows = { 4, query_offsets };
static const PlaitRagged first_rows = { 4, first_offsets };
static const PlaitRagged second_rows = { 4, second_offsets };

static PlaitNode *
attention (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitKeyValues memory = { .keys = leaves[1], .values = leaves[2], .rows = first_rows };
  PlaitAttentionOptions options = { .heads = 2, .dropout = 0.3 };

  return plait_attention (tape, leaves[0], query_rows, &memory, 1, &options);
}

static PlaitNode *
attention_causal (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitNode *x = plait_scale (tape, leaves[0], 1);
  PlaitKeyValues memory
      = { .keys = plait_columns (tape, x, 4, 4), .values = plait_columns (tape, x, 8, 4), .rows = five_rows };
  PlaitAttentionOptions options = { .heads = 2, .causal = TRUE, .scale = 0.7 };

  return plait_attention (tape, plait_columns (tape, x, 0, 4), five_rows, &memory, 1, &options);
}

/* Self-attention as in an encoder, with a linear bias of the distance and a window. */
static PlaitNode *
attention_relative (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitKeyValues memory = { .keys = leaves[1], .values = leaves[2], .rows = five_rows };
  PlaitAttentionOptions options = { .heads = 2, .linear_bias = TRUE, .window = 2 };

  return plait_attention (tape, leaves[0], five_rows, &memory, 1, &options);
}

static PlaitNode *
attention_relative_causal (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitKeyValues memory = { .keys = leaves[1], .values = leaves[2], .rows = five_rows };
  PlaitAttentionOptions options
      = { .heads = 3, .causal = TRUE, .linear_bias = TRUE, .window = 2, .dropout = .2, .scale = .7 };

  return plait_attention (tape, leaves[0], five_rows, &memory, 1, &options);
}

/* Sentences with more keys than one block of the kernels, and than two blocks. */
static PlaitNode *
attention_long (PlaitTape *tape, PlaitNode *const *leaves)
{
  static const gint64 queries[] = { 0, 1, 3 }, keys[] = { 0, 270, 790 };
  PlaitKeyValues memory = { .keys = leaves[1], .values = leaves[2], .rows = { 2, keys } };
  PlaitAttentionOptions options = { .heads = 1, .dropout = 0.2 };

  return plait_attention (tape, leaves[0], (PlaitRagged){ 2, queries }, &memory, 1, &options);
}

/* Queries, keys and values are one node. */
static PlaitNode *
attention_to_itself (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitNode *x = plait_scale (tape, leaves[0], 1);
  PlaitKeyValues memory = { .keys = x, .values = x, .rows = five_rows };
  PlaitAttentionOptions options = { .heads = 1 };

  return plait_attention (tape, x, five_rows, &memory, 1, &options);
}

static PlaitNode *
attention_joint (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitKeyValues memories[] = {
    { .keys = leaves[1], .values = leaves[2], .rows = first_rows },
    { .keys = leaves[3], .values = leaves[4], .rows = second_rows },
  };
  PlaitAttentionOptions options = { .heads = 2, .dropout = 0.2 };

  return plait_attention (tape, leaves[0], query_rows, memories, 2, &options);
}

static PlaitNode *
items_attention (PlaitTape *tape, PlaitNode *const *leaves)
{
  static const guint8 first[] = { 1, 0, 1, 0 };
  static const guint8 second[] = { 1, 1, 0, 0 };
  const guint8 *const present[] = { first, second };
  PlaitAttentionOptions options = { .heads = 2, .dropout = 0.2 };

  return plait_attention_over_items (tape, leaves[0], leaves + 1, leaves + 3, present, 2, &options, NULL);
}

/* Keys are also values, and all items are present. */
static PlaitNode *
items_attention_all (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitAttentionOptions options = { .heads = 1 };

  return plait_attention_over_items (tape, leaves[0], leaves + 1, leaves + 1, NULL, 3, &options, NULL);
}

/* Divides by sigmoids, because they are not near 0. */
static PlaitNode *
divide (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_divide (tape, leaves[0], plait_activate (tape, leaves[1], PLAIT_ACTIVATION_SIGMOID));
}

static PlaitNode *
additive_scores (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitQueryKeyPairs pairs = plait_query_key_pairs (tape, query_rows, first_rows);

  return plait_additive_scores (tape, &pairs, leaves[0], leaves[1], leaves[2], leaves[3], leaves[4]);
}

/* A sentence so long that it is computed in several pieces of work, with neither extra input nor bias. */
static PlaitNode *
additive_scores_long (PlaitTape *tape, PlaitNode *const *leaves)
{
  static const gint64 two[] = { 0, 2, 2 }, many[] = { 0, 150, 153 };
  PlaitQueryKeyPairs pairs = plait_query_key_pairs (tape, (PlaitRagged){ 2, two }, (PlaitRagged){ 2, many });

  return plait_additive_scores (tape, &pairs, leaves[0], leaves[1], NULL, leaves[2], NULL);
}

static PlaitNode *
dot_scores (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitQueryKeyPairs pairs = plait_query_key_pairs (tape, query_rows, first_rows);

  return plait_dot_scores (tape, &pairs, leaves[0], leaves[1], 0.7);
}

static PlaitNode *
ragged_softmax (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitQueryKeyPairs pairs[]
      = { plait_query_key_pairs (tape, query_rows, first_rows), plait_query_key_pairs (tape, query_rows, second_rows) };

  return plait_ragged_softmax (tape, pairs, leaves, 2);
}

/* Two operators read the weights. */
static PlaitNode *
weighted_sum (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitQueryKeyPairs pairs = plait_query_key_pairs (tape, query_rows, first_rows);
  PlaitNode *first = plait_weighted_sum (tape, &pairs, leaves[0], leaves[1]);
  PlaitNode *second = plait_weighted_sum (tape, &pairs, leaves[0], leaves[2]);

  return plait_concatenate_columns (tape, (PlaitNode *[]){ first, second }, 2);
}

/* The numbers of the pairs are columns of wider nodes. */
static PlaitNode *
pairs_of_columns (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitQueryKeyPairs pairs = plait_query_key_pairs (tape, query_rows, first_rows);
  PlaitNode *scores = plait_columns (tape, leaves[0], 1, 1), *softmax = plait_ragged_softmax (tape, &pairs, &scores, 1);
  PlaitNode *first = plait_weighted_sum (tape, &pairs, softmax, leaves[1]);
  PlaitNode *second = plait_weighted_sum (tape, &pairs, plait_columns (tape, leaves[0], 2, 1), leaves[1]);

  return plait_concatenate_columns (tape, (PlaitNode *[]){ first, second }, 2);
}

/* Four blocks: a full one, one that begins with the rest of the first block's last row, one of a single row, and one
 * that is not full. No block has row 6. */
static PlaitNode *
halting_weights (PlaitTape *tape, PlaitNode *const *leaves)
{
  static const gint64 offsets[] = { 0, 3, 6, 7, 9 };
  static const gint64 rows[] = { 0, 1, 2, 2, 3, 4, 5, 7, 8 };
  static const guint8 full[] = { TRUE, TRUE, TRUE, FALSE };
  static const PlaitHaltingWeights blocks = { { 4, offsets }, rows, full };

  return plait_halting_weights (tape, leaves[0], &blocks);
}

static const gint32 targets[] = { 3, 0, 10, 3 };

static PlaitNode *
output_loss (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitOutputLossOptions options = { .smoothing = 0.2, .scale = 0.3 };

  return plait_output_loss (tape, leaves[0], leaves[1], leaves[2], targets, &options, NULL, NULL);
}

static PlaitNode *
output_loss_others (PlaitTape *tape, PlaitNode *const *leaves)
{
  static const double weights[] = { 0.5, 2, 1, 3 };
  PlaitOutputLossOptions options = { .smoothing = 0.1, .others = TRUE, .scale = 1, .weights = weights };
  PlaitNode *states = plait_activate (tape, leaves[0], PLAIT_ACTIVATION_TANH);
  PlaitNode *loss = plait_output_loss (tape, states, leaves[1], NULL, targets, &options, NULL, NULL);

  return plait_add_n (tape, (PlaitNode *[]){ loss, plait_reduce_sum (tape, states) }, 2);
}

/* Copied words of two memories: two rows have one word, one row has no word, and words 11 and 12 have ids above the
 * table. The targets are: a copied word of the table, a word that is not copied, a copied word above the table, and two
 * words in rows without copied words. */
static PlaitNode *
mixture_loss (PlaitTape *tape, PlaitNode *const *leaves)
{
  static const gint32 first_ids[] = { 7, -1, 7, 1, 1, 1, 1 }, second_ids[] = { 2, 11, 12 };
  static const gint32 of_mixture[] = { 7, 5, 12, 3, 10 };
  PlaitArena *arena = plait_tape_arena (tape);
  PlaitQueryKeyPairs *pairs = plait_arena_new_array (arena, PlaitQueryKeyPairs, 2);
  PlaitNode *weights[] = { plait_exp (tape, leaves[4]), plait_exp (tape, leaves[5]) };
  PlaitOutputCopies copies = {
    .gate = leaves[3],
    .words = plait_copyable_words_new (arena, (const PlaitRagged[]){ first_rows, second_rows },
                                       (const gint32 *const[]){ first_ids, second_ids }, 2),
    .pairs = pairs,
    .weights = weights,
  };
  static const double row_weights[] = { 2, 1, 3, 0.5, 1 };
  PlaitOutputLossOptions options = { .smoothing = 0.2, .scale = 0.3, .weights = row_weights, .copies = &copies };

  pairs[0] = plait_query_key_pairs (tape, query_rows, first_rows);
  pairs[1] = plait_query_key_pairs (tape, query_rows, second_rows);
  return plait_output_loss (tape, leaves[0], leaves[1], leaves[2], of_mixture, &options, NULL, NULL);
}

#define CHECK_MODE PLAIT_TAPE_CHECK
#define TRAIN_MODE PLAIT_TAPE_TRAIN

static const GradientCase plain_cases[] = {
  { "linear", "linear_", linear_plain, CHECK_MODE, 3, { { 3, 11 }, { 11, 13 }, { 1, 13 } } },
  { "linear without bias", NULL, linear_without_bias, CHECK_MODE, 2, { { 3, 4 }, { 4, 5 } } },
  { "linear, bias alone", NULL, linear_bias_alone, CHECK_MODE, 1, { { 1, 3 } } },
  { "linear gelu", NULL, linear_gelu, CHECK_MODE, 3, { { 3, 4 }, { 4, 13 }, { 1, 13 } } },
  { "linear relu", NULL, linear_relu, CHECK_MODE, 3, { { 3, 4 }, { 4, 13 }, { 1, 13 } } },
  { "linear of a view", NULL, linear_view, CHECK_MODE, 2, { { 3, 6 }, { 3, 5 } } },
  { "relu", "relu", relu, CHECK_MODE, 1, { { 3, 11 } } },
  { "gelu", "gelu_", gelu, CHECK_MODE, 1, { { 3, 11 } } },
  { "gelu by tanh", "approximate_gelu_", gelu_tanh, CHECK_MODE, 1, { { 3, 11 } } },
  { "swish", "swish_", swish, CHECK_MODE, 1, { { 3, 11 } } },
  { "tanh", "tanh_", hyperbolic, CHECK_MODE, 1, { { 3, 11 } } },
  { "sigmoid", "sigmoid_", sigmoid, CHECK_MODE, 1, { { 3, 11 } } },
  { "exp", "exp", exponential, CHECK_MODE, 1, { { 3, 11 } } },
  { "log", "log", logarithm, CHECK_MODE, 1, { { 3, 11 } } },
  { "rotate", "rotate", rotate, CHECK_MODE, 1, { { 5, 18 } } },
  { "rotate, view", NULL, rotate_view, CHECK_MODE, 1, { { 5, 6 } } },
  { "softmax", "sparse_softmax_", softmax, CHECK_MODE, 1, { { 3, 22 } } },
  { "softmax of a view", NULL, softmax_view, CHECK_MODE, 1, { { 3, 5 } } },
  { "maximum", "maximum_", maximum, CHECK_MODE, 2, { { 3, 11 }, { 3, 11 } } },
  { "minimum", "maximum_", minimum, CHECK_MODE, 2, { { 3, 11 }, { 3, 11 } } },
  { "multiply by a column", "multiply_broadcast_", multiply_broadcast, CHECK_MODE, 2, { { 3, 11 }, { 3, 1 } } },
  { "multiply by a view of a column", NULL, multiply_by_column_view, CHECK_MODE, 1, { { 3, 4 } } },
  { "multiply by a row", "multiply_broadcast_", multiply_broadcast, CHECK_MODE, 2, { { 3, 35 }, { 1, 35 } } },
  { "multiply by a view of a row", NULL, multiply_by_row_view, CHECK_MODE, 1, { { 3, 4 } } },
  { "add n", "add_n", add_n, CHECK_MODE, 3, { { 2, 3 }, { 2, 3 }, { 2, 3 } } },
  { "multiply", "multiply_", multiply, CHECK_MODE, 2, { { 3, 11 }, { 3, 11 } } },
  { "multiply by itself", NULL, square, CHECK_MODE, 1, { { 3, 4 } } },
  { "divide", "divide_", divide, CHECK_MODE, 2, { { 3, 4 }, { 3, 4 } } },
  { "scale", "scale", scale, CHECK_MODE, 1, { { 3, 4 } } },
  { "reduce sum", "reduce_sum", reduce_sum, CHECK_MODE, 1, { { 3, 4 } } },
  { "views", NULL, views, CHECK_MODE, 1, { { 5, 5 } } },
  { "concatenate columns",
    "concatenate_columns",
    concatenate_columns,
    CHECK_MODE,
    3,
    { { 2, 3 }, { 2, 1 }, { 2, 4 } } },
  { "concatenate rows", "concatenate_rows", concatenate_rows, CHECK_MODE, 3, { { 2, 3 }, { 1, 3 }, { 4, 3 } } },
  { "gather rows", "gather_rows", gather_rows, CHECK_MODE, 1, { { 5, 3 } } },
  { "gather windows", "gather_rows", gather_windows, CHECK_MODE, 1, { { 5, 3 } } },
  { "select rows", "select_rows_", select_rows, CHECK_MODE, 2, { { 5, 3 }, { 5, 3 } } },
  { "select rows or zero", "select_rows_taken", select_or_zero, CHECK_MODE, 1, { { 5, 3 } } },
  { "dropout", "dropout", dropout, TRAIN_MODE, 1, { { 4, 11 } } },
  { "residual", "residual_", residual, TRAIN_MODE, 2, { { 4, 11 }, { 4, 11 } } },
  { "residual chain", "residual_", residual_chain, TRAIN_MODE, 3, { { 4, 5 }, { 5, 5 }, { 5, 5 } } },
  { "layer norm", "layer_norm_", layer_norm, CHECK_MODE, 3, { { 3, 11 }, { 1, 11 }, { 1, 11 } } },
  { "layer norm beside its input", NULL, layer_norm_shared, CHECK_MODE, 3, { { 3, 5 }, { 1, 5 }, { 1, 5 } } },
  { "embed", "embed_table", embed, CHECK_MODE, 1, { { 5, 3 } } },
  { "embed, computed table", NULL, embed_computed, CHECK_MODE, 1, { { 4, 3 } } },
  { "add positions", "add_positions_", add_positions, TRAIN_MODE, 2, { { 5, 11 }, { 4, 11 } } },
  { "attention", "attention_", attention, TRAIN_MODE, 3, { { 5, WIDTH }, { 7, WIDTH }, { 7, WIDTH } } },
  { "attention, causal", "attention_", attention_causal, CHECK_MODE, 1, { { 5, 12 } } },
  { "attention, long", NULL, attention_long, TRAIN_MODE, 3, { { 3, 1 }, { 790, 1 }, { 790, 1 } } },
  { "attention, relative", "attention_", attention_relative, CHECK_MODE, 3, { { 5, 6 }, { 5, 6 }, { 5, 6 } } },
  { "attention, relative and causal",
    "attention_",
    attention_relative_causal,
    TRAIN_MODE,
    3,
    { { 5, 6 }, { 5, 6 }, { 5, 6 } } },
  { "attention to itself", NULL, attention_to_itself, CHECK_MODE, 1, { { 5, 3 } } },
  { "attention, joint",
    "attention_",
    attention_joint,
    TRAIN_MODE,
    5,
    { { 5, 4 }, { 7, 4 }, { 7, 4 }, { 3, 4 }, { 3, 4 } } },
  { "items",
    "items_attention_",
    items_attention,
    TRAIN_MODE,
    5,
    { { 4, WIDTH }, { 4, WIDTH }, { 4, WIDTH }, { 4, WIDTH }, { 4, WIDTH } } },
  { "items, all present", NULL, items_attention_all, CHECK_MODE, 4, { { 3, 4 }, { 3, 4 }, { 3, 4 }, { 3, 4 } } },
  { "additive scores",
    "additive_scores_",
    additive_scores,
    CHECK_MODE,
    5,
    { { 5, WIDTH }, { 7, WIDTH }, { PAIRS, WIDTH }, { 1, WIDTH }, { 1, 1 } } },
  { "additive scores, long", NULL, additive_scores_long, CHECK_MODE, 3, { { 2, 3 }, { 153, 3 }, { 1, 3 } } },
  { "dot scores", "dot_scores_", dot_scores, CHECK_MODE, 2, { { 5, WIDTH }, { 7, WIDTH } } },
  { "ragged softmax", "ragged_softmax_", ragged_softmax, CHECK_MODE, 2, { { PAIRS, 1 }, { PAIRS_TOO, 1 } } },
  { "weighted sum", "weighted_sum_", weighted_sum, CHECK_MODE, 3, { { PAIRS, 1 }, { 7, WIDTH }, { 7, 3 } } },
  { "pairs of columns", NULL, pairs_of_columns, CHECK_MODE, 2, { { PAIRS, 3 }, { 7, WIDTH } } },
  { "halting weights", "halting_weights_", halting_weights, CHECK_MODE, 1, { { 9, 1 } } },
  { "output loss", "output_loss_", output_loss, CHECK_MODE, 3, { { 4, 5 }, { 11, 5 }, { 1, 11 } } },
  { "output loss of a mixture",
    "mixture_loss_",
    mixture_loss,
    CHECK_MODE,
    6,
    { { 5, 3 }, { 11, 3 }, { 1, 11 }, { 5, 1 }, { PAIRS, 1 }, { PAIRS_TOO, 1 } } },
  { "output loss, others", NULL, output_loss_others, CHECK_MODE, 2, { { 4, 5 }, { 11, 5 } } },
};

const GradientCase *
gradient_case_at (guint i)
{
  if (i < G_N_ELEMENTS (plain_cases))
    return &plain_cases[i];
  i -= G_N_ELEMENTS (plain_cases);
  if (i < n_recurrent_cases)
    return &recurrent_cases[i];
  i -= n_recurrent_cases;
  return i < n_sparse_cases ? &sparse_cases[i] : NULL;
}

static void
draw (PlaitTensor tensor, PlaitRandomKey key)
{
  for (gint64 i = 0; i < tensor.rows * tensor.width; i++)
    tensor.data[i] = (PlaitScalar)plait_random_normal (key, (guint64)i);
}

typedef struct
{
  const GradientCase *gradient_case;
  guint first, second; /* the leaf that stands for two, and the other; the same: none */
} Graph;

static PlaitNode *
build_root (PlaitTape *tape, PlaitNode *const *leaves, gpointer data)
{
  const Graph *graph = data;
  const GradientCase *gradient_case = graph->gradient_case;
  PlaitNode *inputs[G_N_ELEMENTS (gradient_case->leaves)];
  PlaitNode *output;
  PlaitTensor weights;

  memcpy (inputs, leaves, gradient_case->n_leaves * sizeof (PlaitNode *));
  inputs[graph->second] = leaves[graph->first];
  output = gradient_case->build (tape, inputs);
  gint64 n = output->value.rows * output->value.width;
  /* A loss must itself be the root, because its gradient has to be 1. */
  if (n == 1)
    return output;
  weights = plait_tensor (plait_arena_new_array (plait_tape_arena (tape), PlaitScalar, n), output->value.rows,
                          output->value.width);
  draw (weights, plait_random_key (1, "weighing", gradient_case->name, 0));
  return plait_reduce_sum (tape, plait_multiply (tape, output, plait_leaf (tape, weights, NULL)));
}

gboolean
run_gradient_case (const GradientCase *gradient_case, PlaitPool *pool, GError **error)
{
  return run_gradient_case_with (gradient_case, 0, 0, pool, error);
}

gboolean
run_gradient_case_with (const GradientCase *gradient_case, guint first, guint second, PlaitPool *pool, GError **error)
{
  Graph graph = { gradient_case, first, second };
  g_autoptr (GPtrArray) storage = g_ptr_array_new_with_free_func (g_free);
  PlaitCheckLeaf leaves[G_N_ELEMENTS (gradient_case->leaves)] = { { NULL } };
  PlaitGradientCheck check = {
    .build = build_root,
    .data = &graph,
    .leaves = leaves,
    .n_leaves = gradient_case->n_leaves,
    .mode = gradient_case->mode,
    .key = plait_random_key (1, "dropout", gradient_case->name, 0),
  };

  for (guint i = 0; i < gradient_case->n_leaves; i++)
    {
      gint64 rows = gradient_case->leaves[i].rows;
      gint64 width = gradient_case->leaves[i].width;
      char *name = g_strdup_printf ("leaf %u of %s", i, gradient_case->name);
      PlaitScalar *data = g_new (PlaitScalar, rows * width);

      g_ptr_array_add (storage, name);
      g_ptr_array_add (storage, data);
      leaves[i].name = name;
      leaves[i].value = plait_tensor (data, rows, width);
      draw (leaves[i].value, plait_random_key (1, "leaf", gradient_case->name, i));
    }
  return plait_check_gradients (&check, pool, error);
}
