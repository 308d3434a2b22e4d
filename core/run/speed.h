/* SPDX-License-Identifier: MIT */
#pragma once

#include "run/materials.h"
#include "run/system.h"
#include "train/trainer.h"

/* What a run would take, by the speed of a part of it. */
typedef struct
{
  double training;   /* seconds, with the reading of the data and validation */
  double evaluation; /* seconds, of all test splits */
  gsize bytes;       /* the most that the process held */
} PlaitRunSpeed;

/* What is ready to be trained, and the test splits. */
typedef struct
{
  const PlaitSystem *system;
  PlaitTrainer *trainer;
  const PlaitCorpus *validation; /* NULL: none */
  const GPtrArray *tests;        /* PlaitCorpus */
  PlaitPool *pool;
  double prepared; /* seconds that this took */
} PlaitRunReady;

/* Times a few updates and a few batches of translations, each of the length that the references have in the mean, as
 * those of a model that has learnt nothing have no end; a few seconds unless a single one takes longer. What a
 * validation reads, and the perplexity of a test split, count as a third of training on it. */
gboolean plait_run_speed (const PlaitRunReady *ready, PlaitRunSpeed *speed, GError **error);
