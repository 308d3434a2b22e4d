/* SPDX-License-Identifier: MIT */
#include "interface/plugin.h"

#include "strides-settings.h"

/*
 * Sparse attention in which each head reads only some of the rows: those whose number in their sentence, divided by
 * stride, has the same remainder as the head's number. In a sentence shorter than stride, the number of its rows
 * replaces stride.
 *
 *     for each memory i:  x <- residual (x, attend_i (normalise (x)) to the rows of each head)
 */

static gboolean
build (PlaitCrossAttention *cross, gconstpointer data, gpointer state, GError **error)
{
  PlaitAttendSettings attention = { PLAIT_DECODER_DROPOUT_RATES };

  for (guint i = 0; i < plait_cross_n_memories (cross); i++)
    {
      plait_cross_declare_residual (cross, i);
      plait_cross_declare_attend (cross, i, &attention);
      plait_cross_declare_rows (cross, i);
    }
  return TRUE;
}

/* Returns the set of selected rows for each head of each query, allocated in the tape's arena. */
static PlaitSelectedRows
choose (PlaitCrossAttention *cross, guint memory, gint64 stride)
{
  PlaitArena *arena = plait_tape_arena (plait_cross_tape (cross));
  PlaitQueryKeyPairs pairs = plait_cross_pairs (cross, memory);
  guint heads = plait_cross_heads (cross, NULL, memory);
  gint64 entries = plait_ragged_rows (pairs.queries) * heads, entry = 0, n = 0;
  gint64 *sets = plait_arena_new_array (arena, gint64, entries + 1);
  gint64 *ends = plait_arena_new_array (arena, gint64, entries + 1);
  gint64 *row = plait_arena_new_array (arena, gint64, heads * plait_query_key_pairs_count (&pairs));

  sets[0] = ends[0] = 0;
  for (gint64 s = 0; s < pairs.queries.n; s++)
    for (gint64 q = pairs.queries.offsets[s]; q < pairs.queries.offsets[s + 1]; q++)
      for (guint h = 0; h < heads; h++)
        {
          gint64 first = pairs.rows.offsets[s], length = plait_ragged_length (pairs.rows, s);
          gint64 parts = CLAMP (length, 1, stride);

          for (gint64 i = h % parts; i < length; i += parts)
            row[n++] = first + i;
          entry++;
          sets[entry] = entry;
          ends[entry] = n;
        }
  return (PlaitSelectedRows){ heads, { entries, sets }, { entries, ends }, row };
}

static PlaitResidualStream
combine (PlaitCrossAttention *cross, gconstpointer data, gconstpointer state, PlaitResidualStream x)
{
  const Settings *settings = data;

  for (guint i = 0; i < plait_cross_n_memories (cross); i++)
    {
      PlaitResidualStream query = plait_cross_normalise (cross, i, x);
      PlaitSelectedRows chosen = choose (cross, i, settings->stride);
      PlaitNode *weights = plait_cross_sparse_weights (cross, NULL, i, query, &chosen);

      x = plait_cross_residual (cross, i, x, plait_cross_sparse_context (cross, NULL, i, &chosen, weights));
    }
  return x;
}

PLAIT_PLUGIN_DEFINE (.build = build, .combine = combine)
