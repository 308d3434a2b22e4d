/* SPDX-License-Identifier: MIT */
#include "setup/trained.h"

#include "training/parameters.h"

char *
plait_checkpoint_path (PlaitStore *store, const char *checkpoint, GError **error)
{
  const char *chosen = checkpoint;
  g_autofree char *group = NULL;

  if (!chosen || g_str_equal (chosen, PLAIT_CHECKPOINT_BEST))
    chosen = plait_store_has (store, "/checkpoint/best") ? PLAIT_CHECKPOINT_BEST : PLAIT_CHECKPOINT_LAST;
  group = g_strdup_printf ("/checkpoint/%s", chosen);
  if (!plait_store_has (store, group))
    {
      g_auto (GStrv) members = plait_store_members (store, "/checkpoint", NULL);
      g_autofree char *list = members && *members ? g_strjoinv (", ", members) : g_strdup ("none");

      return plait_fail_null (error, PLAIT_ERROR_INPUT,
                              "%s: there is no checkpoint \"%s\" (the checkpoints are: %s); name one of them, or train "
                              "the run anew with train.average or train.keep",
                              plait_store_path (store), chosen, list);
    }
  return g_strconcat (group, "/parameters", NULL);
}

gboolean
plait_checkpoint_read (PlaitParameters *parameters, PlaitStore *store, const char *checkpoint, GError **error)
{
  g_autofree char *path = plait_checkpoint_path (store, checkpoint, error);

  return path && plait_parameters_read (parameters, store, path, error);
}

PlaitStore *
plait_trained_open_store (const char *path, PlaitLog *log, GError **error)
{
  g_autoptr (PlaitStore) store = plait_store_open_rewritten (path, log, error);
  const char *missing;

  if (!store)
    return NULL;
  missing = !plait_store_has_attribute (store, "/", "experiment") ? "experiment"
            : !plait_store_has (store, "/checkpoint")             ? "checkpoint"
                                                                  : NULL;
  if (!missing)
    return g_steal_pointer (&store);
  return plait_fail_null (error, PLAIT_ERROR_INPUT, "%s is not a run: it holds no %s; name the file of a run", path,
                          missing);
}

PlaitKeyFile *
plait_trained_key_file (PlaitStore *store, GError **error)
{
  g_autofree char *text = plait_store_get_string (store, "/", "experiment", error);
  g_autofree char *place = g_strconcat (plait_store_path (store), ":/@experiment", NULL);

  return text ? plait_key_file_load_data (text, -1, place, error) : NULL;
}

PlaitExperiment *
plait_trained_experiment (PlaitStore *store, const PlaitOverride *overrides, PlaitRegistry *registry, GError **error)
{
  g_autofree char *text = plait_store_get_string (store, "/", "experiment", error);
  g_autofree char *place = g_strconcat (plait_store_path (store), ":/@experiment", NULL);

  plait_experiment_model_remember_plugins (store, registry);
  return text ? plait_experiment_parse (text, place, overrides, registry, error) : NULL;
}

/* Fails if plugins have changed since training. With @changed, only warns. */
static gboolean
check_plugins (const PlaitTrained *trained, gboolean changed, PlaitLog *log, GError **error)
{
  g_autoptr (GError) fault = NULL;

  if (plait_experiment_model_check_plugins (trained->experiment, trained->store, FALSE, &fault))
    return TRUE;
  if (!g_error_matches (fault, PLAIT_ERROR, PLAIT_ERROR_PLUGIN))
    {
      g_propagate_error (error, g_steal_pointer (&fault));
      return FALSE;
    }
  if (!changed)
    return plait_fail (error, PLAIT_ERROR_PLUGIN, "%s, or use the present plugins with --changed-plugins",
                       fault->message);
  plait_log_warning (log, "%s", fault->message);
  return TRUE;
}

PlaitTrained *
plait_trained_open (const char *path, const char *checkpoint, const PlaitOverride *overrides, gboolean changed,
                    PlaitLog *log, GError **error)
{
  g_autoptr (PlaitTrained) trained = g_new0 (PlaitTrained, 1);
  g_autofree gint64 *widths = NULL;

  trained->store = plait_trained_open_store (path, log, error);
  trained->registry = plait_registry_new ();
  trained->experiment
      = trained->store ? plait_trained_experiment (trained->store, overrides, trained->registry, error) : NULL;
  if (trained->experiment)
    trained->run_inputs = plait_run_inputs_new (trained->experiment, trained->store, NULL, NULL, log, error);
  if (trained->run_inputs)
    widths = plait_experiment_model_read_feature_widths (trained->experiment, trained->store, error);
  if (!widths || !check_plugins (trained, changed, log, error))
    return NULL;
  trained->experiment_model = plait_experiment_model_new (trained->experiment, trained->run_inputs, widths, error);
  if (!trained->experiment_model)
    g_prefix_error (error, "%s: ", path);
  if (!trained->experiment_model
      || !plait_checkpoint_read (plait_model_parameters (trained->experiment_model->model), trained->store, checkpoint,
                                 error))
    return NULL;
  return g_steal_pointer (&trained);
}

void
plait_trained_free (PlaitTrained *trained)
{
  if (!trained)
    return;
  plait_experiment_model_free (trained->experiment_model);
  plait_run_inputs_free (trained->run_inputs);
  plait_experiment_free (trained->experiment);
  plait_registry_free (trained->registry);
  plait_store_free (trained->store);
  g_free (trained);
}
