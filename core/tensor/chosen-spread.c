/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "tensor/chosen-private.h"
#include "tensor/terms.h"

/* What is added to the rows that were chosen. */

/* Rows that many queries go through before the next ones. */
#define ROWS 64

typedef struct
{
  const PlaitKernels *kernels;
  const PlaitChosen *chosen;
  /* A piece is a part of the queries, whose rows no query of another part has chosen, and one of so many splits of the
   * strips. */
  gint64 parts;
  gint64 *part; /* [parts + 1]: the queries that they begin with */
  gint64 splits;
  gint64 strips;
  gint64 work;
  const PlaitScalar *numbers;
  PlaitTensor x;
  PlaitTensor y;
  const PlaitAdditive *additive;
  const PlaitAdditiveGradients *gradients;
  PlaitScalar *partial; /* [parts][1 + width]: sums of the bias and the vector */
} Call;

/* Writes where the parts begin and returns how many they are: of @least chosen rows or more each, cut where the rows of
 * some queries come before those of all later ones in the memory, as those of sentences do. @low and @high have room
 * for a number a query. */
static gint64
cut (const PlaitChosen *chosen, gint64 least, gint64 *part, gint64 *low, gint64 *high)
{
  gint64 queries = plait_chosen_queries (chosen), parts = 1, begin = 0, greatest = -1;

  for (gint64 q = queries - 1, later = G_MAXINT64; q >= 0; q--)
    {
      gint64 at = plait_chosen_begin_of_query (chosen, q);

      plait_kernels ()->extent (chosen->row + at, plait_chosen_begin_of_query (chosen, q + 1) - at, &low[q], &high[q]);
      low[q] = later = MIN (later, low[q]);
    }
  for (gint64 q = 0; q < queries; q++)
    {
      if (greatest < low[q] && plait_chosen_begin_of_query (chosen, q) - begin >= least)
        {
          part[parts++] = q;
          begin = plait_chosen_begin_of_query (chosen, q);
        }
      greatest = MAX (greatest, high[q]);
    }
  return parts;
}

/* Cuts the work, at @cost multiply-adds for each chosen row. */
static void
prepare (Call *call, PlaitArena *arena, gint64 width, gint64 cost)
{
  const PlaitChosen *chosen = call->chosen;
  gint64 queries = plait_chosen_queries (chosen), work = plait_chosen_number (chosen) * cost;

  call->kernels = plait_kernels ();
  call->work = work;
  call->strips = plait_chosen_strips (chosen, width);
  call->part = plait_arena_new_array (arena, gint64, 3 * queries + 2);
  call->part[0] = 0;
  call->parts = 1;
  if (work >= PLAIT_CHOSEN_LITTLE)
    call->parts = cut (chosen, MAX (1, PLAIT_CHOSEN_PIECE / cost), call->part, call->part + queries + 2,
                       call->part + 2 * queries + 2);
  call->part[call->parts] = queries;
  call->splits = CLAMP (work / PLAIT_CHOSEN_PIECE / call->parts, 1, call->strips);
}

static void
release (Call *call, PlaitArena *arena)
{
  plait_arena_release (arena, call->part, sizeof (gint64) * (gsize)(3 * plait_chosen_queries (call->chosen) + 2));
}

/* The strips of @piece: from *first on, before what is returned. */
static gint64
strips_of (const Call *call, gint64 piece, gint64 *first)
{
  *first = call->strips * (piece % call->splits) / call->splits;
  return call->strips * (piece % call->splits + 1) / call->splits;
}

/* Adds, query by query, or as products of matrices; their last columns, short of a vector, query by query. */
static void
spread_alike (const Call *call, const PlaitChosenAlike *alike, const PlaitChosenStrips *strips)
{
  const PlaitChosen *chosen = call->chosen;
  gint64 entry = alike->first * chosen->heads + strips->head, at = plait_chosen_begin (chosen, entry);
  gint64 rows = plait_chosen_begin (chosen, entry + 1) - at, column = strips->column, whole = 0;

  if (alike->is_product && rows > 0)
    {
      whole = strips->width - strips->width % call->kernels->vector_length;
      call->kernels->multiply (rows, whole, alike->n, call->numbers + at, 1, alike->length,
                               plait_tensor_row (call->y, alike->first) + column, call->y.stride,
                               plait_tensor_row (call->x, chosen->row[at]) + column, call->x.stride, TRUE, NULL);
    }
  for (gint64 i = 0; i < alike->n && whole < strips->width; i++)
    call->kernels->spread_rows (call->x.data + column + whole, call->x.stride, chosen->row + at, rows,
                                call->numbers + at + i * alike->length,
                                plait_tensor_row (call->y, alike->first + i) + column + whole, strips->width - whole);
}

