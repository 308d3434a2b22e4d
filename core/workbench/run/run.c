/* SPDX-License-Identifier: MIT */
#include "run/run.h"

#include "files/file.h"
#include "files/problems.h"
#include "run/environment.h"
#include "scoring/evaluations.h"
#include "setup/limits.h"
#include "weights/initialisation.h"
#include "setup/run-output.h"
#include "run/plan.h"
#include "run/resume.h"
#include "scoring/test.h"
#include "setup/trained.h"
#include "run/training-log.h"
#include "run/training-set.h"
#include "tables/heatmap.h"
#include "tensor/blas.h"
#include "training/parameters.h"
#include "training/trainer.h"
#include "layers/parameter-set.h"

/* Everything that a run holds while it goes on. */
typedef struct
{
  const PlaitExperiment *experiment;
  const PlaitRunOptions *options;
  PlaitPool *pool;
  PlaitRunInputs *run_inputs;
  PlaitCorpus *corpus;
  PlaitCorpus *validation;
  char **validation_references;
  GPtrArray *tests; /* PlaitCorpus of each test split: opened before training, so that it is not in vain */
  PlaitExperimentModel *experiment_model;
  PlaitInitialisation *initialisation; /* NULL: training begins with random values */
  PlaitTrainer *trainer;
  PlaitTrainingLog *training_log; /* NULL: not asked for, or training has not begun */
  PlaitRunOutput *run_output;
  PlaitStore *old; /* the run that is gone on with; from the first checkpoint on the own file, even if it is removed */
  PlaitTrainingSet set;
  char *training_fingerprint;
  char *key;
  gboolean longer; /* the old run was finished, and is to be trained further */
} Run;

static void
run_clear (Run *run)
{
  plait_trainer_free (run->trainer);
  plait_training_log_free (run->training_log);
  plait_initialisation_free (run->initialisation);
  plait_experiment_model_free (run->experiment_model);
  plait_store_free (run->old);
  plait_corpus_free (run->validation);
  plait_corpus_free (run->corpus);
  g_clear_pointer (&run->tests, g_ptr_array_unref);
  g_strfreev (run->validation_references);
  plait_run_inputs_free (run->run_inputs);
  plait_pool_free (run->pool);
  plait_run_output_free (run->run_output);
  g_free (run->training_fingerprint);
  g_free (run->key);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Run, run_clear)

/*
 * The file
 */

static gboolean
write_header (const Run *run, PlaitStore *store, const char *status, GError **error)
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
write_average (const Run *run, PlaitStore *store, GError **error)
{
  PlaitParameters *parameters = plait_model_parameters (run->experiment_model->model);
  g_autofree PlaitScalar *average = plait_trainer_average (run->trainer);

  return !average || plait_parameters_write_array (parameters, average, store, "/checkpoint/average/parameters", error);
}

/* What is read after training: better now than then. */
static gboolean
check_tests (const Run *run, GError **error)
{
  for (guint i = 0; i < run->tests->len; i++)
    if (!plait_corpus_check (run->tests->pdata[i], error))
      return FALSE;
  return TRUE;
}

/* Writes the run's file anew. The best parameters are the present ones, or those of the file that is replaced. */
static gboolean
write_checkpoint (gpointer data, gboolean best, GError **error)
{
  Run *run = data;
  PlaitParameters *parameters = plait_model_parameters (run->experiment_model->model);
  g_autoptr (PlaitStore) store = plait_run_output_create (run->run_output, error);
  gboolean written;

  if (!store || !write_header (run, store, "training", error)
      || !plait_trainer_write (run->trainer, store, "/checkpoint/last", error)
      || !plait_training_set_write (&run->set, store, error) || !write_average (run, store, error)
      || !plait_store_set_default (store, PLAIT_EVALUATIONS_CURVE, error))
    return FALSE;
  if (best)
    written = plait_parameters_write (parameters, store, "/checkpoint/best/parameters", error);
  else
    written = !run->old || !plait_store_has (run->old, "/checkpoint/best")
              || plait_store_copy (store, run->old, "/checkpoint/best", error);
  if (!written || !plait_run_output_commit (run->run_output, store, error))
    return FALSE;
  plait_store_free (run->old);
  run->old = plait_run_output_open (run->run_output, error);
  return run->old && check_tests (run, error);
}

