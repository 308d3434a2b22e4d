/* SPDX-License-Identifier: MIT */
#pragma once

#include "setup/experiment-model.h"
#include "run/training-set.h"
#include "training/trainer.h"

/* Estimated cost of a run, from the speed of a part of it. */
typedef struct
{
  double training;      /* seconds, with validation; from plait_run_measure also with reading the data */
  double evaluation;    /* seconds for all test splits */
  gsize bytes;          /* largest memory of the process */
  PlaitTrainingSet set; /* from plait_run_measure: the training set */
} PlaitRunSpeed;

/* Times a few updates by @trainer and the translation of a few batches of @validation (may be NULL) and @tests
 * (PlaitCorpus). Translations get the mean length of the references, because an untrained model does not end them.
 * Takes a few seconds, or more if a single batch does. The forward pass of validation, and of a test split's
 * perplexity, counts as a third of a training step. */
gboolean plait_run_speed (const PlaitExperimentModel *experiment_model, PlaitTrainer *trainer,
                          const PlaitCorpus *validation, const GPtrArray *tests, PlaitPool *pool, PlaitRunSpeed *speed,
                          GError **error);
