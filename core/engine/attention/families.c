/* SPDX-License-Identifier: MIT */
#include "attention/families.h"

#include <math.h>
#include <string.h>

#include "kernels/kernels.h"

/* Queries whose weights are made together, at most, and how many numbers those may be, so that they stay in cache. */
#define MOST_QUERIES 64
#define MOST_NUMBERS 98304

/* The rows at the top of sentence @s, which stand last. */
static PlaitFamily
top_of (const PlaitWalk *walk, gint64 s)
{
  gint64 begin = walk->rows.offsets[s], end = walk->rows.offsets[s + 1], top = end;

  while (top > begin && walk->level[top - 1] == walk->level[end - 1])
    top--;
  return (PlaitFamily){ -1, top - begin, end - top };
}

/* TRUE if @next, whose parent stands before that of @family, has its children before that one's; the last may be its
 * first. */
static gboolean
comes_before (const PlaitFamily *next, const PlaitFamily *family)
{
  return next->n > 0 && next->first >= 0 && next->first + next->n <= next->parent && next->first <= family->first
         && next->first + next->n <= family->first + family->n;
}

gboolean
plait_families (PlaitArena *arena, const PlaitWalk *walk, PlaitFamilies *families)
{
  gint64 rows = plait_ragged_rows (walk->rows), sentences = walk->rows.n, n = 0;
  PlaitFamily *family = plait_arena_new_array (arena, PlaitFamily, rows + sentences);
  gint64 *of = plait_arena_new_array (arena, gint64, 4 * sentences + 2), *weighed = of + sentences + 1,
         *parts = weighed + sentences, *places = plait_arena_new_array (arena, gint64, rows + 2 * sentences);

  of[0] = parts[0] = 0;
  for (gint64 s = 0; s < sentences; s++)
    {
      gint64 begin = walk->rows.offsets[s], length = plait_ragged_length (walk->rows, s), leaves = 0;
      gboolean passes = TRUE;

      weighed[s] = places[n + s] = 0;
      while (leaves < length && walk->level[begin + leaves] == 0)
        leaves++;
      for (gint64 row = length; row >= leaves && length > 0; row--)
        {
          if (row == length)
            family[n] = top_of (walk, s);
          else if (walk->n_children[begin + row] == 0)
            continue;
          else
            family[n] = (PlaitFamily){ row, walk->first_child[begin + row] - begin, walk->n_children[begin + row] };
          if (row < length && !comes_before (&family[n], &family[n - 1]))
            return FALSE;
          passes &= family[n].n == 1 && family[n].first >= leaves;
          weighed[s] += passes ? 0 : family[n].n;
          places[n + s + 1] = places[n + s] + family[n].n;
          n++;
        }
      of[s + 1] = n;
      parts[2 * s + 1] = begin + leaves;
      parts[2 * s + 2] = begin + length;
    }
  *families = (PlaitFamilies){ walk->rows, { sentences, of }, family, places, weighed, { 2 * sentences, parts } };
  return TRUE;
}

typedef struct
{
  const PlaitKernels *kernels;
  PlaitPool *pool;
  const PlaitFamiliesAttention *attention;
  PlaitTensor context; /* or its gradient */
  const PlaitFamiliesGradients *gradients;
  PlaitMask mask;
} Call;

/* One sentence and head. */
typedef struct
{
  gint64 sentence;
  gint64 head;
  gint64 first_query; /* row */
  gint64 queries;
  gint64 first_row;
  gint64 leaves;
  gint64 width;
  gint64 column; /* its first */
  PlaitFamilyTile tile;
  gint64 places; /* of weights */
} Piece;

static gint64
whole_vectors (const Call *call, gint64 n)
{
  gint64 length = call->kernels->vector_length;

  return (n + length - 1) / length * length;
}

static Piece
piece_of (const Call *call, gint64 number)
{
  const PlaitFamiliesAttention *attention = call->attention;
  const PlaitFamilies *families = attention->families;
  gint64 heads = attention->settings->heads, s = number / heads, most, tiles;
  Piece piece = {
    .sentence = s,
    .head = number % heads,
    .first_query = attention->query_rows.offsets[s],
    .queries = plait_ragged_length (attention->query_rows, s),
    .first_row = families->rows.offsets[s],
    .leaves = plait_families_leaves (families, s),
    .width = attention->queries.width / heads,
    .tile = { .families = families->family + families->of.offsets[s],
              .n = plait_ragged_length (families->of, s),
              .rows = plait_ragged_length (families->rows, s),
              .keeps = call->gradients != NULL },
  };
  double scale = attention->settings->scale;

  piece.column = piece.head * piece.width;
  piece.tile.scale = (PlaitScalar)(scale != 0 ? scale : 1 / sqrt ((double)piece.width));
  most = CLAMP (MOST_NUMBERS / MAX (piece.tile.rows, 1), call->kernels->vector_length, MOST_QUERIES);
  tiles = MAX ((piece.queries + most - 1) / most, 1);
  piece.tile.stride = whole_vectors (call, (piece.queries + tiles - 1) / tiles);
  for (gint64 f = 0; f < piece.tile.n; f++)
    piece.places
        = piece.tile.keeps ? piece.places + piece.tile.families[f].n : MAX (piece.places, piece.tile.families[f].n);
  return piece;
}

