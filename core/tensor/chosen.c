/* SPDX-License-Identifier: MIT */
#include "tensor/chosen.h"

#include <string.h>

#include "tensor/kernels/kernels.h"
#include "tensor/panel.h"
#include "tensor/terms.h"

/* Multiply-adds, or what takes as long, of a piece of work; less than LITTLE in all is not worth waking threads. All
 * cuts depend on the choice alone. */
#define PIECE 32768
#define LITTLE 131072
/* What a hyperbolic tangent, and a number of a softmax, takes. */
#define TANH_COST 8
#define SOFTMAX_COST 16
/* Columns of a head that are summed together, or added to, by one piece. */
#define COLUMNS 64

typedef struct
{
  const PlaitKernels *kernels;
  const PlaitChosen *chosen;
  gint64 number_in_piece; /* chosen rows */
  gint64 strips;
  /* Parts: no two of them have chosen the same row. */
  gint64 parts;
  gint64 *part; /* [parts + 1]: the queries that they begin with */
  PlaitScalar *numbers;
  const PlaitScalar *from;
  const PlaitScalar *weights;
  PlaitScalar scale;
  gboolean add;
  PlaitTensor x;
  PlaitTensor y;
  const PlaitAdditive *additive;
  const PlaitAdditiveGradients *gradients;
  PlaitScalar *partial; /* [parts][1 + width]: sums of the bias and the vector */
  const PlaitScalar *parents;
  const gint64 *parent;
  PlaitScalar *sums; /* [sets] */
} Call;

static void
run (PlaitPool *pool, Call *call, gint64 pieces, gint64 work, PlaitPiece piece)
{
  call->kernels = plait_kernels ();
  if (work >= LITTLE)
    plait_pool_run (pool, pieces, piece, call);
  else
    for (gint64 i = 0; i < pieces; i++)
      piece (call, i, 0);
}

/* Where the chosen rows of @entry begin. */
static gint64
begin_of (const PlaitChosen *chosen, gint64 entry)
{
  return chosen->rows.offsets[chosen->sets.offsets[entry]];
}

static gint64
begin_of_query (const PlaitChosen *chosen, gint64 query)
{
  return begin_of (chosen, query * chosen->heads);
}

static gint64
queries_of (const PlaitChosen *chosen)
{
  return chosen->sets.n / chosen->heads;
}

