/* SPDX-License-Identifier: MIT */
#include "layers/positions.h"
#include "layers/parameter-set.h"
#include "autograd/layer-operators.h"

#include <math.h>

#define MAX_WAVELENGTH 10000.0

/* Maximum width of rows with positions; maximum number of rows of the stored table of sinusoids. */
#define MAX_WIDTH ((gint64)1 << 24)
#define MAX_CACHED_ROWS ((gint64)4096)

void
plait_positions_fill (PlaitTensor table, PlaitPositionKind kind, gint64 first)
{
  gboolean monkey = kind == PLAIT_POSITIONS_CONCATENATED;
  gint64 pairs = table.width / 2, frequencies = monkey ? pairs : table.width - pairs;

  if (kind < PLAIT_POSITIONS_INTERLEAVED || kind > PLAIT_POSITIONS_HALVES)
    return;
  for (gint64 i = 0; i < frequencies; i++)
    {
      /* Neural Monkey's exponent would be 0 / 0 for one pair of columns; MAX makes the frequency 1. */
      double exponent = monkey ? (double)i / (double)MAX (pairs - 1, 1) : (double)(2 * i) / (double)table.width;
      double frequency = pow (MAX_WAVELENGTH, -exponent);
      gint64 sine = kind == PLAIT_POSITIONS_INTERLEAVED ? 2 * i : i;
      gint64 cosine = kind == PLAIT_POSITIONS_INTERLEAVED ? 2 * i + 1 : frequencies + i;

      for (gint64 row = 0; row < table.rows; row++)
        {
          double angle = (double)(first + row) * frequency;

          plait_tensor_row (table, row)[sine] = (PlaitScalar)sin (angle);
          if (cosine < table.width)
            plait_tensor_row (table, row)[cosine] = (PlaitScalar)cos (angle);
        }
    }
  for (gint64 row = 0; row < table.rows && monkey && table.width % 2 != 0; row++)
    plait_tensor_row (table, row)[table.width - 1] = 0;
}

PlaitPositions
plait_positions_declare (PlaitParameters *parameters, const char *name, PlaitPositionKind kind, gint64 length,
                         gint64 width)
{
  PlaitPositions positions = { .kind = kind, .width = width, .length = length };

  plait_parameters_expect (parameters, (guint)kind <= PLAIT_POSITIONS_ALIBI);
  plait_parameters_expect (parameters, length > 0 && width > 0 && width <= MAX_WIDTH);
  if (!plait_parameters_check (parameters, NULL))
    return positions;
  if (kind == PLAIT_POSITIONS_LEARNED)
    {
      g_autofree char *table = g_strconcat (name, "/table", NULL);

      positions.table
          = plait_parameters_declare (parameters, table, length, width, PLAIT_NORMAL (1 / sqrt ((double)width)));
      positions.table->is_positional = TRUE;
    }
  else if (kind >= PLAIT_POSITIONS_INTERLEAVED && kind <= PLAIT_POSITIONS_HALVES)
    {
      positions.length = length = MIN (length, MAX_CACHED_ROWS);
      positions.sinusoids = plait_parameters_memory (parameters, sizeof (PlaitScalar) * (gsize)(length * width));
      plait_positions_fill (plait_tensor (positions.sinusoids, length, width), kind, 0);
    }
  return positions;
}

/* Returns a table of @length rows of sinusoids for this step only, longer than the stored one. */
static PlaitNode *
longer_table (PlaitTape *tape, const PlaitPositions *positions, gint64 length)
{
  PlaitTensor table
      = plait_tensor (plait_arena_new_array (plait_tape_arena (tape), PlaitScalar, length * positions->width), length,
                      positions->width);

  plait_positions_fill (table, positions->kind, 0);
  return plait_leaf (tape, table, NULL);
}

PlaitNode *
plait_positions_apply (PlaitTape *tape, const PlaitPositions *positions, PlaitNode *x, PlaitRagged rows, gint64 first,
                       double rate)
{
  gint64 length = first + plait_ragged_longest (rows);
  PlaitNode *table;

  if (!positions->table && !positions->sinusoids)
    return plait_dropout (tape, x, rate);

  if (positions->table)
    table = plait_parameter_node (tape, positions->table);
  else if (length <= positions->length)
    table = plait_leaf (tape, plait_tensor (positions->sinusoids, positions->length, positions->width), NULL);
  else
    table = longer_table (tape, positions, length);
  return plait_add_positions (tape, x, rows, table, first, rate);
}

PlaitNode *
plait_positions_apply_norm (PlaitTape *tape, const PlaitPositions *positions, const PlaitNorm *norm, PlaitNode *x,
                            PlaitRagged rows, gint64 first, double rate)
{
  if (!norm->gain)
    return plait_positions_apply (tape, positions, x, rows, first, rate);
  x = plait_norm_apply (tape, norm, plait_positions_apply (tape, positions, x, rows, first, 0));
  return plait_dropout (tape, x, rate);
}
