/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "call.h"
#include "experiments.h"
#include "files.h"
#include "harness.h"
#include "hdf5/store.h"
#include "grids.h"

/* Tests of plait grid as a user calls it. */

static gboolean
has_file (const char *name)
{
  return g_file_test (plait_test_path (name), G_FILE_TEST_IS_REGULAR);
}

static gboolean
has_folder (const char *name)
{
  return plait_test_exists (name);
}

TEST_CASE (command_grid, plans_runs_and_knows_what_is_finished)
{
  plait_test_write_grid (
      "decoder.combiner=serial;flat\nexperiment.seed=1;2\nexclude=decoder.combiner=flat & experiment.seed=2\n");
  PlaitTestCall plan = DONE (CALL ("grid", "tiny.ini", "--dry-run"));
  CHECK_CONTAINS (plan.output, "run  decoder.combiner=flat experiment.seed=1");
  CHECK_CONTAINS (plan.output, "1  decoder.combiner=flat & experiment.seed=2");
  CHECK_CONTAINS (plan.output, "3 cells in tiny: 3 to run, 0 to run again");
  CHECK_CONTAINS (plan.output, " MiB: measured\n");
  CHECK_CONTAINS (plan.output, "as decoder.combiner=serial experiment.seed=1 was measured");
  CHECK_CONTAINS (plan.output, "2 whose speed was measured now with ");
  CHECK_CONTAINS (plan.errors, "measuring the speed of decoder.combiner=serial experiment.seed=1\n");
  CHECK (!has_folder ("tiny"));
  CHECK (!has_file ("tiny/grid.h5"));

  PlaitTestCall first = QUIET (CALL ("grid", "tiny.ini", "--jobs", "2", "--quiet"));
  CHECK_CONTAINS (first.output, "combiner  n");
  CHECK (!strchr (first.output, '\033'));
  CHECK (has_file ("tiny/grid.h5") && has_file ("tiny/table.csv") && has_file ("tiny/table.md")
         && has_file ("tiny/table.tex"));

  g_autoptr (PlaitStore) store = plait_store_open (plait_test_path ("tiny/grid.h5"), NULL);
  gint64 larger[2] = { -1, -1 };
  REQUIRE (store != NULL);
  CHECK (plait_store_get_int (store, "/summary/test BLEU", "larger_is_better", &larger[0], NULL));
  CHECK (plait_store_get_int (store, "/summary/test perplexity per token", "larger_is_better", &larger[1], NULL));
  CHECK_INT (larger[0], 1);
  CHECK_INT (larger[1], 0);

  PlaitTestCall second = DONE (CALL ("grid", "tiny.ini"));
  CHECK_STRING (second.output, first.output);
  CHECK (!strstr (second.errors, "begins"));

  PlaitTestCall json = QUIET (CALL ("grid", "tiny.ini", "--quiet", "--json"));
  PlaitTestCall planned = QUIET (CALL ("grid", "tiny.ini", "--dry-run", "--json"));
  CHECK_CONTAINS (json.output, "\"finished\": 3,");
  CHECK_CONTAINS (json.output, "\"rows\": 2,");
  CHECK_CONTAINS (json.output, "\"decoder.combiner\": [\n      \"serial\",");
  CHECK_CONTAINS (planned.output, "\"finished\": 3,\n  \"seconds\": 0,\n");
  CHECK_CONTAINS (planned.output, "\"label\": \"decoder.combiner=flat experiment.seed=1\",");
  CHECK_CONTAINS (planned.output, "\"state\": \"finished\",");
  CHECK_CONTAINS (planned.output, "\"rule\": \"decoder.combiner=flat & experiment.seed=2\",\n      \"cells\": 1\n");

  PlaitTestCall changed = CALL ("grid", "tiny.ini", "--dry-run", "--set", "train.batch=6");
  CHECK_CONTAINS (changed.output, "run again");
  CHECK_CONTAINS (changed.output, "train.batch was 12, is 6");
  PlaitTestCall fresh = CALL ("grid", "tiny.ini", "--dry-run", "--fresh");
  CHECK_CONTAINS (fresh.output, "--fresh runs it again");
}

