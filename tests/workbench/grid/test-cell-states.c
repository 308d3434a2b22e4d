/* SPDX-License-Identifier: MIT */
#include <glib/gstdio.h>

#include "files/digest.h"
#include "grid/cost.h"
#include "grid/grid-private.h"
#include "grids.h"
#include "files.h"
#include "harness.h"

/* Tests of the states of cells: finished cells are kept, others are run again, and the reason is given. */

/* Returns the attribute seconds of the object @what in the file of cell @i. @what is "training" or
 * "evaluation/test". */
static double
seconds_of (const PlaitGrid *grid, guint i, const char *what)
{
  g_autofree char *path = plait_grid_file (grid, &grid->items[i], ".h5");
  g_autoptr (PlaitStore) run = plait_store_open (path, NULL);
  double seconds = 0;

  CHECK (run && plait_store_get_double (run, plait_test_format ("/environment/%s", what), "seconds", &seconds, NULL));
  return seconds;
}

static double
all_seconds_of (const PlaitGrid *grid, guint i)
{
  return seconds_of (grid, i, "training") + seconds_of (grid, i, "evaluation/test");
}

/* Adds to the run at @path a named evaluation that took very long. */
static void
add_named_evaluation (const char *path)
{
  static const char place[] = "/environment/evaluation/test.slow";
  g_autoptr (PlaitStore) from = plait_store_open (path, NO_ERROR);
  g_autoptr (PlaitStore) to = plait_store_create (path, NO_ERROR);

  CHECK (from && to && plait_store_copy (to, from, "/", NO_ERROR) && plait_store_make_group (to, place, NO_ERROR)
         && plait_store_set_double (to, place, "seconds", 1e6, NO_ERROR) && plait_store_commit (to, NO_ERROR));
}

/* The estimate for a due cell is the time of similar finished cells: the second seed takes as long as the first seed of
 * the same combiner. */
TEST_CASE (grid, tells_how_long_it_takes_by_the_cells_that_ran)
{
  test_grid_write ("decoder.combiner=serial;flat\nexperiment.seed=1\n");
  {
    g_auto (TestGrid) before = test_grid_open ("cells", NULL, 0);

    g_autoptr (PlaitGridCost) none = plait_grid_cost_new (before.grid, NULL);

    CHECK_INT (none->n_ran, 0);
    CHECK_NEAR (none->seconds, 0, 0);
    CHECK (!none->cells[0].like);
  }
  test_grid_run_all ("cells", 1, NULL);
  test_grid_write ("decoder.combiner=serial;flat\nexperiment.seed=1;2;3\n"
                   "exclude=decoder.combiner=flat & experiment.seed=3\n");
  g_auto (TestGrid) opened = test_grid_open ("cells", NULL, 0);
  g_autofree char *first = plait_grid_file (opened.grid, &opened.grid->items[0], ".h5");
  add_named_evaluation (first);
  g_autoptr (PlaitGridCost) cost = plait_grid_cost_new (opened.grid, NULL);

  REQUIRE (opened.grid->n == 5);
  CHECK_INT (cost->n_ran, 2);
  CHECK (cost->bytes > 0 && cost->cells[1].like == &opened.grid->items[0] && !cost->cells[1].measured);
  CHECK_NEAR (cost->seconds, 2 * all_seconds_of (opened.grid, 0) + all_seconds_of (opened.grid, 3), 1e-9);

  /* A run that must only be evaluated again counts as finished here. */
  g_auto (TestGrid) other = test_grid_open ("cells", (const char *[]){ "decode.maximum_length=6", NULL }, 0);
  CHECK_INT (plait_grid_count (other.grid, PLAIT_CELL_TRAINED), 2);
  g_autoptr (PlaitGridCost) again = plait_grid_cost_new (other.grid, NULL);
  CHECK_INT (again->n_ran, 2);
  CHECK (again->seconds > 0);
}

/* The first seed of each combiner is measured, if no seed has run. Nothing is written. A failure is reported for its
 * cell. */
