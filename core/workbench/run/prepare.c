/* SPDX-License-Identifier: MIT */
#include "run/run-private.h"

#include "files/file.h"
#include "files/problems.h"
#include "run/resume.h"
#include "scoring/evaluation.h"
#include "setup/limits.h"
#include "setup/replacement.h"
#include "setup/training-tuples.h"
#include "setup/trained.h"
#include "tensor/blas.h"
#include "layers/parameter-set.h"

#define MAX_NAMED 8 /* maximum number of checkpoints that one sentence names */

/* Fails if the run would overwrite the file @path, which the run reads. @name identifies the file in the run's digests;
 * NULL: the experiment file. @data are the PlaitRunOptions. A PlaitDigestVisitor. */
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
      return plait_fail (error, PLAIT_ERROR_INPUT, "%s %s: the run reads this file (%s); name another file",
                         written[i].option, written[i].path, key);
  return TRUE;
}

gboolean
plait_run_open_old (PlaitRunState *run, gboolean *complete, GError **error)
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
  /* When the run ends, it needs the whole old file, so refuse a damaged file now. */
  if (!run->old || !plait_store_check (run->old, error))
    return FALSE;
  status = plait_store_get_string (run->old, "/", "status", error);
  if (!status)
    return FALSE;
  if (plait_store_has (run->old, PLAIT_AVERAGE))
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s is a mean of checkpoints, without the optimizer state that further training needs; begin a "
                       "new run with train.initialise, or choose another --output",
                       plait_store_path (run->old));
  *complete = g_str_equal (status, "complete");
  if (!plait_resume_check_settings (run->experiment, run->old, options->output, *complete, &run->longer, error))
    return FALSE;
  *complete &= !run->longer;
  return TRUE;
}

gboolean
plait_run_check_old (const PlaitRunState *run, GError **error)
{
  return plait_resume_check_made_of (run->experiment, run->run_inputs, run->training_fingerprint, run->old, error);
}

gboolean
plait_run_find_keys (PlaitRunState *run, GError **error)
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

gboolean
plait_run_check_tests (const PlaitRunState *run, GError **error)
{
  for (guint i = 0; i < run->tests->len; i++)
    if (!plait_corpus_check (run->tests->pdata[i], error))
      return FALSE;
  return TRUE;
}

static gboolean
open_tests (PlaitRunState *run, GError **error)
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
prepare_data (PlaitRunState *run, GError **error)
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
  if (*plait_run_inputs_files (run->run_inputs, "validation", experiment->data.target))
    {
      run->validation = plait_run_inputs_open (run->run_inputs, "validation", run->pool, log, error);
      if (!run->validation)
        return FALSE;
      if (*experiment->train.metric)
        {
          run->validation_references
              = plait_evaluation_references (run->run_inputs, "validation", run->validation, log, error);
          if (!run->validation_references)
            return FALSE;
        }
    }
  return open_tests (run, error);
}

/* Fails if evaluate.checkpoint is average but there is no validation text: only validations keep the parameters to
 * average. */
static gboolean
check_average (const PlaitRunState *run, GError **error)
{
  return !g_str_equal (run->experiment->evaluate.checkpoint, PLAIT_CHECKPOINT_AVERAGE) || run->validation
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "evaluate.checkpoint is average, which averages the parameters at validations, but there is no "
                        "validation text; add validation text, or use best or last");
}

/* Sets the initial parameters. A continued run later overwrites them with the parameters of its checkpoint. */
static gboolean
initialise (PlaitRunState *run, GError **error)
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

/* As data.too_long says, truncates tuples of @corpus (may be NULL), or drops tuples of the training text. If the model
 * cannot read the tuples that remain, adds an error to @unreadable. */
static void
find_unreadable (const PlaitRunState *run, const char *split, PlaitCorpus *corpus, PlaitProblems *unreadable)
{
  GError *error = NULL;

  if (!plait_limits_check_corpus (run->experiment_model, run->corpus, split, corpus, run->options->log, &error))
    plait_problems_add_error (unreadable, error);
}

/* Fails before training if the model cannot read the tuples that find_unreadable() keeps. */
static gboolean
check_corpora (const PlaitRunState *run, GError **error)
{
  g_autoptr (PlaitProblems) unreadable = plait_problems_new ();

  find_unreadable (run, "train", run->corpus, unreadable);
  find_unreadable (run, "validation", run->validation, unreadable);
  for (guint i = 0; i < run->tests->len; i++)
    find_unreadable (run, run->experiment->test_splits[i], run->tests->pdata[i], unreadable);
  return plait_problems_report (unreadable, PLAIT_ERROR_INPUT, error);
}

/* Fails before training if the metrics cannot score the references. */
static gboolean
check_references (const PlaitRunState *run, GError **error)
{
  const PlaitExperiment *experiment = run->experiment;

  if (run->validation_references
      && !plait_evaluation_check_metrics (run->validation_references, experiment->train.metric, "validation",
                                          run->options->log, error))
    return FALSE;
  for (guint i = 0; i < run->tests->len; i++)
    {
      const char *split = experiment->test_splits[i];

      if (!plait_evaluation_check_references (run->run_inputs, experiment->evaluate.metrics, split,
                                              run->tests->pdata[i], run->options->log, error))
        return FALSE;
    }
  return TRUE;
}

