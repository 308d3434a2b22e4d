/* SPDX-License-Identifier: MIT */
#pragma once

#include "files/problems.h"
#include "axes/cells.h"

/*
 * What runs the cells of a grid, and how. [grid] may say it, and the command line otherwise:
 *
 *     executor=slurm
 *     executor.jobs=20                 cells that run at once
 *     executor.threads=4               of each
 *     executor.time=2h                 that a cell may run: s, m, h or d
 *     executor.retries=1               of a cell that fails
 *     executor.memory=4G               of each, for Slurm; executor.time too may be measured: cost.h
 *     executor.options=--partition=cpu;--account=mt    further options of sbatch that cannot change what is run
 *
 * None of it is part of what a cell is.
 */
#define PLAIT_EXECUTOR_MEASURED "measured"

/* Seconds of "90s", "30m", "2h" or "1d": at least one, at most a year. */
gboolean plait_executor_parse_time (const char *text, gint64 *seconds);

/* Takes what [grid] of @file says; faults are added to @problems. */
void plait_executor_read (const PlaitKeyFile *file, PlaitExecutorSettings *settings, PlaitProblems *problems);
