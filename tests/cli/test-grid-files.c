/* SPDX-License-Identifier: MIT */
#include <glib/gstdio.h>
#include <string.h>

#include "call.h"
#include "harness.h"

/* Grids over files, as a user sees them. */

static const char experiment[] = "[data]\n"
                                 "folder=one\n"
                                 "train.a=a\n"
                                 "train.b=b\n"
                                 "train.c=c\n"
                                 "validation.a=a\n"
                                 "validation.b=b\n"
                                 "validation.c=c\n"
                                 "test.a=a\n"
                                 "test.b=b\n"
                                 "test.c=c\n"
                                 "target=c\n"
                                 "vocabulary_type=words\n"
                                 "vocabulary_size=0\n"
                                 "[source a]\n"
                                 "encoder=transformer\n"
                                 "layers=1\n"
                                 "feed_forward=8\n"
                                 "[source b]\n"
                                 "encoder=transformer\n"
                                 "layers=1\n"
                                 "feed_forward=8\n"
                                 "[decoder]\n"
                                 "layers=1\n"
                                 "width=8\n"
                                 "heads=2\n"
                                 "feed_forward=8\n"
                                 "[train]\n"
                                 "epochs=1\n"
                                 "batch=12\n"
                                 "warm_up=4\n"
                                 "[decode]\n"
                                 "beam=1\n"
                                 "maximum_length=8\n"
                                 "[evaluate]\n"
                                 "resamples=5\n"
                                 "attention=1\n"
                                 "[grid]\n";

/* Writes the text of all streams below @folder, with @b for stream b, and tiny.ini with @axes. */
static void
write_grid (const char *axes, const char *folder, const char *b)
{
  g_autofree char *path = plait_test_path (folder);
  g_autofree char *text = g_strconcat (experiment, axes, NULL);
  const char *const texts[][2] = { { "a", "u v w\nv w\nw u\n" }, { "b", b }, { "c", "x y\ny x\nx x\n" } };

  g_assert_cmpint (g_mkdir_with_parents (path, 0755), ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autofree char *file = g_strdup_printf ("%s/%s", folder, texts[i][0]);

      plait_test_write (file, texts[i][1]);
    }
  plait_test_write ("tiny.ini", text);
}

/* The content of the file @name of the test's folder. (transfer full) */
static char *
read_file (const char *name)
{
  g_autofree char *path = plait_test_path (name);
  char *text = NULL;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  return text;
}

TEST_CASE (command_grid, says_everywhere_which_cells_are_left_out)
{
  static const char told[] = "1 cell is left out, as settings and the content of files make it the same as a cell "
                             "before: data.folder=two is data.folder=one";

  write_grid ("data.folder=one;two\n", "one", "r s\ns r\nr r\n");
  write_grid ("data.folder=one;two\n", "two", "r s\ns r\nr r\n");
  g_auto (PlaitTestCall) check = CALL ("check", "tiny.ini");
  CHECK_STRING (check.errors, "");
  CHECK_CONTAINS (check.output, "tiny.ini: no mistake was found in 1 cell\n");
  CHECK_CONTAINS (check.output, told);
  g_auto (PlaitTestCall) plan = CALL ("grid", "tiny.ini", "--dry-run");
  CHECK_CONTAINS (plan.output, "Left out, the same as a cell before\n  data.folder=two: is data.folder=one\n");
  g_auto (PlaitTestCall) run = CALL ("grid", "tiny.ini");
  CHECK_INT (run.code, 0);
  CHECK_CONTAINS (run.errors, told);
  CHECK_CONTAINS (run.output, "data.folder=two is data.folder=one\n");
  g_autofree char *table = read_file ("tiny/table.md");
  CHECK_CONTAINS (table, told);
  g_auto (PlaitTestCall) report = CALL ("report", "tiny/grid.h5", "--output", "tiny.html");
  CHECK_INT (report.code, 0);
  g_autofree char *page = read_file ("tiny.html");
  CHECK_CONTAINS (page, told);
  /* The table that another command makes of the folder says it too. */
  g_auto (PlaitTestCall) tested = CALL ("test", "tiny/grid.h5", "--set", "decode.beam=2", "--as", "wide");
  CHECK_INT (tested.code, 0);
  g_autofree char *again = read_file ("tiny/table.md");
  CHECK_CONTAINS (again, told);
}

TEST_CASE (command_grid, runs_cells_that_differ_in_a_file_alone)
{
  write_grid ("data.folder=one;two\n", "one", "r s\ns r\nr r\n");
  write_grid ("data.folder=one;two\n", "two", "r s\ns r\ns s\n");
  g_auto (PlaitTestCall) plan = CALL ("grid", "tiny.ini", "--dry-run");
  g_auto (PlaitTestCall) run = CALL ("grid", "tiny.ini", "--jobs", "2");
  g_auto (PlaitTestCall) seeds = CALL ("grid", "tiny.ini", "--dry-run", "--set", "grid.experiment.seed=1;2");
  g_autofree char *page = read_file ("tiny/table.md");

  CHECK_INT (run.code, 0);
  CHECK (!strstr (run.errors, "left out"));
  CHECK_CONTAINS (run.errors, "2 cells are finished");
  /* One seed a cell: p speaks of sentences alone. */
  CHECK_CONTAINS (page, "| p (one seed) | p (Holm, one seed) |");
  CHECK_CONTAINS (page, "experiment.seed=1;2;3");
  CHECK_CONTAINS (run.errors, "experiment.seed=1;2;3");
  CHECK_CONTAINS (plan.output, "experiment.seed=1;2;3");
  CHECK (!strstr (seeds.output, "experiment.seed=1;2;3"));
}
