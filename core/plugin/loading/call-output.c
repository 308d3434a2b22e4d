/* SPDX-License-Identifier: MIT */
#include "loading/call-private.h"

#include <math.h>

/* Functions that call outputs. */

void
plait_output_declare_table (const PlaitOutputBuild *build, PlaitOutputShape *shape)
{
  g_autofree char *weight = g_strconcat (build->prefix, "weight", NULL),
                  *bias = g_strconcat (build->prefix, "bias", NULL);

  shape->table = build->embedding;
  if (!shape->table)
    shape->table = plait_parameters_declare (build->parameters, weight, build->vocabulary_size, build->state_width,
                                             PLAIT_NORMAL (1 / sqrt ((double)build->state_width)));
  if (build->bias)
    shape->bias = plait_parameters_declare (build->parameters, bias, 1, build->vocabulary_size, PLAIT_ZEROS);
}

static gboolean
check_shape (const PlaitComponent *component, const PlaitOutputBuild *build, const PlaitOutputShape *shape,
             GError **error)
{
  const PlaitParameter *bias = shape->bias;

  if (!shape->table)
    return plait_fail (error, PLAIT_ERROR_PLUGIN, "%s: build gives no table; call plait_output_declare_table",
                       component->label);
  if (shape->table->value.rows != build->vocabulary_size)
    return plait_fail (error, PLAIT_ERROR_PLUGIN,
                       "%s: build gives a table of %jd rows; give one row for each of %jd words", component->label,
                       shape->table->value.rows, build->vocabulary_size);
  if (bias && (bias->value.rows != 1 || bias->value.width != build->vocabulary_size))
    return plait_fail (error, PLAIT_ERROR_PLUGIN, "%s: build gives a bias [%jd, %jd]; expected [1, %jd]",
                       component->label, bias->value.rows, bias->value.width, build->vocabulary_size);
  return TRUE;
}

gboolean
plait_call_build_output (PlaitInstance *instance, const PlaitComponent *component, const PlaitOutputBuild *build,
                         PlaitOutputShape *shape, GError **error)
{
  const PlaitOutputTable *table = plait_call_table (component);
  GError *fault = NULL;
  PlaitCallBuilding before
      = plait_call_begin_build (instance, component, table->state_size, build->parameters, build->prefix);
  gboolean built;

  *shape = (PlaitOutputShape){ .table = NULL };
  built = table->build (build, component->settings, instance->state, shape, &fault);
  return plait_call_leave_build (before, build->parameters,
                                 plait_call_end_build (instance, built, fault, build->parameters, error)
                                     && check_shape (component, build, shape, error));
}

void
plait_call_output (const PlaitInstance *instance, const PlaitOutputShape *shape, PlaitOutputPass *pass)
{
  const PlaitOutputTable *table = plait_call_table (instance->component);
  PlaitCodeOwner before = plait_call_enter (instance, pass->tape, "output");

  table->output (instance->component->settings, instance->state, pass);
  plait_call_expect_node (pass->tape, "states of the logits", pass->logit_states, pass->states->value.rows,
                          shape->table->value.width);
  plait_tape_set_caller (pass->tape, before);
}
