/* SPDX-License-Identifier: MIT */
#include "model/memory-row.h"

#include "autograd/operators.h"

PlaitNode *
plait_memory_mean (PlaitTape *tape, const PlaitMemory *memory)
{
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 n = memory->rows.n, rows = plait_ragged_rows (memory->rows);
  gint64 *units = plait_arena_new_array (arena, gint64, n + 1);
  PlaitScalar *shares = plait_arena_new_array (arena, PlaitScalar, rows + 1);
  PlaitPairs pairs;

  for (gint64 s = 0; s <= n; s++)
    units[s] = s;
  for (gint64 s = 0; s < n; s++)
    for (gint64 row = memory->rows.offsets[s]; row < memory->rows.offsets[s + 1]; row++)
      shares[row] = 1 / (PlaitScalar)plait_ragged_length (memory->rows, s);
  pairs = plait_pairs (tape, (PlaitRagged){ n, units }, memory->rows);
  return plait_pair_read (tape, &pairs, plait_leaf (tape, plait_tensor (shares, rows, 1), NULL), memory->states);
}

PlaitNode *
plait_memory_row (PlaitTape *tape, const PlaitMemory *memory, PlaitMemoryRow row)
{
  gint64 n = memory->rows.n;
  gint64 *rows;

  if (row == PLAIT_ROW_MEAN)
    return plait_memory_mean (tape, memory);
  rows = plait_arena_new_array (plait_tape_arena (tape), gint64, n + 1);
  for (gint64 s = 0; s < n; s++)
    rows[s] = plait_ragged_length (memory->rows, s) == 0 ? -1
              : row == PLAIT_ROW_FIRST                   ? memory->rows.offsets[s]
                                                         : memory->rows.offsets[s + 1] - 1;
  return plait_gather_rows (tape, memory->states, rows, n);
}