/* Takes @n numbers of @room, at whole lines. */
static PlaitScalar *
take (PlaitScalar **room, gint64 n)
{
  PlaitScalar *taken = *room;

  *room += (n + PLAIT_LONGEST_VECTOR - 1) / PLAIT_LONGEST_VECTOR * PLAIT_LONGEST_VECTOR;
  return taken;
}

/* The piece's columns of @n rows of @x. */
static PlaitTensor
columns_of (const Piece *piece, PlaitTensor x, gint64 first, gint64 n)
{
  return (PlaitTensor){ plait_tensor_row (x, first) + piece->column, n, piece->width, x.stride };
}

/* The same side by side, in whole vectors, as products want them that read all of them again and again. */
static PlaitTensor
copy_of (const Call *call, const Piece *piece, PlaitTensor x, gint64 first, gint64 n, PlaitScalar **room)
{
  PlaitTensor given = columns_of (piece, x, first, n), copy = given;

  copy.stride = whole_vectors (call, piece->width);
  copy.data = take (room, n * copy.stride);
  for (gint64 i = 0; i < n; i++)
    memcpy (plait_tensor_row (copy, i), plait_tensor_row (given, i), sizeof (PlaitScalar) * (gsize)piece->width);
  return copy;
}

/* What a piece takes, all in all. */
static PlaitScalar *
scratch_of (const Call *call, Piece *piece, guint thread)
{
  PlaitFamilyTile *tile = &piece->tile;
  gint64 rows = tile->rows, columns = (2 * rows + piece->places + piece->width) * tile->stride;
  gint64 copies = (2 * (rows + piece->queries) + piece->leaves) * whole_vectors (call, piece->width);
  PlaitScalar *room = plait_pool_scratch (call->pool, thread,
                                          sizeof (PlaitScalar) * (gsize)(columns + copies + 9 * PLAIT_LONGEST_VECTOR));

  tile->scores = take (&room, rows * tile->stride);
  tile->path = take (&room, rows * tile->stride);
  tile->weights = take (&room, piece->places * tile->stride);
  return room;
}

/* numbers [rows of left][columns] = left . right of queries @first .. @first + @n - 1. @turned is room. */
static void
multiply_queries (const Call *call, const Piece *piece, PlaitScalar *numbers, PlaitTensor left, PlaitTensor right,
                  gint64 first, gint64 n, PlaitScalar *turned)
{
  const PlaitFamilyTile *tile = &piece->tile;

  call->kernels->transpose (turned, tile->stride, tile->columns, plait_tensor_row (right, first), right.stride, n,
                            piece->width);
  call->kernels->multiply (left.rows, tile->columns, piece->width, left.data, left.stride, 1, turned, tile->stride,
                           numbers, tile->stride, FALSE);
}

/* Drops some of what the leaves have: the draw of a leaf, head and query. */
static void
drop (const Call *call, const Piece *piece, PlaitScalar *numbers, gint64 first, gint64 n)
{
  for (gint64 i = 0; i < piece->leaves && call->mask.threshold > 0; i++)
    {
      gint64 place = (piece->first_row + i) * call->attention->settings->heads + piece->head;
      PlaitScalar *row = numbers + i * piece->tile.stride;
      PlaitMask mask = call->mask;

      mask.key = plait_random_hash32 (mask.key, mask.key2, (guint32)place);
      call->kernels->dropout (row, NULL, 1, row, n, &mask, (guint32)first);
    }
}

static void
forward_piece (gpointer data, gint64 number, guint thread)
{
  const Call *call = data;
  const PlaitFamiliesAttention *attention = call->attention;
  Piece piece = piece_of (call, number);
  PlaitFamilyTile *tile = &piece.tile;
  PlaitScalar *room = scratch_of (call, &piece, thread), *turned = take (&room, piece.width * tile->stride);
  PlaitTensor keys = copy_of (call, &piece, attention->keys, piece.first_row, tile->rows, &room);
  PlaitTensor queries = columns_of (&piece, attention->queries, piece.first_query, piece.queries);
  PlaitTensor context = columns_of (&piece, call->context, piece.first_query, piece.queries);
  PlaitTensor values = copy_of (call, &piece, attention->values, piece.first_row, piece.leaves, &room);

  for (gint64 first = 0; first < piece.queries; first += tile->stride)
    {
      gint64 n = MIN (tile->stride, piece.queries - first);

      tile->columns = whole_vectors (call, n);
      multiply_queries (call, &piece, tile->scores, keys, queries, first, n, turned);
      call->kernels->weigh_families (tile);
      drop (call, &piece, tile->path, first, n);
      call->kernels->multiply (n, piece.width, piece.leaves, tile->path, 1, tile->stride, values.data, values.stride,
                               plait_tensor_row (context, first), context.stride, FALSE);
    }
}

