/* SPDX-License-Identifier: MIT */
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "grid/table.h"
#include "grids.h"
#include "files.h"
#include "harness.h"
#include "runs.h"
#include "system.h"

/* Tests of running grids: failing cells, several jobs, killed processes, and the folders to which a grid may write. */

/* Checks that the cells of the folders @name and @expected have equal results. */
static void
check_same_grid (const char *name, const char *expected, const char *const *overrides)
{
  g_auto (TestGrid) one = test_grid_open (name, overrides, 0);
  g_auto (TestGrid) two = test_grid_open (expected, overrides, 0);

  for (guint i = 0; i < one.grid->n; i++)
    {
      g_autofree char *a = plait_grid_file (one.grid, &one.grid->items[i], ".h5");
      g_autofree char *b = plait_grid_file (two.grid, &two.grid->items[i], ".h5");

      test_check_same_run (a, b);
    }
}

TEST_CASE (grid, isolates_cells_that_fail)
{
  test_write_faulty ();
  test_grid_write ("decoder.combiner=faulty\ncombiner.fault=none;crash;exit;kill\ntrain.learning_rate=0.2;1e5\n"
                   "exclude=combiner.fault=crash|exit|kill & train.learning_rate=1e5\n");
  {
    g_auto (TestGrid) opened = test_grid_open ("cells", NULL, 0);

    test_grid_run (&opened, 2);
    CHECK_INT (plait_grid_count (opened.grid, PLAIT_CELL_FINISHED), 1);
    CHECK_INT (plait_grid_count (opened.grid, PLAIT_CELL_FAILED), 4);
    CHECK_INT (opened.grid->items[0].state, PLAIT_CELL_FINISHED);
    CHECK_CONTAINS (opened.grid->items[1].note, "training has diverged");
    CHECK_CONTAINS (opened.grid->items[2].note, "crashed (signal 11");
    CHECK_CONTAINS (opened.grid->items[3].note, "exited with exit code 0 before the run was finished");
    CHECK_CONTAINS (opened.grid->items[4].note, "was killed (signal 9)");
    g_autofree char *log_path = plait_grid_file (opened.grid, &opened.grid->items[1], ".log");
    const char *log = plait_test_read_text (log_path);
    CHECK_CONTAINS (log, "training has diverged");
  }
  /* When the grid is opened again, cells that failed are new, and the finished cell is finished. A rerun makes only
   * the new cells, which fail again. */
  g_auto (TestGrid) again = test_grid_open ("cells", NULL, 0);
  CHECK_INT (plait_grid_count (again.grid, PLAIT_CELL_FINISHED), 1);
  CHECK_INT (plait_grid_count (again.grid, PLAIT_CELL_NEW), 4);
  g_autofree char *finished = plait_grid_file (again.grid, &again.grid->items[0], ".h5");
  g_autoptr (GBytes) before = plait_test_read (finished);
  test_grid_run (&again, 2);
  CHECK_INT (plait_grid_count (again.grid, PLAIT_CELL_FINISHED), 1);
  CHECK_INT (plait_grid_count (again.grid, PLAIT_CELL_FAILED), 4);
  g_autoptr (GBytes) after = plait_test_read (finished);
  CHECK (g_bytes_equal (after, before));
}

