/* SPDX-License-Identifier: MIT */
#include <glib/gstdio.h>

#include "experiments.h"
#include "files.h"
#include "harness.h"
#include "hdf5/walk.h"
#include "run/result.h"
#include "scoring/test.h"
#include "runs.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Tests that training and evaluation are separate: a finished run is evaluated with other settings without training
 * again. */

/* Removes the metric from the table of validations, because the metric depends on settings of the search. */
#define QUIET "train.metric="

static char *
read_key (const char *path, const char *name)
{
  g_autoptr (PlaitStore) run = plait_store_open (path, NULL);

  return run ? plait_store_get_string (run, "/", name, NULL) : NULL;
}

/* Adds the path and the numbers of a dataset to the checksum @data. A PlaitStoreVisitor. */
static PlaitStoreWalkAction
add_to_digest (PlaitStore *run, const PlaitStoreVisit *visit, gpointer data, GError **error)
{
  GChecksum *sum = data;
  gint64 n = 0;
  CONTEXT ("%s", visit->path);

  if (visit->object.kind == PLAIT_STORE_DATASET)
    {
      g_autofree double *values = plait_store_read_array (run, visit->path, PLAIT_STORE_DOUBLE, 1 << 20, &n, NO_ERROR);

      CHECK (values != NULL);
      g_checksum_update (sum, (const guchar *)visit->path, -1);
      g_checksum_update (sum, (const guchar *)values, (gssize)(n * (gint64)sizeof *values));
    }
  return PLAIT_STORE_WALK_CONTINUE;
}

/* Returns a digest of all checkpoints and of the training tables with their times. A run that was trained again has
 * other times. (transfer full) */
static char *
digest_training (const char *path)
{
  g_autoptr (PlaitStore) run = plait_store_open (path, NO_ERROR);
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);

  CHECK (run && plait_store_has (run, "/checkpoint/last/parameters/embedding")
         && plait_store_has (run, "/training/updates/seconds")
         && plait_store_walk (run, "/checkpoint", 20, add_to_digest, sum, NO_ERROR)
         && plait_store_walk (run, "/training", 20, add_to_digest, sum, NO_ERROR));
  return g_strdup (g_checksum_get_string (sum));
}

/* Checks that the file @path has the bytes @expected. */
static void
check_unchanged (const char *path, GBytes *expected)
{
  g_autoptr (GBytes) now = plait_test_read (path);

  CHECK (g_bytes_equal (now, expected));
}

static PlaitRunOutcome
run_again (const char *path, const char *const *overrides, const char *output, GError **error)
{
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  g_autoptr (PlaitExperiment) experiment = test_load (path, overrides, registry, error);
  PlaitRunOptions options = { .output = output, .command = "test", .threads = 1, .resume = TRUE };
  PlaitRunOutcome outcome = PLAIT_RUN_COMPLETE;

  if (experiment)
    plait_run (experiment, &options, &outcome, error);
  return outcome;
}

static double
score_of (const char *path, const char *split, const char *metric)
{
  g_autoptr (PlaitStore) store = plait_store_open (path, NULL);
  g_autoptr (PlaitRunResult) result = store ? plait_run_result_new (store, NULL) : NULL;
  const PlaitRunScore *score = result ? plait_run_result_find (result, split, metric) : NULL;

  CHECK (score);
  return score ? score->score : -1;
}

TEST_CASE (stages, a_finished_run_is_evaluated_otherwise_and_not_trained_again)
{
  const char *experiment = test_write_experiment ("tiny", NULL);
  const char *output = plait_test_path ("run.h5");
  const char *anew = plait_test_path ("anew.h5");
  const char *first[] = { QUIET, NULL };
  const char *other[] = { QUIET, "evaluate.metrics=chrf++", "decode.beam=1", "evaluate.attention=2", NULL };
  GError *error = NULL;

  CHECK (test_run_with (experiment, first, output, FALSE, NULL, NO_ERROR));
  g_autofree char *before = digest_training (output);
  g_autofree char *training_fingerprint = read_key (output, "training_key");
  CHECK_INT (run_again (experiment, first, output, NO_ERROR), PLAIT_RUN_ALREADY_COMPLETE);
  CHECK_INT (run_again (experiment, other, output, NO_ERROR), PLAIT_RUN_EVALUATED);
  g_autofree char *after = digest_training (output);
  g_autofree char *same_key = read_key (output, "training_key");
  CHECK_STRING (after, before);
  CHECK_STRING (same_key, training_fingerprint);
  CHECK (test_run_with (experiment, other, anew, FALSE, NULL, NO_ERROR));
  test_check_same_run (output, anew);
  CHECK_INT (
      run_again (experiment, (const char *[]){ QUIET, "train.seed=4", "experiment.seed=4", NULL }, output, &error),
      PLAIT_RUN_COMPLETE);
  g_clear_error (&error);
  CHECK_INT (run_again (experiment, (const char *[]){ QUIET, "experiment.seed=4", NULL }, output, &error),
             PLAIT_RUN_COMPLETE);
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "is a run of another experiment");
}

