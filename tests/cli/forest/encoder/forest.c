/* SPDX-License-Identifier: MIT */
#include "autograd/operators.h"
#include "interface/plugin.h"

#include "forest-settings.h"

/*
 * An encoder with a minimal use of trees. A row of its memory is the token's row; if the token has a sibling that is a
 * token, the sibling's row times a gain is added.
 */

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
  const PlaitInput *input = encoding->input;
  const PlaitTrees *trees = input->trees;
  gint64 rows = plait_ragged_rows (input->rows);
  gint64 *beside = plait_arena_allocate (plait_tape_arena (tape), (gsize)MAX (rows, 1) * sizeof *beside);

  for (gint64 i = 0; i < rows; i++)
    beside[i] = -1;
  for (gint64 s = 0; s < input->rows.n; s++)
    for (gint64 node = trees->nodes.offsets[s]; node < trees->nodes.offsets[s + 1]; node++)
      {
        gint64 first = input->rows.offsets[s], n = plait_ragged_length (input->rows, s);
        gint64 left = trees->left[node], right = trees->right[node];

        g_assert (left >= 0 && right >= 0 && left < n + node && right < n + node && trees->labels[node]);
        if (left >= n || right >= n)
          continue;
        beside[first + left] = first + right;
        beside[first + right] = first + left;
      }
  PlaitNode *both[]
      = { encoding->embedded,
          plait_scale (tape, plait_gather_rows (tape, encoding->embedded, beside, rows), settings->gain) };
  encoding->memories[0] = (PlaitMemory){ .states = plait_add_n (tape, both, 2), .rows = input->rows };
}

PLAIT_PLUGIN_DEFINE (.build = build, .encode = encode)
