/* SPDX-License-Identifier: MIT */
#include "loading/call-private.h"

gboolean
plait_call_end (const PlaitInstance *instance, PlaitCodeOwner before, const char *call, gboolean fits, GError *fault,
                const char *who, GError **error)
{
  const char *label = instance->component->label;

  plait_crash_set_owner (before);
  if (fits && fault)
    {
      plait_fail (error, PLAIT_ERROR_PLUGIN, "%s: %s returned TRUE with an error (%s): return FALSE with an error",
                  label, call, fault->message);
      g_error_free (fault);
      return FALSE;
    }
  if (!fits && !fault)
    return plait_fail (error, PLAIT_ERROR_PLUGIN,
                       "%s: %s returned FALSE without an error: set an error that says what does not fit", label, call);
  if (fault)
    g_propagate_prefixed_error (error, fault, "%s: ", who);
  return fits;
}

/*
 * Functions that build components into a model
 */

PlaitCallBuilding
plait_call_begin_build (PlaitInstance *instance, const PlaitComponent *component, gsize state_size,
                        PlaitParameters *parameters, const char *prefix)
{
  g_assert (component->settings);
  *instance = (PlaitInstance){ .component = component, .state = plait_parameters_memory (parameters, state_size) };
  return (PlaitCallBuilding){ plait_crash_set_owner ((PlaitCodeOwner){ component->label, "build" }),
                              plait_parameters_set_prefix (parameters, prefix) };
}

gboolean
plait_call_leave_build (PlaitCallBuilding before, PlaitParameters *parameters, gboolean good)
{
  plait_crash_set_owner (before.caller);
  plait_parameters_set_prefix (parameters, before.prefix);
  return good;
}

gboolean
plait_call_check_width (const PlaitComponent *component, const char *what, gint64 width, gint64 minimum, GError **error)
{
  if (width < minimum)
    return plait_fail (error, PLAIT_ERROR_PLUGIN, "%s: build declares %s %jd wide; %s", component->label, what, width,
                       minimum > 0 ? "give at least one column" : "give 1 or more columns, or 0 for none");
  return width <= PLAIT_CALL_MAX_WIDTH
         || plait_fail (error, PLAIT_ERROR_PLUGIN, "%s: build declares %s %jd wide; give at most %jd columns",
                        component->label, what, width, PLAIT_CALL_MAX_WIDTH);
}

gboolean
plait_call_end_build (const PlaitInstance *instance, gboolean built, GError *fault, const PlaitParameters *parameters,
                      GError **error)
{
  PlaitCodeOwner own = plait_crash_get_owner ();

  return plait_call_end (instance, own, "build", built, fault, instance->component->label, error)
         && plait_parameters_check (parameters, error);
}

gboolean
plait_call_take_losses (PlaitInstance *instance, const PlaitLosses *losses, PlaitParameters *parameters,
                        PlaitLossColumns *columns, GError **error)
{
  instance->losses = *losses;
  if (!plait_loss_columns_declare (columns, instance->component, losses, instance->columns, error))
    return FALSE;
  for (guint i = 0; i < losses->n; i++)
    instance->losses.losses[i].name = plait_parameters_text (parameters, losses->losses[i].name);
  return TRUE;
}

gboolean
plait_call_build_combiner (PlaitInstance *instance, const PlaitComponent *component, PlaitCrossAttention *cross,
                           PlaitParameters *parameters, GError **error)
{
  const PlaitCombinerTable *table = plait_call_table (component);
  GError *fault = NULL;
  PlaitCallBuilding before
      = plait_call_begin_build (instance, component, table->state_size, parameters, plait_cross_prefix (cross));
  gboolean built = table->build (cross, component->settings, instance->state, &fault);

  return plait_call_leave_build (before, parameters, plait_call_end_build (instance, built, fault, parameters, error));
}

gboolean
plait_call_build_coverage (PlaitInstance *instance, const PlaitComponent *component, const PlaitCoverageBuild *build,
                           PlaitCoverageShape *shape, PlaitLossColumns *columns, GError **error)
{
  const PlaitCoverageTable *table = plait_call_table (component);
  GError *fault = NULL;
  PlaitCallBuilding before
      = plait_call_begin_build (instance, component, table->state_size, build->parameters, build->prefix);
  gboolean built;

  *shape = (PlaitCoverageShape){ .width = 0 };
  built = table->build (build, component->settings, instance->state, shape, &fault);
  return plait_call_leave_build (
      before, build->parameters,
      plait_call_end_build (instance, built, fault, build->parameters, error)
          && plait_call_check_width (component, "states", shape->width, 1, error)
          && plait_call_take_losses (instance, &shape->losses, build->parameters, columns, error));
}

/*
 * Functions that call components while the model runs
 */

PlaitCodeOwner
plait_call_enter (const PlaitInstance *instance, PlaitTape *tape, const char *call)
{
  return plait_tape_set_caller (tape, (PlaitCodeOwner){ instance->component->label, call });
}

