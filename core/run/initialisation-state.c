/* SPDX-License-Identifier: MIT */
#include "run/initialisation-private.h"

#include "run/trained.h"

/* The optimizer of the run that training begins with, and its place in the schedule. */

static gboolean
check_optimizer (const PlaitExperiment *experiment, PlaitStore *run, GError **error)
{
  static const char *const optimizers[] = { "adam", "adadelta" };
  const PlaitTrainSettings *train = &experiment->train;
  const char *here = optimizers[train->optimizer];
  g_autofree char *text = plait_store_get_string (run, "/", "experiment", error);
  g_autoptr (PlaitKeyFile) file = text ? plait_key_file_load_data (text, -1, train->initialise, error) : NULL;
  const char *there;

  if (!file)
    return FALSE;
  there = plait_key_file_value (file, "train", "optimizer");
  if (g_strcmp0 (there, here) != 0)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: was trained by %s, whose moments train.optimizer=%s cannot go on with; choose the same "
                       "optimizer, or set train.initialise_state=parameters",
                       train->initialise, there ? there : "an optimizer that it does not name", here);
  return plait_store_has (run, "/checkpoint/last/optimizer")
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "%s: its last checkpoint holds no optimizer; set train.initialise_state=parameters",
                        train->initialise);
}

gboolean
plait_initialisation_take_state (const PlaitInitialisation *initialisation, PlaitTrainer *trainer, PlaitLog *log,
                                 GError **error)
{
  const PlaitExperiment *experiment = initialisation->experiment;
  g_autoptr (GPtrArray) taken = g_ptr_array_new ();
  g_autoptr (PlaitStore) run = NULL;
  gint64 step;

  if (experiment->train.initialise_state != PLAIT_INITIAL_TRAINING_OPTIMIZER)
    return TRUE;
  for (guint i = 0; i < initialisation->n; i++)
    if (initialisation->fates[i].outcome == PLAIT_FATE_TAKEN)
      g_ptr_array_add (taken, (gpointer)initialisation->fates[i].parameter);
  g_ptr_array_add (taken, NULL);
  run = plait_trained_open_store (experiment->train.initialise, NULL, error);
  if (!run || !check_optimizer (experiment, run, error)
      || !plait_trainer_take (trainer, (const PlaitParameter *const *)taken->pdata, run, "/checkpoint/last", &step,
                              error))
    return FALSE;
  plait_log_info (log,
                  "the optimizer goes on after its update %" G_GINT64_FORMAT
                  ", and the schedule with it: moments of %u "
                  "of %u parameters are taken",
                  step, taken->len - 1, initialisation->n);
  return TRUE;
}
