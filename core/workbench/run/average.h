/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/log.h"

/* A checkpoint of a run, whose parameters are averaged with others. */
typedef struct
{
  char *run;        /* path of the run's file */
  char *checkpoint; /* "last", "best", "average" or "update-N"; NULL: "best" if the run has it, else "last" */
} PlaitAverageCheckpoint;

/*
 * Writes a run to @output. Each of its parameters is the mean of this parameter over @checkpoints [@n]. Settings (with
 * evaluate.checkpoint=best) and vocabularies are copied from the run of the first checkpoint. The new run has no
 * optimizer state, training tables or evaluations; /average/runs lists the checkpoints with the SHA-256 of their
 * parameters. Fails before anything is written if the runs differ in architecture, in the name or shape of a parameter,
 * or in a vocabulary. If a plugin has changed since training, fails, or with @changed only warns. @command is stored as
 * the command line.
 */
gboolean plait_average (const PlaitAverageCheckpoint *checkpoints, guint n, const char *output, gboolean changed,
                        const char *command, PlaitLog *log, GError **error);
