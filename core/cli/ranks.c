/* SPDX-License-Identifier: MIT */
#include "cli/ranks.h"

#include <gmodule.h>

#include "base/launcher.h"

#define MODULE "ranks" G_DIR_SEPARATOR_S "mpi." G_MODULE_SUFFIX

/* The module, in the first plugin folder that has it, or NULL. (transfer full) */
static char *
find_module (const PlaitRegistry *registry)
{
  for (guint i = 0; i < plait_registry_n_folders (registry); i++)
    {
      char *path = g_build_filename (plait_registry_folder (registry, i)->path, MODULE, NULL);

      if (g_file_test (path, G_FILE_TEST_IS_REGULAR))
        return path;
      g_free (path);
    }
  return NULL;
}

gboolean
plait_ranks_join (PlaitRanks **ranks, const PlaitRegistry *registry, PlaitInvocation *invocation, GError **error)
{
  guint launched = plait_launched_processes ();
  g_autofree char *module = launched > 1 ? find_module (registry) : NULL;

  *ranks = NULL;
  if (launched <= 1)
    return TRUE;
  if (!module)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%u processes were started together, but this plait was built without MPI, by which they would "
                       "reach each other: install libopenmpi-dev and build it again, or start one process",
                       launched);
  *ranks = plait_ranks_new (module, error);
  if (!*ranks)
    return FALSE;
  if (plait_ranks_n (*ranks) != launched)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%u processes were started together, but MPI knows of %u: start them with the mpirun of the MPI "
                       "that plait was built with",
                       launched, plait_ranks_n (*ranks));
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
                        "%u processes were started together, but %s is for one: leave the launcher out", launched,
                        what);
}
