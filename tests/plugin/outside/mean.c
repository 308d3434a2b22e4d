/* SPDX-License-Identifier: MIT */
#include <plait.h>

/*
 * A combiner as somebody writes it outside plait's tree: the contexts of all memories, averaged and scaled.
 *
 *     q <- normalise (x);  x <- residual (x, gain / n * sum_i attend_i (q))
 */
typedef struct
{
  double gain;
} Settings;

static const PlaitBinding bindings[] = {
  PLAIT_BIND_REAL (Settings, gain),
};

static gboolean
build (PlaitSite *site, gconstpointer data, GError **error)
{
  PlaitSiteAttention attention = { .dropout = -1, .output_dropout = -1 };

  plait_site_declare_residual (site, 0);
  for (guint i = 0; i < plait_site_n_memories (site); i++)
    plait_site_declare_attend (site, i, &attention);
  return TRUE;
}

static PlaitStream
combine (PlaitSite *site, gconstpointer data, PlaitStream x)
{
  const Settings *settings = data;
  guint n = plait_site_n_memories (site);
  PlaitContext *contexts = g_newa (PlaitContext, n);
  PlaitStream query = plait_site_normalise (site, 0, x);

  for (guint i = 0; i < n; i++)
    contexts[i] = plait_site_attend (site, i, query);
  PlaitContext sum = plait_site_sum (site, contexts, n);
  sum.value = plait_scale (plait_site_tape (site), sum.value, settings->gain / n);
  return plait_site_residual (site, 0, x, sum);
}

static const PlaitCombinerTable table = { .build = build, .combine = combine };

PLAIT_PLUGIN_COMBINER_DEFINE ("mean", "1.0", Settings, bindings, table)
