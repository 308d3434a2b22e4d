/* SPDX-License-Identifier: MIT */
#include "interface/plugin.h"

#include "flat-settings.h"

/*
 * Flat combination (Libovicky et al. 2018, eq. 5-6): one softmax over the rows of all memories together.
 *
 *     x <- residual (x, attend_jointly (normalise (x)))
 */

static gboolean
build (PlaitCrossAttention *cross, gconstpointer data, gpointer state, GError **error)
{
  const Settings *settings = data;
  PlaitAttendSettings attention = {
    PLAIT_DECODER_DROPOUT_RATES,
    .heads = (guint)settings->heads,
    .projections = settings->projections,
    .sentinel = settings->sentinel,
  };

  plait_cross_declare_residual (cross, 0);
  plait_cross_declare_attend_jointly (cross, &attention);
  return TRUE;
}

static PlaitResidualStream
combine (PlaitCrossAttention *cross, gconstpointer data, gconstpointer state, PlaitResidualStream x)
{
  PlaitResidualStream query = plait_cross_normalise (cross, 0, x);

  return plait_cross_residual (cross, 0, x, plait_cross_attend_jointly (cross, query));
}

PLAIT_PLUGIN_DEFINE (.build = build, .combine = combine)
