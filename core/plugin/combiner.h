/* SPDX-License-Identifier: MIT */
#pragma once

#include "plugin/site.h"

/*
 * The combiner contract: queries and the memories of all sources -> context vectors, through a site.
 */
typedef struct
{
  /* Declares what combine will call. Once for each site (each decoder layer). @settings is the plugin's own struct,
   * filled by the host. FALSE with *error set, PLAIT_ERROR_INPUT, if they do not fit what the site has. */
  gboolean (*build) (PlaitSite *site, gconstpointer settings, GError **error);

  /* Runs the strategy on @x and returns what the decoder goes on with. */
  PlaitStream (*combine) (PlaitSite *site, gconstpointer settings, PlaitStream x);

  gpointer reserved[4];
} PlaitCombinerTable;