/* target = (beta: target +) numbers^T right, or numbers right if they are not @turned, which have @rows rows. */
static void
give (const Call *call, const Piece *piece, PlaitGradientTarget target, gint64 first, gint64 rows, gint64 depth,
      gboolean turned, PlaitTensor right, gboolean add)
{
  PlaitTensor to;
  gint64 stride = piece->tile.stride;

  if (!target.gradient.data)
    return;
  to = columns_of (piece, target.gradient, first, rows);
  call->kernels->multiply (rows, piece->width, depth, piece->tile.path, turned ? 1 : stride, turned ? stride : 1,
                           right.data, right.stride, to.data, to.stride, add || target.beta != 0);
}

/* Values of upper rows are not read, and without queries no row is. */
static void
clear_unread (const Piece *piece, PlaitGradientTarget target, gint64 first)
{
  for (gint64 i = piece->queries > 0 ? first : 0; i < piece->tile.rows && target.gradient.data && target.beta == 0; i++)
    memset (plait_tensor_row (target.gradient, piece->first_row + i) + piece->column, 0,
            sizeof (PlaitScalar) * (gsize)piece->width);
}

static void
backward_piece (gpointer data, gint64 number, guint thread)
{
  const Call *call = data;
  const PlaitFamiliesAttention *attention = call->attention;
  const PlaitFamiliesGradients *gradients = call->gradients;
  Piece piece = piece_of (call, number);
  PlaitFamilyTile *tile = &piece.tile;
  gint64 queries = piece.queries, leaves = piece.leaves;
  PlaitScalar *room = scratch_of (call, &piece, thread), *turned = take (&room, piece.width * tile->stride);
  PlaitTensor keys = copy_of (call, &piece, attention->keys, piece.first_row, tile->rows, &room);
  PlaitTensor query = columns_of (&piece, attention->queries, piece.first_query, queries);
  PlaitTensor values = copy_of (call, &piece, attention->values, piece.first_row, leaves, &room);
  PlaitTensor dcontext = columns_of (&piece, call->context, piece.first_query, queries);
  PlaitTensor of_keys = copy_of (call, &piece, gradients->of_keys, piece.first_query, queries, &room);
  PlaitTensor of_queries = keys;
  PlaitTensor of_values = copy_of (call, &piece, gradients->of_values, piece.first_query, queries, &room);

  if (gradients->of_queries.data != attention->keys.data)
    of_queries = copy_of (call, &piece, gradients->of_queries, piece.first_row, tile->rows, &room);
  clear_unread (&piece, gradients->values, leaves);
  clear_unread (&piece, gradients->keys, tile->rows);
  for (gint64 first = 0; first < queries; first += tile->stride)
    {
      gint64 n = MIN (tile->stride, queries - first);

      tile->columns = whole_vectors (call, n);
      multiply_queries (call, &piece, tile->scores, keys, query, first, n, turned);
      call->kernels->weigh_families (tile);
      drop (call, &piece, tile->path, first, n);
      give (call, &piece, gradients->values, piece.first_row, leaves, n, FALSE, plait_tensor_rows (of_values, first, n),
            first > 0);
      multiply_queries (call, &piece, tile->scores, values, dcontext, first, n, turned);
      drop (call, &piece, tile->scores, first, n);
      memset (tile->scores + leaves * tile->stride, 0,
              sizeof (PlaitScalar) * (gsize)((tile->rows - leaves) * tile->stride));
      call->kernels->weigh_families_backward (tile);
      give (call, &piece, gradients->keys, piece.first_row, tile->rows, n, FALSE, plait_tensor_rows (of_keys, first, n),
            first > 0);
      give (call, &piece, gradients->queries, piece.first_query + first, n, tile->rows, TRUE, of_queries, FALSE);
    }
}

void
plait_families_attention (PlaitPool *pool, PlaitTensor context, const PlaitFamiliesGradients *gradients,
                          const PlaitFamiliesAttention *attention)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_ATTENTION);
  const PlaitAttentionSettings *settings = attention->settings;
  Call call = { .kernels = plait_kernels (),
                .pool = pool,
                .attention = attention,
                .context = context,
                .gradients = gradients,
                .mask = plait_mask (settings->key, settings->dropout) };

  plait_pool_run (pool, attention->query_rows.n * settings->heads, gradients ? backward_piece : forward_piece, &call);
}
