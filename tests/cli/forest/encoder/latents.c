/* SPDX-License-Identifier: MIT */
#include "autograd/operators.h"
#include "interface/plugin.h"

#include "latents-settings.h"

/* An encoder whose number of rows need not equal the number of tokens. Row i is token i; after the last token, it
 * starts again with the first. */

static gboolean
build (const PlaitEncoderBuild *build, gconstpointer settings, gpointer state, PlaitEncoderShape *shape, GError **error)
{
  shape->n_memories = 1;
  shape->memories[0].width = build->input_width;
  return TRUE;
}

static void
encode (gconstpointer data, gconstpointer state, PlaitEncoding *encoding)
{
  const Settings *settings = data;
  PlaitTape *tape = encoding->tape;
  PlaitArena *arena = plait_tape_arena (tape);
  PlaitRagged read = encoding->input->rows;
  gint64 *offsets = plait_arena_allocate (arena, (gsize)(read.n + 1) * sizeof *offsets);
  gint64 *from, *token;
  PlaitLinks *links = plait_arena_allocate (arena, sizeof *links);

  offsets[0] = 0;
  for (gint64 s = 0; s < read.n; s++)
    {
      gint64 tokens = plait_ragged_length (read, s);

      offsets[s + 1] = offsets[s] + (tokens == 0 || settings->rows == 0 ? tokens : settings->rows);
    }
  from = plait_arena_allocate (arena, (gsize)(offsets[read.n] + 1) * sizeof *from);
  token = plait_arena_allocate (arena, (gsize)(offsets[read.n] + 1) * sizeof *token);
  for (gint64 s = 0; s < read.n; s++)
    for (gint64 row = offsets[s]; row < offsets[s + 1]; row++)
      {
        gint64 place = (row - offsets[s]) % plait_ragged_length (read, s);

        from[row] = read.offsets[s] + place;
        token[row] = settings->linked == LINKED_BACKWARDS ? plait_ragged_length (read, s) - 1 - place : -1;
      }
  *links = (PlaitLinks){ .token = token };
  encoding->memories[0] = (PlaitMemory){
    .states = plait_gather_rows (tape, encoding->embedded, from, offsets[read.n]),
    .rows = { read.n, offsets },
    .links = settings->linked == LINKED_NOT ? NULL : links,
  };
}

static gboolean
check_input (gconstpointer data, gconstpointer state, const PlaitInput *input, GError **error)
{
  const Settings *settings = data;

  for (gint64 s = 0; s < input->rows.n; s++)
    if (plait_ragged_length (input->rows, s) < settings->least)
      return plait_fail (error, PLAIT_ERROR_INPUT, "a sentence has fewer than least=%jd tokens", settings->least);
  return TRUE;
}

PLAIT_PLUGIN_DEFINE (.build = build, .encode = encode, .check_input = check_input)
