/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/log.h"
#include "training/trainer.h"

/*
 * Writes the rows of /training/updates and /training/validation for other programs while training runs, with the same
 * column names.
 *
 * As JSON lines: {"table": "updates", "step": 100, "loss": 3.2, ...}. As a folder for TensorBoard: scalars
 * "updates/loss" by step, in the file EVENTS.
 *
 * A continued run writes all its rows again, so that the log has no gap. If the log cannot be written, it ends with a
 * warning and training continues; the run's file has the same numbers.
 */
typedef struct PlaitTrainingLog PlaitTrainingLog;

#define PLAIT_TRAINING_LOG_EVENTS "events.out.tfevents.plait"

/* Begins to write the file @lines and the folder @events, which is created; either may be NULL. Replaces existing
 * files. (transfer full) */
PlaitTrainingLog *plait_training_log_open (const char *lines, const char *events, PlaitLog *log, GError **error);
void plait_training_log_free (PlaitTrainingLog *training);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitTrainingLog, plait_training_log_free)

/* Adds a row to @table. */
void plait_training_log_add (PlaitTrainingLog *training, const char *table, const PlaitTrainingNumber *numbers,
                             guint n);
