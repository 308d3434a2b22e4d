/* SPDX-License-Identifier: MIT */
#include "experiment/resolution.h"

#include "foreign/safetensors.h"

/* This file checks the weights that training begins with, and names of checkpoints. */

/* If files are checked, adds a problem if train.initialise, an absolute path, names a safetensors file that cannot be
 * read, or another file that is missing or not a regular file. */
static void
check_file (const PlaitResolution *resolution)
{
  const char *path = resolution->experiment->public.train.initialise;
  g_autoptr (PlaitSafetensors) weights = NULL;
  g_autoptr (GError) fault = NULL;

  if (!(resolution->resolver->flags & PLAIT_RESOLVE_CHECK_FILES) || *path == '\0')
    return;
  weights = plait_safetensors_is_named (path) ? plait_safetensors_open (path, &fault) : NULL;
  if (fault)
    plait_resolution_problem (resolution, "train", "initialise", "%s", fault->message);
  else if (!weights && !g_file_test (path, G_FILE_TEST_IS_REGULAR))
    plait_resolution_problem (resolution, "train", "initialise",
                              "%s %s; name the file of a finished run, or a safetensors file of weights, or its index",
                              path,
                              g_file_test (path, G_FILE_TEST_EXISTS) ? "is not a regular file" : "does not exist");
}

/* Adds a problem if train.initialise_state=optimizer is impossible. Only a run stores an optimizer's state, and only
 * for the run's last parameters. A schedule with an end cannot continue. */
static void
check_state (const PlaitResolution *resolution)
{
  const PlaitTrainSettings *train = &resolution->experiment->public.train;

  if (train->initialise_state != PLAIT_TRAIN_INITIALISE_STATE_OPTIMIZER)
    return;
  if (*train->initialise == '\0' || plait_safetensors_is_named (train->initialise))
    plait_resolution_problem (
        resolution, "train", "initialise_state",
        "optimizer needs a run in train.initialise; name one, or set initialise_state=parameters");
  else if (!g_str_equal (train->initialise_checkpoint, PLAIT_CHECKPOINT_LAST))
    plait_resolution_problem (
        resolution, "train", "initialise_state",
        "a run stores the optimizer's state only for its last parameters; set initialise_checkpoint=last");
  else if (plait_schedule_has_end (train))
    plait_resolution_problem (resolution, "train", "initialise_state",
                              "a %s schedule ends at its last update and cannot continue from there; choose another "
                              "schedule, or set initialise_state=parameters",
                              plait_experiment_value (&resolution->experiment->public, "train", "schedule"));
}

/* Finds the file of the name map train.initialise_map. If files are checked, adds a problem if the name map is missing
 * or train.initialise is not a safetensors file. */
static void
find_name_map (const PlaitResolution *resolution)
{
  PlaitExperiment *experiment = &resolution->experiment->public;
  const PlaitTrainSettings *train = &experiment->train;
  g_autoptr (GError) fault = NULL;

  if (*train->initialise_map == '\0')
    return;
  experiment->name_map
      = plait_registry_find_text (resolution->resolver->registry, PLAIT_NAME_MAP_FOLDER, train->initialise_map, &fault);
  if (!(resolution->resolver->flags & PLAIT_RESOLVE_CHECK_FILES))
    return;
  if (!experiment->name_map)
    plait_resolution_problem (resolution, "train", "initialise_map", "%s", fault->message);
  else if (!plait_safetensors_is_named (train->initialise))
    plait_resolution_problem (
        resolution, "train", "initialise_map",
        "maps names of published weights, so train.initialise must name NAME" PLAIT_SAFETENSORS_SUFFIX
        " or NAME" PLAIT_SAFETENSORS_INDEX_SUFFIX "; name such a file, or drop this key");
}

void
plait_resolution_check_initial (const PlaitResolution *resolution)
{
  check_file (resolution);
  check_state (resolution);
  find_name_map (resolution);
}

/* Adds a problem if @checkpoint, the value of [@group] @key, is not the name of a checkpoint. */
static void
check_checkpoint_name (const PlaitResolution *resolution, const char *group, const char *key, const char *checkpoint)
{
  if (!g_str_equal (checkpoint, PLAIT_CHECKPOINT_BEST) && !g_str_equal (checkpoint, PLAIT_CHECKPOINT_LAST)
      && !g_str_equal (checkpoint, PLAIT_CHECKPOINT_AVERAGE) && plait_checkpoint_update (checkpoint) == 0)
    plait_resolution_problem (resolution, group, key,
                              "\"%s\" is not a checkpoint; expected best, last, average or update-N", checkpoint);
}

void
plait_resolution_check_checkpoints (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;

  check_checkpoint_name (resolution, "train", "initialise_checkpoint", experiment->train.initialise_checkpoint);
  check_checkpoint_name (resolution, "evaluate", "checkpoint", experiment->evaluate.checkpoint);
  if (plait_checkpoint_update (experiment->evaluate.checkpoint) > 0 && experiment->train.keep == 0)
    plait_resolution_problem (resolution, "evaluate", "checkpoint",
                              "%s is not kept, because train.keep is 0; set train.keep to the number of checkpoints to "
                              "keep, or choose best, last or average",
                              experiment->evaluate.checkpoint);
  if (g_str_equal (experiment->evaluate.checkpoint, PLAIT_CHECKPOINT_AVERAGE) && experiment->train.average == 0)
    plait_resolution_problem (resolution, "evaluate", "checkpoint",
                              "there is no average to evaluate, because train.average is 0; set train.average to the "
                              "number of validations to average over, or choose best or last");
}
