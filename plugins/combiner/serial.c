/* SPDX-License-Identifier: MIT */
#include "interface/plugin.h"

#include "serial-settings.h"

/*
 * Serial combination (Libovicky, Helcl & Marecek 2018, section 3): one cross-attention after the other, each with its
 * own residual connection, in the order of the sources.
 *
 *     for each memory i:  x <- residual (x, attend_i (normalise_i (x)))
 */

static gboolean
build (PlaitSite *site, gconstpointer data, gpointer state, GError **error)
{
  const Settings *settings = data;
  PlaitSiteAttention attention = { PLAIT_DECODER_RATES, .heads = (guint)settings->heads };

  for (guint i = 0; i < plait_site_n_memories (site); i++)
    {
      plait_site_declare_residual (site, i);
      plait_site_declare_attend (site, i, &attention);
    }
  return TRUE;
}

static PlaitStream
combine (PlaitSite *site, gconstpointer data, gconstpointer state, PlaitStream x)
{
  for (guint i = 0; i < plait_site_n_memories (site); i++)
    x = plait_site_residual (site, i, x, plait_site_attend (site, i, plait_site_normalise (site, i, x)));
  return x;
}

PLAIT_PLUGIN_DEFINE (.build = build, .combine = combine)
