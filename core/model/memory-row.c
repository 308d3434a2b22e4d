/* SPDX-License-Identifier: MIT */
#include "model/memory-row.h"

#include "autograd/operators.h"
#include "base/error.h"

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

/*
 * Reading
 */

static gboolean
fail_unknown (const PlaitDecoderBuild *build, const char *name, GError **error)
{
  g_autoptr (GString) known = g_string_new (NULL);

  for (guint i = 0; i < build->n_memories; i++)
    g_string_append_printf (known, "%s%s", i > 0 ? ", " : "", build->memories[i].name);
  return plait_fail (error, PLAIT_ERROR_INPUT, "predict.memories: no encoder makes a memory \"%s\"; there are: %s",
                     name, known->str);
}

/* The memories that the settings name, or all; *@width is what their rows have side by side. */
static gboolean
choose_memories (PlaitRowReader *reader, const PlaitDecoderBuild *build, gint64 *width, GError **error)
{
  g_auto (GStrv) names = g_strsplit (build->predict->memories, ";", -1);
  gboolean all = *build->predict->memories == '\0';

  reader->memories = plait_parameters_memory (build->parameters, build->n_memories * sizeof *reader->memories);
  *width = 0;
  for (guint i = 0; i < build->n_memories; i++)
    if (all || g_strv_contains ((const char *const *)names, build->memories[i].name))
      {
        reader->memories[reader->n++] = i;
        *width += build->memories[i].width;
      }
  for (guint k = 0; !all && names[k]; k++)
    {
      guint i = 0;

      while (i < build->n_memories && !g_str_equal (build->memories[i].name, names[k]))
        i++;
      if (i == build->n_memories)
        return fail_unknown (build, names[k], error);
    }
  return TRUE;
}

gboolean
plait_row_reader_declare (PlaitRowReader *reader, const PlaitDecoderBuild *build, const char *name, GError **error)
{
  gint64 width;

  reader->row = (PlaitMemoryRow)build->predict->row;
  reader->dropout = build->settings->dropout;
  if (!choose_memories (reader, build, &width, error))
    return FALSE;
  reader->hidden = plait_linear_declare (build->parameters, name, width, build->settings->width, TRUE);
  return TRUE;
}

PlaitNode *
plait_row_reader_apply (const PlaitRowReader *reader, PlaitTape *tape, const PlaitDecoderSources *sources)
{
  PlaitNode **parts = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, reader->n);
  PlaitNode *x;

  for (guint i = 0; i < reader->n; i++)
    parts[i] = plait_memory_row (tape, &sources->memories[reader->memories[i]], reader->row);
  x = reader->n > 1 ? plait_concatenate_columns (tape, parts, reader->n) : parts[0];
  x = plait_linear_apply (tape, &reader->hidden, plait_dropout (tape, x, reader->dropout), PLAIT_ACTIVATION_TANH);
  return plait_dropout (tape, x, reader->dropout);
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
