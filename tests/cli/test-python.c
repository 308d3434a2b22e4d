/* SPDX-License-Identifier: MIT */
#include "call.h"
#include "experiments.h"
#include "files.h"
#include "grids.h"
#include "harness.h"
#include "sample-run.h"

/* Tests of the Python package in experiments/python. */

TEST_CASE (python, reads_runs_and_grids_and_translates)
{
  const char *script = plait_test_source_path ("tests/cli/python.py");
  const char *folder = plait_test_source_path ("experiments/python");
  const char *program = plait_test_format ("PLAIT_PROGRAM=%s", plait_test_build_path ("plait"));
  /* The modules are installed for Debian's Python only. */
  const char *modules[] = { "/usr/bin/python3", "-c", "import h5py, pandas, xarray", NULL };

  if (plait_test_call_command (modules).code != 0)
    SKIP_TEST ("python3-h5py, python3-pandas or python3-xarray is not installed");
  plait_test_write_run ("run.h5", &(PlaitTestRun){ "serial", plait_test_wrong });
  plait_test_write_run ("many.h5", &(PlaitTestRun){ "serial", plait_test_wrong, .many = 3 });
  plait_test_write_grid ("experiment.seed=1;2\n");
  QUIET (CALL ("grid", "tiny.ini", "--output", "grid", "-q"));
  plait_test_write ("trained.ini", SMALL_TRANSLATION (SMALL_SOURCE ("a"), "beam=2\nmaximum_length=6\n"));
  QUIET (CALL ("run", "trained.ini", "--output", "trained.h5", "-q"));
  QUIET (plait_test_call_command ((const char *[]){ "env", program, "/usr/bin/python3", "-B", script, folder, "run.h5",
                                                    "many.h5", "grid", "trained.h5", NULL }));
}
