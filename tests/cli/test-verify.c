/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "call.h"
#include "harness.h"
#include "sample-run.h"

/* plait verify. */

static void
flip (const char *name, double where)
{
  g_autofree char *path = plait_test_path (name);
  g_autofree char *bytes = NULL;
  gsize size = 0;

  REQUIRE (g_file_get_contents (path, &bytes, &size, NULL));
  bytes[(gsize)((double)size * where)] ^= 1;
  REQUIRE (g_file_set_contents (path, bytes, (gssize)size, NULL));
}

TEST_CASE (verify_command, tells_whole_files_from_others)
{
  plait_test_write_run ("one.h5", &(PlaitTestRun){ "serial", plait_test_wrong });
  plait_test_write_run ("two.h5", &(PlaitTestRun){ "serial", plait_test_wrong });
  plait_test_write ("text", "nothing of ours\n");
  g_auto (PlaitTestCall) whole = CALL ("verify", "one.h5", "two.h5");
  CHECK_INT (whole.code, 0);
  CHECK_STRING (whole.output, "one.h5: whole\ntwo.h5: whole\n");
  CHECK_STRING (whole.errors, "");

  flip ("two.h5", .6);
  g_auto (PlaitTestCall) mixed = CALL ("verify", "two.h5", "one.h5", "text", "nowhere");
  g_auto (GStrv) lines = g_strsplit (mixed.output, "\n", -1);
  CHECK_INT (mixed.code, 1);
  REQUIRE (g_strv_length (lines) == 5);
  CHECK_CONTAINS (lines[0], "two.h5: is damaged within bytes ");
  CHECK_STRING (lines[1], "one.h5: whole");
  CHECK_CONTAINS (lines[2], "text: does not begin with \"plait-store\"");
  CHECK_CONTAINS (lines[3], "nowhere: cannot open it");
  CHECK_STRING (mixed.errors, "error: 3 of 4 files are not whole: two.h5, text, nowhere\n");
}

TEST_CASE (verify_command, wants_files)
{
  g_auto (PlaitTestCall) call = CALL ("verify");

  plait_test_check_refused (&call, "argument");
}