static void
spread_piece (gpointer data, gint64 piece, guint thread)
{
  const Call *call = data;
  gint64 part = piece / call->splits, end = call->part[part + 1], first, last = strips_of (call, piece, &first);
  PlaitChosenAlike alike;
  PlaitChosenStrips strips;

  for (gint64 q = call->part[part]; q < end; q += alike.n)
    {
      alike = plait_chosen_alike (call->chosen, q, end);
      for (gint64 strip = first; strip < last; strip += strips.n)
        {
          strips = plait_chosen_strips_from (call->chosen, call->x.width, strip, last);
          spread_alike (call, &alike, &strips);
        }
    }
}

void
plait_chosen_spread (PlaitPool *pool, PlaitArena *arena, const PlaitChosen *chosen, PlaitTensor x,
                     const PlaitScalar *numbers, PlaitTensor y)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_ATTENTION);
  Call call = { .chosen = chosen, .x = x, .y = y, .numbers = numbers };

  g_assert (x.width == y.width && y.rows == plait_chosen_queries (chosen));
  prepare (&call, arena, x.width, MAX (1, x.width / chosen->heads));
  plait_chosen_run (pool, call.parts * call.splits, call.work, spread_piece, &call);
  release (&call, arena);
}

/* The gradients of query @q with its chosen rows @at .. @end - 1, in the columns of @strips. */
static void
tanh_backward_rows (const Call *call, const PlaitChosenStrips *strips, gint64 q, gint64 at, gint64 end,
                    PlaitScalar *dvector)
{
  const PlaitAdditive *additive = call->additive;
  const PlaitAdditiveGradients *gradients = call->gradients;
  gint64 column = strips->column;
  PlaitAdditiveRows job = {
    .n = end - at,
    .row = call->chosen->row + at,
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
  const PlaitChosen *chosen = call->chosen;
  gint64 width = call->additive->queries.width, part = piece / call->splits, first, last;
  PlaitScalar *bias = call->partial + part * (1 + width), *vector = bias + 1;
  PlaitChosenStrips strips;
  PlaitChosenAlike alike;

  last = strips_of (call, piece, &first);
  strips = plait_chosen_strips_from (chosen, width, first, last);
  memset (vector + strips.column, 0, sizeof (PlaitScalar) * (gsize)strips.width);
  for (gint64 q = call->part[part]; q < call->part[part + 1]; q += alike.n)
    {
      gint64 begin = plait_chosen_begin (chosen, q);

      alike = plait_chosen_alike (chosen, q, call->part[part + 1]);
      for (gint64 i = begin; i < begin + alike.length; i += ROWS)
        for (gint64 k = 0; k < alike.n; k++)
          tanh_backward_rows (call, &strips, q + k, i + k * alike.length,
                              MIN (i + ROWS, begin + alike.length) + k * alike.length, vector);
    }
  if (first > 0)
    return;
  *bias = 0;
  for (gint64 i = plait_chosen_begin (chosen, call->part[part]); i < plait_chosen_begin (chosen, call->part[part + 1]);
       i++)
    *bias += PLAIT_TERM (chosen_additive_bias, call->numbers[i]);
}

void
plait_chosen_tanh_backward (PlaitPool *pool, PlaitArena *arena, const PlaitChosen *chosen,
                            const PlaitAdditiveGradients *gradients, const PlaitScalar *dnumbers,
                            const PlaitAdditive *additive)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_ATTENTION);
  Call call = { .chosen = chosen, .numbers = dnumbers, .additive = additive, .gradients = gradients };
  gint64 width = additive->queries.width;
  gsize bytes;

  g_assert (chosen->heads == 1 && !additive->extra.data && !gradients->replaces_keys);
  prepare (&call, arena, width, width * PLAIT_CHOSEN_TANH);
  bytes = sizeof (PlaitScalar) * (gsize)(call.parts * (1 + width));
  call.partial = plait_arena_take (arena, bytes);
  plait_chosen_run (pool, call.parts * call.splits, call.work, tanh_backward_piece, &call);
  for (gint64 part = 0; part < call.parts; part++)
    {
      const PlaitScalar *bias = call.partial + part * (1 + width);

      if (gradients->bias)
        *gradients->bias += *bias;
      if (gradients->vector)
        call.kernels->accumulate (gradients->vector, 1, 1, bias + 1, width);
    }
  plait_arena_release (arena, call.partial, bytes);
  release (&call, arena);
}