/* A cell that fails once is retried. A cell that hangs and ignores SIGTERM is killed at the time limit. */
TEST_CASE (grid, tries_again_and_holds_cells_to_their_time)
{
  const char *gate = plait_test_path ("gate");
  PlaitGridOptions options = { .jobs = 3, .threads = 1, .retries = 1, .seconds = 20 };

  g_setenv ("PLAIT_TEST_GATE", gate, TRUE);
  test_write_faulty ();
  test_grid_write ("decoder.combiner=faulty\ncombiner.fault=once;crash\n");
  {
    g_auto (TestGrid) opened = test_grid_open ("cells", NULL, 0);

    CHECK (plait_grid_run (opened.grid, &options, NO_ERROR));
    CHECK_INT (opened.grid->items[0].state, PLAIT_CELL_FINISHED);
    CHECK_STRING (opened.grid->items[0].note, NULL);
    CHECK_INT (opened.grid->items[1].state, PLAIT_CELL_FAILED);
    CHECK_CONTAINS (opened.grid->items[1].note, "crashed (signal 11");
  }
  /* The second grid has only the cell that hangs, because a good cell could exceed the time limit on a slow machine. */
  test_grid_write ("decoder.combiner=faulty\ncombiner.fault=wait\n");
  REQUIRE (g_unlink (gate) == 0);
  g_auto (TestGrid) hanging = test_grid_open ("cells", NULL, 0);
  options.seconds = 1;
  options.retries = 0;
  CHECK (plait_grid_run (hanging.grid, &options, NO_ERROR));
  CHECK_INT (hanging.grid->items[0].state, PLAIT_CELL_FAILED);
  CHECK_CONTAINS (hanging.grid->items[0].note, "it ran longer than --time allows");
}

/* A retry continues from the checkpoint of the first try, also with --fresh. */
TEST_CASE (grid, retries_a_fresh_cell_from_its_checkpoint)
{
  const char *const failing[] = { "evaluate.scores.mine=false", NULL };

  plait_test_write_grid ("experiment.seed=1\n");
  g_auto (TestGrid) opened = test_grid_open ("cells", failing, TRUE);
  PlaitGridCell *cell = &opened.grid->items[0];
  test_grid_run (&opened, 1);
  CHECK_INT (cell->state, PLAIT_CELL_FAILED);
  plait_grid_update_state (opened.grid, cell);
  CHECK_INT (cell->state, PLAIT_CELL_PARTIAL);
  g_auto (TestGrid) again = test_grid_open ("cells", failing, TRUE);
  CHECK_INT (again.grid->items[0].state, PLAIT_CELL_STALE);
}

TEST_CASE (grid, gives_the_same_bits_with_several_jobs)
{
  test_grid_write (TEST_TWO_BY_TWO);
  test_grid_run_all ("one", 1, NULL);
  test_grid_run_all ("two", 2, NULL);
  test_grid_run_all ("as many as there is room for", 0, NULL);
  check_same_grid ("two", "one", NULL);
  check_same_grid ("as many as there is room for", "one", NULL);
}

/* Returns the state of @process as a letter (proc(5)), '-' if it has ended. Sets *@parent to its parent, or
 * to 0. */
static char
state_of (pid_t process, pid_t *parent)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/stat", (int)process);
  g_autofree char *text = NULL;
  const char *behind_name = g_file_get_contents (path, &text, NULL, NULL) ? strrchr (text, ')') : NULL;
  char state = '-';
  int number = 0;

  if (behind_name)
    sscanf (behind_name, ") %c %d", &state, &number);
  *parent = number;
  return state;
}

/* Adds to @stopped the stopped processes whose parent is the process @grid. */
static void
find_stopped (pid_t grid, GArray *stopped)
{
  g_autoptr (GDir) processes = g_dir_open ("/proc", 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (processes)))
    {
      pid_t process = (pid_t)g_ascii_strtoll (name, NULL, 10), parent;

      if (process > 0 && state_of (process, &parent) == 'T' && parent == grid)
        g_array_append_val (stopped, process);
    }
}

/* Runs a grid of two cells in a process. Kills the process when both cells are about to put checkpoint number @number,
 * from 0, into place. */
