/* SPDX-License-Identifier: MIT */
#include "interface/plugin.h"

#include "parallel-settings.h"

/*
 * Parallel combination (Libovicky, Helcl & Marecek 2018, eq. 4): every memory is attended to with the same queries, the
 * contexts are summed, one residual connection.
 *
 *     q <- normalise (x);  x <- residual (x, sum_i attend_i (q))
 */

static gboolean
build (PlaitSite *site, gconstpointer data, gpointer state, GError **error)
{
  const Settings *settings = data;
  PlaitSiteAttention attention = { PLAIT_DECODER_RATES, .heads = (guint)settings->heads };

  plait_site_declare_residual (site, 0);
  for (guint i = 0; i < plait_site_n_memories (site); i++)
    plait_site_declare_attend (site, i, &attention);
  return TRUE;
}

static PlaitStream
combine (PlaitSite *site, gconstpointer data, gconstpointer state, PlaitStream x)
{
  guint n = plait_site_n_memories (site);
  PlaitContext *contexts = g_newa (PlaitContext, n);
  PlaitStream query = plait_site_normalise (site, 0, x);

  for (guint i = 0; i < n; i++)
    contexts[i] = plait_site_attend (site, i, query);
  return plait_site_residual (site, 0, x, plait_site_sum (site, contexts, n));
}

PLAIT_PLUGIN_DEFINE (.build = build, .combine = combine)
