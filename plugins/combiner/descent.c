/* SPDX-License-Identifier: MIT */
#include "interface/plugin.h"

#include "descent-settings.h"

/*
 * Attention from the top of a pyramid downwards (Gupta & Ahmed, Attention on Hierarchical Representation of Inputs).
 * The rows without a parent are one set of siblings, and so are the children of every row that goes on:
 *
 *     p (row) = softmax over its set (score (query, row)) * p (parent), p of the top being 1
 *     context = sum over the leaves that are reached of p (leaf) value (leaf)
 *
 * soft: all rows go on. top1, beam: of each query and head the one, or the few, of the largest p at each level; the p
 * of the leaves that are reached are divided by their sum, or not. A row that two neighbours share has the sum of both.
 */

static gboolean
has_levels (const PlaitSite *site, guint memory)
{
  return (plait_site_memory (site, memory)->structure & PLAIT_STRUCTURE_LEVELS) != 0;
}

static gboolean
build (PlaitSite *site, gconstpointer data, gpointer state, GError **error)
{
  const Settings *settings = data;
  PlaitSiteAttention attention = { PLAIT_DECODER_RATES, .heads = (guint)settings->heads };
  PlaitSiteAttention contexts = { PLAIT_DECODER_RATES, .projections = PLAIT_PROJECTIONS_PUBLISHED };

  for (guint i = 0; i < plait_site_n_memories (site); i++)
    {
      if (i == 0 || settings->combine == COMBINE_SERIAL)
        plait_site_declare_residual (site, i);
      plait_site_declare_attend (site, i, &attention);
      if (has_levels (site, i))
        plait_site_declare_rows (site, i);
    }
  if (settings->combine == COMBINE_HIERARCHICAL)
    plait_site_declare_attend_contexts (site, &contexts);
  return TRUE;
}

/* Gradients can flow in training alone; whatever else runs goes down as it decodes. */
static PlaitContext
attend (PlaitSite *site, const Settings *settings, guint memory, PlaitStream query)
{
  gboolean hard = settings->train == TRAIN_SAME || plait_tape_mode (plait_site_tape (site)) == PLAIT_TAPE_EVALUATE;

  if (!has_levels (site, memory))
    return plait_site_attend (site, memory, query);
  if (settings->descent == DESCENT_SOFT || !hard)
    return plait_site_descend (site, NULL, memory, query, 0, FALSE);
  return plait_site_descend (site, NULL, memory, query, settings->descent == DESCENT_BEAM ? settings->branches : 1,
                             settings->normalise);
}

static PlaitStream
combine (PlaitSite *site, gconstpointer data, gconstpointer state, PlaitStream x)
{
  const Settings *settings = data;
  guint n = plait_site_n_memories (site);
  PlaitContext *contexts = g_newa (PlaitContext, n);
  PlaitStream query = plait_site_normalise (site, 0, x);

  for (guint i = 0; i < n; i++)
    {
      if (i > 0 && settings->combine == COMBINE_SERIAL)
        query = plait_site_normalise (site, i, x = plait_site_residual (site, i - 1, x, contexts[i - 1]));
      contexts[i] = attend (site, settings, i, query);
    }
  if (settings->combine == COMBINE_SERIAL)
    return plait_site_residual (site, n - 1, x, contexts[n - 1]);
  contexts[0] = settings->combine == COMBINE_PARALLEL ? plait_site_sum (site, contexts, n)
                                                      : plait_site_attend_contexts (site, query, contexts);
  return plait_site_residual (site, 0, x, contexts[0]);
}

PLAIT_PLUGIN_DEFINE (.build = build, .combine = combine)
