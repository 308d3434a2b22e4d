/* SPDX-License-Identifier: MIT */
#include "kernels/attention-bfloat16.h"

#include "kernels/gradient-terms.h"

/*
 * Backward pass of attention for one sentence and head. Recomputes the weights from the scores and from the log-sums
 * that the forward pass kept. All tiles of queries visit one block of keys before the next block, so that the gradients
 * of the block stay in cache. The gradients of the queries add up block by block.
 */

typedef struct
{
  PlaitScalar *keys;            /* copied keys of one block: [block][padded] */
  PlaitScalar *transposed_keys; /* keys of the block by columns: [width][stride] */
  PlaitScalar *value_columns;
  PlaitScalar *queries; /* copied queries of the tile: [tile][padded] */
  PlaitScalar *dcontext;
  PlaitScalar *weights;  /* attention weights of the tile's queries to the block's keys: [tile][stride] */
  PlaitScalar *dscores;  /* gradients of the weights, then of the scores: [tile][stride] */
  PlaitScalar *deltas;   /* context . dcontext of each query: [queries] */
  PlaitScalar *dqueries; /* [queries][padded] */
  PlaitScalar *dkeys;    /* [keys][padded] */
  PlaitScalar *dvalues;

  /* Factors rounded to bfloat16. If products use bfloat16, these fields replace @transposed_keys, @value_columns,
   * @queries and @dcontext. */
  Right key_panels; /* keys of the block, transposed */
  Right value_panels;
  Right key_row_panels;    /* keys of the block, not transposed */
  PlaitBfloat16Pair *left; /* rounded left factor of the tile */
  PlaitBfloat16Pair *right;
} Workspace;

/* Lays out the workspace in @data (NULL: only counts) and returns its size in scalars. */
static gsize
take_workspace (const Piece *piece, PlaitScalar *data, Workspace *workspace)
{
  Scratch scratch = { data, 0 };

  workspace->keys = take_block (&scratch, piece->block * piece->padded);
  if (piece->bfloat16)
    {
      gint64 along = piece->tile * plait_bfloat16_pairs (MAX (piece->width, piece->block));

      workspace->key_panels.panels = take_bfloat16 (&scratch, right_size (piece->block, piece->width));
      workspace->value_panels.panels = take_bfloat16 (&scratch, right_size (piece->block, piece->width));
      workspace->key_row_panels.panels = take_bfloat16 (&scratch, right_size (piece->width, piece->block));
      workspace->left = take_bfloat16 (&scratch, MAX (along, piece->block * plait_bfloat16_pairs (piece->tile)));
      workspace->right = take_bfloat16 (&scratch, right_size (piece->width, piece->tile));
    }
  else
    {
      workspace->transposed_keys = take_block (&scratch, piece->width * piece->stride);
      workspace->value_columns = take_block (&scratch, piece->width * piece->stride);
      workspace->queries = take_block (&scratch, piece->tile * piece->padded);
      workspace->dcontext = take_block (&scratch, piece->tile * piece->padded);
    }
  workspace->weights = take_block (&scratch, piece->tile * piece->stride);
  workspace->dscores = take_block (&scratch, piece->tile * piece->stride);
  workspace->deltas = take_block (&scratch, piece->queries);
  workspace->dqueries = take_block (&scratch, piece->queries * piece->padded);
  workspace->dkeys = take_block (&scratch, piece->keys * piece->padded);
  workspace->dvalues = take_block (&scratch, piece->keys * piece->padded);
  return scratch.taken;
}

/* Writes the columns of the head in rows @first .. @first + @n - 1: target = beta * target + factor * gradient. */
static void
write_gradient (const Piece *piece, const PlaitGradientTarget *target, gint64 first, gint64 n, PlaitScalar factor,
                const PlaitScalar *gradient)
{
  if (!target->gradient.data)
    return;
  for (gint64 i = 0; i < n; i++, gradient += piece->padded)
    {
      PlaitScalar *to = plait_tensor_row (target->gradient, first + i) + piece->column;

      for (gint64 j = 0; j < piece->width; j += VECTOR_LENGTH)
        {
          gint64 here = MIN (VECTOR_LENGTH, piece->width - j);
          Vector part = factor * vector_load (gradient + j);

          put (to + j, target->beta != 0 ? take (to + j, here) + part : part, here);
        }
    }
}

/* Returns the sum of weight times dweight over the keys of a query. It equals context . dcontext, with dropout too. */
static PlaitScalar
mean_dweight (const Piece *piece, gint64 query)
{
  const PlaitAttentionJob *job = piece->job;
  gint64 at = piece->first_query + query;

  return product_of (plait_tensor_row (job->context, at) + piece->column,
                     plait_tensor_row (job->dcontext, at) + piece->column, piece->width);
}

/* For one query and @keys keys of a block: replaces the scores in @weights by weights after dropout, and the gradients
 * of the weights in @dscores by gradients of the scores. */
