/* SPDX-License-Identifier: MIT */
#include "autograd/operators.h"
#include "interface/plugin.h"

#include "@NAME@-settings.h"

/*
 * Coverage is the scaled attention that a memory row has received so far: one number for each query j and memory row i.
 *
 *     C_ji = C_(j-1)i + scale * a_ji
 *
 * plait adds V C_(j-1)i to the scores; V is a parameter.
 */

static gboolean
build (const PlaitCoverageBuild *build, gconstpointer settings, gpointer state, PlaitCoverageShape *shape,
       GError **error)
{
  shape->width = 1;
  return TRUE;
}

static PlaitNode *
update (gconstpointer data, gconstpointer state, const PlaitCoverageStep *step)
{
  const Settings *settings = data;
  PlaitNode *paid = plait_scale (step->tape, step->attention, settings->scale);

  return plait_add_n (step->tape, (PlaitNode *[]){ step->state, paid }, 2);
}

PLAIT_PLUGIN_DEFINE (.build = build, .update = update)