/*
 * Beginning and resuming
 */

static gboolean
open_tests (Run *run, GError **error)
{
  run->tests = g_ptr_array_new_with_free_func ((GDestroyNotify)plait_corpus_free);
  for (const char *const *split = run->experiment->test_splits; *split; split++)
    {
      PlaitCorpus *corpus = plait_run_inputs_open (run->run_inputs, *split, run->pool, run->options->log, error);

      if (!corpus)
        return FALSE;
      g_ptr_array_add (run->tests, corpus);
    }
  return TRUE;
}

static gboolean
prepare_data (Run *run, GError **error)
{
  const PlaitExperiment *experiment = run->experiment;
  PlaitLog *log = run->options->log;

  run->run_inputs = plait_run_inputs_new (experiment, run->old, NULL, run->pool, log, error);
  if (!run->run_inputs || !plait_run_inputs_generate (run->run_inputs, log, error))
    return FALSE;
  run->corpus = plait_run_inputs_open (run->run_inputs, "train", run->pool, log, error);
  if (!run->corpus)
    return FALSE;
  plait_corpus_set_source_dropout (run->corpus, experiment->train.source_dropout, (guint64)experiment->experiment.seed);
  if (plait_run_inputs_file (run->run_inputs, "validation", experiment->data.target))
    {
      run->validation = plait_run_inputs_open (run->run_inputs, "validation", run->pool, log, error);
      if (!run->validation)
        return FALSE;
      if (*experiment->train.metric)
        {
          run->validation_references
              = plait_corpus_text (run->validation, plait_corpus_n_sources (run->validation), error);
          if (!run->validation_references)
            return FALSE;
          plait_evaluation_join (experiment, "validation", run->validation_references, NULL);
        }
    }
  return open_tests (run, error);
}

static gboolean
measure (gpointer data, double *score, GError **error)
{
  Run *run = data;
  const PlaitExperiment *experiment = run->experiment;
  g_autoptr (PlaitSearch) search
      = plait_search_new (run->experiment_model->model, run->pool, run->experiment->decode.precision, 0, error);
  g_autoptr (PlaitMetric) metric = plait_metric_new (experiment->train.metric, error);
  g_autoptr (PlaitTranslation) translation = NULL;
  g_autoptr (PlaitResult) result = NULL;
  const char *const *sets[] = { (const char *const *)run->validation_references };
  PlaitTextPairs pairs = { .reference_sets = 1, .references = sets, .documents = TRUE };

  if (!plait_ranks_agree (run->options->ranks, search && metric, error))
    return FALSE;
  plait_search_set_ranks (search, run->options->ranks);
  translation = plait_translate_corpus (search, run->validation,
                                        plait_run_inputs_vocabulary (run->run_inputs, experiment->data.target),
                                        &experiment->decode, "validation", run->options->log, NULL, NULL, NULL, error);
  if (!translation)
    return FALSE;
  plait_evaluation_join (experiment, "validation", translation->text, NULL);
  pairs.sentences = (gsize)translation->n_lines;
  pairs.hypotheses = (const char *const *)translation->text;
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
  const Run *run = data;

  if (run->training_log)
    plait_training_log_add (run->training_log, table, numbers, n);
}

/* Begins the log, of which another run has perhaps made a part. */
static gboolean
begin_log (Run *run, GError **error)
{
  const PlaitRunOptions *options = run->options;

  if ((!options->lines && !options->events) || !plait_ranks_is_first (options->ranks))
    return TRUE;
  run->training_log = plait_training_log_open (options->lines, options->events, options->log, error);
  if (!run->training_log)
    return FALSE;
  plait_trainer_note_all (run->trainer);
  return TRUE;
}

