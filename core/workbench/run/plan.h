/* SPDX-License-Identifier: MIT */
#pragma once

#include "corpus/corpus.h"
#include "experiment/file.h"
#include "training/trainer.h"

/* What a run would do: plait run --dry-run. All is borrowed. */
typedef struct
{
  const PlaitExperiment *experiment;
  const PlaitCorpus *training;
  const PlaitCorpus *validation; /* NULL: none */
  PlaitCorpus *const *tests;     /* of each test split */
  PlaitParameters *parameters;
  const PlaitTrainer *trainer;
  gsize step_bytes; /* of a step beside parameters and moments */
  gboolean step_estimated;
  gsize validation_bytes; /* of the batch with the longest sentences */
} PlaitPlan;

/* Prints the plan on stdout, for people or as JSON: data, updates, parameters by component, memory. */
void plait_plan_print (const PlaitPlan *plan, gboolean as_json);
