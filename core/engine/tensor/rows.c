/* SPDX-License-Identifier: MIT */
#include "tensor/rows.h"

#include <string.h>

#include "tensor/element-ranges.h"

/* Number of columns in a piece of a sum over rows: two cache lines of floats. */
#define COLUMNS 32

typedef struct
{
  const PlaitKernels *kernels;
  PlaitTensor y; /* output */
  PlaitTensor x;
  const PlaitTensor *other;
  PlaitTensor factors; /* factors of plait_broadcast_multiply, second factor of plait_broadcast_dot, or output of a
                          softmax in its backward pass */
  PlaitTensor table;
  PlaitRagged rows;
  gint64 first;
  const gint64 *indices;
  const gint32 *ids;
  const guint8 *take;
  gboolean which;
  PlaitScalar beta;
  PlaitScalar scale;
  PlaitMask mask;
  gint64 rows_in_piece;
} Call;

static void
run_rows (PlaitPool *pool, Call *call, PlaitPoolFunc piece)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_ROWS);

  if (call->y.rows == 0 || call->y.width == 0)
    return;
  call->kernels = plait_kernels ();
  call->rows_in_piece = MAX (1, plait_range_elements (call->y.rows * call->y.width) / call->y.width);
  plait_pool_run (pool, (call->y.rows + call->rows_in_piece - 1) / call->rows_in_piece, piece, call);
}

static void
run_columns (PlaitPool *pool, Call *call, PlaitPoolFunc piece)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_ROWS);

  call->kernels = plait_kernels ();
  plait_pool_run (pool, (call->y.width + COLUMNS - 1) / COLUMNS, piece, call);
}

/* Loops over the rows of a piece. */
#define EACH_ROW(row, call, piece)                                                                                     \
  for (gint64 row = (piece) * (call)->rows_in_piece;                                                                   \
       row < MIN (((piece) + 1) * (call)->rows_in_piece, (call)->y.rows); row++)

/* Computes y = beta * y + scale * x for one row of the output; @x NULL: zeros. */
static void
put_row (const Call *call, gint64 row, PlaitScalar scale, const PlaitScalar *x)
{
  PlaitScalar *y = plait_tensor_row (call->y, row);

  if (x)
    call->kernels->accumulate (y, call->beta, scale, x, call->y.width);
  else if (call->beta == 0)
    memset (y, 0, sizeof (PlaitScalar) * (gsize)call->y.width);
}

static void
gather_piece (gpointer data, gint64 piece, guint thread)
{
  const Call *call = data;

  EACH_ROW (row, call, piece)
  put_row (call, row, 1, call->indices[row] >= 0 ? plait_tensor_row (call->x, call->indices[row]) : NULL);
}

void
plait_rows_gather (PlaitPool *pool, PlaitTensor y, PlaitScalar beta, PlaitTensor x, const gint64 *indices)
{
  run_rows (pool, &(Call){ .y = y, .x = x, .indices = indices, .beta = beta }, gather_piece);
}

static void
scatter_piece (gpointer data, gint64 piece, guint thread)
{
  const Call *call = data;
  gint64 column = piece * COLUMNS, n = MIN (COLUMNS, call->y.width - column);

  for (gint64 i = 0; i < call->x.rows; i++)
    {
      gint64 to = call->indices ? call->indices[i] : call->ids[i];

      if (to >= 0)
        call->kernels->accumulate (plait_tensor_row (call->y, to) + column, 1, call->scale,
                                   plait_tensor_row (call->x, i) + column, n);
    }
}

void
plait_rows_scatter_add (PlaitPool *pool, PlaitTensor dx, PlaitTensor dy, const gint64 *indices)
{
  run_columns (pool, &(Call){ .y = dx, .x = dy, .indices = indices, .scale = 1 }, scatter_piece);
}

static void
select_piece (gpointer data, gint64 piece, guint thread)
{
  const Call *call = data;

  EACH_ROW (row, call, piece)
  put_row (call, row, 1,
           call->take[row] ? plait_tensor_row (call->x, row)
           : call->other   ? plait_tensor_row (*call->other, row)
                           : NULL);
}

