/* SPDX-License-Identifier: MIT */
#include <glib/gstdio.h>
#include <string.h>

#include "call.h"
#include "files.h"
#include "harness.h"
#include "hdf5/store.h"

/* Tests of plait reproduce and plait verify --resume. */

static const char text[] = "[data]\n"
                           "folder=text\n"
                           "target=b\n"
                           "vocabulary_type=words\n"
                           "train.a=train.a\n"
                           "train.b=train.b\n"
                           "test.a=test.a\n"
                           "test.b=test.b\n"
                           "[source a]\n"
                           "encoder=transformer\n"
                           "layers=1\n"
                           "heads=2\n"
                           "feed_forward=8\n"
                           "[decoder]\n"
                           "layers=1\n"
                           "width=8\n"
                           "heads=2\n"
                           "feed_forward=8\n"
                           "[train]\n"
                           "batch=2\n"
                           "updates=12\n"
                           "epochs=0\n"
                           "warm_up=4\n"
                           "log_every=3\n"
                           "checkpoint_every=4\n"
                           "[decode]\n"
                           "beam=2\n"
                           "maximum_length=6\n"
                           "[evaluate]\n"
                           "resamples=10\n";

static void
write_corpus (void)
{
  plait_test_make_folder ("text");
  plait_test_write ("text/train.a", "x y z\ny z\nz x\nx\ny x z\nz z\nx y\ny\n");
  plait_test_write ("text/train.b", "u v w\nv w\nw u\nu\nv u w\nw w\nu v\nv\n");
  plait_test_write ("text/test.a", "x y\nz\n");
  plait_test_write ("text/test.b", "u v\nw\n");
  plait_test_write ("made.ini", text);
}

static void
make_run (const char *name)
{
  write_corpus ();
  QUIET (CALL ("run", "made.ini", "--output", name, "--quiet", "--threads", "1"));
}

TEST_CASE (reproduce_command, makes_the_same_bits)
{
  make_run ("whole.h5");
  /* A later evaluation with a name of its own is not part of what is reproduced. */
  DONE (CALL ("test", "whole.h5", "--set", "decode.beam=1", "--as", "greedy", "--quiet"));
  PlaitTestCall all = DONE (CALL ("reproduce", "whole.h5", "--threads", "2", "--output", "again.h5"));
  CHECK (!strstr (all.errors, "warning"));
  PlaitTestCall part = DONE (CALL ("reproduce", "whole.h5", "--updates", "6", "--json"));
  CHECK_REFUSED (CALL ("reproduce", "whole.h5", "--output", "again.h5"), "again.h5 exists");

  CHECK_CONTAINS (all.errors, "whole.h5 is reproduced, bit for bit");
  CHECK_CONTAINS (all.output, "training log");
  CHECK_CONTAINS (all.output, "parameters and optimizer");
  CHECK_CONTAINS (all.output, "hypotheses");
  CHECK_CONTAINS (all.output, "scores");
  CHECK_CONTAINS (part.output, "\"name\": \"training log\"");
  CHECK_CONTAINS (part.output, "\"different\": 0");
  CHECK (strstr (part.output, "\"largest_difference\": 0") != NULL);
}

/* Another version of plait may compute other fingerprints; that alone does not count as a difference. */
TEST_CASE (reproduce_command, takes_no_key_for_a_difference)
{
  make_run ("older.h5");
  {
    const char *path = plait_test_path ("older.h5");
    g_autoptr (PlaitStore) from = plait_store_open (path, NULL);
    g_autoptr (PlaitStore) to = plait_store_create (path, NULL);

    CHECK (from && to && plait_store_copy (to, from, "/", NULL)
           && plait_store_set_string (to, "/", "key", "another", NULL)
           && plait_store_set_string (to, "/", "training_key", "another", NULL)
           && plait_store_set_string (to, "/evaluation/test", "key", "another", NULL) && plait_store_commit (to, NULL));
  }
  PlaitTestCall call = DONE (CALL ("reproduce", "older.h5", "--threads", "1"));

  CHECK_CONTAINS (call.errors, "older.h5 is reproduced, bit for bit");
}

/* If the text has changed, the run differs. A warning and the error name the changed file; the table names the first
 * value that differs. */
