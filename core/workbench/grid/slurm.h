/* SPDX-License-Identifier: MIT */
#pragma once

#include "grid/cost.h"

/*
 * Submits all due cells to Slurm: job arrays with one task for each command line of plait_grid_tasks(), and a job that
 * makes the table after all tasks. Without due cells, submits nothing. Tasks are requeued when preempted. Slurm keeps
 * the scripts; the logs of tasks are in FOLDER/slurm. If a job cannot be submitted, cancels the others.
 *
 * PLAIT_ERROR_FAILED with the message of Slurm, or if Slurm does not answer; the error says how to cancel jobs that may
 * be left. PLAIT_ERROR_INPUT if jobs of this grid are already in the queue. The folder is locked before the queue is
 * read.
 */
gboolean plait_grid_submit (PlaitGrid *grid, const PlaitGridOptions *options, GError **error);

/* Returns the commands that plait_grid_submit() would run, without submitting anything. @cost is the cost of the cells;
 * NULL: measured if needed. JOB1, JOB2 and so on stand for the numbers of earlier jobs. If Slurm is installed, fails if
 * it does not answer or has jobs of this grid. Without Slurm, puts all tasks into one array. (transfer full)
 * (element-type char*) */
GPtrArray *plait_grid_plan_submission (PlaitGrid *grid, const PlaitGridOptions *options, const PlaitGridCost *cost,
                                       GError **error);