void
plait_rows_select (PlaitPool *pool, PlaitTensor y, const guint8 *take, PlaitTensor a, const PlaitTensor *b)
{
  run_rows (pool, &(Call){ .y = y, .x = a, .other = b, .take = take }, select_piece);
}

static void
select_backward_piece (gpointer data, gint64 piece, guint thread)
{
  const Call *call = data;

  EACH_ROW (row, call, piece)
  put_row (call, row, 1, (call->take[row] != 0) == call->which ? plait_tensor_row (call->x, row) : NULL);
}

void
plait_rows_select_backward (PlaitPool *pool, PlaitTensor dx, PlaitScalar beta, const guint8 *take, gboolean which,
                            PlaitTensor dy)
{
  run_rows (pool, &(Call){ .y = dx, .x = dy, .take = take, .which = which != 0, .beta = beta }, select_backward_piece);
}

static void
embed_piece (gpointer data, gint64 piece, guint thread)
{
  const Call *call = data;

  EACH_ROW (row, call, piece)
  put_row (call, row, call->scale, plait_tensor_row (call->table, call->ids[row]));
}

void
plait_embed_forward (PlaitPool *pool, PlaitTensor y, PlaitTensor table, const gint32 *ids, PlaitScalar scale)
{
  run_rows (pool, &(Call){ .y = y, .table = table, .ids = ids, .scale = scale }, embed_piece);
}

void
plait_embed_backward (PlaitPool *pool, PlaitTensor dtable, PlaitTensor dy, const gint32 *ids, PlaitScalar scale)
{
  run_columns (pool, &(Call){ .y = dtable, .x = dy, .ids = ids, .scale = scale }, scatter_piece);
}

static void
positions_piece (gpointer data, gint64 piece, guint thread)
{
  const Call *call = data;
  /* Index of the sentence that contains the first row of the piece. */
  gint64 sentence = plait_lower_bound (call->rows.offsets, 1, call->rows.n, piece * call->rows_in_piece + 1) - 1;

  EACH_ROW (row, call, piece)
  {
    PlaitScalar *y = plait_tensor_row (call->y, row);
    const PlaitScalar *x = plait_tensor_row (call->x, row), *position;

    while (call->rows.offsets[sentence + 1] <= row)
      sentence++;
    position = plait_tensor_row (call->table, call->first + row - call->rows.offsets[sentence]);
    for (gint64 i = 0; i < call->y.width; i++)
      y[i] = x[i] + position[i];
    if (call->mask.threshold > 0)
      call->kernels->dropout (y, NULL, 1, y, call->y.width, &call->mask, (guint32)(row * call->y.width));
  }
}

void
plait_positions_forward (PlaitPool *pool, PlaitTensor y, PlaitTensor x, PlaitRagged rows, PlaitTensor table,
                         gint64 first, PlaitRandomKey key, double rate)
{
  run_rows (pool,
            &(Call){ .y = y, .x = x, .rows = rows, .table = table, .first = first, .mask = plait_mask (key, rate) },
            positions_piece);
}

static void
positions_backward_piece (gpointer data, gint64 piece, guint thread)
{
  const Call *call = data;
  gint64 column = piece * COLUMNS, n = MIN (COLUMNS, call->y.width - column);

  for (gint64 sentence = 0; sentence < call->rows.n; sentence++)
    for (gint64 row = call->rows.offsets[sentence]; row < call->rows.offsets[sentence + 1]; row++)
      {
        PlaitScalar *to = plait_tensor_row (call->y, call->first + row - call->rows.offsets[sentence]) + column;
        const PlaitScalar *from = plait_tensor_row (call->x, row) + column;

        if (call->mask.threshold > 0)
          call->kernels->dropout (to, to, 1, from, n, &call->mask, (guint32)(row * call->x.width + column));
        else
          call->kernels->accumulate (to, 1, 1, from, n);
      }
}

void
plait_positions_backward (PlaitPool *pool, PlaitTensor dtable, PlaitTensor dy, PlaitRagged rows, gint64 first,
                          PlaitRandomKey key, double rate)
{
  run_columns (pool, &(Call){ .y = dtable, .x = dy, .rows = rows, .first = first, .mask = plait_mask (key, rate) },
               positions_backward_piece);
}

