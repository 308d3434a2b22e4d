/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/digest.h"
#include "grid/table.h"
#include "harness.h"
#include "runs.h"
#include "system.h"

/* Grids of tiny models on a generated corpus: 4 updates a cell. */

static const char base_text[] = "[experiment]\n"
                                "name=tiny\n"
                                "[data]\n"
                                "generate=agreement\n"
                                "generate.train=48\n"
                                "generate.validation=4\n"
                                "generate.test=6\n"
                                "target=target\n"
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
                                "log_every=2\n"
                                "[decode]\n"
                                "beam=1\n"
                                "maximum_length=8\n"
                                "[evaluate]\n"
                                "resamples=5\n"
                                "attention=1\n"
                                "[grid]\n";

#define TWO_BY_TWO "decoder.combiner=serial;flat\nexperiment.seed=1;2\n"

static const char faulty_schema[] = "[plugin]\n"
                                    "name=faulty\n"
                                    "kind=combiner\n"
                                    "interface=2\n"
                                    "version=1.0.0\n"
                                    "summary=A combiner that ends the process\n"
                                    "[requires]\n"
                                    "decoder=transformer\n"
                                    "[parameter.fault]\n"
                                    "type=choice\n"
                                    "choices=none;crash;exit;kill\n"
                                    "default=none\n"
                                    "summary=How\n";

/* Writes tiny.ini with @axes. */
static void
write_grid (const char *axes)
{
  g_autofree char *path = plait_test_path ("tiny.ini");
  g_autofree char *text = g_strconcat (base_text, axes, NULL);

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
}

static void
copy_file (const char *from, const char *to, const char *appended)
{
  g_autofree char *bytes = NULL;
  gsize length = 0;
  g_autoptr (GString) text = NULL;

  g_assert_true (g_file_get_contents (from, &bytes, &length, NULL));
  text = g_string_new_len (bytes, (gssize)length);
  g_string_append (text, appended);
  g_assert_true (g_file_set_contents (to, text->str, (gssize)text->len, NULL));
}

/* A folder of plugins that hides the built one of combiner @name: its schema from @schema, its module from @module with
 * @appended behind it, which loaders do not mind. */
static void
write_plugin (const char *name, const char *schema, const char *module, const char *appended)
{
  g_autofree char *folder = plait_test_path ("plugins/combiner");
  g_autofree char *schema_path = g_strdup_printf ("%s/%s.ini", folder, name);
  g_autofree char *module_path = g_strdup_printf ("%s/%s.so", folder, name);

  g_assert_cmpint (g_mkdir_with_parents (folder, 0755), ==, 0);
  g_assert_true (g_file_set_contents (schema_path, schema, -1, NULL));
  copy_file (module, module_path, appended);
}

/* A registry of the test's own plugins, then the built ones. */
static PlaitRegistry *
open_registry (void)
{
  g_autofree char *own = plait_test_path ("plugins");
  g_autofree char *built = plait_test_build_path ("plugins");

  return plait_registry_new_for_folders ((const char *[]){ own, built, NULL });
}

typedef struct
{
  PlaitRegistry *registry;
  PlaitGrid *grid;
} Opened;

static void
opened_clear (Opened *opened)
{
  plait_grid_free (opened->grid);
  plait_registry_free (opened->registry);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Opened, opened_clear)

/* Looks at tiny.ini in the folder @name. */
static Opened
open_grid (const char *name, const char *const *overrides, PlaitGridFlags flags)
{
  g_autofree char *path = plait_test_path ("tiny.ini");
  g_autofree char *folder = plait_test_path (name);
  g_autoptr (GError) error = NULL;
  Opened opened = { .registry = open_registry () };

  opened.grid = plait_grid_new (path, overrides, folder, flags, opened.registry, &error);
  CHECK_NO_ERROR (error);
  g_assert_nonnull (opened.grid);
  return opened;
}

