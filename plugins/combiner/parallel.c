/* SPDX-License-Identifier: MIT */
#include "interface/plugin.h"

#include "parallel-settings.h"

/*
 * Parallel combination (Libovicky et al. 2018, eq. 4): attention to each memory with the same queries; the contexts are
 * summed and added by one residual connection.
 *
 *     q <- normalise (x);  x <- residual (x, sum_i attend_i (q))
 */

static gboolean
build (PlaitCrossAttention *cross, gconstpointer data, gpointer state, GError **error)
{
  const Settings *settings = data;
  PlaitAttendSettings attention = { PLAIT_DECODER_DROPOUT_RATES, .heads = (guint)settings->heads };

  plait_cross_declare_residual (cross, 0);
  for (guint i = 0; i < plait_cross_n_memories (cross); i++)
    plait_cross_declare_attend (cross, i, &attention);
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
  return plait_cross_residual (cross, 0, x, plait_cross_sum (cross, contexts, n));
}

PLAIT_PLUGIN_DEFINE (.build = build, .combine = combine)
