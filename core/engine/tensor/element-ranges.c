/* SPDX-License-Identifier: MIT */
#include "tensor/element-ranges.h"

#define MAX_TENSORS 4

typedef struct
{
  PlaitTensor tensors[MAX_TENSORS];
  guint n_tensors;
  gint64 rows_in_piece;
  gint64 columns_in_piece;
  gint64 column_pieces;
  PlaitRangeFunction range;
  gconstpointer data;
} Ranges;

static void
ranges_piece (gpointer data, gint64 piece, guint thread)
{
  const Ranges *ranges = data;
  gint64 width = ranges->tensors[0].width;
  gint64 column = piece % ranges->column_pieces * ranges->columns_in_piece;
  gint64 first = piece / ranges->column_pieces * ranges->rows_in_piece;
  gint64 end = MIN (first + ranges->rows_in_piece, ranges->tensors[0].rows);
  PlaitScalar *at[MAX_TENSORS];

  for (gint64 row = first; row < end; row++)
    {
      for (guint i = 0; i < ranges->n_tensors; i++)
        at[i] = plait_tensor_row (ranges->tensors[i], row) + column;
      ranges->range (ranges->data, at, MIN (ranges->columns_in_piece, width - column), row * width + column);
    }
}

void
plait_element_ranges_run (PlaitPool *pool, const PlaitTensor *tensors, guint n_tensors, PlaitRangeFunction range,
                          gconstpointer data)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_ROWS);
  Ranges ranges = { .n_tensors = n_tensors, .range = range, .data = data };
  gint64 rows = tensors[0].rows, width = tensors[0].width, most;
  gboolean end_to_end = TRUE;

  g_assert (n_tensors <= MAX_TENSORS);
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
    ranges.tensors[i] = (PlaitTensor){ tensors[i].data, rows, width, end_to_end ? width : tensors[i].stride };
  most = plait_range_elements (rows * width);
  ranges.columns_in_piece = MIN (width, most);
  ranges.column_pieces = (width + ranges.columns_in_piece - 1) / ranges.columns_in_piece;
  ranges.rows_in_piece = most / ranges.columns_in_piece;
  plait_pool_run (pool, (rows + ranges.rows_in_piece - 1) / ranges.rows_in_piece * ranges.column_pieces, ranges_piece,
                  &ranges);
}

gint64
plait_lower_bound (const gint64 *numbers, gint64 first, gint64 end, gint64 least)
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
