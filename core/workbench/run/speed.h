/* SPDX-License-Identifier: MIT */
#pragma once

#include "setup/experiment-model.h"
#include "run/training-set.h"
#include "training/trainer.h"

/* Estimated cost of a whole run, from the measured speed of a part of it. */
typedef struct
{
  double training;   /* seconds of training and validation; plait_run_measure() adds the seconds of opening the data and
                        building the model */
  double evaluation; /* seconds of evaluating all test splits */
  gsize bytes;       /* largest memory of the process, in bytes */
  PlaitTrainingSet set; /* training set; only plait_run_measure() sets it */
} PlaitRunSpeed;

/* Times a few updates by @trainer, and the translation of a few batches of @tests (element-type PlaitCorpus) and, if
 * train.metric is set, of @validation (may be NULL). Takes a few seconds, or longer if a single batch takes longer.
 * Translations get the mean length of the references, because an untrained model does not end translations. The forward
 * pass that validation and the perplexity of a test split need is counted as a third of a training step. */
gboolean plait_run_speed (const PlaitExperimentModel *experiment_model, PlaitTrainer *trainer,
                          const PlaitCorpus *validation, const GPtrArray *tests, PlaitPool *pool, PlaitRunSpeed *speed,
                          GError **error);