/* plait test on a grid evaluates the file of each cell and writes the tables again. */
TEST_CASE (command_test, puts_another_search_of_all_cells_into_the_table)
{
  plait_test_write_grid ("decoder.combiner=serial;flat\n");
  DONE (CALL ("grid", "tiny.ini", "--quiet"));
  PlaitTestCall greedy
      = DONE (CALL ("test", "tiny/grid.h5", "--set", "decode.maximum_length=2", "--as", "short", "--quiet"));
  CHECK_CONTAINS (greedy.output, "test.short chrF2");
  const char *table = plait_test_read_text ("tiny/table.csv");
  CHECK_CONTAINS (table, "test.short chrF2");
  PlaitTestCall again = CALL ("test", "tiny/grid.h5", "--set", "decode.maximum_length=2", "--as", "short");
  CHECK_CONTAINS (again.errors, "decoder.combiner=flat: nothing to do");
  PlaitTestCall json = CALL ("test", "tiny/grid.h5", "--set", "decode.maximum_length=2", "--as", "short", "--json");
  CHECK_CONTAINS (json.output, "\"cells\": 2,\n  \"finished\": 2,\n  \"rows\": 2,\n");

  /* plait grid still finds its cells finished, and keeps the new column. */
  PlaitTestCall plan = CALL ("grid", "tiny.ini", "--dry-run");
  CHECK_CONTAINS (plan.output, "2 finished");
  PlaitTestCall grid = CALL ("grid", "tiny.ini", "--quiet");
  CHECK_STRING (grid.output, greedy.output);

  g_autoptr (GDir) folder = g_dir_open (plait_test_path ("tiny"), 0, NULL);
  const char *file = NULL;
  g_autofree char *cell = NULL;
  while ((file = g_dir_read_name (folder)) != NULL)
    if (g_str_has_prefix (file, "combiner-flat") && g_str_has_suffix (file, ".h5"))
      cell = g_build_filename ("tiny", file, NULL);
  REQUIRE (cell);
  /* Evaluations with one name share a column if their different settings change no score. Others are reported. */
  DONE (CALL ("test", cell, "--set", "decode.maximum_length=2", "--set", "evaluate.length_bins=2;4", "--as", "short",
              "--json"));
  PlaitTestCall together = CALL ("grid", "tiny.ini");
  CHECK (!strstr (together.errors, "the evaluation test.short was made with"));
  PlaitTestCall other = DONE (CALL ("test", cell, "--set", "decode.maximum_length=3", "--as", "short", "--json"));
  CHECK_CONTAINS (other.output, "\"split\": \"test.short\"");
  PlaitTestCall mixed = CALL ("grid", "tiny.ini");
  const char *warning = strstr (mixed.errors, "the evaluation test.short was made with decode.maximum_length=");
  REQUIRE (warning != NULL);
  CHECK (!strstr (warning + 1, "the evaluation test.short was made with"));
  PlaitTestCall compared = DONE (CALL ("compare", "tiny/grid.h5", "--trials", "99"));
  CHECK_CONTAINS (compared.errors, "the evaluation test.short was made with decode.maximum_length=");
}

TEST_CASE (command_test, refuses_what_it_cannot_evaluate)
{
  plait_test_write_grid ("experiment.seed=1\n");
  plait_test_write ("text.h5", "no run");
  CHECK_REFUSED (CALL ("test", "nothing.h5"), "nothing.h5");
  CHECK_REFUSED (CALL ("test", "text.h5"), "text.h5");
  CHECK_REFUSED (CALL ("test", "text.h5", "--as", "a.b"), "--as cannot be \"a.b\"");
  CHECK_REFUSED (CALL ("test", "text.h5", "--set", "train.batch=3"),
                 "for a trained run this command accepts only keys of [data], of [evaluate] and of [decode]");
}