TEST_CASE (grid, measures_the_speed_of_what_has_not_run)
{
  const PlaitGridOptions options = { .threads = 1 };

  test_write_faulty ();
  test_grid_write ("decoder.combiner=serial\nexperiment.seed=2\n");
  test_grid_run_all ("cells", 1, NULL);
  test_grid_write ("decoder.combiner=serial;flat;faulty\nexperiment.seed=1;2\ncombiner.fault=crash\n"
                   "only.combiner.fault=decoder.combiner=faulty\n");
  g_auto (TestGrid) opened = test_grid_open ("cells", NULL, 0);
  g_auto (TestGrid) new = test_grid_open ("new", NULL, 0);
  g_autoptr (PlaitGridCost) cost = plait_grid_cost_new (opened.grid, &options);
  g_autoptr (PlaitGridCost) beside = plait_grid_cost_new (new.grid, &options);
  const PlaitGridCell *items = opened.grid->items;

  REQUIRE (opened.grid->n == 6);
  CHECK_INT (cost->n_ran, 1);
  CHECK_INT (cost->n_measured, 1);
  CHECK (!cost->cells[1].like && cost->cells[0].like == &items[1] && !cost->cells[0].measured);
  CHECK (cost->cells[2].like == &items[2] && cost->cells[2].measured && cost->cells[2].seconds > 0);
  CHECK (cost->cells[2].bytes > 1 << 20);
  /* The estimate does not come from the cell of the other combiner with the same seed. */
  CHECK (cost->cells[3].like == &items[2] && cost->cells[3].measured);
  CHECK_CONTAINS (cost->cells[4].fault, "crashed (signal 11");
  CHECK (!cost->cells[5].fault && cost->cells[5].like);
  CHECK_INT (beside->n_measured, 2);
  CHECK (!plait_test_exists (new.grid->folder));
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

  return plait_digest_file (path, NULL);
}

TEST_CASE (grid, does_not_run_finished_cells_again)
{
  test_grid_write (TEST_TWO_BY_TWO);
  {
    g_auto (TestGrid) first = test_grid_open ("cells", NULL, 0);

    CHECK_INT (plait_grid_count (first.grid, PLAIT_CELL_NEW), 4);
    CHECK (!plait_test_exists (first.grid->folder));
    test_grid_run (&first, 1);
    CHECK_INT (plait_grid_count (first.grid, PLAIT_CELL_FINISHED), 4);
  }
  g_auto (TestGrid) second = test_grid_open ("cells", NULL, 0);
  g_auto (GStrv) before = g_new0 (char *, 5);

  CHECK_INT (plait_grid_count (second.grid, PLAIT_CELL_FINISHED), 4);
  for (guint i = 0; i < 4; i++)
    before[i] = digest_cell (second.grid, i);
  test_grid_run (&second, 1);
  for (guint i = 0; i < 4; i++)
    {
      g_autofree char *now = digest_cell (second.grid, i);

      /* If the file had been rewritten, another time would be in it. */
      CHECK_STRING (now, before[i]);
    }
}

