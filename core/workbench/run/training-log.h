/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/log.h"
#include "training/trainer.h"

/*
 * What training comes to, told to other programs while it goes on: the rows of /training/updates and
 * /training/validation, by the names that their columns have there.
 *
 * As JSON lines: {"table": "updates", "step": 100, "loss": 3.2, ...}. As a folder for TensorBoard, of scalars
 * "updates/loss" by step, in the file EVENTS.
 *
 * A run that goes on tells all its rows anew, so that the log is that of a run which was never interrupted, times
 * apart. A log that cannot be written ends, with a warning, and training goes on: the run's file has the same numbers.
 */
typedef struct PlaitTrainingLog PlaitTrainingLog;

#define PLAIT_TRAINING_LOG_EVENTS "events.out.tfevents.plait"

/* Begins to write @lines, a file, and @events, a folder, which is made; either may be NULL. What is there is replaced.
 * (transfer full) */
PlaitTrainingLog *plait_training_log_open (const char *lines, const char *events, PlaitLog *log, GError **error);
void plait_training_log_free (PlaitTrainingLog *training);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitTrainingLog, plait_training_log_free)

/* One more row of @table. */
void plait_training_log_add (PlaitTrainingLog *training, const char *table, const PlaitTrainingNumber *numbers,
                             guint n);