/* Fails if tuples have loss weights but a plugin adds a loss, because such a loss is a sum over all sentences of a
 * batch. Accepts the loss of tags, which is weighted. */
static gboolean
check_losses (const PlaitRunState *run, GError **error)
{
  const PlaitLossColumns *losses = plait_model_losses (run->experiment_model->model);
  guint i = 0;

  while (i < losses->n && losses->columns[i].accuracy)
    i++;
  return i == losses->n || !*plait_experiment_data_files (run->experiment, "train", PLAIT_LOSS_WEIGHTS)
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "data.train.loss_weights weighs the loss of words, but a plugin adds the loss %s, which is a "
                        "sum over sentences without weights; remove data.train.loss_weights, or choose another plugin",
                        losses->columns[i].name);
}

static gboolean
build_model (PlaitRunState *run, GError **error)
{
  const PlaitExperiment *experiment = run->experiment;
  g_autofree gint64 *widths = g_new0 (gint64, experiment->n_sources);

  for (guint i = 0; i < experiment->n_sources; i++)
    if (experiment->sources[i].kind == PLAIT_INPUT_FEATURES)
      widths[i] = plait_corpus_width (run->corpus, i);
  run->experiment_model = plait_experiment_model_new (experiment, run->run_inputs, widths, error);
  return run->experiment_model
         && plait_limits_check_memory (plait_model_parameters (run->experiment_model->model), error)
         && plait_replacement_check (run->experiment_model, run->run_inputs, error) && check_losses (run, error)
         && check_corpora (run, error)
         && plait_training_tuples_vary (run->run_inputs, run->experiment_model->model, run->corpus, run->options->log,
                                        error)
         && initialise (run, error);
}

gboolean
plait_run_open_inputs (PlaitRunState *run, GError **error)
{
  if (!plait_precision_check (plait_train_precision (&run->experiment->train), error)
      || !plait_experiment_model_try_build (run->experiment, error)
      || (!run->old && !plait_limits_check_words (run->experiment, error)))
    return FALSE;
  run->pool = plait_pool_new (run->options->threads, error);
  return run->pool && plait_blas_reserve (run->pool, error) && prepare_data (run, error) && check_average (run, error)
         && build_model (run, error);
}

/* TRUE if the settings say after which updates the run will write checkpoints: it validates and ends by updates. */
static gboolean
knows_checkpoints (const PlaitRunState *run)
{
  const PlaitTrainSettings *train = &run->experiment->train;

  return !run->old && plait_trainer_planned_updates (run->trainer) == train->updates && train->patience == 0
         && (!run->validation || train->validate_every > 0);
}

/* Returns the last update before @update after which the run will write a checkpoint; 0: none. */
static gint64
previous_checkpoint (const PlaitRunState *run, gint64 update)
{
  const PlaitTrainSettings *train = &run->experiment->train;
  gint64 validate = run->validation ? train->validate_every : 0, save = train->checkpoint_every;

  return MAX (validate > 0 ? (update - 1) / validate * validate : 0, save > 0 ? (update - 1) / save * save : 0);
}

/* Fails if evaluate.checkpoint names an update whose checkpoint will certainly not be kept. */
static gboolean
check_update (const PlaitRunState *run, GError **error)
{
  const PlaitTrainSettings *train = &run->experiment->train;
  gint64 update = plait_checkpoint_update (run->experiment->evaluate.checkpoint), kept = train->updates, n = 0;
  g_autoptr (GString) list = g_string_new (NULL);

  if (train->updates > 0 && update > train->updates)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "evaluate.checkpoint is update-%jd, but training ends after train.updates=%jd; name an earlier "
                       "update, or use best or last",
                       update, train->updates);
  if (update == 0 || !knows_checkpoints (run))
    return TRUE;
  for (; kept > 0 && kept != update && n < train->keep; n++)
    {
      if (n < MAX_NAMED)
        g_string_append_printf (list, "%supdate-%jd", n > 0 ? ", " : "", kept);
      kept = previous_checkpoint (run, kept);
    }
  return (kept == update && n < train->keep)
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "evaluate.checkpoint is update-%jd, but train.keep=%jd will keep %s%s; name one of these, or "
                        "change train.keep, train.validate_every or train.checkpoint_every",
                        update, train->keep, list->str, n > MAX_NAMED ? " and earlier ones" : "");
}

gboolean
plait_run_check_inputs (PlaitRunState *run, GError **error)
{
  if (!check_update (run, error) || !check_references (run, error) || !plait_run_find_keys (run, error))
    return FALSE;
  run->set = plait_training_set_new (run->experiment, run->corpus, run->trainer, run->initialisation);
  /* Check that the text has not changed since it was read; otherwise the digests would describe other text. */
  if (!plait_corpus_check (run->corpus, error) || (run->validation && !plait_corpus_check (run->validation, error))
      || !plait_run_check_tests (run, error))
    return FALSE;
  return !run->old || plait_run_check_old (run, error);
}
