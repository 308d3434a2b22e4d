/* SPDX-License-Identifier: MIT */
#pragma once

#include "setup/experiment-model.h"
#include "run/training-set.h"
#include "training/trainer.h"

/* What a run would take, by the speed of a part of it. */
typedef struct
{
  double training;      /* seconds, with validation; of plait_run_measure with the reading of the data, too */
  double evaluation;    /* seconds, of all test splits */
  gsize bytes;          /* the most that the process held */
  PlaitTrainingSet set; /* of plait_run_measure: what it would train on */
} PlaitRunSpeed;

/* Times a few updates by @trainer and a few batches of translations of @validation (NULL: there is none) and of @tests
 * (PlaitCorpus), each of the length that the references have in the mean, as those of a model that has learnt nothing
 * have no end; a few seconds unless a single one takes longer. What a validation reads, and the perplexity of a test
 * split, count as a third of training on it. */
gboolean plait_run_speed (const PlaitExperimentModel *experiment_model, PlaitTrainer *trainer,
                          const PlaitCorpus *validation, const GPtrArray *tests, PlaitPool *pool, PlaitRunSpeed *speed,
                          GError **error);
