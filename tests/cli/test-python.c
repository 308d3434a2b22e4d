/* SPDX-License-Identifier: MIT */
#include "call.h"
#include "harness.h"
#include "sample-run.h"

/* experiments/plait.py, which users copy. */

static gboolean
has_module (const char *module)
{
  /* Debian's modules need Debian's Python. */
  const char *words[] = { "/usr/bin/python3", "-c", plait_test_format ("import %s", module), NULL };

  return plait_test_call_command (words).code == 0;
}

static void
check_reads (const char *how)
{
  const char *script = plait_test_source_path ("tests/cli/python.py");
  const char *folder = plait_test_source_path ("experiments");

  plait_test_write_run ("run.h5", &(PlaitTestRun){ "serial", plait_test_wrong });
  plait_test_write_run ("many.h5", &(PlaitTestRun){ "serial", plait_test_wrong, .many = 3 });
  QUIET (plait_test_call_command (
      (const char *[]){ "/usr/bin/python3", "-B", script, folder, "run.h5", "many.h5", how, NULL }));
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
