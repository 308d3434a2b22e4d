/* SPDX-License-Identifier: MIT */
#include "interface/plugin.h"

#include "hierarchical-settings.h"

/*
 * Hierarchical combination (Libovicky, Helcl & Marecek 2018, eq. 7-8): attend to each memory, then attend over the
 * contexts with the same queries.
 *
 *     q <- normalise (x);  x <- residual (x, attend_contexts (q, [attend_i (q)]))
 */

static gboolean
build (PlaitSite *site, gconstpointer data, gpointer state, GError **error)
{
  const Settings *settings = data;
  PlaitSiteAttention first = { PLAIT_DECODER_RATES, .heads = (guint)settings->heads };
  PlaitSiteAttention second = {
    .heads = (guint)settings->context_heads,
    .dropout = settings->context_dropout == CONTEXT_DROPOUT_NONE ? 0 : PLAIT_DECODER_DROPOUT,
    .output_dropout = PLAIT_DECODER_DROPOUT,
    .projections = settings->projections,
    .sentinel = settings->sentinel,
  };

  plait_site_declare_residual (site, 0);
  for (guint i = 0; i < plait_site_n_memories (site); i++)
    plait_site_declare_attend (site, i, &first);
  plait_site_declare_attend_contexts (site, &second);
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
  return plait_site_residual (site, 0, x, plait_site_attend_contexts (site, query, contexts));
}

PLAIT_PLUGIN_DEFINE (.build = build, .combine = combine)
