/* SPDX-License-Identifier: MIT */
#include "autograd/operators.h"
#include "layers/layers.h"
#include "interface/plugin.h"

#include "fertility-settings.h"

/*
 * Linguistic coverage (Tu et al. 2016, section 3.1.1): the attention paid to a row so far, as a fraction of its
 * expected total, the fertility F_i.
 *
 *     C_ji = C_(j-1)i + a_ji / F_i,   F_i = N sigmoid (w h_i + b)
 */

typedef struct
{
  PlaitLinear fertility;
} State;

static gboolean
build (const PlaitCoverageBuild *build, gconstpointer settings, gpointer state, PlaitCoverageShape *shape,
       GError **error)
{
  g_autofree char *name = g_strconcat (build->prefix, "fertility", NULL);

  ((State *)state)->fertility = plait_linear_declare (build->parameters, name, build->memory_width, 1, TRUE);
  shape->width = 1;
  return TRUE;
}

static PlaitNode *
prepare (gconstpointer data, gconstpointer state_data, PlaitTape *tape, const PlaitMemory *memory)
{
  const Settings *settings = data;
  const State *state = state_data;
  PlaitNode *share = plait_linear_apply (tape, &state->fertility, memory->states, PLAIT_ACTIVATION_SIGMOID);

  return plait_scale (tape, share, settings->maximum);
}

static PlaitNode *
update (gconstpointer settings, gconstpointer state, const PlaitCoverageStep *step)
{
  PlaitNode *share = plait_divide (step->tape, step->attention, plait_coverage_gather_rows (step, step->prepared));

  return plait_add_n (step->tape, (PlaitNode *[]){ step->state, share }, 2);
}

PLAIT_PLUGIN_DEFINE (.state_size = sizeof (State), .build = build, .prepare = prepare, .update = update,
                     .prepared_name = "fertility")
