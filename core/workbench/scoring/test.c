/* SPDX-License-Identifier: MIT */
#include "scoring/test.h"

#include "scoring/evaluations.h"
#include "setup/trained.h"
#include "tensor/blas.h"
#include "layers/parameter-set.h"

/*
 * Functions that write the new file
 */

static gboolean
copy_string (PlaitStore *store, PlaitStore *from, const char *name, GError **error)
{
  g_autofree char *value = plait_store_get_string (from, "/", name, error);

  return value && plait_store_set_string (store, "/", name, value, error);
}

/* Writes the attributes of the run. For a named evaluation, copies all of them from @from. */
static gboolean
write_header (PlaitStore *store, PlaitStore *from, const PlaitEvaluations *evaluations,
              const PlaitRunInputs *run_inputs, const char *training_fingerprint, const PlaitTestOptions *options,
              GError **error)
{
  const PlaitExperiment *experiment = plait_run_inputs_experiment (run_inputs);
  g_autofree char *text = plait_experiment_text (experiment);
  g_autofree char *fingerprint
      = plait_run_fingerprint (experiment, training_fingerprint, plait_run_inputs_digests (run_inputs), error);
  g_autofree char *key = fingerprint ? plait_evaluations_seal (evaluations, fingerprint) : NULL;
  gint64 seed;

  if (!key || !copy_string (store, from, "version", error) || !copy_string (store, from, "training_key", error)
      || !copy_string (store, from, "status", error) || !plait_store_get_int (from, "/", "seed", &seed, error)
      || !plait_store_set_int (store, "/", "seed", seed, error))
    return FALSE;
  if (options->name)
    return copy_string (store, from, "name", error) && copy_string (store, from, "experiment", error)
           && copy_string (store, from, "key", error);
  return plait_store_set_string (store, "/", "name", experiment->name, error)
         && plait_store_set_string (store, "/", "experiment", text, error)
         && plait_store_set_string (store, "/", "key", key, error);
}

/* Copies all members of the root group except evaluations and the member "experiment", which holds the attribute
 * experiment if that attribute is large. write_header() writes the attribute anew. */
static gboolean
copy_trained (PlaitStore *store, PlaitStore *from, GError **error)
{
  static const char *const others[] = { "evaluation", "attention", "coverage", "copy", "descent", "experiment", NULL };
  g_auto (GStrv) members = plait_store_members (from, "/", error);

  for (guint i = 0; members && members[i]; i++)
    {
      g_autofree char *path = g_strconcat ("/", members[i], NULL);

      if (!g_strv_contains (others, members[i]) && !plait_store_copy (store, from, path, error))
        return FALSE;
    }
  return members != NULL;
}

static gboolean
write_file (const PlaitEvaluations *evaluations, PlaitStore *trained, PlaitRunOutput *run_output,
            const PlaitRunInputs *run_inputs, const char *training_fingerprint, const PlaitTestOptions *options,
            GError **error)
{
  g_autoptr (PlaitStore) store = plait_run_output_create (run_output, error);

  return store && write_header (store, trained, evaluations, run_inputs, training_fingerprint, options, error)
         && copy_trained (store, trained, error)
         && (options->name || plait_run_inputs_write_tests (run_inputs, store, error))
         && plait_evaluations_write (evaluations, store, error) && plait_run_output_commit (run_output, store, error);
}

gboolean
plait_test (PlaitStore *trained, PlaitRunOutput *run_output, PlaitRunInputs *run_inputs,
            const char *training_fingerprint, const PlaitOverride *set, const PlaitTestOptions *options,
            PlaitTestOutcome *outcome, GError **error)
{
  const PlaitExperiment *experiment = plait_run_inputs_experiment (run_inputs);
  g_autofree gint64 *widths = plait_experiment_model_read_feature_widths (experiment, trained, error);
  g_autoptr (PlaitExperimentModel) experiment_model
      = widths ? plait_experiment_model_new (experiment, run_inputs, widths, error) : NULL;
  g_autoptr (PlaitPool) pool = NULL;
  g_autoptr (PlaitEvaluations) evaluations = NULL;
  PlaitEvaluationsSetup setup = {
    .experiment_model = experiment_model,
    .run_inputs = run_inputs,
    .trained = trained,
    .training_fingerprint = training_fingerprint,
    .name = options->name,
    .set = set,
    .log = options->log,
    .stop = options->stop,
  };

  /* The whole file is copied, so the whole file must be valid. */
  if (!experiment_model || !plait_precision_check (experiment->decode.precision, error)
      || !plait_experiment_model_check_plugins (experiment, trained, FALSE, error)
      || !plait_store_check (trained, error))
    return FALSE;
  setup.pool = pool = plait_pool_new (options->threads, error);
  if (!pool || !plait_blas_reserve (pool, error))
    return FALSE;
  evaluations = plait_evaluations_new (&setup, error);
  if (!evaluations)
    return FALSE;
  outcome->made = plait_evaluations_due (evaluations);
  outcome->kept = g_strv_length ((char **)experiment->test_splits) - outcome->made;
  /* Return early if the file would not change. */
  return (outcome->made == 0 && plait_run_output_has_file (run_output) && !plait_evaluations_has_others (evaluations))
         || ((outcome->made == 0 || plait_run_inputs_generate (run_inputs, options->log, error))
             && plait_evaluations_make (evaluations, error)
             && write_file (evaluations, trained, run_output, run_inputs, training_fingerprint, options, error)
             && plait_evaluations_check (evaluations, error));
}

