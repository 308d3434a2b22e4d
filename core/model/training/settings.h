/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/tensor.h"
#include "corpus/iterator.h"
#include "schema/settings.h"

/* [train]. The build makes its struct and table from schemas/group/train.ini. */

/* Of a run, to begin with or to be evaluated. */
typedef enum
{
  PLAIT_CHECKPOINT_BEST, /* or the last, where it was not validated */
  PLAIT_CHECKPOINT_LAST,
  PLAIT_CHECKPOINT_AVERAGE,
} PlaitCheckpoint;

/* Folder of name maps (weights/name-map.h). */
#define PLAIT_NAME_MAP_FOLDER "weights"

#include "training/train-settings.h"

/* The precision of training's products (plait_tape_set_precision). */
PlaitPrecision plait_train_precision (const PlaitTrainSettings *settings);

/* The learning rate of update @step (1: the first) for a model of width @width; @updates is the last one's number,
 * which the linear schedule falls to zero at. */
double plait_learning_rate (const PlaitTrainSettings *settings, gint64 step, gint64 width, gint64 updates);
