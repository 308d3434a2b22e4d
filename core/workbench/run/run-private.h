/* SPDX-License-Identifier: MIT */
#pragma once

#include "metrics/references.h"
#include "run/run.h"
#include "run/training-log.h"
#include "run/training-set.h"
#include "setup/run-output.h"
#include "training/trainer.h"
#include "weights/initialisation.h"

/* All state of a run. */
typedef struct
{
  const PlaitExperiment *experiment;
  const PlaitRunOptions *options;
  PlaitPool *pool;
  PlaitRunInputs *run_inputs;
  PlaitCorpus *corpus;
  PlaitCorpus *validation;
  PlaitReferences *validation_references;
  GPtrArray *tests; /* (element-type PlaitCorpus): test splits, opened before training so that errors appear early */
  PlaitExperimentModel *experiment_model;
  PlaitInitialisation *initialisation; /* source of the initial parameters; NULL: all are random */
  PlaitTrainer *trainer;
  PlaitTrainingLog *training_log; /* log for other programs; NULL: not requested, not the first process, or not begun */
  PlaitRunOutput *run_output;
  PlaitStore *old; /* the run that is continued; after the first checkpoint the file of this run, kept open even if its
                      path is removed */
  PlaitTrainingSet set;
  char *training_fingerprint;
  char *key;       /* fingerprint of the whole run (setup/fingerprint.h) */
  gboolean longer; /* TRUE: the old run was finished and is trained further */
} PlaitRunState;

/* In the first process of a job, locks the output file. In every process, opens the run to continue, if there is one.
 * Sets *@complete to TRUE if that run is finished and its training does not continue. Fails if the output cannot be
 * written, which would otherwise be found only at the first checkpoint. Also fails if the run to continue is damaged,
 * is a mean of checkpoints, or has other settings. */
gboolean plait_run_open_old (PlaitRunState *run, gboolean *complete, GError **error);

/* Opens the data and builds the model with its initial values. Fails if the model cannot read the data. */
gboolean plait_run_open_inputs (PlaitRunState *run, GError **error);

/* Computes the fingerprints of the run and run->set; run->trainer must exist. Fails if the checkpoint to evaluate will
 * not be kept, if the metrics cannot score the references, if files changed while they were read, if the run would
 * write a file that it reads, or if the old run has other data or plugins. */
gboolean plait_run_check_inputs (PlaitRunState *run, GError **error);

/* Sets run->training_fingerprint and run->key. Fails if the run reads a file that it would write. */
gboolean plait_run_find_keys (PlaitRunState *run, GError **error);

/* TRUE if the old run has the data and plugins of this run. plait_run_open_old() checks the settings. */
gboolean plait_run_check_old (const PlaitRunState *run, GError **error);

/* TRUE if no file of a test split has changed since it was opened. */
gboolean plait_run_check_tests (const PlaitRunState *run, GError **error);