static void
softmax_backward (const Piece *piece, gint64 query, PlaitScalar *weights, PlaitScalar *dscores, PlaitScalar delta,
                  gint64 from, gint64 keys)
{
  const PlaitAttentionJob *job = piece->job;
  gint64 seen = seen_of_block (piece, query, from, keys), unseen = unseen_of_block (piece, query, from, keys), i = 0;
  PlaitScalar log_sum = job->log_sums[(piece->first_query + query) * job->settings->heads + piece->head];

  if (piece->mask.threshold > 0)
    drop (piece, query, dscores, from, seen);
  for (; RELATIVE && i < unseen / VECTOR_LENGTH * VECTOR_LENGTH; i += VECTOR_LENGTH)
    {
      vector_store (weights + i, (Vector){ 0 });
      vector_store (dscores + i, (Vector){ 0 });
    }
  for (; i < seen; i += VECTOR_LENGTH)
    {
      Vector weight = vector_exp_of_negative (vector_load (weights + i) * piece->scale - log_sum);
      Vector gradient = weight
                        * (PLAIT_GRADIENT_TERM (attention_weight, vector_load (dscores + i))
                           - PLAIT_GRADIENT_TERM (attention_normaliser, delta))
                        * piece->scale;

      if (i + VECTOR_LENGTH > seen || (RELATIVE && i < unseen))
        {
          IntegerVector lanes = RELATIVE ? lanes_between (unseen - i, seen - i) : lanes_below (seen - i);

          weight = vector_choose (lanes, weight, (Vector){ 0 });
          gradient = vector_choose (lanes, gradient, (Vector){ 0 });
        }
      vector_store (weights + i, weight);
      vector_store (dscores + i, gradient);
    }
  for (; i < keys; i += VECTOR_LENGTH)
    {
      vector_store (weights + i, (Vector){ 0 });
      vector_store (dscores + i, (Vector){ 0 });
    }
  if (piece->mask.threshold > 0)
    drop (piece, query, weights, from, seen);
}

/* Returns the rows of the keys in @part: in place, or the copies in the workspace. @from is the first key of the block
 * that the workspace holds. */
static Rows
key_rows_of_key_range (const Piece *piece, const Workspace *workspace, KeyRange part, gint64 from)
{
  if (piece->in_place)
    return rows_of_key_range (piece, part, FALSE, TRUE, NULL);
  return (Rows){ workspace->keys + (part.key - from) * piece->padded, piece->padded };
}

/* Writes scores [n][stride] = left times the transposed keys (or values, if @values) of the block. */
static void
multiply_columns (const Piece *piece, const Workspace *workspace, PlaitScalar *scores, Rows left, gint64 n,
                  gboolean values, gint64 keys)
{
  const PlaitScalar *columns = values ? workspace->value_columns : workspace->transposed_keys;

  if (piece->bfloat16)
    {
      multiply_bfloat16 (piece, round_left (piece, workspace->left, left, n, piece->width, FALSE),
                         values ? workspace->value_panels : workspace->key_panels, scores, piece->stride, keys, FALSE);
      return;
    }
  KERNEL (multiply)
  (n, whole_vectors (keys), piece->width, left.data, left.stride, 1, columns, piece->stride, scores, piece->stride,
   FALSE);
}

/* Computes gradient [keys][padded] += transposed scores [n][keys] times @right [n][width]. */
static void
add_transposed (const Piece *piece, const Workspace *workspace, PlaitScalar *gradient, const PlaitScalar *scores,
                gint64 keys, gint64 n, Rows right)
{
  if (piece->bfloat16)
    {
      Rows rows = { scores, piece->stride };

      multiply_bfloat16 (piece, round_left (piece, workspace->left, rows, n, keys, TRUE),
                         round_right (piece, workspace->right, right, n, FALSE), gradient, piece->padded, piece->width,
                         TRUE);
      return;
    }
  KERNEL (multiply)
  (keys, piece->width, n, scores, 1, piece->stride, right.data, right.stride, gradient, piece->padded, TRUE);
}

/* Adds dscores times the keys of the block to the gradients of queries @first .. @first + @n - 1. */
static void
add_to_queries (const Piece *piece, const Workspace *workspace, gint64 first, gint64 n, gint64 from, gint64 keys)
{
  PlaitScalar *gradient = workspace->dqueries + first * piece->padded;
  Rows dscores = { workspace->dscores, piece->stride };

  if (piece->bfloat16)
    {
      multiply_bfloat16 (piece, round_left (piece, workspace->left, dscores, n, keys, FALSE), workspace->key_row_panels,
                         gradient, piece->padded, piece->width, TRUE);
      return;
    }
  EACH_KEY_RANGE (part, piece, from, from + keys)
  {
    Rows rows = key_rows_of_key_range (piece, workspace, part, from);

    KERNEL (multiply)
    (n, piece->width, part.n, workspace->dscores + part.key - from, piece->stride, 1, rows.data, rows.stride, gradient,
     piece->padded, TRUE);
  }
}