/* Another version of plait has computed the fingerprint differently. Settings, data and plugins show that the training
 * is the same. */
TEST_CASE (stages, a_run_whose_key_was_made_otherwise_is_gone_on_with)
{
  const char *experiment = test_write_experiment ("tiny", NULL);
  const char *output = plait_test_path ("run.h5");
  const char *quiet[] = { QUIET, NULL };
  g_autofree char *before = NULL, *after = NULL;

  CHECK (test_run_with (experiment, quiet, output, FALSE, NULL, NO_ERROR));
  before = digest_training (output);
  {
    g_autoptr (PlaitStore) from = plait_store_open (output, NULL);
    g_autoptr (PlaitStore) to = plait_store_create (output, NULL);

    CHECK (from && to && plait_store_copy (to, from, "/", NULL)
           && plait_store_set_string (to, "/", "training_key", "another", NULL) && plait_store_commit (to, NULL));
  }
  CHECK_INT (run_again (experiment, quiet, output, NO_ERROR), PLAIT_RUN_ALREADY_COMPLETE);
  after = digest_training (output);
  CHECK_STRING (after, before);
}

/* If translations choose the best parameters, settings of the search belong to training. */
TEST_CASE (stages, a_search_that_training_used_is_not_set_otherwise)
{
  const char *experiment = test_write_experiment ("tiny", NULL);
  const char *output = plait_test_path ("run.h5");
  PlaitTestOptions options = { .threads = 1 };
  PlaitTestOptions beside = { .threads = 1, .name = "greedy" };
  PlaitTestOutcome outcome;
  const char *search[] = { "decode.beam=1", NULL };
  GError *error = NULL;

  CHECK (test_run_with (experiment, (const char *[]){ "train.best_by=metric", NULL }, output, FALSE, NULL, &error));
  CHECK (!plait_test_file (output, test_overrides (search), &options, &outcome, &error));
  CHECK_ERROR (
      error, PLAIT_ERROR_INPUT,
      "the training of this run depends on these settings: decode.beam was 2, is 1; leave them out, add --as NAME (");
  CHECK (plait_test_file (output, test_overrides (search), &beside, &outcome, NO_ERROR));
  CHECK_INT (outcome.made, 1);
}

TEST_CASE (stages, an_average_is_evaluated_and_kept_beside_the_best)
{
  const char *experiment = test_write_experiment ("tiny", NULL);
  const char *output = plait_test_path ("run.h5");
  const char *own = plait_test_path ("own.h5");
  const char *first[] = { QUIET, NULL };
  const char *average[] = { "evaluate.checkpoint=average", NULL };
  PlaitTestOptions beside = { .threads = 1, .name = "average" };
  PlaitTestOutcome outcome;

  CHECK (test_run_with (experiment, first, output, FALSE, NULL, NO_ERROR));
  CHECK (test_run_with (experiment, (const char *[]){ QUIET, average[0], NULL }, own, FALSE, NULL, NO_ERROR));
  g_autofree char *key = read_key (output, "key");
  CHECK (plait_test_file (output, test_overrides (average), &beside, &outcome, NO_ERROR));
  CHECK_INT (outcome.made, 1);
  CHECK_NEAR (score_of (output, "test.average", "perplexity"), score_of (own, "test", "perplexity"), 0);
  CHECK (score_of (output, "test", "perplexity") != score_of (own, "test", "perplexity"));
  g_autofree char *kept = read_key (output, "key");
  CHECK_STRING (kept, key);

  /* If the same evaluation is made again, no byte of the file changes. */
  g_autoptr (GBytes) evaluated = plait_test_read (output);
  CHECK (plait_test_file (output, test_overrides (average), &beside, &outcome, NO_ERROR));
  CHECK_INT (outcome.made, 0);
  check_unchanged (output, evaluated);

  /* When the run is evaluated with other settings, the additional evaluation is removed. */
  CHECK_INT (run_again (experiment, (const char *[]){ QUIET, "evaluate.metrics=chrf++", NULL }, output, NO_ERROR),
             PLAIT_RUN_EVALUATED);
  g_autoptr (PlaitStore) run = plait_store_open (output, NULL);
  CHECK (run && plait_store_has (run, "/evaluation/test") && !plait_store_has (run, "/evaluation/test.average"));
}

