/* SPDX-License-Identifier: MIT */
#include "interface/plugin.h"

#include "hops-settings.h"

/*
 * A combiner that attends to every memory twice, with two separate attentions. The query of the second depends on the
 * context of the first.
 *
 *     for each memory i:  x <- residual (x, attend_i (normalise (x)))
 *                         x <- residual (x, attend'_i (normalise (x)))
 */

#define SECOND "second"

static gboolean
build (PlaitCrossAttention *cross, gconstpointer data, gpointer state, GError **error)
{
  const Settings *settings = data;
  PlaitAttendSettings first = { PLAIT_DECODER_DROPOUT_RATES };
  PlaitAttendSettings second
      = { .name = SECOND, .dropout = settings->dropout, .output_dropout = PLAIT_DECODER_DROPOUT };

  for (guint i = 0; i < plait_cross_n_memories (cross); i++)
    {
      plait_cross_declare_residual (cross, 2 * i);
      plait_cross_declare_attend (cross, i, &first);
      plait_cross_declare_residual (cross, 2 * i + 1);
      plait_cross_declare_attend (cross, i, &second);
    }
  return TRUE;
}

static PlaitResidualStream
hop (PlaitCrossAttention *cross, guint slot, const char *name, guint memory, PlaitResidualStream x)
{
  PlaitResidualStream query = plait_cross_normalise (cross, slot, x);

  return plait_cross_residual (cross, slot, x, plait_cross_attend_named (cross, name, memory, query));
}

static PlaitResidualStream
combine (PlaitCrossAttention *cross, gconstpointer settings, gconstpointer state, PlaitResidualStream x)
{
  for (guint i = 0; i < plait_cross_n_memories (cross); i++)
    {
      x = hop (cross, 2 * i, NULL, i, x);
      x = hop (cross, 2 * i + 1, SECOND, i, x);
    }
  return x;
}

PLAIT_PLUGIN_DEFINE (.build = build, .combine = combine)