void
plait_call_expect_node (PlaitTape *tape, const char *what, const PlaitNode *node, gint64 rows, gint64 width)
{
  if (!node)
    plait_tape_fail (tape, "gave NULL for %s: give a node [%jd, %jd]", what, rows, width);
  if (node->value.rows != rows || node->value.width != width)
    plait_tape_fail (tape, "gave %s of the shape [%jd, %jd], expected [%jd, %jd]", what, node->value.rows,
                     node->value.width, rows, width);
}

/* Checks the node that prepare returned (may be NULL), restores the code owner @before and returns the node. */
static PlaitNode *
end_prepare (PlaitTape *tape, PlaitCodeOwner before, const PlaitMemory *memory, PlaitNode *prepared)
{
  if (prepared)
    plait_call_expect_node (tape, "a prepared node", prepared, plait_ragged_rows (memory->rows), prepared->value.width);
  plait_tape_set_caller (tape, before);
  return prepared;
}

PlaitNode *
plait_call_prepare (const PlaitInstance *instance, PlaitTape *tape, guint memory, const PlaitMemory *rows)
{
  const PlaitCombinerTable *table = plait_call_table (instance->component);
  PlaitCodeOwner before;

  if (!table->prepare)
    return NULL;
  before = plait_call_enter (instance, tape, "prepare");
  return end_prepare (tape, before, rows,
                      table->prepare (instance->component->settings, instance->state, tape, memory, rows));
}

PlaitResidualStream
plait_call_combine (const PlaitInstance *instance, PlaitTape *tape, PlaitCrossAttention *cross, PlaitResidualStream x,
                    gboolean gives_context)
{
  const PlaitCombinerTable *table = plait_call_table (instance->component);
  PlaitCodeOwner before = plait_call_enter (instance, tape, "combine");
  gint64 rows = x.query->value.rows, width = plait_cross_width (cross);

  x = table->combine (cross, instance->component->settings, instance->state, x);
  if (gives_context)
    plait_call_expect_node (tape, "a context", x.context, rows, width);
  else
    plait_call_expect_node (tape, "a query", x.query, rows, plait_cross_query_width (cross));
  plait_tape_set_caller (tape, before);
  return x;
}

struct PlaitCoverageHost
{
  const PlaitInstance *instance;
  PlaitLossPass *losses;
};

void
plait_coverage_add_loss (const PlaitCoverageStep *step, const char *name, PlaitNode *loss)
{
  const PlaitInstance *instance = step->host->instance;

  if (!step->attention)
    plait_tape_fail (step->tape, "adds to a loss in score: add to it in update");
  plait_loss_pass_add (step->host->losses, step->tape, &instance->losses, instance->columns, name, loss);
}

PlaitNode *
plait_call_prepare_coverage (const PlaitInstance *instance, PlaitTape *tape, const PlaitMemory *memory)
{
  const PlaitCoverageTable *table = plait_call_table (instance->component);
  PlaitCodeOwner before;

  if (!table->prepare)
    return NULL;
  before = plait_call_enter (instance, tape, "prepare");
  return end_prepare (tape, before, memory,
                      table->prepare (instance->component->settings, instance->state, tape, memory));
}

gboolean
plait_call_has_score (const PlaitInstance *instance)
{
  return ((const PlaitCoverageTable *)plait_call_table (instance->component))->score != NULL;
}

/* Calls @function, the plugin's score or update, and checks its result [pairs, width]. @what: name of the result in
 * messages. */
static PlaitNode *
run_coverage (const PlaitInstance *instance, PlaitCoverageStep *step, PlaitLossPass *losses, const char *call,
              PlaitNode *(*function) (gconstpointer settings, gconstpointer state, const PlaitCoverageStep *step),
              const char *what, gint64 width)
{
  struct PlaitCoverageHost *host = plait_arena_new_array (plait_tape_arena (step->tape), struct PlaitCoverageHost, 1);
  PlaitCodeOwner before = plait_call_enter (instance, step->tape, call);
  PlaitNode *given;

  *host = (struct PlaitCoverageHost){ instance, losses };
  step->host = host;
  given = function (instance->component->settings, instance->state, step);
  plait_call_expect_node (step->tape, what, given, step->n, width);
  plait_tape_set_caller (step->tape, before);
  return given;
}

PlaitNode *
plait_call_score (const PlaitInstance *instance, PlaitCoverageStep *step, gint64 score_width)
{
  const PlaitCoverageTable *table = plait_call_table (instance->component);

  return run_coverage (instance, step, NULL, "score", table->score, "a score", score_width);
}

PlaitNode *
plait_call_update (const PlaitInstance *instance, PlaitCoverageStep *step, PlaitLossPass *losses)
{
  const PlaitCoverageTable *table = plait_call_table (instance->component);

  return run_coverage (instance, step, losses, "update", table->update, "states", step->state->value.width);
}

const char *
plait_call_prepared_name (const PlaitInstance *instance)
{
  return ((const PlaitCoverageTable *)plait_call_table (instance->component))->prepared_name;
}
