/* SPDX-License-Identifier: MIT */
#include "interface/plugin.h"

#include "hops-settings.h"

/*
 * Two hops over every memory, each with an attention of its own: what the second asks for depends on what the first
 * has found.
 *
 *     for each memory i:  x <- residual (x, attend_i (normalise (x)))
 *                         x <- residual (x, attend'_i (normalise (x)))
 */

#define SECOND "second"

static gboolean
build (PlaitSite *site, gconstpointer data, gpointer state, GError **error)
{
  const Settings *settings = data;
  PlaitSiteAttention first = { PLAIT_DECODER_RATES };
  PlaitSiteAttention second = { .name = SECOND, .dropout = settings->dropout, .output_dropout = PLAIT_DECODER_DROPOUT };

  for (guint i = 0; i < plait_site_n_memories (site); i++)
    {
      plait_site_declare_residual (site, 2 * i);
      plait_site_declare_attend (site, i, &first);
      plait_site_declare_residual (site, 2 * i + 1);
      plait_site_declare_attend (site, i, &second);
    }
  return TRUE;
}

static PlaitStream
hop (PlaitSite *site, guint slot, const char *name, guint memory, PlaitStream x)
{
  PlaitStream query = plait_site_normalise (site, slot, x);

  return plait_site_residual (site, slot, x, plait_site_attend_by (site, name, memory, query));
}

static PlaitStream
combine (PlaitSite *site, gconstpointer settings, gconstpointer state, PlaitStream x)
{
  for (guint i = 0; i < plait_site_n_memories (site); i++)
    {
      x = hop (site, 2 * i, NULL, i, x);
      x = hop (site, 2 * i + 1, SECOND, i, x);
    }
  return x;
}

PLAIT_PLUGIN_DEFINE (.build = build, .combine = combine)
