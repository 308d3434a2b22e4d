/* SPDX-License-Identifier: MIT */
#pragma once

#include "grid/cost.h"

/* An executor runs the cells of a grid (axes/executor-settings.h). */
typedef struct
{
  const char *name;
  /* Runs all due cells, or submits them to a scheduler such as Slurm. */
  gboolean (*run) (PlaitGrid *grid, const PlaitGridOptions *options, GError **error);
  /* Returns the commands that run() would give to a scheduler. An executor without a scheduler does not have this
   * function: plan is NULL. (transfer full) (element-type char*) */
  GPtrArray *(*plan) (PlaitGrid *grid, const PlaitGridOptions *options, const PlaitGridCost *cost, GError **error);
  gboolean waits; /* TRUE: run() returns after the last cell has ended, so that the table can be made */
} PlaitExecutor;

/* The executors "local" and "slurm", indexed by the value of the key executor. */
extern const PlaitExecutor plait_executors[];

/* Returns the executor @name, or NULL. (transfer none) */
const PlaitExecutor *plait_executor_find (const char *name);
