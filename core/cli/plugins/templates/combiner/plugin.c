/* SPDX-License-Identifier: MIT */
#include "autograd/operators.h"
#include "interface/plugin.h"

#include "@NAME@-settings.h"

/*
 * Sums the contexts of all memories and scales the sum. With scale=1 this is plait's combiner parallel (Libovicky,
 * Helcl & Marecek 2018, eq. 4).
 *
 *     q <- normalise (x);  x <- residual (x, scale * sum_i attend_i (q))
 */

/* Declares the sublayers that combine() calls. */
static gboolean
build (PlaitCrossAttention *cross, gconstpointer data, gpointer state, GError **error)
{
  /* Heads and dropout rates are those that the user set for the decoder. */
  PlaitAttendSettings attention = { PLAIT_DECODER_DROPOUT_RATES };

  plait_cross_declare_residual (cross, 0);
  for (guint i = 0; i < plait_cross_n_memories (cross); i++)
    plait_cross_declare_attend (cross, i, &attention);
  return TRUE;
}

static PlaitResidualStream
combine (PlaitCrossAttention *cross, gconstpointer data, gconstpointer state, PlaitResidualStream x)
{
  const Settings *settings = data;
  guint n = plait_cross_n_memories (cross);
  PlaitContext *contexts = g_newa (PlaitContext, n);
  PlaitResidualStream query = plait_cross_normalise (cross, 0, x);
  PlaitContext sum;

  for (guint i = 0; i < n; i++)
    contexts[i] = plait_cross_attend (cross, i, query);
  sum = plait_cross_sum (cross, contexts, n);
  sum.value = plait_scale (plait_cross_tape (cross), sum.value, settings->scale);
  return plait_cross_residual (cross, 0, x, sum);
}

PLAIT_PLUGIN_DEFINE (.build = build, .combine = combine)
