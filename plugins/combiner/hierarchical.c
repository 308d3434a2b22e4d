/* SPDX-License-Identifier: MIT */
#include "interface/plugin.h"

#include "hierarchical-settings.h"

/*
 * Hierarchical combination (Libovicky et al. 2018, eq. 7-8): attention to each memory, then attention over the contexts
 * with the same queries.
 *
 *     q <- normalise (x);  x <- residual (x, attend_contexts (q, [attend_i (q)]))
 */

static gboolean
build (PlaitCrossAttention *cross, gconstpointer data, gpointer state, GError **error)
{
  const Settings *settings = data;
  PlaitAttendSettings first = { PLAIT_DECODER_DROPOUT_RATES, .heads = (guint)settings->heads };
  PlaitAttendSettings second = {
    .heads = (guint)settings->context_heads,
    .dropout = settings->context_dropout == CONTEXT_DROPOUT_NONE ? 0 : PLAIT_DECODER_DROPOUT,
    .output_dropout = PLAIT_DECODER_DROPOUT,
    .projections = settings->projections,
    .sentinel = settings->sentinel,
  };

  plait_cross_declare_residual (cross, 0);
  for (guint i = 0; i < plait_cross_n_memories (cross); i++)
    plait_cross_declare_attend (cross, i, &first);
  plait_cross_declare_attend_contexts (cross, &second);
  return TRUE;
}

static PlaitResidualStream
combine (PlaitCrossAttention *cross, gconstpointer data, gconstpointer state, PlaitResidualStream x)
{
  guint n = plait_cross_n_memories (cross);
  PlaitContext *contexts = g_newa (PlaitContext, n);
  PlaitResidualStream query = plait_cross_normalise (cross, 0, x);

  for (guint i = 0; i < n; i++)
    contexts[i] = plait_cross_attend (cross, i, query);
  return plait_cross_residual (cross, 0, x, plait_cross_attend_contexts (cross, query, contexts));
}

PLAIT_PLUGIN_DEFINE (.build = build, .combine = combine)
