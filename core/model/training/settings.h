/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/tensor.h"
#include "corpus/iterator.h"
#include "schema/settings.h"

/* [train]. The build generates its struct and table from schemas/group/train.ini. */

/* Checkpoints of a run, to initialise from or to evaluate: these, and kept ones, whose name is followed by the number
 * of their update. */
#define PLAIT_CHECKPOINT_BEST "best" /* the last one if the run had no validation */
#define PLAIT_CHECKPOINT_LAST "last"
#define PLAIT_CHECKPOINT_AVERAGE "average"
#define PLAIT_KEPT_CHECKPOINT "update-"

/* Returns the update in the name @checkpoint of a kept checkpoint; 0 for another name. */
gint64 plait_checkpoint_update (const char *checkpoint);

/* Folder of name maps (weights/name-map.h). */
#define PLAIT_NAME_MAP_FOLDER "weights"

#include "training/train-settings.h"

/* Returns the precision of matrix products in training (plait_tape_set_precision). */
PlaitPrecision plait_train_precision (const PlaitTrainSettings *settings);

/* TRUE if the schedule depends on the number of the last update, so that training cannot be made longer. */
gboolean plait_schedule_has_end (const PlaitTrainSettings *settings);

/* Checks train.rates, which must be pairs STEP:RATE with steps that rise from 1. */
gboolean plait_rates_check (const char *rates, GError **error);

/* Returns the learning rate of update @step (first: 1) for a model of width @width. @updates is the number of the last
 * update, at which some schedules end; @drops: how often validation has stalled, for the schedule plateau. */
double plait_learning_rate (const PlaitTrainSettings *settings, gint64 step, gint64 width, gint64 updates,
                            gint64 drops);