static void
run_grid (const Opened *opened, guint jobs)
{
  PlaitGridOptions options = { .jobs = jobs, .threads = 1 };
  g_autoptr (GError) error = NULL;

  CHECK (plait_grid_run (opened->grid, &options, &error));
  CHECK_NO_ERROR (error);
}

static void
run_all (const char *name, guint jobs, const char *const *overrides)
{
  g_auto (Opened) opened = open_grid (name, overrides, 0);

  run_grid (&opened, jobs);
  for (guint i = 0; i < opened.grid->n; i++)
    CHECK_STRING (opened.grid->items[i].note, NULL);
  CHECK_INT (plait_grid_count (opened.grid, PLAIT_CELL_FINISHED), opened.grid->n);
}

/* Checks the cells of two folders against each other. */
static void
check_same_grid (const char *name, const char *expected, const char *const *overrides)
{
  g_auto (Opened) one = open_grid (name, overrides, 0);
  g_auto (Opened) two = open_grid (expected, overrides, 0);

  for (guint i = 0; i < one.grid->n; i++)
    {
      g_autofree char *a = plait_grid_file (one.grid, &one.grid->items[i], ".h5");
      g_autofree char *b = plait_grid_file (two.grid, &two.grid->items[i], ".h5");

      test_check_same_run (a, b);
    }
}

static const PlaitGridCell *
find_cell (const PlaitGrid *grid, const char *label)
{
  for (guint i = 0; i < grid->n; i++)
    if (g_str_equal (grid->items[i].cell->label, label))
      return &grid->items[i];
  g_assert_not_reached ();
}

static char *
digest_cell (const PlaitGrid *grid, guint i)
{
  g_autofree char *path = plait_grid_file (grid, &grid->items[i], ".h5");

  return plait_digest_file (path, 0, NULL);
}

TEST_CASE (grid, does_not_run_finished_cells_again)
{
  write_grid (TWO_BY_TWO);
  {
    g_auto (Opened) first = open_grid ("cells", NULL, 0);

    CHECK_INT (plait_grid_count (first.grid, PLAIT_CELL_NEW), 4);
    CHECK (!g_file_test (first.grid->folder, G_FILE_TEST_EXISTS));
    run_grid (&first, 1);
    CHECK_INT (plait_grid_count (first.grid, PLAIT_CELL_FINISHED), 4);
  }
  g_auto (Opened) second = open_grid ("cells", NULL, 0);
  g_auto (GStrv) before = g_new0 (char *, 5);

  CHECK_INT (plait_grid_count (second.grid, PLAIT_CELL_FINISHED), 4);
  for (guint i = 0; i < 4; i++)
    before[i] = digest_cell (second.grid, i);
  run_grid (&second, 1);
  for (guint i = 0; i < 4; i++)
    {
      g_autofree char *now = digest_cell (second.grid, i);

      /* A file that is written anew has another time in it. */
      CHECK_STRING (now, before[i]);
    }
}

