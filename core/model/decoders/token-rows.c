/* SPDX-License-Identifier: MIT */
#include "decoders/head.h"

#include <string.h>

#include "cross-attention/rows.h"

/* Functions that give heads the memory rows from which they predict. */

PlaitNode *
plait_head_sentence_row (PlaitTape *tape, const PlaitMemory *memory, PlaitMemoryRow row)
{
  const gint64 *ends;

  if (row == PLAIT_ROW_MEAN)
    return plait_memory_mean (tape, memory);
  ends = plait_ragged_ends (plait_tape_arena (tape), memory->rows, row == PLAIT_ROW_FIRST);
  return plait_gather_rows (tape, memory->states, ends, memory->rows.n);
}

/* TRUE if the memory @name (SOURCE or SOURCE.PART) and the memory @first are of one source. */
static gboolean
is_of_source (const char *name, const char *first)
{
  gsize length = strcspn (first, ".");

  return strncmp (name, first, length) == 0 && (name[length] == '\0' || name[length] == '.');
}

PlaitTokenRows
plait_token_rows_declare (const PlaitDecoderComponents *components)
{
  const PlaitMemorySpecification *memories = components->memories;
  PlaitTokenRows rows = { .row = components->predict->row, .width = memories[0].width };

  rows.others = plait_parameters_memory (components->parameters, components->n_memories * sizeof *rows.others);
  for (guint i = 1; i < components->n_memories; i++)
    if (!is_of_source (memories[i].name, memories[0].name))
      {
        rows.others[rows.n_others++] = i;
        rows.width += memories[i].width;
      }
  return rows;
}

PlaitNode *
plait_token_rows_apply (const PlaitTokenRows *rows, PlaitTape *tape, const PlaitEncoderOutputs *encoded,
                        PlaitRagged tokens, const gint64 *positions, const char *kind)
{
  PlaitArena *arena = plait_tape_arena (tape);
  const PlaitMemory *memory = &encoded->memories[0];
  gint64 n = plait_ragged_rows (tokens);
  gint64 *of_token = plait_arena_new_array (arena, gint64, n + 1);
  gint64 *of_sentence = plait_arena_new_array (arena, gint64, n + 1);
  PlaitNode **parts = plait_arena_new_array (arena, PlaitNode *, rows->n_others + 1);
  gboolean all = n == memory->states->value.rows;

  for (gint64 s = 0; s < tokens.n; s++)
    for (gint64 i = tokens.offsets[s]; i < tokens.offsets[s + 1]; i++)
      {
        of_token[i] = plait_memory_row_of_token (tape, memory, s, positions[i], kind);
        of_sentence[i] = s;
        all &= of_token[i] == i;
      }
  parts[0] = all ? memory->states : plait_gather_rows (tape, memory->states, of_token, n);
  for (guint k = 0; k < rows->n_others; k++)
    {
      PlaitNode *row = plait_head_sentence_row (tape, &encoded->memories[rows->others[k]], rows->row);

      parts[k + 1] = plait_gather_rows (tape, row, of_sentence, n);
    }
  return rows->n_others > 0 ? plait_concatenate_columns (tape, parts, rows->n_others + 1) : parts[0];
}
