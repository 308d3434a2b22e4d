/* SPDX-License-Identifier: MIT */
#pragma once

#include "axes/cells.h"

/*
 * Settings of the executor, which runs the cells of a grid. They are keys of [grid]. The command line has options that
 * override these keys, but none for executor.memory and executor.options:
 *
 *     executor=slurm
 *     executor.jobs=20                 number of cells that run at once
 *     executor.threads=4               threads of each cell
 *     executor.time=2h                 time limit of a cell: a number and s, m, h or d; with Slurm also "measured"
 *     executor.retries=1               retries of a cell that fails
 *     executor.memory=4G               memory of each cell with Slurm, or "measured"
 *     executor.options=--partition=cpu;--account=mt    further options of sbatch that cannot change what is run
 *
 * For "measured" see grid/cost.h. None of these keys is part of a fingerprint.
 */
#define PLAIT_EXECUTOR_MEASURED "measured"

/* Parses "90s", "30m", "2h" or "1d" to *@seconds. FALSE if @text has another form, is 0 or is above 366 days. */
gboolean plait_executor_parse_time (const char *text, gint64 *seconds);

/* Reads the executor's keys of @grid into *@settings. Adds faults to the problems of @grid. */
void plait_executor_read (const PlaitGridGroup *grid, PlaitExecutorSettings *settings);
