/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "attention/sparse-private.h"

/* Backward functions of attention to selected rows. They add to the gradients of the selected rows. */

/* Number of selected rows in a block. A piece processes all its strips of a block before the next block. */
#define ROWS 64

typedef struct
{
  const PlaitKernels *kernels;
  const PlaitSelectedRows *selected;
  /* The queries are cut into parts. Queries of different parts have no selected row in common. A piece computes some of
   * the strips of one part. */
  gint64 parts;
  gint64 *part; /* first query of each part: [parts + 1] */
  gint64 splits;
  gint64 strips;
  gint64 work;
  const PlaitScalar *numbers;
  PlaitTensor x;
  PlaitTensor y;
  const PlaitAdditiveScores *additive;
  const PlaitAdditiveGradients *gradients;
  PlaitScalar *partial; /* gradient of additive->vector, a separate sum for each part: [parts][width] */
} Call;

/* Cuts the queries into parts, each except the last with at least @least selected rows. Writes the first query of each
 * part after part 0 to @part and returns the number of parts. A cut before query q is possible if all rows that the
 * queries before q select come before all rows that q and later queries select, as between sentences. @low and @high
 * are scratch memory: [queries]. */
static gint64
cut (const PlaitSelectedRows *selected, gint64 least, gint64 *part, gint64 *low, gint64 *high)
{
  gint64 queries = plait_selected_rows_queries (selected), parts = 1, begin = 0, greatest = -1;

  for (gint64 q = queries - 1, later = G_MAXINT64; q >= 0; q--)
    {
      gint64 at = plait_selected_rows_begin_of_query (selected, q);

      plait_kernels ()->extent (plait_selected_rows_from (selected, at),
                                plait_selected_rows_begin_of_query (selected, q + 1) - at, &low[q], &high[q]);
      low[q] = later = MIN (later, low[q]);
    }
  for (gint64 q = 0; q < queries; q++)
    {
      if (greatest < low[q] && plait_selected_rows_begin_of_query (selected, q) - begin >= least)
        {
          part[parts++] = q;
          begin = plait_selected_rows_begin_of_query (selected, q);
        }
      greatest = MAX (greatest, high[q]);
    }
  return parts;
}

/* Cuts the work into pieces. @cost is the number of multiply-adds for each selected row. */
static void
prepare (Call *call, PlaitArena *arena, gint64 width, gint64 cost)
{
  const PlaitSelectedRows *selected = call->selected;
  gint64 queries = plait_selected_rows_queries (selected), work = plait_selected_rows_count (selected) * cost;

  call->kernels = plait_kernels ();
  call->work = work;
  call->strips = plait_sparse_strips (selected, width);
  call->part = plait_arena_new_array (arena, gint64, 3 * queries + 2);
  call->part[0] = 0;
  call->parts = 1;
  if (work >= PLAIT_SPARSE_MIN_PARALLEL_WORK)
    call->parts = cut (selected, MAX (1, PLAIT_SPARSE_PIECE_WORK / cost), call->part, call->part + queries + 2,
                       call->part + 2 * queries + 2);
  call->part[call->parts] = queries;
  call->splits = CLAMP (work / PLAIT_SPARSE_PIECE_WORK / call->parts, 1, call->strips);
}

static void
release (Call *call, PlaitArena *arena)
{
  plait_arena_release (arena, call->part,
                       sizeof (gint64) * (gsize)(3 * plait_selected_rows_queries (call->selected) + 2));
}

/* Returns the end of the range of strips that @piece computes, and sets *first to its beginning. */
static gint64
strips_of (const Call *call, gint64 piece, gint64 *first)
{
  *first = call->strips * (piece % call->splits) / call->splits;
  return call->strips * (piece % call->splits + 1) / call->splits;
}

static void
spread_piece (gpointer data, gint64 piece, guint thread)
{
  const Call *call = data;
  const PlaitSelectedRows *selected = call->selected;
  gint64 part = piece / call->splits, end = call->part[part + 1], first, last = strips_of (call, piece, &first);
  PlaitSparseStrips strips;

  for (gint64 q = call->part[part]; q < end; q++)
    for (gint64 strip = first; strip < last; strip += strips.n)
      {
        gint64 entry, at;

        strips = plait_sparse_strips_from (selected, call->x.width, strip, last);
        entry = q * selected->heads + strips.head;
        at = plait_selected_rows_begin (selected, entry);
        call->kernels->spread_rows (call->x.data + strips.column, call->x.stride,
                                    plait_selected_rows_from (selected, at),
                                    plait_selected_rows_begin (selected, entry + 1) - at, call->numbers + at,
                                    plait_tensor_row (call->y, q) + strips.column, strips.width);
      }
}

