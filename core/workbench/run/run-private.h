/* SPDX-License-Identifier: MIT */
#pragma once

#include "run/run.h"
#include "run/training-log.h"
#include "run/training-set.h"
#include "setup/run-output.h"
#include "training/trainer.h"
#include "weights/initialisation.h"

/* Everything that a run holds until it ends. */
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
} PlaitRunState;

/* Locks the file of the output, and opens the run to go on with, if there is one. *@complete: TRUE if that run has
 * nothing left to train. An output that cannot be written is refused now, not at the first checkpoint. */
gboolean plait_run_open_old (PlaitRunState *run, gboolean *complete, GError **error);

/* Opens the data and builds the model with its initial values. Refuses what the model cannot read. */
gboolean plait_run_open_inputs (PlaitRunState *run, GError **error);

/* Finds the keys of the run, which has a trainer. Refuses references that the metrics cannot score, files that changed
 * while they were read, and an old run of other data or plugins. */
gboolean plait_run_check_inputs (PlaitRunState *run, GError **error);

/* Sets training_fingerprint and key. Refuses an output that the run reads. */
gboolean plait_run_find_keys (PlaitRunState *run, GError **error);

/* TRUE if the old run is of the same settings, data and plugins. */
gboolean plait_run_check_old (const PlaitRunState *run, GError **error);

/* TRUE if no file of a test split has changed since it was opened. */
gboolean plait_run_check_tests (const PlaitRunState *run, GError **error);