TEST_CASE (grid, tells_which_setting_changed)
{
  g_autofree char *before = NULL;

  write_grid (TWO_BY_TWO);
  run_all ("cells", 1, NULL);

  g_auto (Opened) changed
      = open_grid ("cells", (const char *[]){ "combiner.projections=separate", "train.log_every=7", NULL }, 0);
  CHECK_INT (plait_grid_count (changed.grid, PLAIT_CELL_FINISHED), 2);
  CHECK_INT (plait_grid_count (changed.grid, PLAIT_CELL_STALE), 2);
  CHECK_INT (find_cell (changed.grid, "decoder.combiner=serial experiment.seed=2")->state, PLAIT_CELL_FINISHED);
  CHECK_STRING (find_cell (changed.grid, "decoder.combiner=flat experiment.seed=2")->note,
                "combiner.projections was shared, is separate");

  /* The old file stays until a new one is finished. */
  gint stop = 1;
  PlaitGridOptions options = { .jobs = 1, .threads = 1, .stop = &stop };
  g_autoptr (GError) error = NULL;
  before = digest_cell (changed.grid, 3);
  CHECK (!plait_grid_run (changed.grid, &options, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INTERRUPTED, "the same command goes on");
  g_autofree char *kept = digest_cell (changed.grid, 3);
  CHECK_STRING (kept, before);

  run_grid (&changed, 1);
  CHECK_INT (plait_grid_count (changed.grid, PLAIT_CELL_FINISHED), 4);
  g_autofree char *replaced = digest_cell (changed.grid, 3);
  CHECK (g_strcmp0 (replaced, before) != 0);
}

TEST_CASE (grid, tells_which_plugin_changed)
{
  g_autofree char *schema_path = plait_test_build_path ("plugins/combiner/flat.ini");
  g_autofree char *module = plait_test_build_path ("plugins/combiner/flat.so");
  g_autofree char *schema = NULL;

  REQUIRE (g_file_get_contents (schema_path, &schema, NULL, NULL));
  write_grid (TWO_BY_TWO);
  run_all ("cells", 1, NULL);
  write_plugin ("flat", schema, module, "x");

  g_auto (Opened) changed = open_grid ("cells", NULL, 0);
  CHECK_INT (plait_grid_count (changed.grid, PLAIT_CELL_FINISHED), 2);
  CHECK_STRING (find_cell (changed.grid, "decoder.combiner=flat experiment.seed=1")->note,
                "the module of combiner flat has changed");
  run_grid (&changed, 1);
  CHECK_INT (plait_grid_count (changed.grid, PLAIT_CELL_FINISHED), 4);
}

/* Writes the generated corpus as files, and an experiment of them and of a vocabulary that is read. */
static void
write_file_grid (void)
{
  g_autofree char *path = plait_test_path ("tiny.ini");
  g_autofree char *corpus = plait_test_path ("corpus");
  g_autofree char *vocabulary_path = plait_test_path ("corpus/words");
  g_autoptr (GError) error = NULL;
  const PlaitTask *task = plait_task_find ("agreement", &error);
  g_auto (PlaitTaskSettings) settings = plait_task_defaults (task);
  PlaitVocabularySettings words = plait_vocabulary_defaults ();
  g_autoptr (PlaitVocabulary) vocabulary = NULL;
  g_auto (GStrv) parts = g_strsplit (base_text, "generate=agreement\n", 2);
  g_auto (GStrv) rest = g_strsplit (parts[1], "target=target\n", 2);
  g_autofree char *text = NULL;
  g_auto (GStrv) files = g_new0 (char *, 5);

  settings.sizes[0] = 48;
  settings.sizes[1] = 4;
  settings.sizes[2] = 6;
  g_assert_true (plait_task_write (task, &settings, corpus, &error));
  for (guint i = 0; i < 4; i++)
    files[i] = g_strdup_printf ("%s/train.%s", corpus, task->streams[i]);
  words.type = "words";
  words.size = 0;
  vocabulary = plait_vocabulary_train (&words, (const char *const *)files, &error);
  g_assert_no_error (error);
  g_autoptr (GBytes) bytes = plait_vocabulary_to_file (vocabulary);
  g_assert_true (
      g_file_set_contents (vocabulary_path, g_bytes_get_data (bytes, NULL), (gssize)g_bytes_get_size (bytes), NULL));
  text = g_strconcat (parts[0],
                      "folder=corpus\ntrain.a=train.a\ntrain.b=train.b\ntrain.target=train.target\ntest.a=test.a\n"
                      "test.b=test.b\ntest.target=test.target\nvocabulary.shared=words\ntarget=target\n",
                      rest[1], "experiment.sources=a;a+b\n", NULL);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
}

TEST_CASE (grid, tells_which_file_changed)
{
  g_autofree char *test_b = plait_test_path ("corpus/test.b");
  g_autofree char *words = plait_test_path ("corpus/words");

  write_file_grid ();
  run_all ("cells", 1, NULL);
  copy_file (words, words, "zzz\t0\n");
  {
    g_auto (Opened) changed = open_grid ("cells", NULL, 0);

    CHECK_INT (plait_grid_count (changed.grid, PLAIT_CELL_STALE), 2);
    CHECK_STRING (changed.grid->items[0].note, "the file of data.vocabulary.shared has changed");
  }
  write_file_grid ();
  {
    g_auto (Opened) same = open_grid ("cells", NULL, 0);

    CHECK_INT (plait_grid_count (same.grid, PLAIT_CELL_FINISHED), 2);
  }
  copy_file (test_b, test_b, " ");
  g_auto (Opened) changed = open_grid ("cells", NULL, 0);
  CHECK_INT (find_cell (changed.grid, "experiment.sources=a")->state, PLAIT_CELL_FINISHED);
  CHECK_STRING (find_cell (changed.grid, "experiment.sources=a+b")->note, "the file of data.test.b has changed");
}

TEST_CASE (grid, runs_only_new_cells_and_excludes)
{
  write_grid (TWO_BY_TWO);
  run_all ("cells", 1, NULL);
  write_grid ("decoder.combiner=serial;flat;parallel\nexperiment.seed=1;2\n"
              "exclude=decoder.combiner=flat|parallel & experiment.seed=2\n");
  {
    g_auto (Opened) other = open_grid ("cells", NULL, 0);

    CHECK_INT (other.grid->n, 4);
    CHECK_INT (plait_grid_count (other.grid, PLAIT_CELL_FINISHED), 3);
    CHECK_INT (find_cell (other.grid, "decoder.combiner=parallel experiment.seed=1")->state, PLAIT_CELL_NEW);
    CHECK_INT (other.grid->cells->n_excluded, 2);
    REQUIRE (other.grid->cells->n_exclusions == 1);
    CHECK_STRING (other.grid->cells->exclusions[0].rule, "decoder.combiner=flat|parallel & experiment.seed=2");
    CHECK_INT (other.grid->cells->exclusions[0].n_cells, 2);
    /* The run that was left out is still there. */
    CHECK_INT (g_strv_length (other.grid->strangers), 1);
  }
  /* A new axis gives the cells other labels, but the same runs. */
  write_grid ("decoder.layers=1\n" TWO_BY_TWO);
  g_auto (Opened) named = open_grid ("cells", NULL, 0);
  CHECK_INT (plait_grid_count (named.grid, PLAIT_CELL_FINISHED), 4);
  CHECK (named.grid->items[0].found != NULL);
  run_grid (&named, 1);
  CHECK_INT (plait_grid_count (named.grid, PLAIT_CELL_FINISHED), 4);
  g_auto (Opened) settled = open_grid ("cells", NULL, 0);
  CHECK (!settled.grid->items[0].found);
  CHECK_INT (g_strv_length (settled.grid->strangers), 0);
}

TEST_CASE (grid, takes_the_first_of_several_runs_that_are_its_own)
{
  static const char *const names[] = { "c.h5", "a.h5", "b.h5" };
  g_autofree char *first = plait_test_path ("cells/a.h5");

  write_grid ("experiment.seed=1\n");
  run_all ("cells", 1, NULL);
  {
    g_auto (Opened) opened = open_grid ("cells", NULL, 0);
    g_autofree char *path = plait_grid_file (opened.grid, &opened.grid->items[0], ".h5");

    for (guint i = 0; i < G_N_ELEMENTS (names); i++)
      {
        g_autofree char *copy = g_build_filename (opened.grid->folder, names[i], NULL);

        copy_file (path, copy, "");
      }
    REQUIRE (g_unlink (path) == 0);
  }
  g_auto (Opened) opened = open_grid ("cells", NULL, 0);
  CHECK_INT (opened.grid->items[0].state, PLAIT_CELL_FINISHED);
  CHECK_STRING (opened.grid->items[0].found, "a.h5");
  REQUIRE (g_strv_length (opened.grid->strangers) == 2);
  CHECK_STRING (opened.grid->strangers[0], "b.h5");
  CHECK_STRING (opened.grid->strangers[1], "c.h5");
  run_grid (&opened, 1);
  CHECK (!g_file_test (first, G_FILE_TEST_EXISTS));
}

TEST_CASE (grid, isolates_cells_that_fail)
{
  g_autofree char *module = plait_test_build_path ("tests/grid/faulty.so");

  write_plugin ("faulty", faulty_schema, module, "");
  write_grid ("decoder.combiner=faulty\ncombiner.fault=none;crash;exit;kill\ntrain.learning_rate=0.2;1e5\n"
              "exclude=combiner.fault=crash|exit|kill & train.learning_rate=1e5\n");
  {
    g_auto (Opened) opened = open_grid ("cells", NULL, 0);

    run_grid (&opened, 2);
    CHECK_INT (plait_grid_count (opened.grid, PLAIT_CELL_FINISHED), 1);
    CHECK_INT (plait_grid_count (opened.grid, PLAIT_CELL_FAILED), 4);
    CHECK_INT (opened.grid->items[0].state, PLAIT_CELL_FINISHED);
    CHECK_CONTAINS (opened.grid->items[1].note, "training has diverged");
    CHECK_CONTAINS (opened.grid->items[2].note, "crashed (signal 11");
    CHECK_CONTAINS (opened.grid->items[3].note, "ended by itself with exit code 0 before the run was finished");
    CHECK_CONTAINS (opened.grid->items[4].note, "was killed (signal 9)");
    g_autofree char *log_path = plait_grid_file (opened.grid, &opened.grid->items[1], ".log");
    g_autofree char *log = NULL;
    REQUIRE (g_file_get_contents (log_path, &log, NULL, NULL));
    CHECK_CONTAINS (log, "training has diverged");
  }
  /* What failed is tried again, what is finished is not. */
  g_auto (Opened) again = open_grid ("cells", NULL, 0);
  CHECK_INT (plait_grid_count (again.grid, PLAIT_CELL_FINISHED), 1);
  CHECK_INT (plait_grid_count (again.grid, PLAIT_CELL_NEW), 4);
}

TEST_CASE (grid, gives_the_same_bits_with_several_jobs)
{
  write_grid (TWO_BY_TWO);
  run_all ("one", 1, NULL);
  run_all ("two", 2, NULL);
  check_same_grid ("two", "one", NULL);
}

/* The letter of proc(5) for what @process does, and its parent; '-' when it is gone. */
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

/* Adds the processes below @grid that have stopped. */
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

/* Runs the grid of two cells in a process that is killed when both are about to put their checkpoint @number, from 0,
 * into its place. */
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
      Opened opened = open_grid (name, overrides, 0);

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
  /* The cells die with the grid, and with them the lock. */
  for (guint i = 0; i < stopped->len; i++)
    while (!strchr ("-ZX", state_of (g_array_index (stopped, pid_t, i), &parent)))
      g_usleep (1000);
}

