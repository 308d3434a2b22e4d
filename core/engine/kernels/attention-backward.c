/* SPDX-License-Identifier: MIT */
#include "kernels/attention-halves.h"

#include "kernels/terms.h"

/*
 * Backward. The weights are made again, from the scores and the log-sums that forward has left. A block of keys meets
 * all tiles of queries before the next one does, so that its gradients stay near; those of the queries add up block by
 * block.
 */

typedef struct
{
  PlaitScalar *keys;        /* rows of the block that are copied: [block][padded] */
  PlaitScalar *key_columns; /* of the block: [width][stride] */
  PlaitScalar *value_columns;
  PlaitScalar *queries; /* rows of the tile that are copied: [tile][padded] */
  PlaitScalar *dcontext;
  PlaitScalar *weights;  /* [tile][stride] */
  PlaitScalar *changes;  /* their gradients, then those of the scores */
  PlaitScalar *deltas;   /* [queries] */
  PlaitScalar *dqueries; /* [queries][padded] */
  PlaitScalar *dkeys;    /* [keys][padded] */
  PlaitScalar *dvalues;

  /* With bfloat16 instead of columns and copied rows: */
  Right key_panels; /* of the block, its keys by columns */
  Right value_panels;
  Right key_row_panels; /* its keys by rows */
  PlaitHalves *left;    /* factors that a tile brings */
  PlaitHalves *right;
} Room;

/* Returns the scalars that it takes. */
static gsize
take_room (const Piece *piece, PlaitScalar *data, Room *room)
{
  Scratch scratch = { data, 0 };

  room->keys = take_block (&scratch, piece->block * piece->padded);
  if (piece->bfloat16)
    {
      gint64 along = piece->tile * plait_halves (MAX (piece->width, piece->block));

      room->key_panels.panels = take_halves (&scratch, right_size (piece->block, piece->width));
      room->value_panels.panels = take_halves (&scratch, right_size (piece->block, piece->width));
      room->key_row_panels.panels = take_halves (&scratch, right_size (piece->width, piece->block));
      room->left = take_halves (&scratch, MAX (along, piece->block * plait_halves (piece->tile)));
      room->right = take_halves (&scratch, right_size (piece->width, piece->tile));
    }
  else
    {
      room->key_columns = take_block (&scratch, piece->width * piece->stride);
      room->value_columns = take_block (&scratch, piece->width * piece->stride);
      room->queries = take_block (&scratch, piece->tile * piece->padded);
      room->dcontext = take_block (&scratch, piece->tile * piece->padded);
    }
  room->weights = take_block (&scratch, piece->tile * piece->stride);
  room->changes = take_block (&scratch, piece->tile * piece->stride);
  room->deltas = take_block (&scratch, piece->queries);
  room->dqueries = take_block (&scratch, piece->queries * piece->padded);
  room->dkeys = take_block (&scratch, piece->keys * piece->padded);
  room->dvalues = take_block (&scratch, piece->keys * piece->padded);
  return scratch.taken;
}

/* target (rows first .. first + n - 1, the head's columns) = beta * target + factor * gradient;
 * gradient NULL: zeros. */
