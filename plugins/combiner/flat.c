/* SPDX-License-Identifier: MIT */
#include "interface/plugin.h"

#include "flat-settings.h"

/*
 * Flat combination (Libovicky, Helcl & Marecek 2018, eq. 5-6): one softmax over the rows of all memories together.
 *
 *     x <- residual (x, attend_jointly (normalise (x)))
 */

static gboolean
build (PlaitSite *site, gconstpointer data, gpointer state, GError **error)
{
  const Settings *settings = data;
  PlaitSiteAttention attention = {
    PLAIT_DECODER_RATES,
    .heads = (guint)settings->heads,
    .projections = settings->projections,
    .sentinel = settings->sentinel,
  };

  plait_site_declare_residual (site, 0);
  plait_site_declare_attend_jointly (site, &attention);
  return TRUE;
}

static PlaitStream
combine (PlaitSite *site, gconstpointer data, gconstpointer state, PlaitStream x)
{
  PlaitStream query = plait_site_normalise (site, 0, x);

  return plait_site_residual (site, 0, x, plait_site_attend_jointly (site, query));
}

PLAIT_PLUGIN_DEFINE (.build = build, .combine = combine)
