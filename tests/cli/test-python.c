/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "sample-run.h"

/* experiments/plait.py, which other people copy. */

static gboolean
run_python (const char *const *arguments, char **problems)
{
  int status = -1;

  return g_spawn_sync (NULL, (char **)arguments, NULL, 0, NULL, NULL, NULL, problems, &status, NULL) && status == 0;
}

static gboolean
has_module (const char *module)
{
  g_autofree char *line = g_strconcat ("import ", module, NULL), *problems = NULL;

  /* Debian's modules belong to Debian's Python. */
  return run_python ((const char *[]){ "/usr/bin/python3", "-c", line, NULL }, &problems);
}

static void
check_reads (const char *how)
{
  const char *script = plait_test_source_path ("tests/cli/python.py");
  const char *module = plait_test_source_path ("experiments/plait.py");
  g_autofree char *problems = NULL;
  const char *path = plait_test_path ("run.h5");
  g_autofree char *folder = g_path_get_dirname (module);
  const char *many = plait_test_path ("many.h5");

  plait_test_write_run ("run.h5", &(PlaitTestRun){ "serial", plait_test_wrong });
  plait_test_write_run ("many.h5", &(PlaitTestRun){ "serial", plait_test_wrong, .many = 3 });
  CHECK (run_python ((const char *[]){ "/usr/bin/python3", "-B", script, folder, path, many, how, NULL }, &problems));
  CHECK_STRING (problems, "");
}

TEST_CASE (python, reads_runs_as_arrays)
{
  if (!has_module ("h5py"))
    SKIP_TEST ("python3-h5py is not installed");
  check_reads ("numpy");
}

TEST_CASE (python, reads_runs_as_frames)
{
  if (!has_module ("h5py") || !has_module ("pandas"))
    SKIP_TEST ("python3-pandas is not installed");
  check_reads ("pandas");
}
