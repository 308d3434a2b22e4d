/* SPDX-License-Identifier: MIT */
#pragma once

#include "plugin/site.h"

/*
 * The combiner contract: queries and the memories of all sources -> context vectors, through a site.
 */
typedef struct
{
  /* Declares what combine will call. Once for each site (each decoder layer). */
  gboolean (*build) (PlaitSite *site, gconstpointer settings, GError **error);

  /* Runs the strategy on @x. */
  PlaitStream (*combine) (PlaitSite *site, gconstpointer settings, PlaitStream x);

  gpointer reserved[4];
} PlaitCombinerTable;
