/* SPDX-License-Identifier: MIT */
#include "interface/plugin.h"

#include "serial-settings.h"

/*
 * Serial combination (Libovicky et al. 2018, section 3): one cross-attention after the other, each with its own
 * residual connection, in the order of the sources.
 *
 *     for each memory i:  x <- residual (x, attend_i (normalise_i (x)))
 */

static gboolean
build (PlaitCrossAttention *cross, gconstpointer data, gpointer state, GError **error)
{
  const Settings *settings = data;
  PlaitAttendSettings attention = { PLAIT_DECODER_DROPOUT_RATES, .heads = (guint)settings->heads };

  for (guint i = 0; i < plait_cross_n_memories (cross); i++)
    {
      plait_cross_declare_residual (cross, i);
      plait_cross_declare_attend (cross, i, &attention);
    }
  return TRUE;
}

static PlaitResidualStream
combine (PlaitCrossAttention *cross, gconstpointer data, gconstpointer state, PlaitResidualStream x)
{
  for (guint i = 0; i < plait_cross_n_memories (cross); i++)
    x = plait_cross_residual (cross, i, x, plait_cross_attend (cross, i, plait_cross_normalise (cross, i, x)));
  return x;
}

PLAIT_PLUGIN_DEFINE (.build = build, .combine = combine)
