/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/tensor.h"
#include "corpus/iterator.h"
#include "schema/settings.h"

/* [train]. The build generates its struct and table from schemas/group/train.ini. */

/* Checkpoint of a run, to initialise from or to evaluate. */
typedef enum
{
  PLAIT_CHECKPOINT_BEST, /* the last one if the run had no validation */
  PLAIT_CHECKPOINT_LAST,
  PLAIT_CHECKPOINT_AVERAGE,
} PlaitCheckpoint;

/* Folder of name maps (weights/name-map.h). */
#define PLAIT_NAME_MAP_FOLDER "weights"

#include "training/train-settings.h"

/* Returns the precision of matrix products in training (plait_tape_set_precision). */
PlaitPrecision plait_train_precision (const PlaitTrainSettings *settings);

/* Returns the learning rate of update @step (first: 1) for a model of width @width. @updates is the number of the last
 * update, at which the linear schedule reaches zero. */
double plait_learning_rate (const PlaitTrainSettings *settings, gint64 step, gint64 width, gint64 updates);