void
plait_sparse_weighted_sum_transposed (PlaitPool *pool, PlaitArena *arena, const PlaitSelectedRows *selected,
                                      PlaitTensor x, const PlaitScalar *numbers, PlaitTensor y)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_ATTENTION);
  Call call = { .selected = selected, .x = x, .y = y, .numbers = numbers };

  g_assert (x.width == y.width && y.rows == plait_selected_rows_queries (selected));
  prepare (&call, arena, x.width, MAX (1, x.width / selected->heads));
  plait_sparse_run (pool, call.parts * call.splits, call.work, spread_piece, &call);
  release (&call, arena);
}

/* Adds to the gradients of query @q, of its selected rows @at .. @end - 1, and of the vector (@dvector), in the columns
 * of @strips. */
static void
tanh_backward_rows (const Call *call, const PlaitSparseStrips *strips, gint64 q, gint64 at, gint64 end,
                    PlaitScalar *dvector)
{
  const PlaitAdditiveScores *additive = call->additive;
  const PlaitAdditiveGradients *gradients = call->gradients;
  gint64 column = strips->column;
  PlaitAdditiveRows job = {
    .n = end - at,
    .row = plait_selected_rows_from (call->selected, at),
    .dscores = call->numbers + at,
    .query = plait_tensor_row (additive->queries, q) + column,
    .keys = additive->keys.data + column,
    .stride = additive->keys.stride,
    .vector = additive->vector + column,
    .dquery = gradients->queries.data ? plait_tensor_row (gradients->queries, q) + column : NULL,
    .dkeys = gradients->keys.data ? gradients->keys.data + column : NULL,
    .dstride = gradients->keys.stride,
    .dvector = dvector + column,
  };

  call->kernels->additive_rows_backward (&job, strips->width);
}

static void
tanh_backward_piece (gpointer data, gint64 piece, guint thread)
{
  const Call *call = data;
  const PlaitSelectedRows *selected = call->selected;
  gint64 width = call->additive->queries.width, part = piece / call->splits, first, last;
  PlaitScalar *vector = call->partial + part * width;
  PlaitSparseStrips strips;

  last = strips_of (call, piece, &first);
  strips = plait_sparse_strips_from (selected, width, first, last);
  memset (vector + strips.column, 0, sizeof (PlaitScalar) * (gsize)strips.width);
  for (gint64 q = call->part[part]; q < call->part[part + 1]; q++)
    for (gint64 i = plait_selected_rows_begin (selected, q); i < plait_selected_rows_begin (selected, q + 1); i += ROWS)
      tanh_backward_rows (call, &strips, q, i, MIN (i + ROWS, plait_selected_rows_begin (selected, q + 1)), vector);
}

void
plait_sparse_additive_scores_backward (PlaitPool *pool, PlaitArena *arena, const PlaitSelectedRows *selected,
                                       const PlaitAdditiveGradients *gradients, const PlaitScalar *dnumbers,
                                       const PlaitAdditiveScores *additive)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_ATTENTION);
  Call call = { .selected = selected, .numbers = dnumbers, .additive = additive, .gradients = gradients };
  gint64 width = additive->queries.width;
  gsize bytes;

  g_assert (selected->heads == 1 && !additive->extra.data && !gradients->replaces_keys);
  prepare (&call, arena, width, width * PLAIT_SPARSE_TANH_COST);
  bytes = sizeof (PlaitScalar) * (gsize)(call.parts * width);
  call.partial = plait_arena_allocate (arena, bytes);
  plait_sparse_run (pool, call.parts * call.splits, call.work, tanh_backward_piece, &call);
  for (gint64 part = 0; part < call.parts && gradients->vector; part++)
    call.kernels->accumulate (gradients->vector, 1, 1, call.partial + part * width, width);
  plait_arena_release (arena, call.partial, bytes);
  release (&call, arena);
}
