/* SPDX-License-Identifier: MIT */
#include "autograd/operators.h"
#include "interface/plugin.h"

#include "mean-settings.h"

/*
 * A combiner that is built outside plait's tree and works in every decoder. It computes the mean of all contexts,
 * scaled and gated by the query, which is repeated or cut to the width of the contexts.
 *
 *     q <- normalise (x);  x <- residual (x, sigmoid (fit (q)) * gain / n * sum_i attend_i (q))
 */

static gboolean
build (PlaitCrossAttention *cross, gconstpointer data, gpointer state, GError **error)
{
  PlaitAttendSettings attention = { PLAIT_DECODER_DROPOUT_RATES };

  plait_cross_declare_residual (cross, 0);
  for (guint i = 0; i < plait_cross_n_memories (cross); i++)
    plait_cross_declare_attend (cross, i, &attention);
  return TRUE;
}

/* Returns @query in the width of contexts: repeated if it is narrower, cut if it is wider. */
static PlaitNode *
fit (PlaitCrossAttention *cross, PlaitNode *query)
{
  gint64 width = plait_cross_width (cross), own = plait_cross_query_width (cross);
  guint n = (guint)((width + own - 1) / own);
  PlaitNode **parts = g_newa (PlaitNode *, n);

  for (guint i = 0; i < n; i++)
    parts[i] = plait_columns (plait_cross_tape (cross), query, 0, MIN (own, width - i * own));
  return plait_concatenate_columns (plait_cross_tape (cross), parts, n);
}

static PlaitResidualStream
combine (PlaitCrossAttention *cross, gconstpointer data, gconstpointer state, PlaitResidualStream x)
{
  const Settings *settings = data;
  guint n = plait_cross_n_memories (cross);
  PlaitContext *contexts = g_newa (PlaitContext, n);
  PlaitResidualStream query = plait_cross_normalise (cross, 0, x);
  PlaitNode *gate;

  for (guint i = 0; i < n; i++)
    contexts[i] = plait_cross_attend (cross, i, query);
  PlaitContext sum = plait_cross_sum (cross, contexts, n);
  gate = plait_activate (plait_cross_tape (cross), fit (cross, query.query), PLAIT_ACTIVATION_SIGMOID);
  sum.value = plait_scale (plait_cross_tape (cross), plait_multiply (plait_cross_tape (cross), gate, sum.value),
                           settings->gain / n);
  return plait_cross_residual (cross, 0, x, sum);
}

PLAIT_PLUGIN_DEFINE (.build = build, .combine = combine)