TEST_CASE (command_grid, exits_with_1_and_names_the_cells_that_failed)
{
  plait_test_write_grid ("data.maximum_target_length=0;1\n");
  PlaitTestCall call = CALL ("grid", "tiny.ini", "--output", "cells");

  CHECK_INT (call.code, 1);
  CHECK_CONTAINS (call.errors, "the cell data.maximum_target_length=1 failed: ");
  CHECK_CONTAINS (call.errors, "the last lines of cells/maximum_target_length-1-");
  CHECK_CONTAINS (call.errors, "error: 1 of 2 cells failed (data.maximum_target_length=1)");
  CHECK_CONTAINS (call.output, "maximum_target_length  n");
  CHECK (has_file ("cells/grid.h5"));
}

TEST_CASE (command_grid, refuses_bad_usage)
{
  plait_test_write_grid ("experiment.seed=1\n");
  plait_test_write ("plain.ini", "[experiment]\nname=plain\n");
  PlaitTestCall jobs = CALL ("grid", "tiny.ini", "--jobs", "0");
  CHECK_REFUSED (CALL ("grid", "plain.ini"), "has no group [grid]");

  CHECK_REFUSED (jobs, "--jobs cannot be \"0\"; expected an integer from 1 to 1024");
}

/* TRUE if the folder @name has the file of an unfinished run. */
static gboolean
has_checkpoint (const char *name)
{
  g_autoptr (GDir) folder = g_dir_open (plait_test_path (name), 0, NULL);
  const char *file;

  while (folder && (file = g_dir_read_name (folder)))
    if (g_str_has_suffix (file, ".training.h5"))
      return TRUE;
  return FALSE;
}

TEST_CASE (command_grid, stops_with_checkpoints_and_goes_on)
{
  PlaitTestProcess process;

  plait_test_write_grid ("experiment.seed=1\n");
  process = plait_test_call_begin ((const char *[]){ "grid", "tiny.ini", "--quiet", "--set", "train.epochs=100000",
                                                     "--set", "train.checkpoint_every=1", "--output", "cells", NULL },
                                   NULL);
  for (guint i = 0; i < 3000 && !has_checkpoint ("cells"); i++)
    g_usleep (10000);
  kill (process.process, SIGTERM);
  PlaitTestCall call = plait_test_call_end (&process);
  CHECK_INT (call.code, 130);
  CHECK (has_checkpoint ("cells"));

  PlaitTestCall plan = CALL ("grid", "tiny.ini", "--dry-run", "--set", "train.epochs=100000", "--output", "cells");
  CHECK_CONTAINS (plan.output, "go on  experiment.seed=1\n         after update ");
}

/* Before a cell begins, the grid reports files with unequal numbers of lines, once. */
TEST_CASE (command_grid, counts_lines_before_cells_begin)
{
  plait_test_write ("even.a", "u v\nw\n");
  plait_test_write ("odd.b", "x\ny\nz\n");
  plait_test_write ("apart.ini",
                    "[data]\ntarget=b\nvocabulary_type=words\ntrain.a=even.a\ntrain.b=even.a\n"
                    "test.a=even.a\ntest.b=odd.b\n" SMALL_SOURCE ("a") TINY_DECODER "[train]\nupdates=1\n"
                                                                                    "[grid]\nexperiment.seed=1;2;3\n");
  PlaitTestCall call = CALL ("grid", "apart.ini", "--jobs", "1");

  CHECK_INT (call.code, 2);
  const char *told = strstr (call.errors, "odd.b has 3 lines, but test.a has 2");
  REQUIRE (told != NULL);
  CHECK (!strstr (told + 1, "odd.b has 3 lines"));
  CHECK (!has_folder ("apart"));

  plait_test_write ("odd.b", "x\n\n");
  PlaitTestCall empty = CALL ("grid", "apart.ini", "--jobs", "1", "--set", "grid.data.empty=missing;error");
  CHECK_INT (empty.code, 2);
  CHECK_CONTAINS (empty.errors, "odd.b:2: the line is empty");
}
