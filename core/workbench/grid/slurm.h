/* SPDX-License-Identifier: MIT */
#pragma once

#include "grid/cost.h"

/*
 * Hands what is to be run to Slurm: arrays as long as the cluster allows, a task for each line of tasks.h, put back
 * into the queue when they are preempted, and a job that makes the table when all have ended. Slurm keeps the scripts;
 * what the tasks say goes into FOLDER/slurm. All jobs are submitted, or none: PLAIT_ERROR_FAILED with what Slurm said,
 * or that it does not answer, and where jobs may be left how to cancel them; PLAIT_ERROR_INPUT where jobs of this grid
 * are in the queue already. The folder is held from before the queue is looked at.
 */
gboolean plait_grid_submit (PlaitGrid *grid, const PlaitGridOptions *options, GError **error);

/* The commands that plait_grid_submit would give, a line each, where @cost is what the cells take; JOB1, JOB2 and so on
 * stand for the numbers of the jobs before. Where there is no Slurm to ask how long an array may be, one takes all
 * tasks. Nothing is submitted. (transfer full) (element-type char*) */
GPtrArray *plait_grid_plan_submission (PlaitGrid *grid, const PlaitGridOptions *options, const PlaitGridCost *cost,
                                       GError **error);
