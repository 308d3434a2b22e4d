/* SPDX-License-Identifier: MIT */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "call.h"
#include "files.h"
#include "harness.h"
#include "sample-run.h"
#include "hdf5/store.h"

/* Tests of plait show. */

static void
write_run (void)
{
  plait_test_write_run ("run.h5", &(PlaitTestRun){ "serial", plait_test_wrong });
}

TEST_CASE (show_command, draws_the_tree)
{
  write_run ();
  PlaitTestCall call = QUIET (CALL ("show", "run.h5"));

  CHECK_CONTAINS (call.output, "  experiment  7 lines of text (path /@experiment shows them)\n");
  CHECK_CONTAINS (call.output, "  /\n"
                               "  ├─ environment  attribute: command\n"
                               "  ├─ checkpoint\n"
                               "  │  ├─ last\n"
                               "  │  │  └─ parameters  1 member\n"
                               "  │  └─ chosen  → /checkpoint/last\n"
                               "  ├─ training\n"
                               "  │  ├─ updates  table of 30 rows: step, negative_log_likelihood, "
                               "target_tokens_per_second\n");
  CHECK_CONTAINS (call.output, "  │     ├─ hypotheses  string [3]\n");
  CHECK_CONTAINS (call.output, "  ├─ attention\n"
                               "  │  └─ test\n"
                               "  │     └─ 0  heatmap: en\n"
                               "  └─ contents  table of 48 rows: path, values, attributes\n");
}

TEST_CASE (show_command, draws_a_heatmap_in_blocks)
{
  write_run ();
  PlaitTestCall call = DONE (CALL ("show", "run.h5", "/attention/test/0/en"));
  PlaitTestCall chosen = CALL ("show", "run.h5", "attention/test/0/en/", "--layer", "0", "--head", "1");
  PlaitTestCall group = CALL ("show", "run.h5", "/attention/test/0");

  CHECK_STRING (call.output, "        attention to en\n"
                             "        ▁\n"
                             "        <\n"
                             "        b\n"
                             "        >\n"
                             "        a\n"
                             "        <\n"
                             "        /\n"
                             "        b\n"
                             "        > 漢\n"
                             "   ▁ein ██  \n"
                             "   漢字 ▒▒▒▒\n"
                             "  e\u0301\ufffd[2J   ██\n"
                             "        0 ░▒▓█ 1\n"
                             "        layer 1, mean of 2 heads; target down, row across\n");
  CHECK_CONTAINS (chosen.output, "   ▁ein   ██\n"
                                 "   漢字   ██\n"
                                 "  e\u0301\ufffd[2J ▓▓░░\n");
  CHECK_CONTAINS (chosen.output, "layer 0, head 1; ");
  CHECK (g_str_has_prefix (group.output, "/attention/test/0/en\n"));
}

TEST_CASE (show_command, colours_a_heatmap_on_a_terminal)
{
  write_run ();
  PlaitTestCall call
      = DONE (plait_test_call_on_terminal (80, (const char *[]){ "show", "run.h5", "/attention/test/0/en", NULL }));

  CHECK_CONTAINS (call.output, "\033[48;5;229;38;5;16m100\033[0m");
  CHECK_CONTAINS (call.output, " 50\033[0m");
  CHECK (!strstr (call.output, "\033[2J")); /* control characters in tokens must not reach the terminal */
}

TEST_CASE (show_command, cuts_long_tables)
{
  write_run ();
  PlaitTestCall call = DONE (CALL ("show", "run.h5", "training/updates"));
  PlaitTestCall whole = CALL ("show", "run.h5", "training/updates", "--all");

  CHECK_CONTAINS (call.output, "  step  negative_log_likelihood  target_tokens_per_second\n"
                               "   100                        8                      1000\n");
  CHECK_CONTAINS (call.output, "  1000                      0.8                      1009\n  … 10 more rows; --all "
                               "shows them\n  2100                  0.38095                      1020\n");
  CHECK_CONTAINS (whole.output, "  1100                  0.72727                      1010\n");
}

TEST_CASE (show_command, puts_columns_below_each_other_on_a_narrow_terminal)
{
  write_run ();
  PlaitTestCall call
      = DONE (plait_test_call_on_terminal (36, (const char *[]){ "show", "run.h5", "training/validation", NULL }));

  CHECK_CONTAINS (call.output, "negative_log_likelihood\033[0m\r\n");
  CHECK_CONTAINS (call.output, "   100                        8\r\n");
  CHECK_CONTAINS (call.output, "   100       0\r\n"); /* the column of steps is repeated in each part of the table */
}

