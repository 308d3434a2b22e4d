/* SPDX-License-Identifier: MIT */
#include "command/ranks.h"

#include "text/launcher.h"
#include "process/module.h"

gboolean
plait_ranks_join (PlaitRanks **ranks, PlaitInvocation *invocation, GError **error)
{
  static const PlaitModuleWanted mpi
      = { "ranks", "mpi", "exchange between processes", "libopenmpi-dev", sizeof (PlaitRanksTable) };
  const PlaitRanksTable *table;
  guint launched = plait_launched_processes ();

  *ranks = NULL;
  if (launched <= 1)
    return TRUE;
  table = plait_module_open (&mpi, error);
  if (!table)
    {
      g_prefix_error (
          error, "%u processes were started together, which needs MPI; a single process does not need MPI: ", launched);
      return FALSE;
    }
  *ranks = plait_ranks_new (table);
  if (plait_ranks_size (*ranks) != launched)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%u processes were started together, but MPI reports %u: start them with the mpirun of the MPI "
                       "that plait was built with",
                       launched, plait_ranks_size (*ranks));
  if (!invocation->log)
    invocation->log = plait_log_new (FALSE);
  if (!plait_ranks_is_first (*ranks))
    plait_log_mute (invocation->log);
  return TRUE;
}

gboolean
plait_ranks_refuse (const char *what, GError **error)
{
  guint launched = plait_launched_processes ();

  return launched <= 1
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "%u processes were started together, but %s runs as one process: start it without the launcher",
                        launched, what);
}
