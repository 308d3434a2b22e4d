/* SPDX-License-Identifier: MIT */
#include "decoders/decoding.h"

#include "autograd/internal.h"
#include "tensor/rows.h"
#include "tensor/elementwise.h"

/* Rows that search keeps from one step to the next. */

PlaitKeptRows
plait_kept_rows (PlaitTape *tape, gint64 capacity, gint64 width)
{
  return (PlaitKeptRows){ .rows = plait_tape_tensor (tape, capacity, width) };
}

void
plait_kept_rows_store (PlaitKeptRows *kept, PlaitTape *tape, PlaitNode *node)
{
  PlaitTensor value = plait_tape_value (tape, node);

  plait_tensor_accumulate (plait_tape_pool (tape), plait_tensor_rows (kept->rows, 0, value.rows), 0, 1, value);
  kept->n = value.rows;
}

PlaitNode *
plait_kept_rows_follow (const PlaitKeptRows *kept, PlaitTape *tape, const gint64 *parents, gint64 n)
{
  return plait_gather_rows (tape, plait_leaf (tape, plait_tensor_rows (kept->rows, 0, kept->n), NULL), parents, n);
}