/* The values that training begins with; a run that goes on reads its own over them. */
static gboolean
initialise (Run *run, GError **error)
{
  const PlaitExperiment *experiment = run->experiment;

  plait_experiment_model_initialise (run->experiment_model, run->pool);
  if (!*experiment->train.initialise)
    return TRUE;
  run->initialisation = plait_initialisation_new (experiment, run->run_inputs, run->experiment_model, error);
  if (run->initialisation && !run->old)
    plait_initialisation_log (run->initialisation, run->options->log);
  return run->initialisation != NULL;
}

/* Adds what the model cannot read of @corpus to @unreadable. */
static void
find_unreadable (const Run *run, const char *split, PlaitCorpus *corpus, PlaitProblems *unreadable)
{
  GError *error = NULL;

  if (!plait_limits_check_corpus (run->experiment_model, run->corpus, split, corpus, run->options->log, &error))
    plait_problems_add_error (unreadable, error);
}

/* Refuses now, not after training, what the model cannot read, unless data.too_long drops or truncates it. */
static gboolean
check_corpora (const Run *run, GError **error)
{
  g_autoptr (PlaitProblems) unreadable = plait_problems_new ();

  find_unreadable (run, "train", run->corpus, unreadable);
  find_unreadable (run, "validation", run->validation, unreadable);
  for (guint i = 0; i < run->tests->len; i++)
    find_unreadable (run, run->experiment->test_splits[i], run->tests->pdata[i], unreadable);
  return plait_problems_report (unreadable, PLAIT_ERROR_INPUT, error);
}

