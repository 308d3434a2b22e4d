/* SPDX-License-Identifier: MIT */
#include "text/launcher.h"

#include "text/number.h"

/* Variables that Open MPI, MPICH and Slurm's srun set for each process. */
static const struct
{
  const char *rank;
  const char *n;
} launchers[] = {
  { "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
  { "PMI_RANK", "PMI_SIZE" },
  { "PMI_RANK", "SLURM_STEP_NUM_TASKS" },
  { "PMIX_RANK", "SLURM_STEP_NUM_TASKS" },
};

guint
plait_launched_processes (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (launchers); i++)
    {
      const char *n = g_getenv (launchers[i].rank) ? g_getenv (launchers[i].n) : NULL;
      gint64 number;

      if (n && plait_parse_integer (n, &number) && number > 0 && number <= G_MAXINT)
        return (guint)number;
    }
  return 0;
}
