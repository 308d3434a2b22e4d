/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/tensor.h"
#include "corpus/iterator.h"
#include "schema/settings.h"

/* The settings [train]. The build generates their struct and table from schemas/group/train.ini. */

/* Names of a run's checkpoints, which other runs can start from and which can be evaluated. A kept checkpoint is named
 * PLAIT_KEPT_CHECKPOINT and the number of its update. */
#define PLAIT_CHECKPOINT_BEST "best" /* the last checkpoint if the run had no validation */
#define PLAIT_CHECKPOINT_LAST "last"
#define PLAIT_CHECKPOINT_AVERAGE "average"
#define PLAIT_KEPT_CHECKPOINT "update-"

/* Returns the number of the update in @checkpoint, the name of a kept checkpoint; 0 if it is another name. */
gint64 plait_checkpoint_update (const char *checkpoint);

/* Subfolder of plugin folders that holds name maps (weights/name-map.h), for plait_registry_find_text. */
#define PLAIT_NAME_MAP_FOLDER "weights"

#include "training/train-settings.h"

/* Returns the precision of matrix products in training (plait_tape_set_precision). */
PlaitPrecision plait_train_precision (const PlaitTrainSettings *settings);

/* TRUE if the schedule depends on the number of the last update, so that training cannot be made longer. */
gboolean plait_schedule_has_end (const PlaitTrainSettings *settings);

/* Checks train.rates, which must be pairs STEP:RATE with steps that rise from 1. */
gboolean plait_rates_check (const char *rates, GError **error);

/* Returns the learning rate of update @step (first: 1) for a model of width @width. @updates is the number of the last
 * update, at which some schedules end; @drops: number of times that the schedule plateau has lowered the rate. */
double plait_learning_rate (const PlaitTrainSettings *settings, gint64 step, gint64 width, gint64 updates,
                            gint64 drops);
