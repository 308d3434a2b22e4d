/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/log.h"
#include "training/trainer.h"

/*
 * Writes the rows of /training/updates and /training/validation while training runs, so that other programs can read
 * them. Each row is a JSON line with the column names of the table: {"table": "updates", "step": 100, "loss": 3.2,
 * ...}.
 *
 * A continued run writes all its rows again, so that the log has no gap. After a write error, the log ends with a
 * warning, and training continues; the run's file has the same numbers.
 */
typedef struct PlaitTrainingLog PlaitTrainingLog;

/* Opens the file or pipe @path for writing, and replaces an existing file. Fails if the file is an input or no program
 * reads the pipe. (transfer full) */
PlaitTrainingLog *plait_training_log_open (const char *path, PlaitLog *log, GError **error);
void plait_training_log_free (PlaitTrainingLog *training);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitTrainingLog, plait_training_log_free)

/* Writes a row of @table with @numbers [@n]. After a write error, does nothing. */
void plait_training_log_add (PlaitTrainingLog *training, const char *table, const PlaitTrainingNumber *numbers,
                             guint n);