TEST_CASE (grid, goes_on_to_the_same_bits_after_a_kill)
{
  static const int numbers[] = { 0, 1, 2, 4 };
  static const char *const notes[] = { NULL, "after update 1", "after update 3", "after update 7" };
  const char *const long_run[] = { "train.epochs=4", "train.checkpoint_every=1", NULL };

  write_grid ("decoder.combiner=serial;flat\n");
  run_all ("whole", 1, long_run);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      run_and_kill ("killed", long_run, numbers[i]);
      g_auto (Opened) killed = open_grid ("killed", long_run, 0);
      for (guint cell = 0; cell < 2; cell++)
        {
          CHECK_INT (killed.grid->items[cell].state, i == 0 ? PLAIT_CELL_NEW : PLAIT_CELL_PARTIAL);
          CHECK_STRING (killed.grid->items[cell].note, notes[i]);
        }
    }
  run_all ("killed", 2, long_run);
  check_same_grid ("killed", "whole", long_run);
}

TEST_CASE (grid, runs_damaged_cells_again)
{
  write_grid ("experiment.seed=1\n");
  run_all ("cells", 1, NULL);

  g_auto (Opened) opened = open_grid ("cells", NULL, 0);
  g_autofree char *path = plait_grid_file (opened.grid, &opened.grid->items[0], ".h5");
  g_autofree char *bytes = NULL;
  gsize length = 0;
  REQUIRE (g_file_get_contents (path, &bytes, &length, NULL));
  bytes[length / 2] ^= 1;
  REQUIRE (g_file_set_contents (path, bytes, (gssize)length, NULL));

  g_auto (Opened) damaged = open_grid ("cells", NULL, 0);
  CHECK_INT (damaged.grid->items[0].state, PLAIT_CELL_STALE);
  CHECK_CONTAINS (damaged.grid->items[0].note, path);
  run_grid (&damaged, 1);
  CHECK_INT (damaged.grid->items[0].state, PLAIT_CELL_FINISHED);

  g_auto (Opened) fresh = open_grid ("cells", NULL, PLAIT_GRID_FRESH);
  CHECK_INT (fresh.grid->items[0].state, PLAIT_CELL_STALE);
}

