/* SPDX-License-Identifier: MIT */
#include "autograd/operators.h"
#include "interface/plugin.h"

#include "@NAME@-settings.h"

/*
 * The contexts of all memories, summed and scaled; scale=1 is plait's own combiner parallel (Libovicky, Helcl & Marecek
 * 2018, eq. 4).
 *
 *     q <- normalise (x);  x <- residual (x, scale * sum_i attend_i (q))
 */

/* Declares what combine calls. */
static gboolean
build (PlaitSite *site, gconstpointer data, gpointer state, GError **error)
{
  /* Heads and dropout are the decoder's. */
  PlaitSiteAttention attention = { PLAIT_DECODER_RATES };

  plait_site_declare_residual (site, 0);
  for (guint i = 0; i < plait_site_n_memories (site); i++)
    plait_site_declare_attend (site, i, &attention);
  return TRUE;
}

static PlaitStream
combine (PlaitSite *site, gconstpointer data, gconstpointer state, PlaitStream x)
{
  const Settings *settings = data;
  guint n = plait_site_n_memories (site);
  PlaitContext *contexts = g_newa (PlaitContext, n);
  PlaitStream query = plait_site_normalise (site, 0, x);
  PlaitContext sum;

  for (guint i = 0; i < n; i++)
    contexts[i] = plait_site_attend (site, i, query);
  sum = plait_site_sum (site, contexts, n);
  sum.value = plait_scale (plait_site_tape (site), sum.value, settings->scale);
  return plait_site_residual (site, 0, x, sum);
}

PLAIT_PLUGIN_DEFINE (.build = build, .combine = combine)
