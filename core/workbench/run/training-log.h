/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/log.h"
#include "training/trainer.h"

/*
 * Writes the rows of /training/updates and /training/validation for other programs while training runs, with the same
 * column names, as JSON lines: {"table": "updates", "step": 100, "loss": 3.2, ...}.
 *
 * A continued run writes all its rows again, so that the log has no gap. If the log cannot be written, it ends with a
 * warning and training continues; the run's file has the same numbers.
 */
typedef struct PlaitTrainingLog PlaitTrainingLog;

/* Begins to write the file @path, and replaces an existing file. (transfer full) */
PlaitTrainingLog *plait_training_log_open (const char *path, PlaitLog *log, GError **error);
void plait_training_log_free (PlaitTrainingLog *training);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitTrainingLog, plait_training_log_free)

/* Adds a row to @table. */
void plait_training_log_add (PlaitTrainingLog *training, const char *table, const PlaitTrainingNumber *numbers,
                             guint n);
