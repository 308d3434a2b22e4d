/* SPDX-License-Identifier: MIT */
#include "autograd/operators.h"
#include "layers/layers.h"
#include "interface/plugin.h"

#include "squares-settings.h"

/*
 * A coverage that accumulates attention, with a loss that measures how concentrated the attention is. The sum of
 * squares is 1 for a query that attends to one row, and 1 / n for one that attends to n rows equally.
 *
 *     C_j = C_(j-1) + a_j;  score_j = tanh (C_(j-1)) V;  squares = sum a_j^2
 */

typedef struct
{
  PlaitLinear score; /* V of the equation, [1, score width] */
} State;

static gboolean
build (const PlaitCoverageBuild *build, gconstpointer data, gpointer memory, PlaitCoverageShape *shape, GError **error)
{
  const Settings *settings = data;
  State *state = memory;
  g_autofree char *name = g_strconcat (build->prefix, "squares", NULL);

  state->score = plait_linear_declare (build->parameters, name, 1, build->score_width, FALSE);
  shape->width = 1;
  shape->losses = (PlaitLosses){ 1, { { "squares", settings->weight } } };
  return TRUE;
}

static PlaitNode *
score (gconstpointer settings, gconstpointer data, const PlaitCoverageStep *step)
{
  const State *state = data;

  return plait_linear_apply (step->tape, &state->score, plait_activate (step->tape, step->state, PLAIT_ACTIVATION_TANH),
                             PLAIT_ACTIVATION_NONE);
}

static PlaitNode *
update (gconstpointer settings, gconstpointer state, const PlaitCoverageStep *step)
{
  PlaitNode *terms[] = { step->state, step->attention };

  plait_coverage_add_loss (
      step, "squares", plait_reduce_sum (step->tape, plait_multiply (step->tape, step->attention, step->attention)));
  return plait_add_n (step->tape, terms, 2);
}

PLAIT_PLUGIN_DEFINE (.state_size = sizeof (State), .build = build, .score = score, .update = update)
