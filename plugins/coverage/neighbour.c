/* SPDX-License-Identifier: MIT */
#include "layers/layers.h"
#include "interface/plugin.h"

#include "neighbour-settings.h"

/*
 * Word coverage whose cell also reads the previous coverage of the rows on both sides (Chen et al. 2017, section 5.3,
 * where it did not help).
 *
 *     C_ji = GRU (C_(j-1)i, a_ji, d, h_i, C_(j-1)(i-1), C_(j-1)(i+1))
 */

typedef struct
{
  PlaitCoverageCell cell;
  PlaitLinear previous;
  PlaitLinear next;
} State;

static gboolean
build (const PlaitCoverageBuild *build, gconstpointer data, gpointer state_data, PlaitCoverageShape *shape,
       GError **error)
{
  const Settings *settings = data;
  State *state = state_data;

  state->cell = plait_coverage_cell_declare (build, settings->width, settings->reset);
  state->previous = plait_coverage_cell_input (build, &state->cell, "previous", settings->width);
  state->next = plait_coverage_cell_input (build, &state->cell, "next", settings->width);
  shape->width = settings->width;
  return TRUE;
}

static PlaitNode *
prepare (gconstpointer settings, gconstpointer state, PlaitTape *tape, const PlaitMemory *memory)
{
  return plait_coverage_cell_prepare (tape, &((const State *)state)->cell, memory);
}

static PlaitNode *
update (gconstpointer settings, gconstpointer state_data, const PlaitCoverageStep *step)
{
  const State *state = state_data;
  PlaitCoverageInput inputs[] = {
    { &state->previous, step->previous, step->state },
    { &state->next, step->next, step->state },
  };

  return plait_coverage_cell_update (&state->cell, step, inputs, G_N_ELEMENTS (inputs));
}

PLAIT_PLUGIN_DEFINE (.state_size = sizeof (State), .build = build, .prepare = prepare, .update = update)
