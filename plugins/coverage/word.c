/* SPDX-License-Identifier: MIT */
#include "interface/plugin.h"

#include "word-settings.h"

/*
 * Word coverage (Tu et al. 2016, neural; Chen et al. 2017, eq. 11-12): a small GRU accumulates the attention paid to
 * each row.
 *
 *     C_ji = GRU (C_(j-1)i, a_ji, d, h_i)
 */

static gboolean
build (const PlaitCoverageBuild *build, gconstpointer data, gpointer state, PlaitCoverageShape *shape, GError **error)
{
  const Settings *settings = data;

  *(PlaitCoverageCell *)state = plait_coverage_cell_declare (build, settings->width, settings->reset);
  shape->width = settings->width;
  return TRUE;
}

static PlaitNode *
prepare (gconstpointer settings, gconstpointer state, PlaitTape *tape, const PlaitMemory *memory)
{
  return plait_coverage_cell_prepare (tape, state, memory);
}

static PlaitNode *
update (gconstpointer settings, gconstpointer state, const PlaitCoverageStep *step)
{
  return plait_coverage_cell_update (state, step, NULL, 0);
}

PLAIT_PLUGIN_DEFINE (.state_size = sizeof (PlaitCoverageCell), .build = build, .prepare = prepare, .update = update)