static void
run_and_kill (const char *name, const char *const *overrides, int number)
{
  CONTEXT ("killed at checkpoint %d", number);
  g_autoptr (GArray) stopped = g_array_new (FALSE, FALSE, sizeof (pid_t));
  pid_t child = fork (), parent;
  int status;

  if (child == 0)
    {
      PlaitGridOptions options = { .jobs = 2, .threads = 1 };
      TestGrid opened = test_grid_open (name, overrides, 0);

      plait_test_system_stop_forked (".training.h5", number);
      _exit (plait_grid_run (opened.grid, &options, NULL) ? 0 : 1);
    }
  for (guint tries = 0; stopped->len < 2 && tries < 60000; tries++)
    {
      g_usleep (1000);
      g_array_set_size (stopped, 0);
      find_stopped (child, stopped);
    }
  CHECK_INT (stopped->len, 2);
  kill (child, SIGKILL);
  CHECK_INT (waitpid (child, &status, 0), child);
  CHECK (WIFSIGNALED (status) && WTERMSIG (status) == SIGKILL);
  /* The processes of the cells die with the grid, and their locks are released. */
  for (guint i = 0; i < stopped->len; i++)
    while (!strchr ("-ZX", state_of (g_array_index (stopped, pid_t, i), &parent)))
      g_usleep (1000);
}

TEST_CASE (grid, goes_on_to_the_same_bits_after_a_kill)
{
  static const int numbers[] = { 0, 1, 2, 4 };
  static const char *const notes[] = { NULL, "after update 1", "after update 3", "after update 7" };
  const char *const long_run[] = { "train.epochs=4", "train.checkpoint_every=1", NULL };

  test_grid_write ("decoder.combiner=serial;flat\n");
  test_grid_run_all ("whole", 1, long_run);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      run_and_kill ("killed", long_run, numbers[i]);
      g_auto (TestGrid) killed = test_grid_open ("killed", long_run, 0);
      for (guint cell = 0; cell < 2; cell++)
        {
          CHECK_INT (killed.grid->items[cell].state, i == 0 ? PLAIT_CELL_NEW : PLAIT_CELL_PARTIAL);
          CHECK_STRING (killed.grid->items[cell].note, notes[i]);
        }
    }
  test_grid_run_all ("killed", 2, long_run);
  check_same_grid ("killed", "whole", long_run);
}

static gint64
always_later (void)
{
  static gint64 now;

  return now += 60 * G_USEC_PER_SEC;
}

/* Progress is shown with the name of its cell, and without lines that were in the cell's log before. */
TEST_CASE (grid, tells_whose_progress_it_shows)
{
  const char *const long_run[] = { "train.epochs=4", "train.checkpoint_every=1", NULL };
  char *said = NULL;
  size_t size = 0;
  FILE *stream = open_memstream (&said, &size);
  PlaitGridOptions options = { .jobs = 1, .threads = 1 };

  test_grid_write ("decoder.combiner=serial;flat\n");
  run_and_kill ("cells", long_run, 2);
  g_auto (TestGrid) opened = test_grid_open ("cells", long_run, 0);
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *path = plait_grid_file (opened.grid, &opened.grid->items[i], ".log");

      CHECK_INT (opened.grid->items[i].state, PLAIT_CELL_PARTIAL);
      plait_test_append (path, "long ago\n");
    }
  {
    g_autoptr (PlaitLog) log = plait_log_new_with ((PlaitLogSettings){ .stream = stream, .now = always_later });

    options.log = log;
    CHECK (plait_grid_run (opened.grid, &options, NO_ERROR));
  }
  fclose (stream);
  CHECK_CONTAINS (said, "0 of 2 cells done, 1 running; decoder.combiner=serial");
  CHECK_CONTAINS (said, "1 of 2 cells done, 1 running");
  CHECK_CONTAINS (said, "; decoder.combiner=flat");
  CHECK (!strstr (said, "long ago"));
  free (said);
}

