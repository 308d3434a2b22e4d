/* SPDX-License-Identifier: MIT */
#include "attention/sibling-attention.h"

#include <math.h>
#include <string.h>

#include "kernels/kernels.h"

/* Limits for a tile: number of queries, and number of scores, so that the scores stay in cache. A tile has whole
 * vectors of queries, so it can exceed MAX_NUMBERS by up to one vector of queries. */
#define MAX_QUERIES 64
#define MAX_NUMBERS 98304

/* Returns the rows of the top level of sentence @s, which are its last rows. */
static PlaitSiblingGroup
top_of (const PlaitTreeDescent *descent, gint64 s)
{
  gint64 begin = descent->rows.offsets[s], end = descent->rows.offsets[s + 1], top = end;

  while (top > begin && descent->level[top - 1] == descent->level[end - 1])
    top--;
  return (PlaitSiblingGroup){ -1, top - begin, end - top };
}

/* TRUE if @next can be the next group after @group in the list of groups. The rows of @next must be in the sentence and
 * before their parent. The first row of @next must not come after the first row of @group, nor the last row of @next
 * after the last row of @group. */
static gboolean
comes_before (const PlaitSiblingGroup *next, const PlaitSiblingGroup *group)
{
  return next->n > 0 && next->first >= 0 && next->first + next->n <= next->parent && next->first <= group->first
         && next->first + next->n <= group->first + group->n;
}

gboolean
plait_sibling_groups_find (PlaitArena *arena, const PlaitTreeDescent *descent, PlaitSiblingGroups *groups)
{
  gint64 rows = plait_ragged_rows (descent->rows), sentences = descent->rows.n, n = 0;
  PlaitSiblingGroup *group = plait_arena_new_array (arena, PlaitSiblingGroup, rows + sentences);
  gint64 *of = plait_arena_new_array (arena, gint64, 4 * sentences + 2), *weighed = of + sentences + 1,
         *parts = weighed + sentences, *group_rows = plait_arena_new_array (arena, gint64, rows + 2 * sentences);

  of[0] = parts[0] = 0;
  for (gint64 s = 0; s < sentences; s++)
    {
      gint64 begin = descent->rows.offsets[s], length = plait_ragged_length (descent->rows, s), leaves = 0;
      gboolean passes = TRUE;

      weighed[s] = group_rows[n + s] = 0;
      while (leaves < length && descent->level[begin + leaves] == 0)
        leaves++;
      for (gint64 row = length; row >= leaves && length > 0; row--)
        {
          if (row == length)
            group[n] = top_of (descent, s);
          else if (descent->n_children[begin + row] == 0)
            continue;
          else
            group[n] = (PlaitSiblingGroup){ row, descent->first_child[begin + row] - begin,
                                            descent->n_children[begin + row] };
          if (row < length && !comes_before (&group[n], &group[n - 1]))
            return FALSE;
          passes &= group[n].n == 1 && group[n].first >= leaves;
          weighed[s] += passes ? 0 : group[n].n;
          group_rows[n + s + 1] = group_rows[n + s] + group[n].n;
          n++;
        }
      of[s + 1] = n;
      parts[2 * s + 1] = begin + leaves;
      parts[2 * s + 2] = begin + length;
    }
  *groups
      = (PlaitSiblingGroups){ descent->rows, { sentences, of }, group, group_rows, weighed, { 2 * sentences, parts } };
  return TRUE;
}

typedef struct
{
  const PlaitKernels *kernels;
  PlaitPool *pool;
  const PlaitSiblingAttention *attention;
  PlaitTensor context; /* the context, or in backward its gradient */
  const PlaitSiblingAttentionGradients *gradients;
  PlaitMask mask;
} Call;

/* A piece of work: one sentence and head. */
typedef struct
{
  gint64 sentence;
  gint64 head;
  gint64 first_query; /* row of the first query of the sentence */
  gint64 queries;
  gint64 first_row;
  gint64 leaves;
  gint64 width;
  gint64 column; /* first column of the head */
  PlaitSiblingTile tile;
  gint64 group_rows; /* number of rows whose weights the tile stores */
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
  const PlaitSiblingAttention *attention = call->attention;
  const PlaitSiblingGroups *groups = attention->groups;
  gint64 heads = attention->settings->heads, s = number / heads, most, tiles;
  Piece piece = {
    .sentence = s,
    .head = number % heads,
    .first_query = attention->query_rows.offsets[s],
    .queries = plait_ragged_length (attention->query_rows, s),
    .first_row = groups->rows.offsets[s],
    .leaves = plait_sibling_groups_leaves (groups, s),
    .width = attention->queries.width / heads,
    .tile = { .groups = groups->group + groups->of.offsets[s],
              .n = plait_ragged_length (groups->of, s),
              .rows = plait_ragged_length (groups->rows, s),
              .keeps = call->gradients != NULL },
  };
  double scale = attention->settings->scale;

  piece.column = piece.head * piece.width;
  piece.tile.scale = (PlaitScalar)(scale != 0 ? scale : 1 / sqrt ((double)piece.width));
  most = CLAMP (MAX_NUMBERS / MAX (piece.tile.rows, 1), call->kernels->vector_length, MAX_QUERIES);
  tiles = MAX ((piece.queries + most - 1) / most, 1);
  piece.tile.stride = whole_vectors (call, (piece.queries + tiles - 1) / tiles);
  for (gint64 f = 0; f < piece.tile.n; f++)
    piece.group_rows
        = piece.tile.keeps ? piece.group_rows + piece.tile.groups[f].n : MAX (piece.group_rows, piece.tile.groups[f].n);
  return piece;
}

