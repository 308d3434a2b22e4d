/* SPDX-License-Identifier: MIT */
#pragma once

#include "setup/experiment-model.h"

/* A trained run, opened to be used: its experiment, vocabularies and model with the parameters of one checkpoint. */
typedef struct
{
  PlaitStore *store;
  PlaitRegistry *registry;
  PlaitExperiment *experiment;
  PlaitRunInputs *run_inputs;
  PlaitExperimentModel *experiment_model;
} PlaitTrained;

/* Opens the file at @path, which must hold the experiment and a checkpoint of a run; what another program has
 * changed in it is a warning. (transfer full) */
PlaitStore *plait_trained_open_store (const char *path, PlaitLog *log, GError **error);

/* The experiment that the run in @store keeps, with @overrides (NULL-terminated, or NULL). (transfer full) */
PlaitExperiment *plait_trained_experiment (PlaitStore *store, const char *const *overrides, PlaitRegistry *registry,
                                           GError **error);

/* The same as it is written. (transfer full) */
PlaitKeyFile *plait_trained_key_file (PlaitStore *store, GError **error);

/* Opens the run at @path with checkpoint @checkpoint: "last", "best" or "average"; NULL: best, or last where there is
 * no best. @overrides (NULL-terminated, or NULL) set keys of its experiment otherwise: of [decode] and [evaluate], on
 * which neither model nor data depend. A plugin that is not the one that the run was trained with is an error, or where
 * @changed a warning. (transfer full) */
PlaitTrained *plait_trained_open (const char *path, const char *checkpoint, const char *const *overrides,
                                  gboolean changed, PlaitLog *log, GError **error);
void plait_trained_free (PlaitTrained *trained);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitTrained, plait_trained_free)

/* The path of the parameters of @checkpoint in @store, NULL as above; an absent one is an error that names those that
 * are there. (transfer full) */
char *plait_checkpoint_path (PlaitStore *store, const char *checkpoint, GError **error);

/* What is @checkpoint there for each PlaitCheckpoint. */
extern const char *const plait_checkpoint_names[];

/* Reads the parameters of @checkpoint from @store into @parameters; NULL as above. */
gboolean plait_checkpoint_read (PlaitParameters *parameters, PlaitStore *store, const char *checkpoint, GError **error);