/* Refuses now, not after training, what the metrics cannot score. */
static gboolean
check_references (const Run *run, GError **error)
{
  const PlaitExperiment *experiment = run->experiment;

  if (*experiment->train.metric
      && !plait_evaluation_check_references (experiment, experiment->train.metric, "validation", run->validation,
                                             run->options->log, error))
    return FALSE;
  for (guint i = 0; i < run->tests->len; i++)
    {
      const char *split = experiment->test_splits[i];

      if (!plait_evaluation_check_references (experiment, experiment->evaluate.metrics, split, run->tests->pdata[i],
                                              run->options->log, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
prepare_model (Run *run, GError **error)
{
  const PlaitExperiment *experiment = run->experiment;
  g_autofree gint64 *widths = g_new0 (gint64, experiment->n_sources);
  PlaitTrainerSetup setup = {
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

  for (guint i = 0; i < experiment->n_sources; i++)
    if (experiment->sources[i].kind == PLAIT_INPUT_FEATURES)
      widths[i] = plait_corpus_width (run->corpus, i);
  run->experiment_model = plait_experiment_model_new (experiment, run->run_inputs, widths, error);
  if (!run->experiment_model)
    return FALSE;
  if (!plait_limits_check_memory (plait_model_parameters (run->experiment_model->model), error)
      || !check_corpora (run, error) || !initialise (run, error))
    return FALSE;
  setup.model = run->experiment_model->model;
  run->trainer = plait_trainer_new (&setup, error);
  return run->trainer
         && (!run->initialisation || run->old
             || plait_initialisation_take_state (run->initialisation, run->trainer, run->options->log, error))
         && check_references (run, error);
}

/* What a run reads stays as it is, whatever may be replaced. @name is NULL for the experiment itself. */
static gboolean
check_not_written (const char *name, const char *path, const char *digest, gpointer data, GError **error)
{
  const PlaitRunOptions *options = data;
  const struct
  {
    const char *option;
    const char *path;
  } written[] = { { "--output", options->output }, { "--log", options->lines } };
  g_autofree char *key = name ? plait_digest_key (name) : g_strdup ("the experiment");

  for (guint i = 0; path && i < G_N_ELEMENTS (written); i++)
    if (written[i].path && plait_file_is_same (written[i].path, path))
      return plait_fail (error, PLAIT_ERROR_INPUT, "%s %s: is the file of %s, which the run reads; name another",
                         written[i].option, written[i].path, key);
  return TRUE;
}

/* Takes the place of the output, and opens what is there, if that is to be gone on with. A place that takes no file is
 * told now, not at the first checkpoint. */
static gboolean
find_old (Run *run, gboolean *complete, GError **error)
{
  const PlaitRunOptions *options = run->options;
  g_autofree char *status = NULL;
  gboolean has_file;

  *complete = FALSE;
  if (!plait_precision_check (run->experiment->decode.precision, error)
      || !check_not_written (NULL, run->experiment->path, NULL, (gpointer)options, error))
    return FALSE;
  if (plait_ranks_is_first (options->ranks))
    {
      run->run_output = plait_run_output_new (options->output, options->force || options->resume, options->log, error);
      if (!run->run_output)
        return FALSE;
    }
  has_file = run->run_output ? plait_run_output_has_file (run->run_output)
                             : g_file_test (options->output, G_FILE_TEST_EXISTS);
  if (!options->trained && (!options->resume || !has_file))
    return TRUE;
  run->old = options->trained  ? plait_store_open (options->trained, error)
             : run->run_output ? plait_run_output_open (run->run_output, error)
                               : plait_store_open (options->output, error);
  /* All of it is used in the end; what is damaged is told now, not at the first checkpoint. */
  if (!run->old || !plait_store_check (run->old, error))
    return FALSE;
  status = plait_store_get_string (run->old, "/", "status", error);
  if (!status)
    return FALSE;
  *complete = g_str_equal (status, "complete");
  if (!plait_resume_check_settings (run->experiment, run->old, options->output, *complete, &run->longer, error))
    return FALSE;
  *complete &= !run->longer;
  return TRUE;
}

static gboolean
check_old (const Run *run, GError **error)
{
  return plait_resume_check_made_of (run->experiment, run->run_inputs, run->training_fingerprint, run->old, error);
}

static gboolean
find_keys (Run *run, GError **error)
{
  PlaitDigests *digests = plait_run_inputs_digests (run->run_inputs);
  gpointer options = (gpointer)run->options;

  run->training_fingerprint = plait_training_fingerprint (run->experiment, digests, error);
  run->key = run->training_fingerprint
                 ? plait_run_fingerprint (run->experiment, run->training_fingerprint, digests, error)
                 : NULL;
  return run->key
         && (!plait_ranks_is_first (run->options->ranks)
             || (check_not_written (NULL, run->experiment->path, NULL, options, error)
                 && plait_digests_visit (digests, run->experiment, check_not_written, options, error)));
}

/* Averages are of validations. */
static gboolean
check_average (const Run *run, GError **error)
{
  return run->experiment->evaluate.checkpoint != PLAIT_CHECKPOINT_AVERAGE || run->validation
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "evaluate.checkpoint is average, but there is no validation text, at whose validations "
                        "parameters are kept; add the split, or take best or last");
}

static gboolean
prepare (Run *run, GError **error)
{
  if (!plait_precision_check (plait_train_precision (&run->experiment->train), error)
      || !plait_experiment_model_try_build (run->experiment, error)
      || (!run->old && !plait_limits_check_words (run->experiment, error)))
    return FALSE;
  run->pool = plait_pool_new (run->options->threads, error);
  if (!run->pool || !plait_blas_reserve (run->pool, error))
    return FALSE;
  if (!prepare_data (run, error) || !check_average (run, error) || !prepare_model (run, error)
      || !find_keys (run, error))
    return FALSE;
  run->set = plait_training_set_new (run->experiment, run->corpus, run->trainer, run->initialisation);
  /* The digests are those of what was read. */
  if (!plait_corpus_check (run->corpus, error) || (run->validation && !plait_corpus_check (run->validation, error))
      || !check_tests (run, error))
    return FALSE;
  return !run->old || check_old (run, error);
}

/* TRUE if this process is about to train what the first one trains. */
static gboolean
check_run_diff (const Run *run, GError **error)
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
  return plait_ranks_agree (ranks,
                            g_str_equal (own, first)
                                || plait_fail (error, PLAIT_ERROR_INPUT,
                                               "on %s plait, a plugin, the data or the run gone on with is not what "
                                               "the first process has; give all of them the same ones",
                                               g_get_host_name ()),
                            error);
}

/* Puts the trainer where the old run was left. */
static gboolean
go_on (Run *run, GError **error)
{
  if (!run->old)
    return TRUE;
  if (!plait_trainer_read (run->trainer, run->old, "/checkpoint/last", error))
    return FALSE;
  plait_log_info (run->options->log, "going on with %s after update %jd",
                  run->options->trained ? run->options->trained : run->options->output,
                  plait_trainer_step (run->trainer));
  return !run->longer
         || plait_resume_check_longer (run->trainer, run->experiment, run->validation != NULL, run->options->output,
                                       run->options->log, error);
}

/*
 * The end
 */

/* Writes the finished file: all of the last checkpoint's, and what its parameters are worth. */
static gboolean
write_complete (Run *run, const PlaitEvaluations *evaluations, GError **error)
{
  g_autoptr (PlaitStore) store = plait_run_output_create (run->run_output, error);

  return store && write_header (run, store, "complete", error)
         && plait_store_copy (store, run->old, "/checkpoint", error)
         && plait_store_copy (store, run->old, "/training", error)
         && plait_store_copy (store, run->old, PLAIT_TRAINER_TIMES, error)
         && plait_evaluations_write (evaluations, store, error)
         && plait_run_output_commit (run->run_output, store, error);
}

static gboolean
finish (Run *run, GError **error)
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
         && (!first || write_complete (run, evaluations, error));
}

/* The old run is finished: what it lacks of this experiment is its evaluation. */
static gboolean
test_old (Run *run, PlaitRunOutcome *outcome, GError **error)
{
  const PlaitRunOptions *options = run->options;
  PlaitTestOptions test = { .threads = options->threads, .log = options->log, .stop = options->stop };
  PlaitTestOutcome tested;

  run->run_inputs = plait_run_inputs_new (run->experiment, run->old, NULL, run->pool, options->log, error);
  if (!run->run_inputs || !find_keys (run, error) || !check_old (run, error)
      || !plait_test (run->old, run->run_output, run->run_inputs, run->training_fingerprint, NULL, &test, &tested,
                      error))
    return FALSE;
  *outcome = tested.made > 0 ? PLAIT_RUN_EVALUATED : PLAIT_RUN_ALREADY_COMPLETE;
  return TRUE;
}

gboolean
plait_run (const PlaitExperiment *experiment, const PlaitRunOptions *options, PlaitRunOutcome *outcome, GError **error)
{
  g_auto (Run) run = { .experiment = experiment, .options = options };
  PlaitRanks *ranks = options->ranks;
  gboolean first = plait_ranks_is_first (ranks);
  PlaitTrainingEnd end;
  gboolean complete;

  if (!plait_ranks_agree (ranks, find_old (&run, &complete, error), error))
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
  /* The others wait for the first, which says so and ends them: a launcher that is ended itself gives little time. */
  if (end == PLAIT_TRAINING_INTERRUPTED && !first)
    return TRUE;
  if (end == PLAIT_TRAINING_INTERRUPTED)
    return plait_fail (error, PLAIT_ERROR_INTERRUPTED,
                       "interrupted after update %jd; the checkpoint is in %s: --resume goes on",
                       plait_trainer_step (run.trainer), options->output);
  return finish (&run, error);
}

static gboolean
log_complete (const Run *run, GError **error)
{
  g_autofree char *key = plait_store_get_string (run->old, "/", "key", error);

  if (key && g_str_equal (key, run->key))
    plait_log_info (run->options->log, "%s is complete already: nothing would be done", run->options->output);
  else if (key)
    plait_log_info (run->options->log, "%s is trained already: it would be evaluated again", run->options->output);
  return key != NULL;
}

gboolean
plait_run_measure (const PlaitExperiment *experiment, const PlaitRunOptions *options, PlaitRunSpeed *speed,
                   GError **error)
{
  g_auto (Run) run = { .experiment = experiment, .options = options };
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
  g_auto (Run) run = { .experiment = experiment, .options = options };
  PlaitPlan plan = { .experiment = experiment };
  gboolean complete;

  if (!find_old (&run, &complete, error) || !prepare (&run, error) || (!complete && !go_on (&run, error))
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
