/* SPDX-License-Identifier: MIT */
#include "attention/sparse.h"

#include "attention/sparse-private.h"
#include "tensor/panel.h"
#include "tensor/element-ranges.h"

/* Cost of one element of a softmax in multiply-adds. */
#define SOFTMAX_COST 16
/* The largest number of parts into which the selected rows of an entry are cut. */
#define MAX_SPLITS 16

typedef struct
{
  const PlaitKernels *kernels;
  const PlaitSelectedRows *selected;
  gint64 range_size; /* Range k has the queries whose first selected row has an index from k * range_size to
                        (k + 1) * range_size - 1. A piece computes a range, or one of @splits parts of a range. */
  gint64 splits;
  PlaitScalar *numbers;
  const PlaitScalar *from;
  const PlaitScalar *weights;
  PlaitScalar scale;
  gboolean add;
  PlaitTensor x;
  PlaitTensor y;
  const PlaitAdditiveScores *additive;
} Call;

gboolean
plait_selected_rows_are_valid (const PlaitSelectedRows *selected, gint64 queries, gint64 rows)
{
  gint64 least, greatest;

  if (selected->heads == 0 || selected->sets.n != queries * selected->heads
      || selected->rows.n != plait_ragged_rows (selected->sets))
    return FALSE;
  plait_kernels ()->extent (selected->row, plait_selected_rows_count (selected), &least, &greatest);
  return least >= 0 && greatest < rows;
}

static gint64
strips_of_head (const PlaitSelectedRows *selected, gint64 width)
{
  return (width / selected->heads + PLAIT_SPARSE_STRIP_COLUMNS - 1) / PLAIT_SPARSE_STRIP_COLUMNS;
}

gint64
plait_sparse_strips (const PlaitSelectedRows *selected, gint64 width)
{
  return strips_of_head (selected, width) * selected->heads;
}

PlaitSparseStrips
plait_sparse_strips_from (const PlaitSelectedRows *selected, gint64 width, gint64 strip, gint64 end)
{
  gint64 of_head = strips_of_head (selected, width), column = strip % of_head * PLAIT_SPARSE_STRIP_COLUMNS;
  gint64 head = strip / of_head, n = MIN (end, (head + 1) * of_head) - strip;

  width /= selected->heads;
  return (PlaitSparseStrips){ head, n, head * width + column, MIN (n * PLAIT_SPARSE_STRIP_COLUMNS, width - column) };
}

/* Runs @piece over ranges of queries. @cost is the number of multiply-adds for each selected row. If a range costs
 * several times PLAIT_SPARSE_PIECE_WORK, cuts each range into at most @most_splits parts of its rows or strips. */
static void
run (PlaitPool *pool, Call *call, gint64 cost, gint64 most_splits, PlaitPoolFunc piece)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_ATTENTION);
  const PlaitSelectedRows *selected = call->selected;
  gint64 number = plait_selected_rows_count (selected);
  gint64 queries = MAX (1, plait_selected_rows_queries (selected)), work = number * cost, ranges;

  call->kernels = plait_kernels ();
  call->range_size = MAX (1, PLAIT_SPARSE_PIECE_WORK / cost);
  /* A range has at least as many rows as an average query. If ranges were smaller, most ranges would be empty. */
  if (most_splits > 1)
    call->range_size = MAX (call->range_size, number / queries);
  ranges = number / call->range_size + 1;
  call->splits = CLAMP (work / PLAIT_SPARSE_PIECE_WORK / ranges, 1, most_splits);
  plait_sparse_run (pool, ranges * call->splits, work, piece, call);
}

static gint64
first_query (const Call *call, gint64 piece)
{
  PlaitRagged sets = call->selected->sets, rows = call->selected->rows;
  gint64 heads = call->selected->heads, number = piece / call->splits * call->range_size;
  gint64 set = plait_lower_bound (rows.offsets, 0, rows.n + 1, number);
  gint64 entry = plait_lower_bound (sets.offsets, 0, sets.n + 1, set);

  return MIN ((entry + heads - 1) / heads, sets.n / heads);
}

static gint64
end_query (const Call *call, gint64 piece)
{
  return first_query (call, piece + call->splits);
}

/* Cuts @n items into @splits parts. Returns the end of the part that @piece computes, and sets *first to its first
 * item. */
static gint64
split (const Call *call, gint64 piece, gint64 n, gint64 *first)
{
  *first = n * (piece % call->splits) / call->splits;
  return n * (piece % call->splits + 1) / call->splits;
}

static void
dot_piece (gpointer data, gint64 piece, guint thread)
{
  const Call *call = data;
  const PlaitSelectedRows *selected = call->selected;
  gint64 end = end_query (call, piece), width = call->x.width / selected->heads;

  for (gint64 q = first_query (call, piece); q < end; q++)
    for (gint64 h = 0; h < selected->heads; h++)
      {
        gint64 entry = q * selected->heads + h, begin = plait_selected_rows_begin (selected, entry), first;
        gint64 rows = split (call, piece, plait_selected_rows_begin (selected, entry + 1) - begin, &first) - first;

        call->kernels->dot_rows (call->numbers + begin + first, call->scale, plait_tensor_row (call->y, q) + h * width,
                                 call->x.data + h * width, call->x.stride,
                                 plait_selected_rows_from (selected, begin + first), rows, width);
      }
}