TEST_CASE (stages, an_average_that_is_not_kept_is_refused_before_training)
{
  const char *experiment = test_write_experiment ("tiny", NULL);
  const char *output = plait_test_path ("run.h5");
  GError *error = NULL;

  CHECK (!test_run_with (experiment, (const char *[]){ "train.average=0", "evaluate.checkpoint=average", NULL }, output,
                         FALSE, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "there is no average to evaluate, because train.average is 0");
  CHECK (!plait_test_exists (output));
}

/* A new test split is added, and the evaluated split is kept. Neither the training text nor the files of other splits
 * need exist. */
TEST_CASE (stages, a_split_is_added_without_the_training_text)
{
  static const char text[]
      = "[experiment]\nname=files\nseed=3\n[data]\nvocabulary_type=words\nvocabulary_size=0\n"
        "train.a=train.a\ntrain.b=train.b\ntest.a=test.a\ntest.b=test.b\ntarget=b\n" SMALL_SOURCE ("a")
            SMALL_DECODER ("flat") "[train]\nupdates=3\nbatch=2\n[decode]\nmaximum_length=8\n[evaluate]\nresamples=0\n";
  static const char *const names[] = { "train.a", "train.b", "test.a", "test.b", "more.a", "more.b" };
  const char *output = plait_test_path ("run.h5");
  PlaitTestOptions options = { .threads = 1 };
  PlaitTestOutcome outcome;
  GError *error = NULL;

  const char *experiment = plait_test_write ("files.ini", text);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      const char *path = plait_test_path (names[i]);

      plait_test_write (path, i < 2 ? "a b c\nc b\nb a a\na\n" : "a c\nb b c\n");
    }
  CHECK (test_run_with (experiment, NULL, output, FALSE, NULL, NO_ERROR));
  for (guint i = 0; i < 4; i++)
    {
      const char *path = plait_test_path (names[i]);

      CHECK (g_unlink (path) == 0);
    }
  const char *a = plait_test_path ("more.a");
  g_autofree char *set_a = g_strconcat ("data.test2.a=", a, NULL);
  const char *more[] = { set_a, plait_test_format ("data.test2.b=%s", plait_test_path ("more.b")), NULL };
  CHECK (plait_test_file (output, test_overrides (more), &options, &outcome, NO_ERROR));
  CHECK_INT (outcome.made, 1);
  CHECK_INT (outcome.kept, 1);
  CHECK_NEAR (score_of (output, "test2", "chrf"), score_of (output, "test", "chrf"), 0);

  /* The run has a split of this name, but its evaluation does not count, since the file is missing. */
  CHECK (!plait_test_file (output, test_overrides ((const char *[]){ "data.test2.a=/nowhere", NULL }), &options,
                           &outcome, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "/nowhere");
  g_clear_error (&error);

  /* If a file has changed, the split must be evaluated again. */
  plait_test_write (a, "c\nb\n");
  CHECK (plait_test_file (output, NULL, &options, &outcome, &error));
  CHECK_INT (outcome.made, 1);
  CHECK (!plait_test_file (output, test_overrides ((const char *[]){ "data.train.a=/nowhere", NULL }), &options,
                           &outcome, &error)
         || outcome.made == 0);
  g_clear_error (&error);
}

/* Locks the run @output in a forked process, which keeps the lock until it is killed. Returns its process number. */
static pid_t
lock_elsewhere (const char *output)
{
  int ready[2];
  char byte = 0;

  CHECK (pipe (ready) == 0);
  pid_t holder = fork ();
  if (holder == 0)
    {
      PlaitRunOutput *held = plait_run_output_new (output, TRUE, NULL, NULL);

      if (held && write (ready[1], "h", 1) == 1)
        pause ();
      _exit (1);
    }
  close (ready[1]);
  CHECK (read (ready[0], &byte, 1) == 1);
  close (ready[0]);
  return holder;
}

/* A file is left unchanged if its evaluation is interrupted, if another process has locked it, and if it is damaged. */
TEST_CASE (stages, a_file_that_cannot_be_evaluated_is_left_alone)
{
  const char *experiment = test_write_experiment ("tiny", NULL);
  const char *output = plait_test_path ("run.h5");
  gint stop = 1;
  int status;
  const char *search[] = { "decode.beam=1", NULL };
  PlaitTestOptions stopped = { .threads = 1, .stop = &stop };
  PlaitTestOptions options = { .threads = 1 };
  PlaitTestOutcome outcome;
  GError *error = NULL;

  CHECK (test_run_with (experiment, (const char *[]){ QUIET, NULL }, output, FALSE, NULL, &error));
  g_autoptr (GBytes) whole = plait_test_read (output);
  CHECK (!plait_test_file (output, test_overrides (search), &stopped, &outcome, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INTERRUPTED, "");
  check_unchanged (output, whole);

  pid_t holder = lock_elsewhere (output);
  CHECK (!plait_test_file (output, test_overrides (search), &options, &outcome, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT,
               plait_test_format ("another plait run is writing this file (process %d on", (int)holder));
  check_unchanged (output, whole);
  kill (holder, SIGKILL);
  CHECK_INT (waitpid (holder, &status, 0), holder);

  gsize n;
  g_autofree char *bytes = g_memdup2 (g_bytes_get_data (whole, &n), g_bytes_get_size (whole));
  g_autoptr (GBytes) damaged = NULL;
  bytes[n / 2] ^= 1;
  damaged = g_bytes_new (bytes, n);
  plait_test_write_bytes (output, bytes, (gssize)n);
  CHECK (!plait_test_file (output, test_overrides (search), &options, &outcome, &error));
  CHECK_ERROR (error, PLAIT_ERROR_CORRUPT, "");
  check_unchanged (output, damaged);
}

/* A run that is trained further equals one long training, except for times. */
TEST_CASE (stages, a_finished_run_trains_further_to_the_same_bits)
{
  const char *experiment = test_write_experiment ("tiny", NULL);
  const char *output = plait_test_path ("run.h5");
  const char *whole = plait_test_path ("whole.h5");
  /* The log has a row for every fifth update, so it has no row where the first training ends. */
  const char *first[] = { "train.validate_every=6", "train.epochs=0", "train.updates=12", NULL };
  const char *longer[] = { "train.validate_every=6", "train.epochs=0", "train.updates=20", NULL };
  const char *linear[]
      = { "train.validate_every=5", "train.schedule=linear", "train.epochs=0", "train.updates=10", NULL };
  const char *linear_longer[]
      = { "train.validate_every=5", "train.schedule=linear", "train.epochs=0", "train.updates=20", NULL };
  GError *error = NULL;

  CHECK (test_run_with (experiment, first, output, FALSE, NULL, NO_ERROR));
  CHECK (test_run_with (experiment, longer, whole, FALSE, NULL, NO_ERROR));
  CHECK_INT (run_again (experiment, longer, output, NO_ERROR), PLAIT_RUN_COMPLETE);
  test_check_same_run (output, whole);
  CHECK_INT (run_again (experiment, longer, output, &error), PLAIT_RUN_ALREADY_COMPLETE);
  run_again (experiment, first, output, &error);
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "as train.epochs, train.updates or train.patience asks");
  test_check_same_run (output, whole);

  const char *falling = plait_test_path ("falling.h5");
  CHECK (test_run_with (experiment, linear, falling, FALSE, NULL, &error));
  run_again (experiment, linear_longer, falling, &error);
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "train.schedule=linear has reduced the learning rate at the last update");
}