TEST_CASE (grid, keeps_a_second_grid_out)
{
  g_autoptr (GError) error = NULL;
  PlaitGridOptions options = { .jobs = 1, .threads = 1 };

  test_grid_write ("experiment.seed=1\n");
  g_auto (TestGrid) opened = test_grid_open ("cells", NULL, 0);
  g_auto (TestGrid) first = test_grid_open ("cells", NULL, 0);
  test_grid_run (&first, 1);
  g_autofree char *holder = g_strdup_printf ("another plait grid is working in this folder (process %d on host %s)",
                                             (int)getpid (), g_get_host_name ());
  CHECK (!plait_grid_run (opened.grid, &options, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, holder);
  /* The second grid may start after the first has released the folder. */
  g_clear_pointer (&first.grid, plait_grid_free);
  CHECK (plait_grid_check_folder (opened.grid, NULL, NO_ERROR));
  CHECK (plait_grid_run (opened.grid, &options, NO_ERROR));
}

/* Checks that no grid may work in the folder "cells", even with --dry-run, and that the folder still has exactly one
 * file. */
static void
check_refused (const char *part)
{
  PlaitGridOptions options = { .jobs = 1, .threads = 1 };
  g_auto (TestGrid) opened = test_grid_open ("cells", NULL, 0);
  g_autoptr (GDir) files = NULL;
  g_autoptr (GError) error = NULL;

  CHECK (!plait_grid_check_folder (opened.grid, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, part);
  CHECK (!plait_grid_run (opened.grid, &options, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, part);
  g_clear_pointer (&opened.grid, plait_grid_free);
  files = g_dir_open (plait_test_path ("cells"), 0, NULL);
  CHECK (g_dir_read_name (files) != NULL);
  CHECK (!g_dir_read_name (files));
}

TEST_CASE (grid, replaces_only_files_of_a_grid)
{
  const char *table = plait_test_path ("cells/table.csv");
  g_autoptr (GError) error = NULL;
  PlaitStore *store;

  test_grid_write ("experiment.seed=1\n");
  REQUIRE (g_mkdir (plait_test_path ("cells"), 0755) == 0 && g_file_set_contents (table, "mine", -1, NULL));
  check_refused ("table.csv: exists, but there is no grid.h5 in its folder, so no grid wrote it");
  g_unlink (table);
  store = plait_store_create (plait_test_path ("cells/grid.h5"), &error);
  REQUIRE (store && plait_store_commit (store, &error));
  plait_store_free (store);
  check_refused ("grid.h5: is not the file of a grid, but the grid would overwrite it");
}

/* A dry run removes everything that it made to test the folder. */
TEST_CASE (grid, plans_without_a_trace)
{
  const char *first = plait_test_path ("new"), *below_file = plait_test_path ("tiny.ini/cells");
  g_autoptr (PlaitRegistry) registry = test_grid_registry ();
  g_autoptr (GError) error = NULL;

  test_grid_write ("experiment.seed=1\n");
  g_auto (TestGrid) opened = test_grid_open ("new/folder/cells", NULL, 0);
  CHECK (plait_grid_check_folder (opened.grid, NULL, NO_ERROR));
  CHECK (!plait_test_exists (first));
  g_autoptr (PlaitGrid) nowhere
      = plait_grid_new (plait_test_path ("tiny.ini"), NULL, below_file, 0, NULL, 0, registry, NULL, &error);
  REQUIRE (nowhere != NULL);
  CHECK (!plait_grid_check_folder (nowhere, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "the grid's folder cannot be made or opened (Not a directory)");
}

TEST_CASE (grid, refuses_a_file_for_a_folder)
{
  const char *path = plait_test_path ("tiny.ini");
  g_autoptr (PlaitRegistry) registry = test_grid_registry ();
  g_autoptr (GError) error = NULL;

  test_grid_write ("experiment.seed=1\n");
  CHECK (!plait_grid_new (path, NULL, path, 0, NULL, 0, registry, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "is a file, but a grid needs a folder");
}

TEST_CASE (grid, writes_files_over_all_cells)
{
  test_grid_write (TEST_TWO_BY_TWO);
  g_auto (TestGrid) opened = test_grid_open ("cells", NULL, 0);
  test_grid_run (&opened, 1);
  g_autoptr (PlaitGridTable) table = plait_grid_table_new (opened.grid, NO_ERROR);
  REQUIRE (table != NULL);
  CHECK (plait_grid_write_tables (opened.grid, table, NO_ERROR));
  CHECK (plait_grid_write (opened.grid, table, NO_ERROR));

  g_autoptr (PlaitStore) store = plait_store_open (plait_test_path ("cells/grid.h5"), NO_ERROR);
  REQUIRE (store != NULL);
  g_auto (GStrv) runs = plait_store_members (store, "/runs", NO_ERROR);
  CHECK_INT (g_strv_length (runs), 4);
  g_autofree char *file = NULL, *object = NULL;
  REQUIRE (plait_store_link_target (store, plait_test_format ("/runs/%s", runs[0]), &file, &object, NO_ERROR));
  g_autofree char *target = g_build_filename (opened.grid->folder, file, NULL);
  CHECK (g_file_test (target, G_FILE_TEST_IS_REGULAR));
  /* A NeXus viewer that opens grid.h5 shows the default plot of a run. */
  g_autofree char *to_runs = plait_store_get_string (store, "/", "default", NO_ERROR);
  g_autofree char *to_run = plait_store_get_string (store, "/runs", "default", NO_ERROR);
  CHECK_STRING (to_runs, "runs");
  CHECK_STRING (to_run, opened.grid->items[0].name);
  gint64 n = 0;
  g_auto (GStrv) statuses = plait_store_read_strings (store, "/cells/status", 1000, &n, NO_ERROR);
  CHECK_INT (n, 4);
  CHECK_STRING (statuses[3], "finished");
  gint64 parameters[2];
  CHECK (plait_store_read (store, "/summary/parameters", PLAIT_STORE_INT64, 2, parameters, NO_ERROR));
  CHECK_INT (parameters[0], opened.grid->items[0].result->parameters);

  const char *csv = plait_test_read_text ("cells/table.csv");
  CHECK (g_str_has_prefix (csv, "decoder.combiner,n,test BLEU,test BLEU standard deviation,"));
}

/* File names contain the whole seed and are unique, even if the values of a cell are very long. Keys are cut before
 * values. */
TEST_CASE (grid, names_files_by_the_seed_however_long)
{
  static const struct
  {
    const char *axes;
    const char *first; /* name of the file of the first cell, without its eight digits */
  } cases[] = {
    { "decoder.combiner=serial;flat\nexperiment.seed=1;2\n", "combiner-serial_seed-1-" },
    { "experiment.seed=1;2\ndecoder.combiner=hierarchical;flat\ntrain.learning_rate=0.5;1\ntrain.warm_up=10;20\n"
      "train.optimizer=adam\n",
      "com-hierarchical_lea-0.5_war-10_opt-adam_seed-1-" },
    { "experiment.seed=1;2\ndecoder.combiner=serial;flat\ntrain.learning_rate=0.00012345678901234567890;0.5\n"
      "train.smoothing=0.11111111111111111111;0\n",
      "com-serial_lea-0.00012345678901_smo-0.11111111111111_seed-1-" },
    { "decoder.combiner=serial;flat\nexperiment.name=a/very/long/name/of/a/grid/that/nobody/wants/to/read/to/its/"
      "end;b\n"
      "experiment.seed=1234567890;2\n",
      "com-serial_nam-a-very-long-name-of-a-grid-th_seed-1234567890-" },
    { "experiment.name=a/very/long/name/of/a/grid/that/nobody/wants/to/read/to/its/end;b\n",
      "nam-a-very-long-name-of-a-grid-that-nobody-wants-to-read-to--" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);

      CONTEXT ("%s", cases[i].axes);
      test_grid_write (cases[i].axes);
      g_auto (TestGrid) opened = test_grid_open ("cells", NULL, 0);
      g_autofree char *first = g_strndup (opened.grid->items[0].name, strlen (opened.grid->items[0].name) - 8);

      CHECK_STRING (first, cases[i].first);
      for (guint c = 0; c < opened.grid->n; c++)
        {
          CHECK (g_hash_table_add (names, opened.grid->items[c].name));
          CHECK (strlen (opened.grid->items[c].name) <= 69);
        }
    }
}