/* Takes @n scalars from @workspace, rounded up to whole vectors. */
static PlaitScalar *
take (PlaitScalar **workspace, gint64 n)
{
  PlaitScalar *taken = *workspace;

  *workspace += (n + PLAIT_MAX_VECTOR_LENGTH - 1) / PLAIT_MAX_VECTOR_LENGTH * PLAIT_MAX_VECTOR_LENGTH;
  return taken;
}

static PlaitTensor
columns_of (const Piece *piece, PlaitTensor x, gint64 first, gint64 n)
{
  return (PlaitTensor){ plait_tensor_row (x, first) + piece->column, n, piece->width, x.stride };
}

/* Copies the head's columns of @n rows of @x, from row @first on, padded to whole vectors. Products that read the rows
 * repeatedly use the copy. */
static PlaitTensor
copy_of (const Call *call, const Piece *piece, PlaitTensor x, gint64 first, gint64 n, PlaitScalar **workspace)
{
  PlaitTensor given = columns_of (piece, x, first, n), copy = given;

  copy.stride = whole_vectors (call, piece->width);
  copy.data = take (workspace, n * copy.stride);
  for (gint64 i = 0; i < n; i++)
    memcpy (plait_tensor_row (copy, i), plait_tensor_row (given, i), sizeof (PlaitScalar) * (gsize)piece->width);
  return copy;
}

/* Allocates scratch memory for the piece and its tile. Returns the part that is still free. */
static PlaitScalar *
scratch_of (const Call *call, Piece *piece, guint thread)
{
  PlaitSiblingTile *tile = &piece->tile;
  gint64 rows = tile->rows, columns = (2 * rows + piece->group_rows + piece->width) * tile->stride;
  gint64 copies = (2 * (rows + piece->queries) + piece->leaves) * whole_vectors (call, piece->width);
  PlaitScalar *workspace = plait_pool_scratch (
      call->pool, thread, sizeof (PlaitScalar) * (gsize)(columns + copies + 9 * PLAIT_MAX_VECTOR_LENGTH));

  tile->scores = take (&workspace, rows * tile->stride);
  tile->path = take (&workspace, rows * tile->stride);
  tile->weights = take (&workspace, piece->group_rows * tile->stride);
  return workspace;
}

/* Computes numbers [rows of left][columns] = left times the transpose of rows @first .. @first + @n - 1 of @right.
 * @transposed is scratch memory. */
static void
multiply_queries (const Call *call, const Piece *piece, PlaitScalar *numbers, PlaitTensor left, PlaitTensor right,
                  gint64 first, gint64 n, PlaitScalar *transposed)
{
  const PlaitSiblingTile *tile = &piece->tile;

  call->kernels->transpose (transposed, tile->stride, tile->columns, plait_tensor_row (right, first), right.stride, n,
                            piece->width);
  call->kernels->multiply (left.rows, tile->columns, piece->width, left.data, left.stride, 1, transposed, tile->stride,
                           numbers, tile->stride, FALSE);
}

/* Applies dropout to the leaves' rows of @numbers, with a separate random number for each leaf, head and query. */
static void
drop (const Call *call, const Piece *piece, PlaitScalar *numbers, gint64 first, gint64 n)
{
  for (gint64 i = 0; i < piece->leaves && call->mask.threshold > 0; i++)
    {
      gint64 row_and_head = (piece->first_row + i) * call->attention->settings->heads + piece->head;
      PlaitScalar *row = numbers + i * piece->tile.stride;
      PlaitMask mask = call->mask;

      mask.key = plait_random_hash32 (mask.key, mask.key2, (guint32)row_and_head);
      call->kernels->dropout (row, NULL, 1, row, n, &mask, (guint32)first);
    }
}