/* Adds what queries @first .. @first + @n - 1 and the block at key @from contribute to the gradients of queries, keys
 * and values. */
static void
tile_backward (const Piece *piece, const Workspace *workspace, gint64 first, gint64 n, gint64 from)
{
  gint64 keys = MIN (piece->block, keys_of_tile (piece, first, n) - from);
  Rows queries = rows_of_queries (piece, piece->job->queries, first, n, workspace->queries);
  Rows dcontext = rows_of_queries (piece, piece->job->dcontext, first, n, workspace->dcontext);

  multiply_columns (piece, workspace, workspace->weights, queries, n, FALSE, keys);
  if (RELATIVE)
    add_linear_bias (piece, workspace->weights, first, n, from, keys);
  multiply_columns (piece, workspace, workspace->dscores, dcontext, n, TRUE, keys);
  for (gint64 q = 0; q < n; q++)
    softmax_backward (piece, first + q, workspace->weights + q * piece->stride, workspace->dscores + q * piece->stride,
                      workspace->deltas[first + q], from, keys);
  add_to_queries (piece, workspace, first, n, from, keys);
  add_transposed (piece, workspace, workspace->dkeys + from * piece->padded, workspace->dscores, keys, n, queries);
  add_transposed (piece, workspace, workspace->dvalues + from * piece->padded, workspace->weights, keys, n, dcontext);
}

static void
lay_out_block (const Piece *piece, Workspace *workspace, gint64 from, gint64 end)
{
  if (piece->bfloat16)
    {
      Rows keys = rows_of_block (piece, FALSE, from, end, workspace->keys);

      workspace->key_panels = round_right (piece, workspace->key_panels.panels, keys, end - from, TRUE);
      workspace->key_row_panels = round_right (piece, workspace->key_row_panels.panels, keys, end - from, FALSE);
      workspace->value_panels = round_right (piece, workspace->value_panels.panels,
                                             rows_of_block (piece, TRUE, from, end, workspace->keys), end - from, TRUE);
      return;
    }
  transpose_block (piece, workspace->transposed_keys, FALSE, from, end, NULL);
  transpose_block (piece, workspace->value_columns, TRUE, from, end, NULL);
  EACH_KEY_RANGE (part, piece, from, end)
  rows_of_key_range (piece, part, FALSE, piece->in_place, workspace->keys + (part.key - from) * piece->padded);
}

/* Adds what the block at key @from contributes to all gradients. */
static void
block_backward (const Piece *piece, Workspace *workspace, gint64 from)
{
  gint64 end = MIN (from + piece->block, piece->keys), query = piece->job->settings->causal ? from : 0;
  gint64 queries = piece->queries;

  if (RELATIVE)
    {
      if (!piece->job->settings->causal)
        query = MAX (from - window_of (piece) + 1 - shift_of (piece), 0);
      queries = MIN (queries, end - 1 + window_of (piece) - shift_of (piece));
    }
  lay_out_block (piece, workspace, from, end);
  for (gint64 first = query / piece->tile * piece->tile; first < queries; first += piece->tile)
    tile_backward (piece, workspace, first, MIN (piece->tile, piece->queries - first), from);
}

gsize
ATTENTION (backward) (const PlaitAttentionPiece *given, gpointer scratch)
{
  Piece piece = piece_of (given);
  const PlaitAttentionJob *job = piece.job;
  Workspace workspace;
  gsize size = sizeof (PlaitScalar) * take_workspace (&piece, scratch, &workspace);

  if (!scratch)
    return size;
  memset (workspace.dqueries, 0, sizeof (PlaitScalar) * (gsize)(piece.queries * piece.padded));
  memset (workspace.dkeys, 0, sizeof (PlaitScalar) * (gsize)(piece.keys * piece.padded));
  memset (workspace.dvalues, 0, sizeof (PlaitScalar) * (gsize)(piece.keys * piece.padded));
  for (gint64 q = 0; q < piece.queries; q++)
    workspace.deltas[q] = mean_dweight (&piece, q);
  for (gint64 from = 0; from < piece.keys; from += piece.block)
    block_backward (&piece, &workspace, from);

  write_gradient (&piece, &job->dqueries, piece.first_query, piece.queries, PLAIT_GRADIENT_TERM (attention_query, 1),
                  workspace.dqueries);
  for (guint m = 0; m < job->n_memories; m++)
    {
      PlaitRagged rows = job->memories[m].rows;
      gint64 first = rows.offsets[piece.sentence], n = memory_length (&piece, m);

      write_gradient (&piece, &job->dmemories[m].keys, first, n, PLAIT_GRADIENT_TERM (attention_key, 1),
                      workspace.dkeys);
      write_gradient (&piece, &job->dmemories[m].values, first, n, PLAIT_GRADIENT_TERM (attention_value, 1),
                      workspace.dvalues);
      workspace.dkeys += n * piece.padded;
      workspace.dvalues += n * piece.padded;
    }
  return size;
}
