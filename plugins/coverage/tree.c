/* SPDX-License-Identifier: MIT */
#include "layers/layers.h"
#include "interface/plugin.h"

#include "tree-settings.h"

/*
 * Tree coverage (Chen et al. 2017, eq. 13): a node's coverage also depends on the previous coverage of its children and
 * on their attention at this step. (The paper's text says attention at the previous step; its equation and its code say
 * this step.) Leaves have no such inputs.
 *
 *     C_ji = GRU (C_(j-1)i, a_ji, d, h_i, C_(j-1)L(i), a_jL(i), C_(j-1)R(i), a_jR(i))
 */

/* Maps to the inputs of the gates: from the coverage of one child, and from the attention to this child. */
typedef struct
{
  PlaitLinear state;
  PlaitLinear attention;
} Child;

typedef struct
{
  PlaitCoverageCell cell;
  Child left;
  Child right;
} State;

static gboolean
build (const PlaitCoverageBuild *build, gconstpointer data, gpointer state_data, PlaitCoverageShape *shape,
       GError **error)
{
  const Settings *settings = data;
  State *state = state_data;

  state->cell = plait_coverage_cell_declare (build, settings->width, settings->reset);
  state->left.state = plait_coverage_cell_input (build, &state->cell, "left", settings->width);
  state->left.attention = plait_coverage_cell_input (build, &state->cell, "left_attention", 1);
  state->right.state = plait_coverage_cell_input (build, &state->cell, "right", settings->width);
  state->right.attention = plait_coverage_cell_input (build, &state->cell, "right_attention", 1);
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
    { &state->left.state, step->left, step->state },
    { &state->left.attention, step->left, step->attention },
    { &state->right.state, step->right, step->state },
    { &state->right.attention, step->right, step->attention },
  };

  return plait_coverage_cell_update (&state->cell, step, inputs, G_N_ELEMENTS (inputs));
}

PLAIT_PLUGIN_DEFINE (.state_size = sizeof (State), .build = build, .prepare = prepare, .update = update)
