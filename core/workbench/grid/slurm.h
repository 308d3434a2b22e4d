/* SPDX-License-Identifier: MIT */
#pragma once

#include "grid/cost.h"

/*
 * Submits all due cells to Slurm: job arrays with one task for each line of tasks.h, requeued when preempted, and a job
 * that makes the table after all tasks. Slurm keeps the scripts; the logs of tasks are in FOLDER/slurm. Either all jobs
 * are submitted or none. PLAIT_ERROR_FAILED with the message of Slurm, or if Slurm does not answer; the message says
 * how to cancel jobs that may be left. PLAIT_ERROR_INPUT if jobs of this grid are in the queue already. The folder is
 * locked before the queue is read.
 */
gboolean plait_grid_submit (PlaitGrid *grid, const PlaitGridOptions *options, GError **error);

/* Returns the commands that plait_grid_submit() would run, one a line, for cells that cost @cost. JOB1, JOB2 and so on
 * stand for the numbers of earlier jobs. Without Slurm, all tasks are in one array. Submits nothing. (transfer full)
 * (element-type char*) */
GPtrArray *plait_grid_plan_submission (PlaitGrid *grid, const PlaitGridOptions *options, const PlaitGridCost *cost,
                                       GError **error);
