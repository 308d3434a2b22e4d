/* SPDX-License-Identifier: MIT */
#include "autograd/operators.h"
#include "interface/plugin.h"

#include "loss-settings.h"

/*
 * Coverage as the sum of the attention so far, with a loss for attending to rows again (See, Liu & Manning 2017).
 *
 *     c_t = sum_{t' < t} a_t'                          (eq. 10)
 *     e_ti = v tanh (W_h h_i + W_s s_t + w_c c_ti + b) (eq. 11; plait itself adds w_c c_ti)
 *     covloss_t = sum_i min (a_ti, c_ti)               (eq. 12)
 */

static gboolean
build (const PlaitCoverageBuild *build, gconstpointer data, gpointer state, PlaitCoverageShape *shape, GError **error)
{
  const Settings *settings = data;

  shape->width = 1;
  shape->losses = (PlaitLosses){ 1, { { "covloss", settings->weight, settings->start } } };
  return TRUE;
}

static PlaitNode *
update (gconstpointer settings, gconstpointer state, const PlaitCoverageStep *step)
{
  plait_coverage_add_loss (step, "covloss",
                           plait_reduce_sum (step->tape, plait_minimum (step->tape, step->attention, step->state)));
  return plait_add_n (step->tape, (PlaitNode *[]){ step->state, step->attention }, 2);
}

PLAIT_PLUGIN_DEFINE (.build = build, .update = update)
