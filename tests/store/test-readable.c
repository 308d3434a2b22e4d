/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "sample-file.h"

#include <sys/wait.h>

/* Runs @command and checks that its output contains @part. */
static void
check_prints (const char *const *command, const char *part)
{
  g_autofree char *out = NULL, *problems = NULL;
  int status = 0;
  g_spawn_sync (NULL, (char **)command, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, &problems, &status, NO_ERROR);
  CONTEXT ("%s prints to stderr: %s", command[0], problems);
  CHECK_INT (status, 0);
  CHECK_STRING (problems, "");
  CHECK_CONTAINS (out, part);
}

static gboolean
is_there (const char *program)
{
  g_autofree char *path = g_find_program_in_path (program);
  return path != NULL;
}

TEST_CASE (store_readable, by_h5ls)
{
  const char *path = plait_test_path ("run.h5");
  if (!is_there ("h5ls"))
    SKIP_TEST ("h5ls is not installed");
  plait_test_write_sample (path);
  check_prints ((const char *[]){ "h5ls", "-r", path, NULL }, "/attention/test/0/en/weights Dataset {1, 2, 3, 2}");
}

TEST_CASE (store_readable, by_h5dump)
{
  const char *path = plait_test_path ("run.h5");
  if (!is_there ("h5dump"))
    SKIP_TEST ("h5dump is not installed");
  plait_test_write_sample (path);
  check_prints ((const char *[]){ "h5dump", "-d", "/evaluation/test/hypotheses", path, NULL }, "\"Ein Mann l");
  check_prints ((const char *[]){ "h5dump", "-a", "/attention/test/0/en/signal", path, NULL }, "\"weights\"");
}

TEST_CASE (store_readable, by_h5py)
{
  const char *path = plait_test_path ("run.h5");
  const char *probe[] = { "/usr/bin/python3", "-c", "import h5py", NULL };
  int status = -1;
  /* h5py is installed only for Debian's Python. */
  if (!g_spawn_sync (NULL, (char **)probe, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, NULL, NULL, &status, NULL)
      || status != 0)
    SKIP_TEST ("python3-h5py is not installed");
  plait_test_write_sample (path);
  check_prints ((const char *[]){ "/usr/bin/python3", plait_test_source_path ("tests/store/readable.py"), path, NULL },
                "");
}
