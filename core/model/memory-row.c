/* SPDX-License-Identifier: MIT */
#include "model/memory-row.h"

#include "autograd/operators.h"
#include "model/steps.h"

PlaitNode *
plait_memory_mean (PlaitTape *tape, const PlaitMemory *memory)
{
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 n = memory->rows.n, rows = plait_ragged_rows (memory->rows);
  PlaitScalar *shares = plait_arena_new_array (arena, PlaitScalar, rows + 1);
  PlaitPairs pairs;

  for (gint64 s = 0; s < n; s++)
    for (gint64 row = memory->rows.offsets[s]; row < memory->rows.offsets[s + 1]; row++)
      shares[row] = 1 / (PlaitScalar)plait_ragged_length (memory->rows, s);
  pairs = plait_pairs (tape, plait_units (tape, n), memory->rows);
  return plait_pair_read (tape, &pairs, plait_leaf (tape, plait_tensor (shares, rows, 1), NULL), memory->states);
}

PlaitNode *
plait_side_by_side (PlaitTape *tape, PlaitNode *numbers, PlaitRagged groups)
{
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 n = groups.n, most = 1;
  PlaitNode *terms[2];
  gint64 *rows;
  PlaitScalar *absent;

  for (gint64 d = 0; d < n; d++)
    most = MAX (most, plait_ragged_length (groups, d));
  rows = plait_arena_new_array (arena, gint64, n * most + 1);
  absent = plait_arena_new_array (arena, PlaitScalar, n * most + 1);
  for (gint64 d = 0; d < n; d++)
    for (gint64 i = 0; i < most; i++)
      {
        gboolean there = i < plait_ragged_length (groups, d);

        rows[d * most + i] = there ? groups.offsets[d] + i : -1;
        absent[d * most + i] = there ? 0 : PLAIT_NO_CHOICE;
      }
  terms[0] = plait_gather_windows (tape, numbers, rows, n, most);
  terms[1] = plait_leaf (tape, plait_tensor (absent, n, most), NULL);
  return plait_sum (tape, terms, 2);
}
