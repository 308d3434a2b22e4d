/* SPDX-License-Identifier: MIT */
#include <hdf5.h>
#include <string.h>

#include "call.h"
#include "files.h"
#include "harness.h"
#include "sample-run.h"

/* Tests of plait verify. */

static void
flip (const char *name, double where)
{
  const char *path = plait_test_path (name);
  g_autofree char *bytes = NULL;
  gsize size = 0;

  REQUIRE (g_file_get_contents (path, &bytes, &size, NULL));
  bytes[(gsize)((double)size * where)] ^= 1;
  plait_test_write_bytes (path, bytes, size);
}

TEST_CASE (verify_command, tells_whole_files_from_others)
{
  plait_test_write_run ("one.h5", &(PlaitTestRun){ "serial", plait_test_wrong });
  plait_test_write_run ("two.h5", &(PlaitTestRun){ "serial", plait_test_wrong });
  plait_test_write ("text", "nothing of ours\n");
  PlaitTestCall whole = QUIET (CALL ("verify", "one.h5", "two.h5"));
  CHECK_STRING (whole.output, "one.h5: whole\ntwo.h5: whole\n");

  flip ("two.h5", .6);
  PlaitTestCall mixed = CALL ("verify", "two.h5", "one.h5", "text", "nowhere");
  g_auto (GStrv) lines = g_strsplit (mixed.output, "\n", -1);
  CHECK_INT (mixed.code, 1);
  REQUIRE (g_strv_length (lines) == 5);
  CHECK_CONTAINS (lines[0], "two.h5: is damaged within bytes ");
  CHECK_STRING (lines[1], "one.h5: whole");
  CHECK_CONTAINS (lines[2], "text: does not begin with \"plait-store\"");
  CHECK_CONTAINS (lines[3], "nowhere: cannot be opened");
  CHECK_STRING (mixed.errors, "error: 3 of 4 files failed the check: two.h5, text, nowhere\n");

  PlaitTestCall json = CALL ("verify", "two.h5", "one.h5", "--json");
  CHECK_INT (json.code, 1);
  CHECK_CONTAINS (json.output, "\"path\": \"two.h5\"");
  CHECK_CONTAINS (json.output, "\"problem\": \"two.h5: is damaged within bytes ");
  CHECK_CONTAINS (json.output, "\"whole\": true");
  CHECK_CONTAINS (json.output, "\"problem\": null");
}

/* Rewrites the file @name as h5py does: sets the first weight of the decoder to 9 and adds a group. */
static void
rewrite (const char *name)
{
  const hsize_t first[2] = { 0, 0 };
  float nine = 9;
  hid_t file = H5Fopen (plait_test_path (name), H5F_ACC_RDWR, H5P_DEFAULT);
  hid_t data = H5Dopen2 (file, "/checkpoint/last/parameters/decoder/weight", H5P_DEFAULT);
  hid_t all = H5Dget_space (data), space = H5Screate (H5S_SCALAR);

  REQUIRE (H5Sselect_elements (all, H5S_SELECT_SET, 1, first) >= 0);
  CHECK (H5Dwrite (data, H5T_NATIVE_FLOAT, space, all, H5P_DEFAULT, &nine) >= 0);
  H5Sclose (space);
  H5Sclose (all);
  H5Dclose (data);
  H5Gclose (H5Gcreate2 (file, "/mine", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Fclose (file);
}

TEST_CASE (verify_command, lists_what_another_program_changed)
{
  static const char *const weight = "/checkpoint/last/parameters/decoder/weight";

  plait_test_write_run ("run.h5", &(PlaitTestRun){ "serial", plait_test_wrong });
  rewrite ("run.h5");
  PlaitTestCall verified = CALL ("verify", "run.h5");
  CHECK_INT (verified.code, 1);
  CHECK_STRING (verified.output, "run.h5: another program has rewritten it; changed: "
                                 "/checkpoint/last/parameters/decoder/weight; added: /mine\n");
  /* A command that reads the changed file logs a warning and continues. */
  PlaitTestCall shown = DONE (CALL ("show", "run.h5", weight));
  CHECK_CONTAINS (shown.errors, "warning: run.h5: another program has rewritten it; changed: ");
  PlaitTestCall compared = DONE (CALL ("compare", "run.h5"));
  CHECK_CONTAINS (compared.errors, weight);
  PlaitTestCall reported = DONE (CALL ("report", "run.h5", "-o", "report.html"));
  CHECK_CONTAINS (reported.errors, weight);
}

TEST_CASE (verify_command, wants_files)
{
  CHECK_REFUSED (CALL ("verify"), "argument");
}
