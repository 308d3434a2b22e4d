/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "scoring/run-diff.h"

/* Tests of differences between two runs. */

/* Makes a file with a score; with @more, also with a further attribute. (transfer full) */
static PlaitStore *
make (const char *name, gboolean more)
{
  const char *path = plait_test_path (name);
  const double score = 12.5;
  g_autoptr (PlaitStore) store = plait_store_create (path, NULL);

  CHECK (plait_store_write (store, "/evaluation/test/score", PLAIT_STORE_DOUBLE, 0, NULL, &score, PLAIT_STORE_PLAIN,
                            NULL));
  CHECK (!more || plait_store_set_string (store, "/evaluation/test", "checkpoint", "best", NULL));
  CHECK (plait_store_commit (store, NULL));
  return plait_store_open (path, NULL);
}

static guint
count_different (PlaitStore *a, PlaitStore *b)
{
  g_autoptr (GArray) diffs = plait_run_diff_new (a, b, PLAIT_RUN_DIFF_ALL, 0, NULL);
  guint different = 0;

  CHECK (diffs);
  for (guint i = 0; diffs && i < diffs->len; i++)
    different += g_array_index (diffs, PlaitRunDiff, i).different;
  return different;
}

TEST_CASE (diff, counts_attributes_of_either_file)
{
  g_autoptr (PlaitStore) less = make ("less.h5", FALSE);
  g_autoptr (PlaitStore) more = make ("more.h5", TRUE);

  REQUIRE (less && more);
  CHECK_INT (count_different (more, more), 0);
  CHECK_INT (count_different (more, less), 1);
  CHECK_INT (count_different (less, more), 1);
}
