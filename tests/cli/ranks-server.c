/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <glib.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

#include "command/main.h"

/*
 * Runs several commands of plait in one process of a job, within one MPI_Init and MPI_Finalize, since launching a job
 * takes longer than most commands.
 *
 *     mpirun -n 2 ranks-server FILE
 *
 * Each line of FILE has a name and, after a tab each, the command of each process; the last command is also for further
 * processes. A process writes NAME.RANK.code and NAME.RANK.errors to the folder in which it started. MPI's profiling
 * interface turns later calls of MPI_Init_thread and MPI_Finalize into barriers.
 */

int
MPI_Init_thread (int *argc, char ***argv, int required, int *provided)
{
  static int given;
  int done;

  MPI_Initialized (&done);
  if (!done)
    return PMPI_Init_thread (argc, argv, required, provided) == MPI_SUCCESS ? (given = *provided, MPI_SUCCESS)
                                                                            : MPI_ERR_OTHER;
  *provided = given;
  return PMPI_Barrier (MPI_COMM_WORLD);
}

int
MPI_Finalize (void)
{
  return PMPI_Barrier (MPI_COMM_WORLD);
}

static void
run (const char *name, char *command, int rank)
{
  g_auto (GStrv) words = NULL;
  g_autofree char *errors = g_strdup_printf ("%s.%d.errors", name, rank);
  g_autofree char *code_file = g_strdup_printf ("%s.%d.code", name, rank), *code = NULL;
  int file = open (errors, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

  if (!g_shell_parse_argv (command, NULL, &words, NULL))
    g_error ("no words in \"%s\"", command);
  dup2 (file, STDERR_FILENO);
  close (file);
  code = g_strdup_printf ("%d", plait_main ((int)g_strv_length (words), words));
  fflush (NULL);
  g_file_set_contents (code_file, code, -1, NULL);
}

int
main (int argc, char **argv)
{
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  int rank, provided, last;

  if (argc != 2 || !g_file_get_contents (argv[1], &text, NULL, NULL))
    return 2;
  MPI_Init_thread (&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  PMPI_Comm_rank (MPI_COMM_WORLD, &rank);
  lines = g_strsplit (g_strchomp (text), "\n", -1);
  for (guint i = 0; lines[i]; i++)
    {
      g_auto (GStrv) parts = g_strsplit (lines[i], "\t", -1);

      last = (int)g_strv_length (parts) - 1;
      run (parts[0], parts[MIN (rank + 1, last)], rank);
      PMPI_Barrier (MPI_COMM_WORLD);
    }
  PMPI_Finalize ();
  return 0;
}
