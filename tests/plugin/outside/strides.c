/* SPDX-License-Identifier: MIT */
#include "interface/plugin.h"

#include "strides-settings.h"

/*
 * Every head reads a part of the rows alone: those whose number in their sentence leaves the same remainder as the
 * head's, when divided by stride. A sentence of fewer rows than that has as many parts as rows.
 *
 *     for each memory i:  x <- residual (x, attend_i (normalise (x)) to the rows of each head)
 */

static gboolean
build (PlaitSite *site, gconstpointer data, gpointer state, GError **error)
{
  PlaitSiteAttention attention = { PLAIT_DECODER_RATES };

  for (guint i = 0; i < plait_site_n_memories (site); i++)
    {
      plait_site_declare_residual (site, i);
      plait_site_declare_attend (site, i, &attention);
      plait_site_declare_rows (site, i);
    }
  return TRUE;
}

/* One set of rows for each head of each query. What it is kept in lives as long as the step. */
static PlaitChosen
choose (PlaitSite *site, guint memory, gint64 stride)
{
  PlaitArena *arena = plait_tape_arena (plait_site_tape (site));
  PlaitPairs pairs = plait_site_pairs (site, memory);
  guint heads = plait_site_heads (site, NULL, memory);
  gint64 entries = plait_ragged_rows (pairs.queries) * heads, entry = 0, n = 0;
  gint64 *sets = plait_arena_new_array (arena, gint64, entries + 1);
  gint64 *ends = plait_arena_new_array (arena, gint64, entries + 1);
  gint64 *row = plait_arena_new_array (arena, gint64, heads * plait_pairs_number (&pairs));

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
  return (PlaitChosen){ heads, { entries, sets }, { entries, ends }, row };
}

static PlaitStream
combine (PlaitSite *site, gconstpointer data, gconstpointer state, PlaitStream x)
{
  const Settings *settings = data;

  for (guint i = 0; i < plait_site_n_memories (site); i++)
    {
      PlaitStream query = plait_site_normalise (site, i, x);
      PlaitChosen chosen = choose (site, i, settings->stride);
      PlaitNode *weights = plait_site_weigh_rows (site, NULL, i, query, &chosen);

      x = plait_site_residual (site, i, x, plait_site_read_rows (site, NULL, i, &chosen, weights));
    }
  return x;
}

PLAIT_PLUGIN_DEFINE (.build = build, .combine = combine)