TEST_CASE (grid, tells_which_setting_changed)
{
  g_autofree char *before = NULL;

  test_grid_write (TEST_TWO_BY_TWO);
  test_grid_run_all ("cells", 1, NULL);

  g_auto (TestGrid) changed
      = test_grid_open ("cells", (const char *[]){ "combiner.projections=separate", "train.log_every=7", NULL }, 0);
  CHECK_INT (plait_grid_count (changed.grid, PLAIT_CELL_FINISHED), 2);
  CHECK_INT (plait_grid_count (changed.grid, PLAIT_CELL_STALE), 2);
  CHECK_INT (find_cell (changed.grid, "decoder.combiner=serial experiment.seed=2")->state, PLAIT_CELL_FINISHED);
  CHECK_STRING (find_cell (changed.grid, "decoder.combiner=flat experiment.seed=2")->note,
                "combiner.projections was shared, is separate");

  /* The old file stays until the new run is finished. */
  gint stop = 1;
  PlaitGridOptions options = { .jobs = 1, .threads = 1, .stop = &stop };
  g_autoptr (GError) error = NULL;
  before = digest_cell (changed.grid, 3);
  CHECK (!plait_grid_run (changed.grid, &options, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INTERRUPTED, "run the same command to continue");
  g_autofree char *kept = digest_cell (changed.grid, 3);
  CHECK_STRING (kept, before);

  test_grid_run (&changed, 1);
  CHECK_INT (plait_grid_count (changed.grid, PLAIT_CELL_FINISHED), 4);
  g_autofree char *replaced = digest_cell (changed.grid, 3);
  CHECK (g_strcmp0 (replaced, before) != 0);
}

/* Settings of search and evaluation are not in the training fingerprint: when they change, cells are evaluated again
 * without training. */
TEST_CASE (grid, evaluates_finished_cells_again_and_does_not_train_them)
{
  static const char bias[] = "/training/updates/seconds"; /* times, which differ after another training */
  const char *other[] = { "evaluate.metrics=chrf++", "decode.maximum_length=6", NULL };
  double before[4], after[4];

  test_grid_write (TEST_TWO_BY_TWO);
  test_grid_run_all ("cells", 1, NULL);

  g_auto (TestGrid) changed = test_grid_open ("cells", other, 0);
  CHECK_INT (plait_grid_count (changed.grid, PLAIT_CELL_TRAINED), 4);
  CHECK_STRING (changed.grid->items[0].note,
                "decode.maximum_length was 8, is 6; evaluate.metrics was bleu;chrf, is chrf++");
  for (guint i = 0; i < 4; i++)
    {
      g_autofree char *path = plait_grid_file (changed.grid, &changed.grid->items[i], ".h5");
      g_autoptr (PlaitStore) run = plait_store_open (path, NULL);

      CHECK (run && plait_store_read_rows (run, bias, PLAIT_STORE_DOUBLE, 0, 1, 1, &before[i], NULL));
    }

  /* After an interruption, the cells still wait for their evaluation. */
  gint stop = 1;
  PlaitGridOptions options = { .jobs = 1, .threads = 1, .stop = &stop };
  g_autoptr (GError) error = NULL;
  CHECK (!plait_grid_run (changed.grid, &options, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INTERRUPTED, "run the same command to continue");
  CHECK_INT (plait_grid_count (changed.grid, PLAIT_CELL_TRAINED), 4);

  test_grid_run (&changed, 2);
  CHECK_INT (plait_grid_count (changed.grid, PLAIT_CELL_FINISHED), 4);
  for (guint i = 0; i < 4; i++)
    {
      g_autofree char *path = plait_grid_file (changed.grid, &changed.grid->items[i], ".h5");
      g_autoptr (PlaitStore) run = plait_store_open (path, NULL);

      CHECK (run && plait_store_read_rows (run, bias, PLAIT_STORE_DOUBLE, 0, 1, 1, &after[i], NULL));
      CHECK_NEAR (after[i], before[i], 0);
      CHECK (plait_run_result_find (changed.grid->items[i].result, "test", "chrf++"));
      CHECK (!plait_run_result_find (changed.grid->items[i].result, "test", "bleu"));
    }
  g_auto (TestGrid) again = test_grid_open ("cells", other, 0);
  CHECK_INT (plait_grid_count (again.grid, PLAIT_CELL_FINISHED), 4);
}

/* The run does not store the digest of a file of scores, so only its fingerprint shows that the file has changed. */
TEST_CASE (grid, evaluates_again_when_a_file_of_scores_changed)
{
  const char *with_scores[]
      = { plait_test_format ("evaluate.scores.mine=file:%s", plait_test_path ("numbers.txt")), NULL };

  plait_test_write_grid ("experiment.seed=1\n");
  plait_test_write ("numbers.txt", "1\n2\n3\n4\n5\n6\n");
  test_grid_run_all ("cells", 1, with_scores);
  {
    g_auto (TestGrid) same = test_grid_open ("cells", with_scores, 0);

    CHECK_INT (plait_grid_count (same.grid, PLAIT_CELL_FINISHED), 1);
  }
  plait_test_write ("numbers.txt", "1\n2\n3\n4\n5\n9\n");
  g_auto (TestGrid) changed = test_grid_open ("cells", with_scores, 0);
  CHECK_INT (changed.grid->items[0].state, PLAIT_CELL_TRAINED);
  CHECK_STRING (changed.grid->items[0].note, "the file of evaluate.scores.mine may have changed");
}

/* Cells that differ only in evaluation are trained once. */
TEST_CASE (grid, trains_once_what_only_evaluation_tells_apart)
{
  static const char seconds[] = "/training/updates/seconds";
  double first = 0, second = 0;

  test_grid_write ("decode.beam=1;2\n");
  test_grid_run_all ("cells", 2, NULL);
  {
    g_auto (TestGrid) both = test_grid_open ("cells", NULL, 0);
    g_autofree char *one = plait_grid_file (both.grid, &both.grid->items[0], ".h5");
    g_autofree char *two = plait_grid_file (both.grid, &both.grid->items[1], ".h5");
    g_autoptr (PlaitStore) a = plait_store_open (one, NULL);
    g_autoptr (PlaitStore) b = plait_store_open (two, NULL);

    CHECK (a && b && plait_store_read_rows (a, seconds, PLAIT_STORE_DOUBLE, 0, 1, 1, &first, NULL)
           && plait_store_read_rows (b, seconds, PLAIT_STORE_DOUBLE, 0, 1, 1, &second, NULL));
    CHECK_NEAR (second, first, 0);
  }

  /* Another search needs no training either. */
  test_grid_write ("decode.beam=1;2;3\n");
  g_auto (TestGrid) more = test_grid_open ("cells", NULL, 0);
  CHECK_INT (plait_grid_count (more.grid, PLAIT_CELL_FINISHED), 2);
  CHECK_INT (plait_grid_count (more.grid, PLAIT_CELL_TRAINED), 1);
  g_auto (TestGrid) late = test_grid_open ("cells", NULL, 0);
  test_grid_run (&more, 1);
  CHECK_INT (plait_grid_count (more.grid, PLAIT_CELL_FINISHED), 3);
  g_clear_pointer (&more.grid, plait_grid_free);

  /* A cell that another process has evaluated in the meantime is not evaluated again. */
  g_autofree char *before = digest_cell (late.grid, 2);
  CHECK_INT (plait_grid_count (late.grid, PLAIT_CELL_TRAINED), 1);
  test_grid_run (&late, 1);
  g_autofree char *after = digest_cell (late.grid, 2);
  CHECK_INT (plait_grid_count (late.grid, PLAIT_CELL_FINISHED), 3);
  CHECK_STRING (after, before);
}

/* Changes the run at @path into one of an older plait, with other fingerprints and without @setting ("KEY=VALUE"). */
static void
make_older (const char *path, const char *setting)
{
  g_autoptr (PlaitStore) from = plait_store_open (path, NULL);
  g_autoptr (PlaitStore) to = plait_store_create (path, NULL);
  g_autofree char *text = plait_store_get_string (from, "/", "experiment", NULL);
  g_auto (GStrv) parts = g_strsplit (text, plait_test_format ("%s\n", setting), -1);
  g_autofree char *less = g_strjoinv ("", parts);

  CHECK_INT (g_strv_length (parts), 2);
  CHECK (to && plait_store_copy (to, from, "/", NULL) && plait_store_set_string (to, "/", "experiment", less, NULL)
         && plait_store_set_string (to, "/", "key", "another", NULL)
         && plait_store_set_string (to, "/", "training_key", "another", NULL) && plait_store_commit (to, NULL));
}

/* If plait has got a new setting since the run, the setting has its default in the grid, so nothing has changed. */
TEST_CASE (grid, keeps_cells_of_a_plait_that_knew_fewer_settings)
{
  static const char setting[] = "window=1";
  double trained[2];

  test_grid_write ("experiment.seed=1;2\n");
  test_grid_run_all ("cells", 1, NULL);
  {
    g_auto (TestGrid) opened = test_grid_open ("cells", NULL, 0);
    g_autofree char *finished = plait_grid_file (opened.grid, &opened.grid->items[0], ".h5");
    g_autofree char *second = plait_grid_file (opened.grid, &opened.grid->items[1], ".h5");
    g_autofree char *partial = plait_grid_file (opened.grid, &opened.grid->items[1], ".training.h5");
    g_autoptr (PlaitStore) run = NULL;

    for (guint i = 0; i < 2; i++)
      trained[i] = seconds_of (opened.grid, i, "training");
    make_older (finished, setting);
    make_older (second, setting);
    g_assert_cmpint (g_rename (second, partial), ==, 0);
    run = plait_store_open (partial, NULL);
    g_autoptr (PlaitStore) training = plait_store_create (partial, NULL);
    CHECK (training && plait_store_copy (training, run, "/", NULL)
           && plait_store_set_string (training, "/", "status", "training", NULL)
           && plait_store_commit (training, NULL));
  }
  g_auto (TestGrid) kept = test_grid_open ("cells", NULL, 0);
  CHECK_STRING (kept.grid->items[0].note, NULL);
  CHECK_INT (kept.grid->items[0].state, PLAIT_CELL_FINISHED);
  CHECK_INT (kept.grid->items[1].state, PLAIT_CELL_PARTIAL);
  g_autoptr (PlaitGridCost) cost = plait_grid_cost_new (kept.grid, NULL);
  CHECK_NEAR (cost->seconds, seconds_of (kept.grid, 0, "evaluation/test") + MAX (0, trained[0] - trained[1]), 1e-9);
  test_grid_run (&kept, 1);
  CHECK_INT (plait_grid_count (kept.grid, PLAIT_CELL_FINISHED), 2);

  g_auto (TestGrid) changed = test_grid_open ("cells", (const char *[]){ "train.window=2", NULL }, 0);
  CHECK_INT (plait_grid_count (changed.grid, PLAIT_CELL_STALE), 2);
  CHECK_STRING (changed.grid->items[0].note, "train.window was not there, is 2");
}

TEST_CASE (grid, tells_which_plugin_changed)
{
  const char *module = plait_test_build_path ("plugins/combiner/flat.so");

  const char *schema = plait_test_read_text (plait_test_build_path ("plugins/combiner/flat.ini"));
  test_grid_write (TEST_TWO_BY_TWO);
  test_grid_run_all ("cells", 1, NULL);
  test_write_plugin ("flat", schema, module, "x");

  g_auto (TestGrid) changed = test_grid_open ("cells", NULL, 0);
  CHECK_INT (plait_grid_count (changed.grid, PLAIT_CELL_FINISHED), 2);
  CHECK_STRING (find_cell (changed.grid, "decoder.combiner=flat experiment.seed=1")->note,
                "the module of combiner flat has changed");
  test_grid_run (&changed, 1);
  CHECK_INT (plait_grid_count (changed.grid, PLAIT_CELL_FINISHED), 4);
}

/* Writes the generated corpus to files, and an experiment that reads them and a vocabulary file. */
static void
write_file_grid (void)
{
  const char *corpus = plait_test_path ("corpus");
  const char *vocabulary_path = plait_test_path ("corpus/words");
  g_autoptr (GError) error = NULL;
  const PlaitTask *task = plait_task_find ("agreement", &error);
  g_auto (PlaitTaskSettings) settings = plait_task_defaults (task);
  PlaitVocabularySettings words = PLAIT_VOCABULARY_DEFAULTS;
  g_autoptr (PlaitVocabulary) vocabulary = NULL;
  g_auto (GStrv) parts = g_strsplit (test_grid_text, "generate=agreement\n", 2);
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
  plait_test_write ("tiny.ini", text);
}

TEST_CASE (grid, tells_which_file_changed)
{
  const char *test_b = plait_test_path ("corpus/test.b");
  const char *words = plait_test_path ("corpus/words");

  write_file_grid ();
  test_grid_run_all ("cells", 1, NULL);
  plait_test_append (words, "zzz\t0\n");
  {
    g_auto (TestGrid) changed = test_grid_open ("cells", NULL, 0);

    CHECK_INT (plait_grid_count (changed.grid, PLAIT_CELL_STALE), 2);
    CHECK_STRING (changed.grid->items[0].note, "the file of data.vocabulary.shared has changed");
  }
  write_file_grid ();
  {
    g_auto (TestGrid) same = test_grid_open ("cells", NULL, 0);

    CHECK_INT (plait_grid_count (same.grid, PLAIT_CELL_FINISHED), 2);
  }
  plait_test_append (test_b, " ");
  g_auto (TestGrid) changed = test_grid_open ("cells", NULL, 0);
  CHECK_INT (find_cell (changed.grid, "experiment.sources=a")->state, PLAIT_CELL_FINISHED);
  CHECK_STRING (find_cell (changed.grid, "experiment.sources=a+b")->note, "the file of data.test.b has changed");
}

TEST_CASE (grid, runs_only_new_cells_and_excludes)
{
  test_grid_write (TEST_TWO_BY_TWO);
  test_grid_run_all ("cells", 1, NULL);
  test_grid_write ("decoder.combiner=serial;flat;parallel\nexperiment.seed=1;2\n"
                   "exclude=decoder.combiner=flat|parallel & experiment.seed=2\n");
  {
    g_auto (TestGrid) other = test_grid_open ("cells", NULL, 0);

    CHECK_INT (other.grid->n, 4);
    CHECK_INT (plait_grid_count (other.grid, PLAIT_CELL_FINISHED), 3);
    CHECK_INT (find_cell (other.grid, "decoder.combiner=parallel experiment.seed=1")->state, PLAIT_CELL_NEW);
    CHECK_INT (other.grid->cells->n_excluded, 2);
    REQUIRE (other.grid->cells->n_exclusions == 1);
    CHECK_STRING (other.grid->cells->exclusions[0].rule, "decoder.combiner=flat|parallel & experiment.seed=2");
    CHECK_INT (other.grid->cells->exclusions[0].n_cells, 2);
    /* The run of the cell that was left out still exists. */
    CHECK_INT (g_strv_length (other.grid->unclaimed), 1);
  }
  /* A new axis changes the labels of the cells, but not their runs. */
  test_grid_write ("decoder.layers=1\n" TEST_TWO_BY_TWO);
  g_auto (TestGrid) named = test_grid_open ("cells", NULL, 0);
  CHECK_INT (plait_grid_count (named.grid, PLAIT_CELL_FINISHED), 4);
  CHECK (named.grid->items[0].found != NULL);
  test_grid_run (&named, 1);
  CHECK_INT (plait_grid_count (named.grid, PLAIT_CELL_FINISHED), 4);
  g_auto (TestGrid) settled = test_grid_open ("cells", NULL, 0);
  CHECK (!settled.grid->items[0].found);
  CHECK_INT (g_strv_length (settled.grid->unclaimed), 0);
}

TEST_CASE (grid, takes_the_first_of_several_runs_that_are_its_own)
{
  static const char *const names[] = { "c.h5", "a.h5", "b.h5" };
  const char *first = plait_test_path ("cells/a.h5");

  test_grid_write ("experiment.seed=1\n");
  test_grid_run_all ("cells", 1, NULL);
  {
    g_auto (TestGrid) opened = test_grid_open ("cells", NULL, 0);
    g_autofree char *path = plait_grid_file (opened.grid, &opened.grid->items[0], ".h5");

    for (guint i = 0; i < G_N_ELEMENTS (names); i++)
      {
        g_autofree char *copy = g_build_filename (opened.grid->folder, names[i], NULL);

        plait_test_copy (path, copy);
      }
    REQUIRE (g_unlink (path) == 0);
  }
  g_auto (TestGrid) opened = test_grid_open ("cells", NULL, 0);
  CHECK_INT (opened.grid->items[0].state, PLAIT_CELL_FINISHED);
  CHECK_STRING (opened.grid->items[0].found, "a.h5");
  REQUIRE (g_strv_length (opened.grid->unclaimed) == 2);
  CHECK_STRING (opened.grid->unclaimed[0], "b.h5");
  CHECK_STRING (opened.grid->unclaimed[1], "c.h5");
  test_grid_run (&opened, 1);
  CHECK (!plait_test_exists (first));
}

TEST_CASE (grid, runs_damaged_cells_again)
{
  test_grid_write ("experiment.seed=1\n");
  test_grid_run_all ("cells", 1, NULL);

  g_auto (TestGrid) opened = test_grid_open ("cells", NULL, 0);
  g_autofree char *path = plait_grid_file (opened.grid, &opened.grid->items[0], ".h5");
  g_autofree char *bytes = NULL;
  gsize length = 0;
  REQUIRE (g_file_get_contents (path, &bytes, &length, NULL));
  bytes[length / 2] ^= 1;
  plait_test_write_bytes (path, bytes, length);

  g_auto (TestGrid) damaged = test_grid_open ("cells", NULL, 0);
  CHECK_INT (damaged.grid->items[0].state, PLAIT_CELL_STALE);
  CHECK_CONTAINS (damaged.grid->items[0].note, path);
  test_grid_run (&damaged, 1);
  CHECK_INT (damaged.grid->items[0].state, PLAIT_CELL_FINISHED);

  g_auto (TestGrid) fresh = test_grid_open ("cells", NULL, TRUE);
  CHECK_INT (fresh.grid->items[0].state, PLAIT_CELL_STALE);
}

/* A notebook was killed while it had a finished cell open. The grid is refused, and the message names the command that
 * mends the file. */
TEST_CASE (grid, refuses_cells_that_were_left_open)
{
  enum
  {
    FLAGS = 512 + 11 /* offset of the flags in the superblock of the HDF5 file */
  };
  test_grid_write ("experiment.seed=1\n");
  test_grid_run_all ("cells", 1, NULL);

  g_auto (TestGrid) opened = test_grid_open ("cells", NULL, 0);
  g_autofree char *path = plait_grid_file (opened.grid, &opened.grid->items[0], ".h5");
  g_autofree char *bytes = NULL;
  gsize length = 0;
  GError *error = NULL;
  REQUIRE (g_file_get_contents (path, &bytes, &length, NULL));
  bytes[FLAGS] = 1;
  plait_test_write_bytes (path, bytes, length);
  CHECK (!plait_grid_check_cells (opened.grid, &error));
  CHECK_ERROR (error, PLAIT_ERROR_CORRUPT, "h5clear -s ");
}
