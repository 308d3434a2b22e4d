/* SPDX-License-Identifier: MIT */
#include "tensor/spans.h"

#define MOST_TENSORS 4

typedef struct
{
  PlaitTensor tensors[MOST_TENSORS];
  guint n_tensors;
  gint64 rows_in_piece;
  gint64 columns_in_piece;
  gint64 column_pieces;
  PlaitSpan span;
  gconstpointer data;
} Spans;

static void
spans_piece (gpointer data, gint64 piece, guint thread)
{
  const Spans *spans = data;
  gint64 width = spans->tensors[0].width;
  gint64 column = piece % spans->column_pieces * spans->columns_in_piece;
  gint64 first = piece / spans->column_pieces * spans->rows_in_piece;
  gint64 end = MIN (first + spans->rows_in_piece, spans->tensors[0].rows);
  PlaitScalar *at[MOST_TENSORS];

  for (gint64 row = first; row < end; row++)
    {
      for (guint i = 0; i < spans->n_tensors; i++)
        at[i] = plait_tensor_row (spans->tensors[i], row) + column;
      spans->span (spans->data, at, MIN (spans->columns_in_piece, width - column), row * width + column);
    }
}

void
plait_spans_run (PlaitPool *pool, const PlaitTensor *tensors, guint n_tensors, PlaitSpan span, gconstpointer data)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_ROWS);
  Spans spans = { .n_tensors = n_tensors, .span = span, .data = data };
  gint64 rows = tensors[0].rows, width = tensors[0].width, most;
  gboolean end_to_end = TRUE;

  g_assert (n_tensors <= MOST_TENSORS);
  if (rows == 0 || width == 0)
    return;
  for (guint i = 0; i < n_tensors; i++)
    {
      g_assert (tensors[i].rows == rows && tensors[i].width == width);
      end_to_end &= tensors[i].stride == width;
    }
  if (end_to_end)
    {
      width *= rows;
      rows = 1;
    }
  for (guint i = 0; i < n_tensors; i++)
    spans.tensors[i] = (PlaitTensor){ tensors[i].data, rows, width, end_to_end ? width : tensors[i].stride };
  most = plait_span_elements (rows * width);
  spans.columns_in_piece = MIN (width, most);
  spans.column_pieces = (width + spans.columns_in_piece - 1) / spans.columns_in_piece;
  spans.rows_in_piece = most / spans.columns_in_piece;
  plait_pool_run (pool, (rows + spans.rows_in_piece - 1) / spans.rows_in_piece * spans.column_pieces, spans_piece,
                  &spans);
}

gint64
plait_first_place (const gint64 *numbers, gint64 first, gint64 end, gint64 least)
{
  while (first < end)
    {
      gint64 middle = first + (end - first) / 2;

      if (numbers[middle] < least)
        first = middle + 1;
      else
        end = middle;
    }
  return first;
}