TEST_CASE (show_command, shows_texts_numbers_attributes)
{
  write_run ();
  PlaitTestCall strings = CALL ("show", "run.h5", "/evaluation/test/hypotheses");
  PlaitTestCall numbers = CALL ("show", "run.h5", "/checkpoint/chosen/parameters/decoder/weight");
  PlaitTestCall attribute = CALL ("show", "run.h5", "/@experiment");
  PlaitTestCall title = CALL ("show", "run.h5", "/attention/test/0/en@title");

  CHECK_CONTAINS (strings.output, "  0  a man rides bikes yesterday\n  1  two dogs run under green grass\n");
  CHECK_CONTAINS (numbers.output, "     0  1  2\n"
                                  "  0  1  2  3\n"
                                  "  1  4  5  6\n"
                                  "  smallest 1, mean 3.5, largest 6\n");
  CHECK (g_str_has_prefix (attribute.output, "[experiment]\nname=sample\n"));
  CHECK_STRING (title.output, "attention to en\n");
}

TEST_CASE (show_command, json)
{
  write_run ();
  PlaitTestCall tree = DONE (CALL ("show", "run.h5", "--json"));
  PlaitTestCall table = CALL ("show", "run.h5", "training/validation", "--json");
  PlaitTestCall map = CALL ("show", "run.h5", "attention/test/0/en", "--json");
  PlaitTestCall number = CALL ("show", "run.h5", "/@seed", "--json");
  PlaitTestCall text = CALL ("show", "run.h5", "/@experiment", "--json");

  CHECK_STRING (number.output, "{\n  \"file\": \"run.h5\",\n  \"path\": \"/\",\n  \"attribute\": \"seed\",\n"
                               "  \"value\": 1\n}\n");
  CHECK_CONTAINS (text.output, "\"value\": \"[experiment]\\u000aname=sample\\u000a");
  CHECK_CONTAINS (tree.output, "\"seed\": 1");
  CHECK_CONTAINS (tree.output, "\"kind\": \"link\"");
  CHECK_CONTAINS (tree.output, "\"target\": \"/checkpoint/last\"");
  CHECK_CONTAINS (table.output, "\"rows\": 3,\n  \"columns\": {\n    \"step\": [\n      100,\n      200,\n      300\n");
  CHECK_CONTAINS (map.output, "\"choice\": \"layer 1, mean of 2 heads\"");
  CHECK_CONTAINS (map.output, "\"row\": [\n    \"▁<b>a</b>\",\n    \"漢\"\n  ]");
  CHECK_CONTAINS (map.output, "    [\n      0.5,\n      0.5\n    ],\n");
}

TEST_CASE (show_command, follows_links_into_other_files)
{
  write_run ();
  CHECK_INT (g_mkdir (plait_test_path ("cells"), 0777), 0);
  const char *from = plait_test_path ("run.h5"), *to = plait_test_path ("cells/one.h5");
  CHECK_INT (g_rename (from, to), 0);
  g_autoptr (PlaitStore) store = plait_store_create (plait_test_path ("grid.h5"), NO_ERROR);
  REQUIRE (store != NULL);
  CHECK (plait_store_link_external (store, "/runs/one", "cells/one.h5", "/", NO_ERROR));
  CHECK (plait_store_link_external (store, "/runs/gone", "cells/gone.h5", "/", NO_ERROR));
  CHECK (plait_store_link_external (store, "/runs/self", "grid.h5", "/runs/self", NO_ERROR));
  CHECK (plait_store_link (store, "/round", "/round", NO_ERROR));
  CHECK (plait_store_commit (store, NO_ERROR));

  PlaitTestCall tree = CALL ("show", "grid.h5");
  PlaitTestCall inside = CALL ("show", "grid.h5", "/runs/one/evaluation/test/references");
  CHECK_REFUSED (CALL ("show", "grid.h5", "/runs/gone"),
                 "grid.h5: /runs/gone leads to another file: cells/gone.h5: cannot be opened");
  CHECK_REFUSED (CALL ("show", "grid.h5", "/runs/self"), "links follow one another from /runs/self");
  CHECK_REFUSED (CALL ("show", "grid.h5", "/round/and/round"), "links follow one another from /round/and/round");
  CHECK_CONTAINS (tree.output, "one  → cells/one.h5 /\n");
  CHECK_CONTAINS (inside.output, "a man rides a bike today");
}

TEST_CASE (show_command, refuses)
{
  write_run ();
  plait_test_write ("text", "no HDF5\n");
  plait_test_write ("foreign.h5", "\211HDF\r\n\032\n and so on");
  CHECK_REFUSED (CALL ("show"), "an argument is missing");
  CHECK_REFUSED (CALL ("show", "nowhere.h5"), "nowhere.h5: cannot be opened");
  CHECK_REFUSED (CALL ("show", "text"), "text: does not begin with \"plait-store\"");
  CHECK_REFUSED (CALL ("show", "foreign.h5"),
                 "foreign.h5: does not begin with \"plait-store\", so plait did not write it");
  CHECK_REFUSED (CALL ("show", "run.h5", "/trainnig"),
                 "there is no /trainnig; / has no member 'trainnig'; did you mean \"training\"?");
  CHECK_REFUSED (CALL ("show", "run.h5", "/../etc"), "is not a valid path");
  CHECK_REFUSED (CALL ("show", "run.h5", "/@nothing"), "nothing");
  CHECK_REFUSED (CALL ("show", "run.h5", "attention/test/0/en", "--layer", "2"),
                 "has no layer 2; expected 0 to 1, or mean");
  CHECK_REFUSED (CALL ("show", "run.h5", "attention/test/0/en", "--head", "-1"), "--head cannot be \"-1\"");
  CHECK_REFUSED (CALL ("show", "run.h5", "a", "b"), "1 argument too many");
}

