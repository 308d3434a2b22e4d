/* SPDX-License-Identifier: MIT */
#include <glib/gstdio.h>

#include "grid/slurm.h"
#include "grids.h"
#include "files.h"
#include "harness.h"

/* Tests with commands of Slurm that never end. */

/* Writes the executable @script as the program @name, into the folder of fake programs. */
static void
write_program (const char *name, const char *script)
{
  const char *folder = plait_test_path ("bin");
  g_autofree char *path = g_build_filename (folder, name, NULL);

  g_mkdir (folder, 0755);
  plait_test_write (path, plait_test_format ("#!/bin/sh\n%s\n", script));
  CHECK_INT (g_chmod (path, 0755), 0);
}

TEST_CASE (slurm, is_not_waited_for_without_end)
{
  static const struct
  {
    const char *name;
    const char *fault;
  } cases[] = {
    { "scontrol", "Slurm does not answer: scontrol did not end within 1 seconds; see what scontrol ping says" },
    { "squeue", "Slurm does not answer: squeue did not end within 1 seconds; see what scontrol ping says" },
    { "sbatch", "another scheduler; jobs may be in the queue: squeue --name=plait-" },
  };
  static const char *const names[] = { "scontrol", "squeue", "sbatch", "scancel" };
  static const char *const answers[] = { "echo MaxArraySize = 9", "true", "echo 7", "sleep 600" };
  const PlaitGridOptions options = { .patience = 1 };

  test_grid_write (TEST_TWO_BY_TWO);
  g_setenv ("PATH", plait_test_format ("%s:%s", plait_test_path ("bin"), g_getenv ("PATH")), TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (TestGrid) opened = test_grid_open ("cells", NULL, FALSE);
      g_autoptr (GError) error = NULL;

      CONTEXT ("%s", cases[i].name);
      for (guint k = 0; k < G_N_ELEMENTS (names); k++)
        write_program (names[k], g_str_equal (names[k], cases[i].name) ? "sleep 600" : answers[k]);
      CHECK (!plait_grid_submit (opened.grid, &options, &error));
      CHECK_ERROR (error, PLAIT_ERROR_FAILED, cases[i].fault);
      CHECK (!plait_test_exists (opened.grid->folder));
    }
}