static void
forward_piece (gpointer data, gint64 number, guint thread)
{
  const Call *call = data;
  const PlaitSiblingAttention *attention = call->attention;
  Piece piece = piece_of (call, number);
  PlaitSiblingTile *tile = &piece.tile;
  PlaitScalar *workspace = scratch_of (call, &piece, thread),
              *transposed = take (&workspace, piece.width * tile->stride);
  PlaitTensor keys = copy_of (call, &piece, attention->keys, piece.first_row, tile->rows, &workspace);
  PlaitTensor queries = columns_of (&piece, attention->queries, piece.first_query, piece.queries);
  PlaitTensor context = columns_of (&piece, call->context, piece.first_query, piece.queries);
  PlaitTensor values = copy_of (call, &piece, attention->values, piece.first_row, piece.leaves, &workspace);

  for (gint64 first = 0; first < piece.queries; first += tile->stride)
    {
      gint64 n = MIN (tile->stride, piece.queries - first);

      tile->columns = whole_vectors (call, n);
      multiply_queries (call, &piece, tile->scores, keys, queries, first, n, transposed);
      call->kernels->weigh_sibling_groups (tile);
      drop (call, &piece, tile->path, first, n);
      call->kernels->multiply (n, piece.width, piece.leaves, tile->path, 1, tile->stride, values.data, values.stride,
                               plait_tensor_row (context, first), context.stride, FALSE);
    }
}

/* Computes rows @first .. @first + @rows - 1 of the target: path * right, with path transposed if @transposed. Adds to
 * the target if @add is TRUE or the target's beta is not 0; otherwise overwrites the target. */
static void
write_gradient (const Call *call, const Piece *piece, PlaitGradientTarget target, gint64 first, gint64 rows,
                gint64 depth, gboolean transposed, PlaitTensor right, gboolean add)
{
  PlaitTensor to;
  gint64 stride = piece->tile.stride;

  if (!target.gradient.data)
    return;
  to = columns_of (piece, target.gradient, first, rows);
  call->kernels->multiply (rows, piece->width, depth, piece->tile.path, transposed ? 1 : stride,
                           transposed ? stride : 1, right.data, right.stride, to.data, to.stride,
                           add || target.beta != 0);
}

/* Writes zeros to the gradients of rows that no query reads: rows from @first on, or all rows if there are no queries.
 * Does nothing if the target's beta is not 0. */
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
  const PlaitSiblingAttention *attention = call->attention;
  const PlaitSiblingAttentionGradients *gradients = call->gradients;
  Piece piece = piece_of (call, number);
  PlaitSiblingTile *tile = &piece.tile;
  gint64 queries = piece.queries, leaves = piece.leaves;
  PlaitScalar *workspace = scratch_of (call, &piece, thread),
              *transposed = take (&workspace, piece.width * tile->stride);
  PlaitTensor keys = copy_of (call, &piece, attention->keys, piece.first_row, tile->rows, &workspace);
  PlaitTensor query = columns_of (&piece, attention->queries, piece.first_query, queries);
  PlaitTensor values = copy_of (call, &piece, attention->values, piece.first_row, leaves, &workspace);
  PlaitTensor dcontext = columns_of (&piece, call->context, piece.first_query, queries);
  PlaitTensor of_keys = copy_of (call, &piece, gradients->of_keys, piece.first_query, queries, &workspace);
  PlaitTensor of_queries = keys;
  PlaitTensor of_values = copy_of (call, &piece, gradients->of_values, piece.first_query, queries, &workspace);

  if (gradients->of_queries.data != attention->keys.data)
    of_queries = copy_of (call, &piece, gradients->of_queries, piece.first_row, tile->rows, &workspace);
  clear_unread (&piece, gradients->values, leaves);
  clear_unread (&piece, gradients->keys, tile->rows);
  for (gint64 first = 0; first < queries; first += tile->stride)
    {
      gint64 n = MIN (tile->stride, queries - first);

      tile->columns = whole_vectors (call, n);
      multiply_queries (call, &piece, tile->scores, keys, query, first, n, transposed);
      call->kernels->weigh_sibling_groups (tile);
      drop (call, &piece, tile->path, first, n);
      write_gradient (call, &piece, gradients->values, piece.first_row, leaves, n, FALSE,
                      plait_tensor_rows (of_values, first, n), first > 0);
      multiply_queries (call, &piece, tile->scores, values, dcontext, first, n, transposed);
      drop (call, &piece, tile->scores, first, n);
      memset (tile->scores + leaves * tile->stride, 0,
              sizeof (PlaitScalar) * (gsize)((tile->rows - leaves) * tile->stride));
      call->kernels->weigh_sibling_groups_backward (tile);
      write_gradient (call, &piece, gradients->keys, piece.first_row, tile->rows, n, FALSE,
                      plait_tensor_rows (of_keys, first, n), first > 0);
      write_gradient (call, &piece, gradients->queries, piece.first_query + first, n, tile->rows, TRUE, of_queries,
                      FALSE);
    }
}

void
plait_sibling_attention_run (PlaitPool *pool, PlaitTensor context, const PlaitSiblingAttentionGradients *gradients,
                             const PlaitSiblingAttention *attention)
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