/* The first entry whose rows begin at @number or later; the number of entries if there is none. */
static gint64
entry_from (const PlaitChosen *chosen, gint64 number)
{
  gint64 low = 0, high = chosen->sets.n;

  while (low < high)
    {
      gint64 middle = (low + high) / 2;

      if (begin_of (chosen, middle) < number)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

/* Pieces of so many chosen rows, at @cost each. */
static void
run_numbers (PlaitPool *pool, Call *call, gint64 cost, PlaitPiece piece)
{
  gint64 number = plait_chosen_number (call->chosen);

  call->number_in_piece = MAX (1, PIECE / cost);
  run (pool, call, (number + call->number_in_piece - 1) / call->number_in_piece, number * cost, piece);
}

/* Pieces of whole queries with about so many chosen rows, one for each of @strips strips of columns. */
static void
run_queries (PlaitPool *pool, Call *call, gint64 strips, gint64 cost, PlaitPiece piece)
{
  gint64 number = plait_chosen_number (call->chosen);

  call->strips = strips;
  call->number_in_piece = MAX (1, PIECE / cost);
  run (pool, call, (number / call->number_in_piece + 1) * strips, number * cost * strips, piece);
}

/* The first query of @piece of such pieces: those that begin within its rows are its own. */
static gint64
first_query (const Call *call, gint64 piece)
{
  gint64 entry = entry_from (call->chosen, piece / call->strips * call->number_in_piece);

  return (entry + call->chosen->heads - 1) / call->chosen->heads;
}

static gint64
end_query (const Call *call, gint64 piece)
{
  return first_query (call, piece + call->strips);
}

/* Some columns of a head. */
typedef struct
{
  guint head;
  gint64 column;
  gint64 width;
} Strip;

static gint64
strips_of_head (const PlaitChosen *chosen, gint64 width)
{
  return (width / chosen->heads + COLUMNS - 1) / COLUMNS;
}

static Strip
strip_of (const PlaitChosen *chosen, gint64 width, gint64 strip)
{
  gint64 per_head = strips_of_head (chosen, width), head = strip / per_head, first = strip % per_head * COLUMNS;

  width /= chosen->heads;
  return (Strip){ (guint)head, head * width + first, MIN (COLUMNS, width - first) };
}

/* Multiply-adds that a chosen row of any head costs a strip. */
static gint64
strip_cost (const PlaitChosen *chosen, gint64 width)
{
  return MAX (1, MIN (COLUMNS, width / chosen->heads) / chosen->heads);
}

static void
dot_piece (gpointer data, gint64 piece, guint thread)
{
  const Call *call = data;
  const PlaitChosen *chosen = call->chosen;
  gint64 at = piece * call->number_in_piece, end = MIN (at + call->number_in_piece, plait_chosen_number (chosen));
  gint64 width = call->x.width / chosen->heads, heads = chosen->heads;

  for (gint64 entry = entry_from (chosen, at + 1) - 1, n; at < end; at += n, entry++)
    {
      gint64 column = entry % heads * width;

      n = MIN (begin_of (chosen, entry + 1), end) - at;
      call->kernels->dot_rows (call->numbers + at, call->scale, plait_tensor_row (call->y, entry / heads) + column,
                               call->x.data + column, call->x.stride, chosen->row + at, n, width);
    }
}

void
plait_chosen_dot (PlaitPool *pool, const PlaitChosen *chosen, PlaitScalar *numbers, PlaitScalar scale,
                  PlaitTensor queries, PlaitTensor rows)
{
  Call call = { .chosen = chosen, .numbers = numbers, .scale = scale, .y = queries, .x = rows };

  run_numbers (pool, &call, MAX (1, rows.width / chosen->heads), dot_piece);
}

static void
tanh_piece (gpointer data, gint64 piece, guint thread)
{
  const Call *call = data;
  const PlaitChosen *chosen = call->chosen;
  const PlaitAdditive *additive = call->additive;
  gint64 at = piece * call->number_in_piece, end = MIN (at + call->number_in_piece, plait_chosen_number (chosen));
  PlaitScalar bias = additive->bias != NULL ? *additive->bias : 0;

  for (gint64 entry = entry_from (chosen, at + 1) - 1; at < end; entry++)
    for (gint64 n = MIN (begin_of (chosen, entry + 1), end); at < n; at++)
      call->numbers[at] = bias
                          + call->kernels->additive_score (plait_tensor_row (additive->queries, entry),
                                                           plait_tensor_row (additive->keys, chosen->row[at]), NULL,
                                                           additive->vector, additive->queries.width);
}

void
plait_chosen_tanh (PlaitPool *pool, const PlaitChosen *chosen, PlaitScalar *numbers, const PlaitAdditive *additive)
{
  Call call = { .chosen = chosen, .numbers = numbers, .additive = additive };

  g_assert (chosen->heads == 1 && additive->extra.data == NULL);
  run_numbers (pool, &call, additive->queries.width * TANH_COST, tanh_piece);
}

/* Cuts the queries into parts that have no row in common, of at least PIECE / @cost chosen rows each, where the rows of
 * some queries come before those of all later ones in the memory: so it is with sentences. */
static void
cut (Call *call, PlaitArena *arena, gint64 strips, gint64 cost)
{
  const PlaitChosen *chosen = call->chosen;
  gint64 queries = queries_of (chosen), begin = 0, greatest = -1, number = plait_chosen_number (chosen);
  gint64 *least = plait_arena_new_array (arena, gint64, 2 * queries + 3); /* row of a query and all later ones */

  call->strips = strips;
  call->part = least + queries + 1;
  call->part[0] = 0;
  call->parts = 1;
  least[queries] = G_MAXINT64;
  for (gint64 q = queries - 1, i = number - 1; q >= 0 && number * cost * strips >= LITTLE; q--)
    for (least[q] = least[q + 1]; i >= begin_of_query (chosen, q); i--)
      least[q] = MIN (least[q], chosen->row[i]);
  for (gint64 q = 0, i = 0; q < queries && number * cost * strips >= LITTLE; q++)
    {
      if (greatest < least[q] && (i - begin) * cost >= PIECE)
        {
          call->part[call->parts++] = q;
          begin = i;
        }
      for (; i < begin_of_query (chosen, q + 1); i++)
        greatest = MAX (greatest, chosen->row[i]);
    }
  call->part[call->parts] = queries;
}

/* Runs a piece for each part and strip, and gives the parts back. */
static void
run_parts (PlaitPool *pool, PlaitArena *arena, Call *call, gint64 cost, PlaitPiece piece)
{
  gint64 queries = queries_of (call->chosen);

  run (pool, call, call->parts * call->strips, plait_chosen_number (call->chosen) * cost * call->strips, piece);
  plait_arena_release (arena, call->part - queries - 1, sizeof (gint64) * (gsize)(2 * queries + 3));
}

static void
tanh_backward_piece (gpointer data, gint64 piece, guint thread)
{
  const Call *call = data;
  const PlaitChosen *chosen = call->chosen;
  const PlaitAdditive *additive = call->additive;
  const PlaitAdditiveGradients *gradients = call->gradients;
  gint64 width = additive->queries.width, part = piece / call->strips;
  Strip strip = strip_of (chosen, width, piece % call->strips);
  PlaitScalar *bias = call->partial + part * (1 + width), *vector = bias + 1 + strip.column;

  memset (vector, 0, sizeof (PlaitScalar) * (gsize)strip.width);
  if (strip.column == 0)
    *bias = 0;
  for (gint64 q = call->part[part]; q < call->part[part + 1]; q++)
    {
      gint64 at = begin_of (chosen, q);
      PlaitAdditiveRows job = {
        .n = begin_of (chosen, q + 1) - at,
        .row = chosen->row + at,
        .dscores = call->from + at,
        .query = plait_tensor_row (additive->queries, q) + strip.column,
        .keys = additive->keys.data + strip.column,
        .stride = additive->keys.stride,
        .vector = additive->vector + strip.column,
        .dquery = gradients->queries.data != NULL ? plait_tensor_row (gradients->queries, q) + strip.column : NULL,
        .dkeys = gradients->keys.data != NULL ? gradients->keys.data + strip.column : NULL,
        .dstride = gradients->keys.stride,
        .dvector = vector,
      };

      call->kernels->additive_rows_backward (&job, strip.width);
      for (gint64 i = 0; i < job.n && strip.column == 0; i++)
        *bias += PLAIT_TERM (chosen_additive_bias, job.dscores[i]);
    }
}

void
plait_chosen_tanh_backward (PlaitPool *pool, PlaitArena *arena, const PlaitChosen *chosen,
                            const PlaitAdditiveGradients *gradients, const PlaitScalar *dnumbers,
                            const PlaitAdditive *additive)
{
  Call call = { .chosen = chosen, .from = dnumbers, .additive = additive, .gradients = gradients };
  gint64 width = additive->queries.width, cost = strip_cost (chosen, width) * TANH_COST;
  gsize bytes;

  g_assert (chosen->heads == 1 && additive->extra.data == NULL && !gradients->replaces_keys);
  cut (&call, arena, strips_of_head (chosen, width), cost);
  bytes = sizeof (PlaitScalar) * (gsize)(call.parts * (1 + width));
  call.partial = plait_arena_take (arena, bytes);
  run_parts (pool, arena, &call, cost, tanh_backward_piece);
  for (gint64 part = 0; part < call.parts; part++)
    {
      const PlaitScalar *bias = call.partial + part * (1 + width);

      if (gradients->bias != NULL)
        *gradients->bias += *bias;
      if (gradients->vector != NULL)
        call.kernels->accumulate (gradients->vector, 1, 1, bias + 1, width);
    }
  plait_arena_release (arena, call.partial, bytes);
}

static void
softmax_piece (gpointer data, gint64 piece, guint thread)
{
  const Call *call = data;
  const PlaitChosen *chosen = call->chosen;
  gint64 first = chosen->sets.offsets[first_query (call, piece) * chosen->heads];
  gint64 sets = chosen->sets.offsets[end_query (call, piece) * chosen->heads] - first;

  if (call->weights == NULL)
    call->kernels->softmax_sets (call->numbers, call->from, chosen->rows.offsets + first, sets);
  else
    call->kernels->softmax_sets_backward (call->numbers, call->add, call->from, call->weights,
                                          chosen->rows.offsets + first, sets);
}

void
plait_chosen_softmax (PlaitPool *pool, const PlaitChosen *chosen, PlaitScalar *weights, const PlaitScalar *scores)
{
  Call call = { .chosen = chosen, .numbers = weights, .from = scores };

  run_queries (pool, &call, 1, SOFTMAX_COST, softmax_piece);
}

void
plait_chosen_softmax_backward (PlaitPool *pool, const PlaitChosen *chosen, PlaitScalar *dscores, PlaitScalar beta,
                               const PlaitScalar *dweights, const PlaitScalar *weights)
{
  Call call = { .chosen = chosen, .numbers = dscores, .add = beta != 0, .from = dweights, .weights = weights };

  run_queries (pool, &call, 1, SOFTMAX_COST, softmax_piece);
}

/* How many queries from @q on, before @end, have chosen the same rows for each head, rows that follow one another: then
 * they are a product of matrices. 1 if there is no other. */
static gint64
alike (const PlaitChosen *chosen, gint64 q, gint64 end)
{
  gint64 heads = chosen->heads, begin = begin_of_query (chosen, q), length = begin_of_query (chosen, q + 1) - begin, n;

  for (n = 1; length > 0 && q + n < end; n++)
    {
      gboolean differs = FALSE;

      for (gint64 h = 1; h <= heads; h++)
        differs |= begin_of (chosen, (q + n) * heads + h) - begin_of (chosen, q * heads + h) != n * length;
      if (differs
          || memcmp (chosen->row + begin, chosen->row + begin + n * length, sizeof (gint64) * (gsize)length) != 0)
        break;
    }
  for (gint64 h = 0; h < heads && n > 1; h++)
    for (gint64 i = begin_of (chosen, q * heads + h) + 1; i < begin_of (chosen, q * heads + h + 1); i++)
      if (chosen->row[i] != chosen->row[i - 1] + 1)
        return 1;
  return n;
}

/* Sums the rows of @n queries from @q on that are alike: products by the kernels want rows that may be read up to a
 * whole vector, so that the last columns are summed by themselves. Depths are cut, so that what all of the queries read
 * stays near. */
static void
sum_queries (const Call *call, gint64 q, gint64 n, Strip strip)
{
  const PlaitChosen *chosen = call->chosen;
  gint64 at = begin_of (chosen, q * chosen->heads + strip.head);
  gint64 end = begin_of (chosen, q * chosen->heads + strip.head + 1);
  gint64 length = begin_of_query (chosen, q + 1) - begin_of_query (chosen, q);
  gint64 whole = n > 1 && at < end ? strip.width - strip.width % call->kernels->vector_length : 0, depth;
  gboolean add = call->add;

  do
    {
      depth = MIN (PLAIT_PANEL_DEPTH, end - at);
      if (whole > 0)
        call->kernels->multiply (n, whole, depth, call->from + at, length, 1,
                                 plait_tensor_row (call->x, chosen->row[at]) + strip.column, call->x.stride,
                                 plait_tensor_row (call->y, q) + strip.column, call->y.stride, add, NULL);
      for (gint64 i = 0; i < n && whole < strip.width; i++)
        call->kernels->sum_rows (plait_tensor_row (call->y, q + i) + strip.column + whole, add,
                                 call->from + at + i * length, call->x.data + strip.column + whole, call->x.stride,
                                 chosen->row + at, depth, strip.width - whole);
      at += depth;
      add = TRUE;
    }
  while (at < end);
}

static void
sum_piece (gpointer data, gint64 piece, guint thread)
{
  const Call *call = data;
  gint64 end = end_query (call, piece);
  Strip strip = strip_of (call->chosen, call->x.width, piece % call->strips);

  for (gint64 q = first_query (call, piece), n; q < end; q += n)
    {
      n = alike (call->chosen, q, end);
      sum_queries (call, q, n, strip);
    }
}

void
plait_chosen_sum (PlaitPool *pool, const PlaitChosen *chosen, PlaitTensor y, gboolean add, const PlaitScalar *numbers,
                  PlaitTensor x)
{
  Call call = { .chosen = chosen, .x = x, .y = y, .from = numbers, .add = add };

  g_assert (x.width == y.width && y.rows == queries_of (chosen));
  run_queries (pool, &call, strips_of_head (chosen, x.width) * chosen->heads, strip_cost (chosen, x.width), sum_piece);
}

static void
spread_queries (const Call *call, gint64 q, gint64 n, Strip strip)
{
  const PlaitChosen *chosen = call->chosen;
  gint64 at = begin_of (chosen, q * chosen->heads + strip.head);
  gint64 rows = begin_of (chosen, q * chosen->heads + strip.head + 1) - at;
  gint64 length = begin_of_query (chosen, q + 1) - begin_of_query (chosen, q);
  gint64 whole = n > 1 && rows > 0 ? strip.width - strip.width % call->kernels->vector_length : 0;

  if (whole > 0)
    call->kernels->multiply (rows, whole, n, call->from + at, 1, length, plait_tensor_row (call->y, q) + strip.column,
                             call->y.stride, plait_tensor_row (call->x, chosen->row[at]) + strip.column, call->x.stride,
                             TRUE, NULL);
  for (gint64 i = 0; i < n && whole < strip.width; i++)
    call->kernels->spread_rows (call->x.data + strip.column + whole, call->x.stride, chosen->row + at, rows,
                                call->from + at + i * length, plait_tensor_row (call->y, q + i) + strip.column + whole,
                                strip.width - whole);
}

static void
spread_piece (gpointer data, gint64 piece, guint thread)
{
  const Call *call = data;
  gint64 part = piece / call->strips, end = call->part[part + 1];
  Strip strip = strip_of (call->chosen, call->x.width, piece % call->strips);

  for (gint64 q = call->part[part], n; q < end; q += n)
    {
      n = alike (call->chosen, q, end);
      spread_queries (call, q, n, strip);
    }
}

void
plait_chosen_spread (PlaitPool *pool, PlaitArena *arena, const PlaitChosen *chosen, PlaitTensor x,
                     const PlaitScalar *numbers, PlaitTensor y)
{
  Call call = { .chosen = chosen, .x = x, .y = y, .from = numbers };
  gint64 cost = strip_cost (chosen, x.width);

  g_assert (x.width == y.width && y.rows == queries_of (chosen));
  cut (&call, arena, strips_of_head (chosen, x.width) * chosen->heads, cost);
  run_parts (pool, arena, &call, cost, spread_piece);
}

static void
times_parents_piece (gpointer data, gint64 piece, guint thread)
{
  const Call *call = data;
  const PlaitChosen *chosen = call->chosen;
  gint64 end = chosen->sets.offsets[end_query (call, piece) * chosen->heads];

  for (gint64 set = chosen->sets.offsets[first_query (call, piece) * chosen->heads]; set < end; set++)
    {
      PlaitScalar parent = call->parents[call->parent[set]];

      for (gint64 i = chosen->rows.offsets[set]; i < chosen->rows.offsets[set + 1]; i++)
        call->numbers[i] = call->weights[i] * parent;
    }
}

void
plait_chosen_times_parents (PlaitPool *pool, const PlaitChosen *chosen, PlaitScalar *path, const PlaitScalar *weights,
                            const PlaitScalar *parents, const gint64 *parent)
{
  Call call = { .chosen = chosen, .numbers = path, .weights = weights, .parents = parents, .parent = parent };

  run_queries (pool, &call, 1, 1, times_parents_piece);
}

static void
times_parents_backward_piece (gpointer data, gint64 piece, guint thread)
{
  const Call *call = data;
  const PlaitChosen *chosen = call->chosen;
  gint64 end = chosen->sets.offsets[end_query (call, piece) * chosen->heads];

  for (gint64 set = chosen->sets.offsets[first_query (call, piece) * chosen->heads]; set < end; set++)
    {
      PlaitScalar parent = PLAIT_TERM (chosen_path_weight, call->parents[call->parent[set]]), sum = 0;

      for (gint64 i = chosen->rows.offsets[set]; i < chosen->rows.offsets[set + 1]; i++)
        {
          if (call->numbers != NULL)
            call->numbers[i] = (call->add ? call->numbers[i] : 0) + call->from[i] * parent;
          sum += call->from[i] * call->weights[i];
        }
      call->sums[set] = PLAIT_TERM (chosen_path_parent, sum);
    }
}

void
plait_chosen_times_parents_backward (PlaitPool *pool, PlaitArena *arena, const PlaitChosen *chosen,
                                     PlaitScalar *dweights, PlaitScalar beta, PlaitScalar *dparents,
                                     const PlaitScalar *dpath, const PlaitScalar *weights, const PlaitScalar *parents,
                                     const gint64 *parent)
{
  gsize bytes = sizeof (PlaitScalar) * (gsize)chosen->rows.n;
  Call call = { .chosen = chosen,
                .numbers = dweights,
                .add = beta != 0,
                .from = dpath,
                .weights = weights,
                .parents = parents,
                .parent = parent,
                .sums = plait_arena_take (arena, bytes) };

  run_queries (pool, &call, 1, 1, times_parents_backward_piece);
  for (gint64 set = 0; set < chosen->rows.n && dparents != NULL; set++)
    dparents[parent[set]] += call.sums[set];
  plait_arena_release (arena, call.sums, bytes);
}