void
plait_sparse_dot_scores_forward (PlaitPool *pool, const PlaitSelectedRows *selected, PlaitScalar *numbers,
                                 PlaitScalar scale, PlaitTensor queries, PlaitTensor rows)
{
  run (pool, &(Call){ .selected = selected, .numbers = numbers, .scale = scale, .y = queries, .x = rows },
       MAX (1, rows.width / selected->heads), MAX_SPLITS, dot_piece);
}

static void
tanh_piece (gpointer data, gint64 piece, guint thread)
{
  const Call *call = data;
  const PlaitSelectedRows *selected = call->selected;
  const PlaitAdditiveScores *additive = call->additive;
  gint64 end = end_query (call, piece);

  for (gint64 q = first_query (call, piece); q < end; q++)
    {
      gint64 begin = plait_selected_rows_begin (selected, q), first;
      gint64 last = split (call, piece, plait_selected_rows_begin_of_query (selected, q + 1) - begin, &first);

      for (gint64 i = begin + first; i < begin + last; i++)
        call->numbers[i] = call->kernels->additive_score (plait_tensor_row (additive->queries, q),
                                                          plait_tensor_row (additive->keys, selected->row[i]), NULL,
                                                          additive->vector, additive->queries.width);
    }
}

void
plait_sparse_additive_scores_forward (PlaitPool *pool, const PlaitSelectedRows *selected, PlaitScalar *numbers,
                                      const PlaitAdditiveScores *additive)
{
  g_assert (selected->heads == 1 && !additive->extra.data && !additive->bias);
  run (pool, &(Call){ .selected = selected, .numbers = numbers, .additive = additive },
       additive->queries.width * PLAIT_SPARSE_TANH_COST, MAX_SPLITS, tanh_piece);
}

/* Returns the number of sets of the queries of @piece, and sets *first to the first set. */
static gint64
sets_of (const Call *call, gint64 piece, gint64 *first)
{
  const PlaitSelectedRows *selected = call->selected;

  *first = selected->sets.offsets[first_query (call, piece) * selected->heads];
  return selected->sets.offsets[end_query (call, piece) * selected->heads] - *first;
}

static void
softmax_piece (gpointer data, gint64 piece, guint thread)
{
  const Call *call = data;
  gint64 first, n = sets_of (call, piece, &first);
  const gint64 *offsets = call->selected->rows.offsets + first;

  if (!call->weights)
    call->kernels->softmax_sets (call->numbers, call->from, offsets, n);
  else
    call->kernels->softmax_sets_backward (call->numbers, call->add, call->from, call->weights, offsets, n);
}

void
plait_sparse_softmax_forward (PlaitPool *pool, const PlaitSelectedRows *selected, PlaitScalar *weights,
                              const PlaitScalar *scores)
{
  run (pool, &(Call){ .selected = selected, .numbers = weights, .from = scores }, SOFTMAX_COST, 1, softmax_piece);
}

void
plait_sparse_softmax_backward (PlaitPool *pool, const PlaitSelectedRows *selected, PlaitScalar *dscores,
                               PlaitScalar beta, const PlaitScalar *dweights, const PlaitScalar *weights)
{
  run (pool,
       &(Call){ .selected = selected, .numbers = dscores, .add = beta != 0, .from = dweights, .weights = weights },
       SOFTMAX_COST, 1, softmax_piece);
}

/* Writes the weighted sum of a query for some strips, or adds it if call->add. Sums many rows in blocks: the rows that
 * the first strip reads are still in cache for the next strip. */
static void
sum_strips (const Call *call, gint64 query, const PlaitSparseStrips *strips)
{
  const PlaitSelectedRows *selected = call->selected;
  gint64 entry = query * selected->heads + strips->head, at = plait_selected_rows_begin (selected, entry);
  gint64 end = plait_selected_rows_begin (selected, entry + 1), column = strips->column, depth;
  gboolean add = call->add;

  do
    {
      depth = MIN (PLAIT_MAX_PANEL_DEPTH, end - at);
      call->kernels->sum_rows (plait_tensor_row (call->y, query) + column, add, call->from + at, call->x.data + column,
                               call->x.stride, plait_selected_rows_from (selected, at), depth, strips->width);
      at += depth;
      add = TRUE;
    }
  while (at < end);
}

static void
sum_piece (gpointer data, gint64 piece, guint thread)
{
  const Call *call = data;
  const PlaitSelectedRows *selected = call->selected;
  gint64 end = end_query (call, piece), width = call->x.width, first;
  gint64 last = split (call, piece, plait_sparse_strips (selected, width), &first);
  PlaitSparseStrips strips;

  for (gint64 q = first_query (call, piece); q < end; q++)
    for (gint64 strip = first; strip < last; strip += strips.n)
      {
        strips = plait_sparse_strips_from (selected, width, strip, last);
        sum_strips (call, q, &strips);
      }
}

void
plait_sparse_weighted_sum_forward (PlaitPool *pool, const PlaitSelectedRows *selected, PlaitTensor y, gboolean add,
                                   const PlaitScalar *numbers, PlaitTensor x)
{
  g_assert (x.width == y.width && y.rows == plait_selected_rows_queries (selected));
  run (pool, &(Call){ .selected = selected, .x = x, .y = y, .from = numbers, .add = add },
       MAX (1, x.width / selected->heads), plait_sparse_strips (selected, x.width), sum_piece);
}
