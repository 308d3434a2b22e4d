/* SPDX-License-Identifier: MIT */
#pragma once

#include "grid/cost.h"

/* An executor runs the cells of a grid (executor-settings.h). */
typedef struct
{
  const char *name;
  /* Runs what is to be run, or hands it to a scheduler. */
  gboolean (*run) (PlaitGrid *grid, const PlaitGridOptions *options, GError **error);
  /* What it would ask a scheduler for, a line each; NULL: it asks none. (transfer full) (element-type char*) */
  GPtrArray *(*plan) (PlaitGrid *grid, const PlaitGridOptions *options, const PlaitGridCost *cost, GError **error);
  gboolean waits; /* until the cells have ended, so that a table can be made */
} PlaitExecutor;

/* "local", which every plait has, and "slurm". */
extern const PlaitExecutor plait_executors[];

/* The one called @name. NULL: there is none. (transfer none) */
const PlaitExecutor *plait_executor_find (const char *name);