static void
give (const Piece *piece, const PlaitGradientTarget *target, gint64 first, gint64 n, PlaitScalar factor,
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

/* The sum of weight times its gradient, which is context . dcontext, dropout or not. */
static PlaitScalar
mean_change (const Piece *piece, gint64 query)
{
  const PlaitAttentionJob *job = piece->job;
  gint64 at = piece->first_query + query;

  return product_of (plait_tensor_row (job->context, at) + piece->column,
                     plait_tensor_row (job->dcontext, at) + piece->column, piece->width);
}

/* Of a query and the block: scores -> weights after dropout; the gradients of those -> those of the scores. */
static void
softmax_backward (const Piece *piece, gint64 query, PlaitScalar *weights, PlaitScalar *changes, PlaitScalar delta,
                  gint64 from, gint64 keys)
{
  const PlaitAttentionJob *job = piece->job;
  gint64 seen = seen_of_block (piece, query, from, keys), i;
  PlaitScalar log_sum = job->log_sums[(piece->first_query + query) * job->settings->heads + piece->head];

  if (piece->mask.threshold > 0)
    drop (piece, query, changes, from, seen);
  for (i = 0; i < seen; i += VECTOR_LENGTH)
    {
      Vector weight = vector_exp_of_negative (vector_load (weights + i) * piece->scale - log_sum);
      Vector gradient
          = weight
            * (PLAIT_TERM (attention_weight, vector_load (changes + i)) - PLAIT_TERM (attention_normaliser, delta))
            * piece->scale;

      if (i + VECTOR_LENGTH > seen)
        {
          weight = vector_choose (lanes_below (seen - i), weight, (Vector){ 0 });
          gradient = vector_choose (lanes_below (seen - i), gradient, (Vector){ 0 });
        }
      vector_store (weights + i, weight);
      vector_store (changes + i, gradient);
    }
  for (; i < keys; i += VECTOR_LENGTH)
    {
      vector_store (weights + i, (Vector){ 0 });
      vector_store (changes + i, (Vector){ 0 });
    }
  if (piece->mask.threshold > 0)
    drop (piece, query, weights, from, seen);
}

/* The keys of a part of the block, as they are laid out. */
static Rows
key_rows_of_part (const Piece *piece, const Room *room, Part part, gint64 from)
{
  if (piece->in_place)
    return rows_of_part (piece, part, FALSE, TRUE, NULL);
  return (Rows){ room->keys + (part.place - from) * piece->padded, piece->padded };
}

/* scores [n][stride] = the tile's @left times the block's keys or values by columns. */
static void
multiply_columns (const Piece *piece, const Room *room, PlaitScalar *scores, Rows left, gint64 n, gboolean values,
                  gint64 keys)
{
  const PlaitScalar *columns = values ? room->value_columns : room->key_columns;

  if (piece->bfloat16)
    {
      multiply_halves (piece, round_left (piece, room->left, left, n, piece->width, FALSE),
                       values ? room->value_panels : room->key_panels, scores, piece->stride, keys, FALSE);
      return;
    }
  KERNEL (multiply)
  (n, whole_vectors (keys), piece->width, left.data, left.stride, 1, columns, piece->stride, scores, piece->stride,
   FALSE);
}

/* gradient [keys][padded] += scores^T times the tile's @right. */
static void
add_transposed (const Piece *piece, const Room *room, PlaitScalar *gradient, const PlaitScalar *scores, gint64 keys,
                gint64 n, Rows right)
{
  if (piece->bfloat16)
    {
      Rows rows = { scores, piece->stride };

      multiply_halves (piece, round_left (piece, room->left, rows, n, keys, TRUE),
                       round_right (piece, room->right, right, n, FALSE), gradient, piece->padded, piece->width, TRUE);
      return;
    }
  KERNEL (multiply)
  (keys, piece->width, n, scores, 1, piece->stride, right.data, right.stride, gradient, piece->padded, TRUE);
}

/* gradients of the tile's queries += those of the scores times the block's keys. */
static void
add_to_queries (const Piece *piece, const Room *room, gint64 first, gint64 n, gint64 from, gint64 keys)
{
  PlaitScalar *gradient = room->dqueries + first * piece->padded;
  Rows changes = { room->changes, piece->stride };

  if (piece->bfloat16)
    {
      multiply_halves (piece, round_left (piece, room->left, changes, n, keys, FALSE), room->key_row_panels, gradient,
                       piece->padded, piece->width, TRUE);
      return;
    }
  EACH_PART (part, piece, from, from + keys)
  {
    Rows rows = key_rows_of_part (piece, room, part, from);

    KERNEL (multiply)
    (n, piece->width, part.n, room->changes + part.place - from, piece->stride, 1, rows.data, rows.stride, gradient,
     piece->padded, TRUE);
  }
}

/* Queries @first .. @first + @n - 1 and those of the keys from @from on in the block that they see. */
static void
tile_backward (const Piece *piece, const Room *room, gint64 first, gint64 n, gint64 from)
{
  gint64 keys = MIN (piece->block, keys_of_tile (piece, first, n) - from);
  Rows queries = rows_of_queries (piece, piece->job->queries, first, n, room->queries);
  Rows dcontext = rows_of_queries (piece, piece->job->dcontext, first, n, room->dcontext);

  multiply_columns (piece, room, room->weights, queries, n, FALSE, keys);
  multiply_columns (piece, room, room->changes, dcontext, n, TRUE, keys);
  for (gint64 q = 0; q < n; q++)
    softmax_backward (piece, first + q, room->weights + q * piece->stride, room->changes + q * piece->stride,
                      room->deltas[first + q], from, keys);
  add_to_queries (piece, room, first, n, from, keys);
  add_transposed (piece, room, room->dkeys + from * piece->padded, room->changes, keys, n, queries);
  add_transposed (piece, room, room->dvalues + from * piece->padded, room->weights, keys, n, dcontext);
}

/* The keys and values of the block, as its products read them. */
static void
lay_out_block (const Piece *piece, Room *room, gint64 from, gint64 end)
{
  if (piece->bfloat16)
    {
      Rows keys = rows_of_block (piece, FALSE, from, end, room->keys);

      room->key_panels = round_right (piece, room->key_panels.panels, keys, end - from, TRUE);
      room->key_row_panels = round_right (piece, room->key_row_panels.panels, keys, end - from, FALSE);
      room->value_panels = round_right (piece, room->value_panels.panels,
                                        rows_of_block (piece, TRUE, from, end, room->keys), end - from, TRUE);
      return;
    }
  transpose_block (piece, room->key_columns, FALSE, from, end, NULL);
  transpose_block (piece, room->value_columns, TRUE, from, end, NULL);
  EACH_PART (part, piece, from, end)
  rows_of_part (piece, part, FALSE, piece->in_place, room->keys + (part.place - from) * piece->padded);
}

/* All tiles that see the block from @from on. */
static void
block_backward (const Piece *piece, Room *room, gint64 from)
{
  gint64 end = MIN (from + piece->block, piece->keys), query = piece->job->settings->causal ? from : 0;

  lay_out_block (piece, room, from, end);
  for (gint64 first = query / piece->tile * piece->tile; first < piece->queries; first += piece->tile)
    tile_backward (piece, room, first, MIN (piece->tile, piece->queries - first), from);
}

gsize
KERNEL (attention_backward) (const PlaitAttentionPiece *given, gpointer scratch)
{
  Piece piece = piece_of (given);
  const PlaitAttentionJob *job = piece.job;
  Room room;
  gsize size = sizeof (PlaitScalar) * take_room (&piece, scratch, &room);

  if (!scratch)
    return size;
  memset (room.dqueries, 0, sizeof (PlaitScalar) * (gsize)(piece.queries * piece.padded));
  memset (room.dkeys, 0, sizeof (PlaitScalar) * (gsize)(piece.keys * piece.padded));
  memset (room.dvalues, 0, sizeof (PlaitScalar) * (gsize)(piece.keys * piece.padded));
  for (gint64 q = 0; q < piece.queries; q++)
    room.deltas[q] = mean_change (&piece, q);
  for (gint64 from = 0; from < piece.keys; from += piece.block)
    block_backward (&piece, &room, from);

  give (&piece, &job->dqueries, piece.first_query, piece.queries, PLAIT_TERM (attention_query, 1), room.dqueries);
  for (guint m = 0; m < job->n_memories; m++)
    {
      PlaitRagged rows = job->memories[m].rows;
      gint64 first = rows.offsets[piece.sentence], n = memory_length (&piece, m);

      give (&piece, &job->dmemories[m].keys, first, n, PLAIT_TERM (attention_key, 1), room.dkeys);
      give (&piece, &job->dmemories[m].values, first, n, PLAIT_TERM (attention_value, 1), room.dvalues);
      room.dkeys += n * piece.padded;
      room.dvalues += n * piece.padded;
    }
  return size;
}
