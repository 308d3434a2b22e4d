/* SPDX-License-Identifier: MIT */
#include "interface/plugin.h"

#include "descent-settings.h"

/*
 * Attention down the levels of a pyramid (Gupta & Ahmed, Attention on Hierarchical Representation of Inputs), from the
 * top rows to the leaves. Only children of followed rows are weighed. The top rows are siblings; the children of one
 * row are siblings:
 *
 *     p (row) = softmax over its siblings (score (query, row)) * p (parent);   p of the parent of top rows is 1
 *     context = sum over the reached leaves of p (leaf) * value (leaf)
 *
 * descent=soft follows all rows. For each query and head, on each level above the leaves, descent=top1 follows the row
 * with the largest p, and descent=beam the few rows with the largest p. All children of the last followed rows are
 * reached leaves; normalise divides their p by the sum of their p. A row with two parents has the sum of its two p.
 *
 * A memory without levels is attended to as a whole. combine says how the contexts of several memories are combined, as
 * the combiners serial, parallel and hierarchical do.
 */

static gboolean
has_levels (const PlaitCrossAttention *cross, guint memory)
{
  return (plait_cross_memory (cross, memory)->structure & PLAIT_STRUCTURE_LEVELS) != 0;
}

static gboolean
build (PlaitCrossAttention *cross, gconstpointer data, gpointer state, GError **error)
{
  const Settings *settings = data;
  PlaitAttendSettings attention = { PLAIT_DECODER_DROPOUT_RATES, .heads = (guint)settings->heads };
  PlaitAttendSettings contexts = { PLAIT_DECODER_DROPOUT_RATES, .projections = PLAIT_PROJECTIONS_PUBLISHED };

  for (guint i = 0; i < plait_cross_n_memories (cross); i++)
    {
      if (i == 0 || settings->combine == COMBINE_SERIAL)
        plait_cross_declare_residual (cross, i);
      plait_cross_declare_attend (cross, i, &attention);
      if (has_levels (cross, i))
        plait_cross_declare_rows (cross, i);
    }
  if (settings->combine == COMBINE_HIERARCHICAL)
    plait_cross_declare_attend_contexts (cross, &contexts);
  return TRUE;
}

/* Returns how many rows of a level are followed; 0: all. With train=soft, all rows are followed while gradients are
 * computed, so that every row gets a gradient. Evaluation and search follow as many rows as descent says. */
static gint64
branches (PlaitCrossAttention *cross, const Settings *settings)
{
  gboolean trains = plait_tape_mode (plait_cross_tape (cross)) != PLAIT_TAPE_EVALUATE;

  if (settings->descent == DESCENT_SOFT || (trains && settings->train == TRAIN_SOFT))
    return 0;
  return settings->descent == DESCENT_BEAM ? settings->branches : 1;
}

static PlaitContext
attend (PlaitCrossAttention *cross, const Settings *settings, guint memory, PlaitResidualStream query)
{
  gint64 followed = branches (cross, settings);

  if (!has_levels (cross, memory))
    return plait_cross_attend (cross, memory, query);
  return plait_cross_descend (cross, NULL, memory, query, followed, followed > 0 && settings->normalise);
}

static PlaitResidualStream
combine (PlaitCrossAttention *cross, gconstpointer data, gconstpointer state, PlaitResidualStream x)
{
  const Settings *settings = data;
  guint n = plait_cross_n_memories (cross);
  PlaitContext *contexts = g_newa (PlaitContext, n);
  PlaitResidualStream query;

  if (settings->combine == COMBINE_SERIAL)
    {
      for (guint i = 0; i < n; i++)
        x = plait_cross_residual (cross, i, x, attend (cross, settings, i, plait_cross_normalise (cross, i, x)));
      return x;
    }
  query = plait_cross_normalise (cross, 0, x);
  for (guint i = 0; i < n; i++)
    contexts[i] = attend (cross, settings, i, query);
  if (settings->combine == COMBINE_PARALLEL)
    return plait_cross_residual (cross, 0, x, plait_cross_sum (cross, contexts, n));
  return plait_cross_residual (cross, 0, x, plait_cross_attend_contexts (cross, query, contexts));
}

PLAIT_PLUGIN_DEFINE (.build = build, .combine = combine)