/*
 * Functions that open the run by the path of its file
 */

/* Fails if @overrides change the training of @run; @own is the experiment of @run. If @beside is TRUE (named
 * evaluation), checks only the keys of [data], except data.too_long. */
static gboolean
check_training (PlaitStore *run, const PlaitExperiment *own, const PlaitOverride *overrides, gboolean beside,
                PlaitRegistry *registry, GError **error)
{
  g_autoptr (GArray) taken = g_array_new (TRUE, FALSE, sizeof (PlaitOverride));
  g_autoptr (PlaitExperiment) changed = NULL;
  g_autofree char *before = NULL, *now = NULL, *difference = NULL;

  for (guint i = 0; overrides && overrides[i].key; i++)
    if (!beside || (g_str_has_prefix (overrides[i].key, "data.") && !g_str_equal (overrides[i].key, "data.too_long")))
      g_array_append_val (taken, overrides[i]);
  changed = plait_trained_experiment (run, (const PlaitOverride *)(gpointer)taken->data, registry, error);
  if (!changed)
    return FALSE;
  before = plait_experiment_training_fingerprint_text (own, PLAIT_FINGERPRINT_FULL);
  now = plait_experiment_training_fingerprint_text (changed, PLAIT_FINGERPRINT_FULL);
  difference = plait_fingerprint_difference (before, now);
  return !difference
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "%s: the training of this run depends on these settings: %s; leave them out%s, or train anew "
                        "with plait run",
                        plait_store_path (run), difference,
                        beside ? "" : ", add --as NAME (not possible for keys of [data])");
}

/* Returns the training fingerprint of @run. Fails if @run is not finished or lacks the fingerprint. (transfer full) */
static char *
find_training_fingerprint (PlaitStore *run, GError **error)
{
  g_autofree char *status = plait_store_get_string (run, "/", "status", error);

  if (!status)
    return NULL;
  if (!g_str_equal (status, "complete"))
    return plait_fail_null (error, PLAIT_ERROR_INPUT,
                            "%s: the run is not finished; continue it with plait run --resume", plait_store_path (run));
  if (plait_store_has_attribute (run, "/", "training_key"))
    return plait_store_get_string (run, "/", "training_key", error);
  return plait_fail_null (
      error, PLAIT_ERROR_INPUT,
      "%s: is a run of an older plait, which did not store the fingerprint of training; train it anew",
      plait_store_path (run));
}

gboolean
plait_test_file (const char *path, const PlaitOverride *overrides, const PlaitTestOptions *options,
                 PlaitTestOutcome *outcome, GError **error)
{
  g_autoptr (PlaitStore) found = plait_trained_open_store (path, NULL, error);
  g_autoptr (PlaitRunOutput) run_output = found ? plait_run_output_new (path, TRUE, options->log, error) : NULL;
  g_autoptr (PlaitStore) trained = run_output ? plait_run_output_open (run_output, error) : NULL;
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  g_autoptr (PlaitExperiment) own = NULL;
  g_autoptr (PlaitExperiment) experiment = NULL;
  g_autoptr (PlaitRunInputs) run_inputs = NULL;
  g_autofree char *training_fingerprint = trained ? find_training_fingerprint (trained, error) : NULL;

  own = training_fingerprint ? plait_trained_experiment (trained, NULL, registry, error) : NULL;
  if (!own || !plait_experiment_check_sets (own, overrides, error)
      || !check_training (trained, own, overrides, options->name != NULL, registry, error))
    return FALSE;
  experiment = plait_trained_experiment (trained, overrides, registry, error);
  run_inputs = experiment ? plait_run_inputs_new (experiment, trained, own, NULL, options->log, error) : NULL;
  return run_inputs
         && plait_test (trained, run_output, run_inputs, training_fingerprint, overrides, options, outcome, error);
}
