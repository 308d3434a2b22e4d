/* SPDX-License-Identifier: MIT */
#include "plugin/plugin.h"

/*
 * Word coverage (Tu et al. 2016, neural; Chen et al. 2017, eq. 11-12): a small GRU remembers for each row what
 * attention it has had.
 *
 *     C_ji = GRU (C_(j-1)i, a_ji, d, h_i)
 */
typedef struct
{
  gint64 width;
  gint reset;
} Settings;

static const PlaitBinding bindings[] = {
  PLAIT_BIND_INTEGER (Settings, width),
  PLAIT_BIND_CHOICE (Settings, reset, "before;after"),
};

static gboolean
build (const PlaitCoverageBuild *build, gconstpointer data, gpointer state, PlaitCoverageShape *shape, GError **error)
{
  const Settings *settings = data;

  *(PlaitCoverageCell *)state = plait_coverage_cell_declare (build, settings->width, (PlaitResetPlace)settings->reset);
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

static const PlaitCoverageTable table
    = { .state_size = sizeof (PlaitCoverageCell), .build = build, .prepare = prepare, .update = update };

PLAIT_PLUGIN_COVERAGE_DEFINE ("word", "0.1.0", Settings, bindings, table)
