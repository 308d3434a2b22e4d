/* SPDX-License-Identifier: MIT */
#pragma once

#include "setup/experiment-model.h"

/* A trained run, opened for use: experiment, vocabularies, and the model with the parameters of one checkpoint. */
typedef struct
{
  PlaitStore *store;
  PlaitRegistry *registry;
  PlaitExperiment *experiment;
  PlaitRunInputs *run_inputs;
  PlaitExperimentModel *experiment_model;
} PlaitTrained;

/* Opens the file at @path, which must hold the experiment and a checkpoint of a run. Logs a warning if other programs
 * have changed the file. (transfer full) */
PlaitStore *plait_trained_open_store (const char *path, PlaitLog *log, GError **error);

/* Group of a run that is a mean of checkpoints; it lists these checkpoints. Other runs do not have it. */
#define PLAIT_AVERAGE "/average"

/* Returns the experiment of the run in @store, after applying @overrides (may be NULL). (transfer full) */
PlaitExperiment *plait_trained_experiment (PlaitStore *store, const PlaitOverride *overrides, PlaitRegistry *registry,
                                           GError **error);

/* Returns the experiment of the run in @store as a key-file. (transfer full) */
PlaitKeyFile *plait_trained_key_file (PlaitStore *store, GError **error);

/* Opens the run at @path with the parameters of @checkpoint: "last", "best", "average" or "update-N"; NULL: best, or
 * last if there is no best. @overrides (may be NULL) set keys of [decode] and [evaluate], which change neither
 * model nor data. Fails if a plugin has changed since training; with @changed only warns. (transfer full) */
PlaitTrained *plait_trained_open (const char *path, const char *checkpoint, const PlaitOverride *overrides,
                                  gboolean changed, PlaitLog *log, GError **error);
void plait_trained_free (PlaitTrained *trained);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitTrained, plait_trained_free)

/* Returns the path of the parameters of @checkpoint in @store. NULL and "best" mean best, or last if there is no best.
 * Fails if the checkpoint is missing; the error names the existing ones. (transfer full) */
char *plait_checkpoint_path (PlaitStore *store, const char *checkpoint, GError **error);

/* Reads the parameters of @checkpoint (NULL: best, or last) from @store into @parameters. */
gboolean plait_checkpoint_read (PlaitParameters *parameters, PlaitStore *store, const char *checkpoint, GError **error);