TEST_CASE (grid, keeps_a_second_grid_out)
{
  g_autoptr (GError) error = NULL;
  PlaitGridOptions options = { .jobs = 1, .threads = 1 };

  write_grid ("experiment.seed=1\n");
  g_auto (Opened) opened = open_grid ("cells", NULL, 0);
  g_auto (Opened) first = open_grid ("cells", NULL, 0);
  run_grid (&first, 1);
  g_autofree char *holder = g_strdup_printf ("another plait grid is working in this folder (process %d on host %s)",
                                             (int)getpid (), g_get_host_name ());
  CHECK (!plait_grid_run (opened.grid, &options, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, holder);
  /* It may, once the first is done with the files over all cells. */
  g_clear_pointer (&first.grid, plait_grid_free);
  CHECK (plait_grid_check_place (opened.grid, NULL, &error));
  CHECK (plait_grid_run (opened.grid, &options, &error));
  CHECK_NO_ERROR (error);
}

/* Checks that no grid may work in the folder "cells", be it only planned, and that the folder stays as it is. */
static void
check_refused (const char *part)
{
  g_autofree char *folder = plait_test_path ("cells");
  PlaitGridOptions options = { .jobs = 1, .threads = 1 };
  g_auto (Opened) opened = open_grid ("cells", NULL, 0);
  g_autoptr (GDir) files = NULL;
  g_autoptr (GError) error = NULL;

  CHECK (!plait_grid_check_place (opened.grid, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, part);
  CHECK (!plait_grid_run (opened.grid, &options, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, part);
  g_clear_pointer (&opened.grid, plait_grid_free);
  files = g_dir_open (folder, 0, NULL);
  CHECK (g_dir_read_name (files) != NULL);
  CHECK (!g_dir_read_name (files));
}

TEST_CASE (grid, replaces_only_files_of_a_grid)
{
  g_autofree char *folder = plait_test_path ("cells");
  g_autofree char *table = plait_test_path ("cells/table.csv");
  g_autofree char *file = plait_test_path ("cells/grid.h5");
  g_autoptr (GError) error = NULL;
  PlaitStore *store;

  write_grid ("experiment.seed=1\n");
  REQUIRE (g_mkdir (folder, 0755) == 0 && g_file_set_contents (table, "mine", -1, NULL));
  check_refused ("table.csv: exists, but there is no grid.h5 beside it, so no grid wrote it");
  g_unlink (table);
  store = plait_store_create (file, &error);
  REQUIRE (store && plait_store_commit (store, &error));
  plait_store_free (store);
  check_refused ("grid.h5: is not a grid's, which would be written in its place");
}

/* What a plan makes to see whether it can, it takes away. */
TEST_CASE (grid, plans_without_a_trace)
{
  g_autofree char *path = plait_test_path ("tiny.ini");
  g_autofree char *first = plait_test_path ("new"), *below_file = plait_test_path ("tiny.ini/cells");
  g_autoptr (PlaitRegistry) registry = open_registry ();
  g_autoptr (GError) error = NULL;

  write_grid ("experiment.seed=1\n");
  g_auto (Opened) opened = open_grid ("new/folder/cells", NULL, 0);
  CHECK (plait_grid_check_place (opened.grid, NULL, &error));
  CHECK_NO_ERROR (error);
  CHECK (!g_file_test (first, G_FILE_TEST_EXISTS));
  g_autoptr (PlaitGrid) nowhere = plait_grid_new (path, NULL, below_file, 0, registry, &error);
  REQUIRE (nowhere != NULL);
  CHECK (!plait_grid_check_place (nowhere, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "the grid's folder cannot be made or opened (Not a directory)");
}

TEST_CASE (grid, refuses_a_file_for_a_folder)
{
  g_autofree char *path = plait_test_path ("tiny.ini");
  g_autoptr (PlaitRegistry) registry = open_registry ();
  g_autoptr (GError) error = NULL;

  write_grid ("experiment.seed=1\n");
  CHECK (!plait_grid_new (path, NULL, path, 0, registry, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "is a file, but a grid needs a folder");
}

TEST_CASE (grid, writes_files_over_all_cells)
{
  g_autoptr (GError) error = NULL;

  write_grid (TWO_BY_TWO);
  g_auto (Opened) opened = open_grid ("cells", NULL, 0);
  run_grid (&opened, 1);
  g_autoptr (PlaitGridTable) table = plait_grid_table_new (opened.grid, &error);
  REQUIRE (table != NULL);
  CHECK (plait_grid_write_tables (opened.grid, table, &error));
  CHECK (plait_grid_write (opened.grid, table, &error));
  CHECK_NO_ERROR (error);

  g_autofree char *path = plait_test_path ("cells/grid.h5");
  g_autoptr (PlaitStore) store = plait_store_open (path, &error);
  REQUIRE (store != NULL);
  g_auto (GStrv) runs = plait_store_members (store, "/runs", &error);
  CHECK_INT (g_strv_length (runs), 4);
  g_autofree char *link = g_strconcat ("/runs/", runs[0], NULL);
  g_autofree char *file = NULL, *object = NULL;
  REQUIRE (plait_store_link_target (store, link, &file, &object, &error));
  g_autofree char *target = g_build_filename (opened.grid->folder, file, NULL);
  CHECK (g_file_test (target, G_FILE_TEST_IS_REGULAR));
  /* What a NeXus viewer opens goes on in the run. */
  g_autofree char *to_runs = plait_store_get_string (store, "/", "default", &error);
  g_autofree char *to_run = plait_store_get_string (store, "/runs", "default", &error);
  CHECK_STRING (to_runs, "runs");
  CHECK_STRING (to_run, opened.grid->items[0].name);
  gint64 n = 0;
  g_auto (GStrv) statuses = plait_store_read_strings (store, "/cells/status", 1000, &n, &error);
  CHECK_INT (n, 4);
  CHECK_STRING (statuses[3], "finished");
  gint64 parameters[2];
  CHECK (plait_store_read (store, "/summary/parameters", PLAIT_STORE_INT64, 2, parameters, &error));
  CHECK_INT (parameters[0], opened.grid->items[0].result->parameters);
  CHECK_NO_ERROR (error);

  g_autofree char *csv_path = plait_test_path ("cells/table.csv");
  g_autofree char *csv = NULL;
  REQUIRE (g_file_get_contents (csv_path, &csv, NULL, NULL));
  CHECK (g_str_has_prefix (csv, "decoder.combiner,n,test BLEU,test BLEU standard deviation,"));
}
