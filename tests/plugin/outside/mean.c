/* SPDX-License-Identifier: MIT */
#include "autograd/operators.h"
#include "interface/plugin.h"

#include "mean-settings.h"

/*
 * A combiner as somebody writes it outside plait's tree, for every decoder: the contexts of all memories, averaged,
 * scaled, and let through by the query, which is repeated or cut to their width.
 *
 *     q <- normalise (x);  x <- residual (x, sigmoid (fit (q)) * gain / n * sum_i attend_i (q))
 */

static gboolean
build (PlaitSite *site, gconstpointer data, gpointer state, GError **error)
{
  PlaitSiteAttention attention = { PLAIT_DECODER_RATES };

  plait_site_declare_residual (site, 0);
  for (guint i = 0; i < plait_site_n_memories (site); i++)
    plait_site_declare_attend (site, i, &attention);
  return TRUE;
}

/* A query may be as wide as contexts, wider or narrower. */
static PlaitNode *
fit (PlaitSite *site, PlaitNode *query)
{
  gint64 width = plait_site_width (site), own = plait_site_query_width (site);
  guint n = (guint)((width + own - 1) / own);
  PlaitNode **parts = g_newa (PlaitNode *, n);

  for (guint i = 0; i < n; i++)
    parts[i] = plait_columns (plait_site_tape (site), query, 0, MIN (own, width - i * own));
  return plait_concatenate_columns (plait_site_tape (site), parts, n);
}

static PlaitStream
combine (PlaitSite *site, gconstpointer data, gconstpointer state, PlaitStream x)
{
  const Settings *settings = data;
  guint n = plait_site_n_memories (site);
  PlaitContext *contexts = g_newa (PlaitContext, n);
  PlaitStream query = plait_site_normalise (site, 0, x);
  PlaitNode *gate;

  for (guint i = 0; i < n; i++)
    contexts[i] = plait_site_attend (site, i, query);
  PlaitContext sum = plait_site_sum (site, contexts, n);
  gate = plait_activate (plait_site_tape (site), fit (site, query.query), PLAIT_ACTIVATION_SIGMOID);
  sum.value = plait_scale (plait_site_tape (site), plait_multiply (plait_site_tape (site), gate, sum.value),
                           settings->gain / n);
  return plait_site_residual (site, 0, x, sum);
}

PLAIT_PLUGIN_DEFINE (.build = build, .combine = combine)
