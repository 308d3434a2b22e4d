/* SPDX-License-Identifier: MIT */
#include "run/run-private.h"

#include "run/environment.h"
#include "run/plan.h"
#include "run/resume.h"
#include "scoring/evaluations.h"
#include "scoring/test.h"
#include "setup/kept-checkpoints.h"
#include "setup/replacement.h"
#include "tables/heatmap.h"
#include "training/parameters.h"
#include "layers/parameter-set.h"

static void
run_clear (PlaitRunState *run)
{
  plait_trainer_free (run->trainer);
  plait_training_log_free (run->training_log);
  plait_initialisation_free (run->initialisation);
  plait_experiment_model_free (run->experiment_model);
  plait_store_free (run->old);
  plait_corpus_free (run->validation);
  plait_corpus_free (run->corpus);
  g_clear_pointer (&run->tests, g_ptr_array_unref);
  plait_references_free (run->validation_references);
  plait_run_inputs_free (run->run_inputs);
  plait_pool_free (run->pool);
  plait_run_output_free (run->run_output);
  g_free (run->training_fingerprint);
  g_free (run->key);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (PlaitRunState, run_clear)

/*
 * Functions that write the file of a run
 */

static gboolean
write_header (const PlaitRunState *run, PlaitStore *store, const char *status, GError **error)
{
  const PlaitExperiment *experiment = run->experiment;
  g_autofree char *text = plait_experiment_text (experiment);

  return plait_store_set_string (store, "/", "version", PLAIT_VERSION, error)
         && plait_store_set_string (store, "/", "name", experiment->name, error)
         && plait_store_set_string (store, "/", "experiment", text, error)
         && plait_store_set_string (store, "/", "key", run->key, error)
         && plait_store_set_string (store, "/", "training_key", run->training_fingerprint, error)
         && plait_store_set_int (store, "/", "seed", experiment->experiment.seed, error)
         && plait_store_set_string (store, "/", "status", status, error)
         && plait_environment_write (store, run->options->command, plait_pool_threads (run->pool), error)
         && plait_experiment_model_write (run->experiment_model, store, error)
         && plait_run_inputs_write (run->run_inputs, store, error)
         && (!run->initialisation || plait_initialisation_write (run->initialisation, store, error));
}

static gboolean
write_average (const PlaitRunState *run, PlaitStore *store, GError **error)
{
  PlaitParameters *parameters = plait_model_parameters (run->experiment_model->model);
  g_autofree PlaitScalar *average = plait_trainer_average (run->trainer);

  return !average || plait_parameters_write_array (parameters, average, store, "/checkpoint/average/parameters", error);
}

/* Writes the run's file anew. Its best parameters are the current ones if @best, else those of the old file. With
 * @interrupted, does not add the current parameters to the kept checkpoints update-N. */
static gboolean
write_checkpoint (gpointer data, gboolean best, gboolean interrupted, GError **error)
{
  PlaitRunState *run = data;
  const PlaitTrainSettings *train = &run->experiment->train;
  PlaitParameters *parameters = plait_model_parameters (run->experiment_model->model);
  g_autoptr (PlaitStore) store = plait_run_output_create (run->run_output, error);
  gboolean written;

  if (!store || !write_header (run, store, "training", error) || !plait_trainer_write (run->trainer, store, error)
      || !plait_training_set_write (&run->set, store, error) || !write_average (run, store, error)
      || !plait_store_set_default (store, PLAIT_EVALUATIONS_CURVE, error))
    return FALSE;
  if (best)
    written = plait_parameters_write (parameters, store, "/checkpoint/best/parameters", error);
  else
    written = !run->old || !plait_store_has (run->old, "/checkpoint/best")
              || plait_store_copy (store, run->old, "/checkpoint/best", error);
  if (!written
      || !plait_kept_checkpoints_write (parameters, interrupted ? 0 : plait_trainer_step (run->trainer), train->keep,
                                        run->old, store, error)
      || !plait_run_output_commit (run->run_output, store, error))
    return FALSE;
  plait_store_free (run->old);
  run->old = plait_run_output_open (run->run_output, error);
  return run->old && plait_run_check_tests (run, error);
}

/*
 * Functions that begin or resume training
 */

static gboolean
measure (gpointer data, double *score, GError **error)
{
  PlaitRunState *run = data;
  const PlaitExperiment *experiment = run->experiment;
  g_autoptr (PlaitSearch) search
      = plait_search_new (run->experiment_model->model, run->pool, run->experiment->decode.precision, 0, error);
  g_autoptr (PlaitMetric) metric = plait_metric_new (experiment->train.metric, error);
  g_autoptr (PlaitTranslation) translation = NULL;
  g_autoptr (PlaitResult) result = NULL;
  PlaitTextPairs pairs;

  if (!plait_ranks_agree (
          run->options->ranks,
          search && metric && plait_replacement_prepare (search, run->experiment_model, run->run_inputs, error), error))
    return FALSE;
  plait_search_set_ranks (search, run->options->ranks);
  translation = plait_translate_corpus (search, run->validation,
                                        plait_run_inputs_vocabulary (run->run_inputs, experiment->data.target),
                                        &experiment->decode, "validation", run->options->log, NULL, NULL, NULL, error);
  if (!translation)
    return FALSE;
  plait_evaluation_join (experiment, "validation", translation->text, NULL);
  pairs = plait_references_pairs (run->validation_references, (const char *const *)translation->text);
  result = plait_evaluate (metric, &pairs, 0, 0, error);
  if (!result)
    return FALSE;
  *score = result->score;
  return TRUE;
}

static gboolean
larger_is_better (const char *name)
{
  g_autoptr (PlaitMetric) metric = plait_metric_new (name, NULL);

  return metric && plait_metric_larger_is_better (metric);
}

static void
note (gpointer data, const char *table, const PlaitTrainingNumber *numbers, guint n)
{
  const PlaitRunState *run = data;

  if (run->training_log)
    plait_training_log_add (run->training_log, table, numbers, n);
}

/* Begins the training log. If there is an old run, first writes the rows of that run. */
static gboolean
begin_log (PlaitRunState *run, GError **error)
{
  const PlaitRunOptions *options = run->options;

  if (!options->lines || !plait_ranks_is_first (options->ranks))
    return TRUE;
  run->training_log = plait_training_log_open (options->lines, options->log, error);
  if (!run->training_log)
    return FALSE;
  plait_trainer_note_all (run->trainer);
  return TRUE;
}

static gboolean
make_trainer (PlaitRunState *run, GError **error)
{
  const PlaitExperiment *experiment = run->experiment;
  PlaitTrainerSetup setup = {
    .model = run->experiment_model->model,
    .settings = &experiment->train,
    .seed = (guint64)experiment->experiment.seed,
    .width = experiment->decoder.width,
    .corpus = run->corpus,
    .validation = run->validation,
    .pool = run->pool,
    .log = run->options->log,
    .stop = run->options->stop,
    .limit = run->options->updates,
    .callbacks = {
      .measure = *experiment->train.metric ? measure : NULL,
      .larger_is_better = *experiment->train.metric && larger_is_better (experiment->train.metric),
      .data = run,
    },
    .ranks = run->options->ranks,
  };

  if (plait_ranks_is_first (run->options->ranks))
    {
      setup.callbacks.checkpoint = write_checkpoint;
      setup.callbacks.note = note;
    }

  run->trainer = plait_trainer_new (&setup, error);
  return run->trainer
         && (!run->initialisation || run->old
             || plait_initialisation_take_state (run->initialisation, run->trainer, run->options->log, error));
}

static gboolean
prepare (PlaitRunState *run, GError **error)
{
  return plait_run_open_inputs (run, error) && make_trainer (run, error) && plait_run_check_inputs (run, error);
}

/* TRUE if all processes of the job are about to train exactly what the first process trains: the plait version, the
 * fingerprint of the run, the number type and the update are equal. */
static gboolean
check_run_diff (const PlaitRunState *run, GError **error)
{
  PlaitRanks *ranks = run->options->ranks;
  g_autofree char *own = g_strdup_printf ("%s %s %zu %jd", PLAIT_VERSION, run->key, sizeof (PlaitScalar),
                                          plait_trainer_step (run->trainer));
  g_autofree char *first = g_strdup (own);
  gsize n = strlen (own);

  if (!ranks)
    return TRUE;
  plait_ranks_broadcast (ranks, &n, sizeof n, 0);
  if (n > strlen (own))
    first = g_realloc (first, n + 1);
  plait_ranks_broadcast (ranks, first, n, 0);
  first[n] = '\0';
  return plait_ranks_agree (
      ranks,
      g_str_equal (own, first)
          || plait_fail (error, PLAIT_ERROR_INPUT,
                         "the process on %s differs from the first process in plait, plugins, data or the run to "
                         "continue; give all processes the same files",
                         g_get_host_name ()),
      error);
}

/* Sets the trainer to the last state of the old run, if there is one, so that training continues from there. */
static gboolean
go_on (PlaitRunState *run, GError **error)
{
  if (!run->old)
    return TRUE;
  if (!plait_trainer_read (run->trainer, run->old, error))
    return FALSE;
  plait_log_info (run->options->log, "continuing %s after update %jd",
                  run->options->trained ? run->options->trained : run->options->output,
                  plait_trainer_step (run->trainer));
  return !run->longer
         || plait_resume_check_longer (run->trainer, run->experiment, run->validation != NULL, run->options->output,
                                       run->options->log, error);
}

/*
 * Functions that end a run
 */

/* Writes the finished file: the checkpoints and training tables of run->old, and the evaluations. */
static gboolean
write_complete (PlaitRunState *run, const PlaitEvaluations *evaluations, GError **error)
{
  g_autoptr (PlaitStore) store = plait_run_output_create (run->run_output, error);
  g_autofree char *key = run->key;

  run->key = plait_evaluations_seal (evaluations, key);

  return store && write_header (run, store, "complete", error)
         && plait_store_copy (store, run->old, "/checkpoint", error)
         && plait_store_copy (store, run->old, "/training", error)
         && plait_store_copy (store, run->old, PLAIT_TRAINER_TIMES, error)
         && plait_evaluations_write (evaluations, store, error)
         && plait_run_output_commit (run->run_output, store, error);
}

static gboolean
finish (PlaitRunState *run, GError **error)
{
  PlaitRanks *ranks = run->options->ranks;
  gboolean first = plait_ranks_is_first (ranks);
  PlaitEvaluationsSetup setup = {
    .experiment_model = run->experiment_model,
    .run_inputs = run->run_inputs,
    .tests = (PlaitCorpus *const *)run->tests->pdata,
    .trained = first ? run->old : NULL,
    .training_fingerprint = run->training_fingerprint,
    .pool = run->pool,
    .log = run->options->log,
    .stop = run->options->stop,
    .ranks = ranks,
  };
  g_autoptr (PlaitEvaluations) evaluations = plait_evaluations_new (&setup, error);

  return plait_ranks_agree (ranks, evaluations != NULL, error) && plait_evaluations_make (evaluations, error)
         && (!first || (write_complete (run, evaluations, error) && plait_evaluations_check (evaluations, error)));
}

/* Makes the evaluations that the old run, whose training is finished, still lacks. */
static gboolean
test_old (PlaitRunState *run, PlaitRunOutcome *outcome, GError **error)
{
  const PlaitRunOptions *options = run->options;
  PlaitTestOptions test = { .threads = options->threads, .log = options->log, .stop = options->stop };
  PlaitTestOutcome tested;

  run->run_inputs = plait_run_inputs_new (run->experiment, run->old, NULL, run->pool, options->log, error);
  if (!run->run_inputs || !plait_run_find_keys (run, error) || !plait_run_check_old (run, error)
      || !plait_test (run->old, run->run_output, run->run_inputs, run->training_fingerprint, NULL, &test, &tested,
                      error))
    return FALSE;
  *outcome = tested.made > 0 ? PLAIT_RUN_EVALUATED : PLAIT_RUN_ALREADY_COMPLETE;
  return TRUE;
}

gboolean
plait_run (const PlaitExperiment *experiment, const PlaitRunOptions *options, PlaitRunOutcome *outcome, GError **error)
{
  g_auto (PlaitRunState) run = { .experiment = experiment, .options = options };
  PlaitRanks *ranks = options->ranks;
  gboolean first = plait_ranks_is_first (ranks);
  PlaitTrainingEnd end;
  gboolean complete;

  if (!plait_ranks_agree (ranks, plait_run_open_old (&run, &complete, error), error))
    return FALSE;
  *outcome = PLAIT_RUN_ALREADY_COMPLETE;
  if (complete)
    return !first || test_old (&run, outcome, error);
  *outcome = PLAIT_RUN_COMPLETE;
  if (!plait_ranks_agree (ranks, prepare (&run, error) && go_on (&run, error) && begin_log (&run, error), error)
      || !check_run_diff (&run, error) || !plait_trainer_run (run.trainer, &end, error))
    return FALSE;
  if (end == PLAIT_TRAINING_INTERRUPTED && options->updates > 0 && plait_trainer_step (run.trainer) >= options->updates)
    {
      *outcome = PLAIT_RUN_PART;
      return TRUE;
    }
  /* After an interruption, only the first process returns an error, which ends the whole job at once: a launcher that
   * is stopped leaves little time. */
  if (end == PLAIT_TRAINING_INTERRUPTED && !first)
    return TRUE;
  if (end == PLAIT_TRAINING_INTERRUPTED)
    return plait_fail (error, PLAIT_ERROR_INTERRUPTED,
                       "interrupted after update %jd; the checkpoint is in the file %s; --resume continues",
                       plait_trainer_step (run.trainer), options->output);
  return finish (&run, error);
}

static gboolean
log_complete (const PlaitRunState *run, GError **error)
{
  g_autofree char *key = plait_store_get_string (run->old, "/", "key", error);

  if (key && g_str_equal (key, run->key))
    plait_log_info (run->options->log, "%s is complete: there is nothing to do", run->options->output);
  else if (key)
    plait_log_info (run->options->log, "%s is trained: without --dry-run it would be evaluated again",
                    run->options->output);
  return key != NULL;
}

gboolean
plait_run_measure (const PlaitExperiment *experiment, const PlaitRunOptions *options, PlaitRunSpeed *speed,
                   GError **error)
{
  g_auto (PlaitRunState) run = { .experiment = experiment, .options = options };
  gint64 start = g_get_monotonic_time ();
  double prepared;

  if (!plait_precision_check (experiment->decode.precision, error) || !prepare (&run, error))
    return FALSE;
  prepared = (double)(g_get_monotonic_time () - start) / 1e6;
  if (!plait_run_speed (run.experiment_model, run.trainer, run.validation, run.tests, run.pool, speed, error))
    return FALSE;
  speed->training += prepared;
  speed->set = run.set;
  return TRUE;
}

gboolean
plait_run_plan (const PlaitExperiment *experiment, const PlaitRunOptions *options, gboolean as_json, GError **error)
{
  g_auto (PlaitRunState) run = { .experiment = experiment, .options = options };
  PlaitPlan plan = { .experiment = experiment };
  gboolean complete;

  if (!plait_run_open_old (&run, &complete, error) || !prepare (&run, error) || (!complete && !go_on (&run, error))
      || !plait_trainer_measure_memory (run.trainer, &plan.step_bytes, &plan.step_estimated, error)
      || !plait_trainer_measure_validation_memory (run.trainer, &plan.validation_bytes, error)
      || (complete && !log_complete (&run, error)))
    return FALSE;
  plan.training = run.corpus;
  plan.validation = run.validation;
  plan.tests = (PlaitCorpus *const *)run.tests->pdata;
  plan.parameters = plait_model_parameters (run.experiment_model->model);
  plan.trainer = run.trainer;
  plait_plan_print (&plan, as_json);
  return TRUE;
}
