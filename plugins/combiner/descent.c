/* SPDX-License-Identifier: MIT */
#include "interface/plugin.h"

#include "descent-settings.h"

/*
 * Attention down the levels of a pyramid (Gupta & Ahmed, Attention on Hierarchical Representation of Inputs). A set of
 * siblings is the rows at the top, or the children of a row that was followed:
 *
 *     p (row) = softmax over its siblings (score (query, row)) * p (parent);   p of the top is 1
 *     context = sum over the leaves that were reached of p (leaf) * value (leaf)
 *
 * descent=soft follows all rows. top1 and beam follow, for each query and head, the one or the few rows of each level
 * with the largest p; normalise divides the p of the leaves by their sum. A row with two parents has the sum of both p.
 *
 * A memory without levels is attended to as a whole. combine says how the contexts of several memories are combined, as
 * the combiners serial, parallel and hierarchical do.
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

/* Returns how many rows of a level are followed; 0: all. train=soft follows all rows while gradients flow, so that
 * every row has one; evaluation and search follow as many as descent says. */
static gint64
branches (PlaitSite *site, const Settings *settings)
{
  gboolean trains = plait_tape_mode (plait_site_tape (site)) != PLAIT_TAPE_EVALUATE;

  if (settings->descent == DESCENT_SOFT || (trains && settings->train == TRAIN_SOFT))
    return 0;
  return settings->descent == DESCENT_BEAM ? settings->branches : 1;
}

static PlaitContext
attend (PlaitSite *site, const Settings *settings, guint memory, PlaitStream query)
{
  gint64 followed = branches (site, settings);

  if (!has_levels (site, memory))
    return plait_site_attend (site, memory, query);
  return plait_site_descend (site, NULL, memory, query, followed, followed > 0 && settings->normalise);
}

static PlaitStream
combine (PlaitSite *site, gconstpointer data, gconstpointer state, PlaitStream x)
{
  const Settings *settings = data;
  guint n = plait_site_n_memories (site);
  PlaitContext *contexts = g_newa (PlaitContext, n);
  PlaitStream query;

  if (settings->combine == COMBINE_SERIAL)
    {
      for (guint i = 0; i < n; i++)
        x = plait_site_residual (site, i, x, attend (site, settings, i, plait_site_normalise (site, i, x)));
      return x;
    }
  query = plait_site_normalise (site, 0, x);
  for (guint i = 0; i < n; i++)
    contexts[i] = attend (site, settings, i, query);
  if (settings->combine == COMBINE_PARALLEL)
    return plait_site_residual (site, 0, x, plait_site_sum (site, contexts, n));
  return plait_site_residual (site, 0, x, plait_site_attend_contexts (site, query, contexts));
}

PLAIT_PLUGIN_DEFINE (.build = build, .combine = combine)