static void
sum_piece (gpointer data, gint64 piece, guint thread)
{
  const Call *call = data;
  gint64 column = piece * COLUMNS, n = MIN (COLUMNS, call->y.width - column);

  if (call->beta == 0)
    memset (call->y.data + column, 0, sizeof (PlaitScalar) * (gsize)n);
  for (gint64 row = 0; row < call->x.rows; row++)
    call->kernels->accumulate (call->y.data + column, 1, 1, plait_tensor_row (call->x, row) + column, n);
}

void
plait_rows_sum (PlaitPool *pool, PlaitTensor sum, PlaitScalar beta, PlaitTensor x)
{
  run_columns (pool, &(Call){ .y = sum, .x = x, .beta = beta }, sum_piece);
}

static void
broadcast_multiply_piece (gpointer data, gint64 piece, guint thread)
{
  const Call *call = data;
  gboolean column = call->factors.width == 1 && call->factors.rows == call->y.rows;

  EACH_ROW (row, call, piece)
  if (column)
    put_row (call, row, *plait_tensor_row (call->factors, row), plait_tensor_row (call->x, row));
  else
    call->kernels->multiply_elements (plait_tensor_row (call->y, row), call->beta, plait_tensor_row (call->x, row),
                                      call->factors.data, call->y.width);
}

void
plait_broadcast_multiply (PlaitPool *pool, PlaitTensor y, PlaitScalar beta, PlaitTensor x, PlaitTensor factors)
{
  run_rows (pool, &(Call){ .y = y, .x = x, .factors = factors, .beta = beta }, broadcast_multiply_piece);
}

static void
dot_rows_piece (gpointer data, gint64 piece, guint thread)
{
  const Call *call = data;

  EACH_ROW (row, call, piece)
  {
    PlaitScalar *y = plait_tensor_row (call->y, row);

    *y = (call->beta != 0 ? *y : 0)
         + call->kernels->dot (plait_tensor_row (call->x, row), plait_tensor_row (call->factors, row), call->x.width);
  }
}

static void
dot_columns_piece (gpointer data, gint64 piece, guint thread)
{
  const Call *call = data;
  gint64 column = piece * COLUMNS, n = MIN (COLUMNS, call->y.width - column);

  if (call->beta == 0)
    memset (call->y.data + column, 0, sizeof (PlaitScalar) * (gsize)n);
  for (gint64 row = 0; row < call->x.rows; row++)
    call->kernels->multiply_elements (call->y.data + column, 1, plait_tensor_row (call->x, row) + column,
                                      plait_tensor_row (call->factors, row) + column, n);
}

void
plait_broadcast_dot (PlaitPool *pool, PlaitTensor y, PlaitScalar beta, PlaitTensor a, PlaitTensor b)
{
  Call call = { .y = y, .x = a, .factors = b, .beta = beta };

  if (y.width == 1 && y.rows == a.rows)
    run_rows (pool, &call, dot_rows_piece);
  else
    run_columns (pool, &call, dot_columns_piece);
}

static void
softmax_piece (gpointer data, gint64 piece, guint thread)
{
  const Call *call = data;
  gint64 whole[] = { 0, call->y.width };

  EACH_ROW (row, call, piece)
  if (call->factors.data)
    call->kernels->softmax_sets_backward (plait_tensor_row (call->y, row), call->beta != 0,
                                          plait_tensor_row (call->x, row), plait_tensor_row (call->factors, row), whole,
                                          1);
  else
    call->kernels->softmax_sets (plait_tensor_row (call->y, row), plait_tensor_row (call->x, row), whole, 1);
}

void
plait_rows_softmax (PlaitPool *pool, PlaitTensor y, PlaitTensor x)
{
  run_rows (pool, &(Call){ .y = y, .x = x }, softmax_piece);
}

void
plait_rows_softmax_backward (PlaitPool *pool, PlaitTensor dx, PlaitScalar beta, PlaitTensor dy, PlaitTensor y)
{
  run_rows (pool, &(Call){ .y = dx, .x = dy, .factors = y, .beta = beta }, softmax_piece);
}
