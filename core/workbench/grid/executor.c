/* SPDX-License-Identifier: MIT */
#include "grid/executor.h"

#include "grid/slurm.h"

const PlaitExecutor plait_executors[] = {
  [PLAIT_GRID_EXECUTOR_LOCAL] = { "local", plait_grid_run, NULL, TRUE },
  [PLAIT_GRID_EXECUTOR_SLURM] = { "slurm", plait_grid_submit, plait_grid_plan_submission, FALSE },
};

const PlaitExecutor *
plait_executor_find (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (plait_executors); i++)
    if (g_str_equal (plait_executors[i].name, name))
      return &plait_executors[i];
  return NULL;
}