TEST_CASE (show_command, notices_damage)
{
  const char *path = plait_test_path ("run.h5");
  char *bytes;
  gsize size;

  write_run ();
  REQUIRE (g_file_get_contents (path, &bytes, &size, NULL));
  bytes[size / 2] ^= 1;
  plait_test_write_bytes (path, bytes, size);
  CHECK_REFUSED (CALL ("show", "run.h5"), "run.h5: is damaged within bytes ");
  plait_test_write_bytes (path, bytes, size / 2);
  PlaitTestCall cut = CALL ("show", "run.h5");
  CHECK_REFUSED (cut, "so the file was cut short or extended");
  g_free (bytes);
}

/* A file whose digests are right but whose contents contradict each other. */
TEST_CASE (show_command, survives_contradictions)
{
  static const char *const columns[] = { "there", "not there" }, *const axes[] = { "a/b" }, *const one[] = { "x" };
  static const gint64 numbers[] = { 1, 2 }, two = 2, none = 0, square[] = { 2, 0 };
  static const double undefined[] = { NAN, INFINITY };
  g_autoptr (PlaitStore) store = plait_store_create (plait_test_path ("odd.h5"), NO_ERROR);

  REQUIRE (store != NULL);
  CHECK (plait_store_write (store, "/table/there", PLAIT_STORE_INT64, 1, &two, numbers, PLAIT_STORE_PLAIN, NO_ERROR));
  CHECK (plait_store_set_list (store, "/table", "columns", PLAIT_STORE_STRING, 2, columns, NO_ERROR));
  CHECK (plait_store_make_group (store, "/empty table", NO_ERROR));
  CHECK (plait_store_set_list (store, "/empty table", "columns", PLAIT_STORE_STRING, 0, NULL, NO_ERROR));
  CHECK (
      plait_store_write (store, "/map/weights", PLAIT_STORE_DOUBLE, 2, square, undefined, PLAIT_STORE_PLAIN, NO_ERROR));
  CHECK (plait_store_set_string (store, "/map", "signal", "weights", NO_ERROR));
  CHECK (plait_store_set_list (store, "/map", "axes", PLAIT_STORE_STRING, 1, axes, NO_ERROR));
  CHECK (plait_store_make_group (store, "/self", NO_ERROR));
  CHECK (plait_store_set_string (store, "/self", "signal", "../map/weights", NO_ERROR));
  CHECK (plait_store_set_string (store, "/self", "axes", "row", NO_ERROR));
  CHECK (plait_store_write (store, "/strings/bytes", PLAIT_STORE_UINT8, 1, &two, numbers, PLAIT_STORE_PLAIN, NO_ERROR));
  CHECK (
      plait_store_write (store, "/strings/offsets", PLAIT_STORE_INT64, 1, &two, numbers, PLAIT_STORE_PLAIN, NO_ERROR));
  CHECK (plait_store_write (store, "/undefined", PLAIT_STORE_DOUBLE, 1, &two, undefined, PLAIT_STORE_PLAIN, NO_ERROR));
  CHECK (plait_store_write (store, "/nothing", PLAIT_STORE_DOUBLE, 1, &none, undefined, PLAIT_STORE_PLAIN, NO_ERROR));
  CHECK (plait_store_write_strings (store, "/a\033[31mb", one, 1, NO_ERROR));
  CHECK (plait_store_commit (store, NO_ERROR));

  PlaitTestCall tree = DONE (CALL ("show", "odd.h5", "--all"));
  PlaitTestCall table = CALL ("show", "odd.h5", "table");
  PlaitTestCall map = CALL ("show", "odd.h5", "map");
  PlaitTestCall strings = CALL ("show", "odd.h5", "strings");
  PlaitTestCall undefined_numbers = CALL ("show", "odd.h5", "undefined");
  DONE (CALL ("show", "odd.h5", "nothing"));
  DONE (CALL ("show", "odd.h5", "--json"));
  CHECK_CONTAINS (tree.output, "a\ufffd[31mb");
  CHECK_INT (table.code, 0); /* /table is not a valid table, so it is shown as a group */
  CHECK_INT (map.code, 2);
  CHECK_CONTAINS (map.errors, "/map cannot be drawn");
  CHECK_INT (strings.code, 2);
  CHECK_CONTAINS (undefined_numbers.output, "  2 of 2 values are not finite\n");
}
