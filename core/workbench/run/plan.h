/* SPDX-License-Identifier: MIT */
#pragma once

#include "corpus/corpus.h"
#include "experiment/file.h"
#include "training/trainer.h"

/* The plan of a run, for plait run --dry-run. All pointers are borrowed. */
typedef struct
{
  const PlaitExperiment *experiment;
  const PlaitCorpus *training;
  const PlaitCorpus *validation; /* validation data, or NULL */
  PlaitCorpus *const *tests;     /* [test splits] */
  PlaitParameters *parameters;
  const PlaitTrainer *trainer;
  gsize step_bytes;        /* bytes of memory of a training step, without parameters and moments of the optimizer */
  gboolean step_estimated; /* TRUE: step_bytes is extrapolated from smaller text */
  gsize validation_bytes;  /* bytes of memory for the validation batch with the longest sentences; 0 without validation
                              data */
} PlaitPlan;

/* Prints the plan on stdout, as text or JSON: data, updates, parameters by component, learning rates, memory. */
void plait_plan_print (const PlaitPlan *plan, gboolean as_json);
