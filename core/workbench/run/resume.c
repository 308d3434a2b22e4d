/* SPDX-License-Identifier: MIT */
#include "run/resume.h"

#include <string.h>

#include "files/problems.h"
#include "setup/trained.h"

/* Returns the training fingerprint text of the old experiment @text. With @ends, takes train.epochs, updates and
 * patience from @experiment. (transfer full) */
static char *
old_training_fingerprint (const PlaitExperiment *experiment, const char *text, const char *output, gboolean ends,
                          GError **error)
{
  const PlaitTrainSettings *train = &experiment->train;
  g_autofree char *name = g_strconcat (output, ":/@experiment", NULL);
  g_autofree char *epochs = g_strdup_printf ("%jd", train->epochs);
  g_autofree char *updates = g_strdup_printf ("%jd", train->updates);
  g_autofree char *patience = g_strdup_printf ("%jd", train->patience);
  const PlaitOverride overrides[]
      = { { "train.epochs", epochs }, { "train.updates", updates }, { "train.patience", patience }, { NULL } };
  g_autoptr (PlaitExperiment) old = plait_experiment_parse (text, name, ends ? overrides : NULL,
                                                            experiment->sources[0].encoder->plugin->registry, error);

  return old ? plait_experiment_training_fingerprint_text (old, PLAIT_FINGERPRINT_FULL) : NULL;
}

gboolean
plait_resume_check_settings (const PlaitExperiment *experiment, PlaitStore *old, const char *output,
                             gboolean may_be_longer, gboolean *longer, GError **error)
{
  g_autofree char *text = plait_store_get_string (old, "/", "experiment", error);
  g_autofree char *before = text ? old_training_fingerprint (experiment, text, output, FALSE, error) : NULL;
  g_autofree char *now = plait_experiment_training_fingerprint_text (experiment, PLAIT_FINGERPRINT_FULL);
  g_autofree char *difference = NULL;
  g_autofree char *with_this_end = NULL;

  *longer = FALSE;
  if (!before || g_str_equal (before, now))
    return before != NULL;
  if (may_be_longer)
    with_this_end = old_training_fingerprint (experiment, text, output, TRUE, NULL);
  *longer = g_strcmp0 (with_this_end, now) == 0;
  difference = plait_fingerprint_difference (with_this_end ? with_this_end : before, now);
  if (*longer && plait_schedule_has_end (&experiment->train))
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: train.schedule=%s has reduced the learning rate at the last update, so training further "
                       "would differ from one long training; start a new run, or one with train.initialise",
                       output, plait_experiment_value (experiment, "train", "schedule"));
  return *longer
         || plait_fail (
             error, PLAIT_ERROR_INPUT,
             "%s is a run of another experiment: %s; resume with its own settings, or choose another --output", output,
             difference);
}

gboolean
plait_resume_check_made_of (const PlaitExperiment *experiment, const PlaitRunInputs *run_inputs,
                            const char *training_fingerprint, PlaitStore *old, GError **error)
{
  g_autofree char *key = plait_store_has_attribute (old, "/", "training_key")
                             ? plait_store_get_string (old, "/", "training_key", error)
                             : g_strdup ("");
  g_autoptr (PlaitProblems) problems = plait_problems_new ();
  GError *of_data = NULL, *of_plugins = NULL;

  if (!key || g_str_equal (key, training_fingerprint))
    return key != NULL;
  /* The fingerprints differ if the old training ends earlier, or if another version of plait computed the old one. So
   * compare the digests of data and plugins. */
  if (!plait_run_inputs_check_training (run_inputs, old, &of_data))
    plait_problems_add_error (problems, of_data);
  if (!plait_experiment_model_check_plugins (experiment, old, FALSE, &of_plugins))
    plait_problems_add_error (problems, of_plugins);
  return plait_problems_report (problems, PLAIT_ERROR_INPUT, error);
}

gboolean
plait_resume_check_longer (const PlaitTrainer *trainer, const PlaitExperiment *experiment, gboolean validates,
                           const char *output, PlaitLog *log, GError **error)
{
  gint64 every = experiment->train.validate_every;

  if (plait_trainer_has_ended (trainer))
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: training has already ended at update %jd, as train.epochs, train.updates or train.patience "
                       "asks; raise these keys to train further, or choose another --output",
                       output, plait_trainer_step (trainer));
  if (validates && (every > 0 ? plait_trainer_step (trainer) % every != 0 : !plait_trainer_ends_epoch (trainer)))
    plait_log_warning (
        log,
        "the earlier training ended with a validation that one long training would not make; the checkpoint last is "
        "that of one long training, but the checkpoints best and average count this validation too");
  return TRUE;
}

/* TRUE if training from the beginning with the settings @now makes all updates of the run @old, and then more. @before
 * are the settings of @old. */
static gboolean
ends_later (const PlaitTrainSettings *before, const PlaitTrainSettings *now, PlaitStore *old)
{
  static const char path[] = "/checkpoint/last/state";
  gint64 step;
  gint64 epoch; /* number of the epoch, from 0; the epoch may be finished */
  gint64 stale;

  if (!plait_store_get_int (old, path, "step", &step, NULL) || !plait_store_get_int (old, path, "epoch", &epoch, NULL)
      || !plait_store_get_int (old, path, "stale", &stale, NULL))
    return FALSE;
  /* The old training validated after its last update, which counts for best, average and patience. So the longer
   * training must validate after this update too. */
  if (plait_store_has (old, "/checkpoint/best")
      && (now->validate_every > 0 ? step % now->validate_every != 0 : before->updates > 0 && step >= before->updates))
    return FALSE;
  return !plait_schedule_has_end (now) && (now->updates == 0 || now->updates > step)
         && (now->epochs == 0 || now->epochs > epoch + 1)
         && (now->patience == 0
             || (before->patience > 0 && now->patience >= before->patience && now->patience > stale));
}

gboolean
plait_resume_comes_through (const PlaitExperiment *experiment, PlaitDigests *digests, PlaitStore *old)
{
  PlaitOverride ends[] = { { "train.epochs" }, { "train.updates" }, { "train.patience" }, { NULL } };
  g_autofree char *old_key = plait_store_get_string (old, "/", "training_key", NULL);
  g_autofree char *text = plait_experiment_text (experiment);
  g_autofree char *key = NULL;
  g_autoptr (PlaitKeyFile) file = plait_trained_key_file (old, NULL);
  g_autoptr (PlaitExperiment) shorter = NULL;

  for (guint i = 0; file && ends[i].key; i++)
    {
      ends[i].value = plait_key_file_value (file, "train", ends[i].key + strlen ("train."));
      if (!ends[i].value)
        return FALSE;
    }
  if (!file || !old_key)
    return FALSE;
  shorter
      = plait_experiment_parse (text, experiment->name, ends, experiment->sources[0].encoder->plugin->registry, NULL);
  key = shorter ? plait_training_fingerprint (shorter, digests, NULL) : NULL;
  return key && g_str_equal (key, old_key) && ends_later (&shorter->train, &experiment->train, old);
}