TEST_CASE (reproduce_command, says_what_differs_and_why)
{
  make_run ("changed.h5");
  plait_test_write ("text/train.b", "u v w\nv w\nw u\nu\nv u w\nw w\nu v\nw\n");
  PlaitTestCall call = CALL ("reproduce", "changed.h5", "--updates", "6");

  CHECK_INT (call.code, 1);
  CHECK_CONTAINS (call.errors, "warning: changed.h5: files or plugins have possibly changed since this run was made: ");
  CHECK_CONTAINS (call.errors, "data.train.b");
  CHECK_CONTAINS (call.errors, "error: changed.h5 is not reproduced: ");
  CHECK_CONTAINS (call.errors, " values differ; the file of data.train.b has changed\n");
  CHECK_CONTAINS (call.output, "/training/updates/");
  PlaitTestCall json = CALL ("reproduce", "changed.h5", "--updates", "6", "--quiet", "--json");
  CHECK_INT (json.code, 1);
  CHECK_CONTAINS (json.output, "\"otherwise\": \"the file of data.train.b has changed\"");
  CHECK_CONTAINS (json.output, "\"first\": \"/training/updates/loss\"");
}

/* A run that was trained further equals one long training. If log_every was changed meanwhile, its log has other rows,
 * and the command names this reason. */
TEST_CASE (reproduce_command, reproduces_what_was_trained_further)
{
  write_corpus ();
  PlaitTestCall begun = CALL ("run", "made.ini", "-o", "longer.h5", "-q", "--set", "train.updates=4", "--set",
                              "train.schedule=constant");
  PlaitTestCall run = CALL ("run", "made.ini", "-o", "longer.h5", "-q", "--resume", "--set", "train.schedule=constant");
  DONE (CALL ("reproduce", "longer.h5", "--quiet"));
  PlaitTestCall often = CALL ("run", "made.ini", "-o", "often.h5", "-q", "--set", "train.updates=4", "--set",
                              "train.schedule=constant", "--set", "train.log_every=2");
  PlaitTestCall seldom
      = CALL ("run", "made.ini", "-o", "often.h5", "-q", "--resume", "--set", "train.schedule=constant");
  PlaitTestCall call = CALL ("reproduce", "often.h5", "--quiet");

  CHECK_INT (begun.code + run.code + often.code + seldom.code, 0);
  CHECK_INT (call.code, 1);
  CHECK_CONTAINS (call.errors,
                  "either its training stopped at update 2 and was resumed, or train.log_every was different");
  CHECK (!strstr (call.errors, "another processor"));
}

TEST_CASE (reproduce_command, says_how_to_name_files_that_have_moved)
{
  make_run ("moved.h5");
  const char *here = plait_test_path ("text"), *elsewhere = plait_test_path ("elsewhere");
  CHECK_INT (g_rename (here, elsewhere), 0);
  PlaitTestCall call = CALL ("reproduce", "moved.h5", "--updates", "6");
  DONE (CALL ("reproduce", "moved.h5", "--updates", "6", "--set", "data.folder=elsewhere"));

  CHECK_REFUSED (call, "/text/train.a: the file does not exist any more, but moved.h5 was made from it");
  CHECK_CONTAINS (call.errors, "--set data.folder=FOLDER, or for each file --set data.train.a=FILE");
}

TEST_CASE (reproduce_command, refuses)
{
  make_run ("refusing.h5");
  CHECK_REFUSED (CALL ("reproduce", "made.ini"), "made.ini");
  CHECK_REFUSED (CALL ("reproduce", "refusing.h5", "--updates", "13"),
                 "is more than the 12 updates that refusing.h5 has made");
  CHECK_REFUSED (CALL ("reproduce", "refusing.h5", "--updates", "2"), "begins with update 3");
  CHECK_REFUSED (CALL ("reproduce", "refusing.h5", "--updates", "0"), "--updates");
  CHECK_REFUSED (CALL ("reproduce", "refusing.h5", "--set", "train.batch=3"),
                 "--set would change the results of refusing.h5 (train.batch was 2, is 3)");
  CHECK_REFUSED (CALL ("reproduce", "refusing.h5", "--set", "data.folder=nowhere"), "nowhere");
}

TEST_CASE (verify_command, resumes_to_the_same_bits)
{
  make_run ("resumed.h5");
  PlaitTestCall whole = DONE (CALL ("verify", "--resume", "resumed.h5", "--quiet"));
  PlaitTestCall json = CALL ("verify", "--resume", "resumed.h5", "--quiet", "--json");
  CHECK_REFUSED (CALL ("verify", "resumed.h5", "--updates", "4"), "--updates needs --resume");

  CHECK_CONTAINS (whole.output, "parameters and optimizer");
  CHECK_CONTAINS (whole.output, "resumed.h5: whole, and gives the same bits when resumed\n");
  CHECK (g_str_has_prefix (json.output, "{\n  \"files\": [\n    {\n      \"path\": \"resumed.h5\",\n"
                                        "      \"compared\": [\n        {\n          \"name\": \"training log\",\n"));
  CHECK_CONTAINS (json.output, "\"whole\": true,\n      \"problem\": null\n");
}
