/* SPDX-License-Identifier: MIT */
#include "scoring/test.h"
#include "setup/trained.h"
#include "files.h"
#include "harness.h"
#include "runs.h"

#include <glib/gstdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Tests of the checkpoints that train.keep keeps. The experiment makes 20 updates, with validations after 7, 14 and
 * 20. */

#define WEIGHT "decoder/layer/0/feed_forward/inner/weight"

/* Returns the values [@n] of the parameter WEIGHT in checkpoint @name of @run. (transfer full) */
static double *
read_weight (PlaitStore *run, const char *name, gint64 *n)
{
  g_autofree char *path = plait_checkpoint_path (run, name, NO_ERROR);
  g_autofree char *weight = g_strconcat (path, "/" WEIGHT, NULL);

  return plait_store_read_array (run, weight, PLAIT_STORE_DOUBLE, 1 << 20, n, NO_ERROR);
}

static int
compare_names (const void *a, const void *b)
{
  return strcmp (*(const char *const *)a, *(const char *const *)b);
}

/* Checks that @run has the checkpoints @expected, a sorted list separated by blanks. */
static void
check_names (PlaitStore *run, const char *expected)
{
  g_auto (GStrv) names = run ? plait_store_members (run, "/checkpoint", NULL) : NULL;
  g_autofree char *joined = NULL;

  if (names)
    qsort (names, g_strv_length (names), sizeof *names, compare_names);
  joined = names ? g_strjoinv (" ", names) : NULL;
  CHECK_STRING (joined, expected);
}

static void
check_equal (PlaitStore *run, const char *a, const char *b)
{
  gint64 n = 0, m = 0;
  g_autofree double *first = read_weight (run, a, &n), *second = read_weight (run, b, &m);
  CONTEXT ("%s and %s", a, b);

  CHECK (first && second && n > 0 && n == m && memcmp (first, second, (gsize)n * sizeof *first) == 0);
}

TEST_CASE (kept_checkpoints, are_the_newest)
{
  static const struct
  {
    const char *keep;
    const char *names;
  } cases[] = {
    { "train.keep=0", "average best last" },
    { "train.keep=1", "average best last update-20" },
    { "train.keep=3", "average best last update-14 update-15 update-20" },
    { "train.keep=100", "average best last update-10 update-14 update-15 update-20 update-5 update-7" },
  };
  const char *path = test_write_experiment ("tiny", "checkpoint_every=5");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *name = g_strdup_printf ("%u.h5", i);
      g_autoptr (PlaitStore) run = test_run_open (path, (const char *[]){ cases[i].keep, NULL }, name);
      CONTEXT ("%s", cases[i].keep);

      check_names (run, cases[i].names);
    }
}

/* train.average=2 gives the mean of the parameters at the last two validations, which are also kept. */
TEST_CASE (kept_checkpoints, have_the_parameters_after_their_update)
{
  const char *path = test_write_experiment ("tiny", "keep=2");
  g_autoptr (PlaitStore) run = test_run_open (path, NULL, "kept.h5");
  gint64 n = 0, m = 0, k = 0;
  g_autofree double *a = run ? read_weight (run, "update-14", &n) : NULL;
  g_autofree double *b = run ? read_weight (run, "update-20", &m) : NULL;
  g_autofree double *mean = run ? read_weight (run, "average", &k) : NULL;
  double largest = 0, difference = 0;

  REQUIRE (a && b && mean && n == m && n == k);
  check_equal (run, "update-20", "last");
  for (gint64 i = 0; i < n; i++)
    {
      largest = fmax (largest, fabs ((a[i] + b[i]) / 2 - mean[i]));
      difference = fmax (difference, fabs (a[i] - b[i]));
    }
  CHECK (largest < 1e-6 && difference > 1e-3);
}

/* When training is interrupted, it writes a checkpoint that an uninterrupted training would not have. This checkpoint
 * is not kept. */
TEST_CASE (kept_checkpoints, are_the_same_after_an_interruption)
{
  const char *path = test_write_experiment ("tiny", "keep=2\ncheckpoint_every=5");

  for (int line = 6; line <= 18; line += 6)
    {
      CONTEXT ("interrupted at line %d", line);
      test_check_interruption (path, line, 1);
      g_autoptr (PlaitStore) run = plait_store_open (plait_test_path ("parts.h5"), NULL);
      check_names (run, "average best last update-15 update-20");
      g_unlink (plait_test_path ("parts.h5"));
      g_unlink (plait_test_path ("whole.h5"));
    }
}

/* A resumed run may keep another number of checkpoints. */
TEST_CASE (kept_checkpoints, are_fewer_if_the_resumed_run_keeps_fewer)
{
  const char *path = test_write_experiment ("tiny", "checkpoint_every=5\nkeep=9");
  const char *shorter[] = { "train.epochs=1", NULL }, *longer[] = { "train.keep=3", NULL };
  const char *output = plait_test_path ("longer.h5");

  CHECK (test_run_with (path, shorter, output, FALSE, NULL, NO_ERROR));
  CHECK (test_run_with (path, longer, output, TRUE, NULL, NO_ERROR));
  g_autoptr (PlaitStore) run = plait_store_open (output, NULL);
  check_names (run, "average best last update-14 update-15 update-20");
}

TEST_CASE (kept_checkpoints, are_named_by_the_error)
{
  const char *path = test_write_experiment ("tiny", "keep=2");
  g_autoptr (PlaitStore) run = test_run_open (path, NULL, "kept.h5");
  GError *error = NULL;

  CHECK (run && !plait_checkpoint_path (run, "update-7", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT,
               "there is no checkpoint \"update-7\" (the checkpoints are: last, average, best, update-14, update-20)");
}

/* Checks that evaluation @name of @run has evaluated the checkpoint @expected. */
static void
check_evaluated (const char *run, const char *name, const char *expected)
{
  g_autoptr (PlaitStore) store = plait_store_open (run, NO_ERROR);
  g_autofree char *group = g_strconcat ("/evaluation/", name, NULL);
  g_autofree char *checkpoint = store ? plait_store_get_string (store, group, "checkpoint", NO_ERROR) : NULL;
  CONTEXT ("%s", name);

  CHECK_STRING (checkpoint, expected);
}

/* evaluate.checkpoint can name a kept checkpoint, in a run and in plait test. */
TEST_CASE (kept_checkpoints, are_evaluated)
{
  const char *path = test_write_experiment ("tiny", "keep=3"), *output = plait_test_path ("kept.h5");
  const char *const seventh[] = { "evaluate.checkpoint=update-7", NULL };
  const char *const fourteenth[] = { "evaluate.checkpoint=update-14", NULL };
  const char *const ninth[] = { "evaluate.checkpoint=update-9", NULL };
  PlaitTestOptions options = { .name = "early", .threads = 1 };
  PlaitTestOutcome outcome;
  GError *error = NULL;

  REQUIRE (test_run_with (path, seventh, output, FALSE, NULL, NO_ERROR));
  check_evaluated (output, "test", "update-7");
  REQUIRE (plait_test_file (output, test_overrides (fourteenth), &options, &outcome, NO_ERROR));
  CHECK_INT (outcome.made, 1);
  check_evaluated (output, "test", "update-7");
  check_evaluated (output, "test.early", "update-14");
  CHECK (!plait_test_file (output, test_overrides (ninth), &options, &outcome, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "there is no checkpoint \"update-9\"");
}

/* An update after the end of training is refused before training. */
TEST_CASE (kept_checkpoints, end_with_training)
{
  const char *path = test_write_experiment ("tiny", "keep=3\nupdates=6"), *output = plait_test_path ("kept.h5");
  const char *const seventh[] = { "evaluate.checkpoint=update-7", NULL };
  g_autoptr (GError) error = NULL;

  CHECK (!test_run_with (path, seventh, output, FALSE, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "evaluate.checkpoint is update-7, but training ends after train.updates=6");
  CHECK (!plait_test_exists (output));
}

/* An update without a checkpoint, and one whose checkpoint newer ones replace, are refused before training. */
TEST_CASE (kept_checkpoints, name_an_update_that_is_kept)
{
  static const struct
  {
    const char *validate_every, *checkpoint_every, *patience, *update, *sentence;
  } cases[] = {
    { "2", "0", "0", "update-2", "update-2, but train.keep=2 will keep update-6, update-4; name one of these" },
    { "2", "0", "0", "update-5", "update-5, but train.keep=2 will keep update-6, update-4; name one of these" },
    { "2", "5", "0", "update-4", "will keep update-6, update-5; name" },
    { "100", "0", "0", "update-1", "will keep update-6; name" },
    { "2", "0", "0", "update-4", NULL },
    { "2", "5", "0", "update-5", NULL },
    { "0", "0", "0", "update-6", NULL },
    { "2", "0", "9", "update-4", NULL },
  };
  const char *path = test_write_experiment ("tiny", "keep=2\nupdates=6"), *output = plait_test_path ("kept.h5");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const char *const set[] = { plait_test_format ("train.validate_every=%s", cases[i].validate_every),
                                  plait_test_format ("train.checkpoint_every=%s", cases[i].checkpoint_every),
                                  plait_test_format ("train.patience=%s", cases[i].patience),
                                  plait_test_format ("evaluate.checkpoint=%s", cases[i].update), NULL };
      g_autoptr (GError) error = NULL;

      CONTEXT ("%s %s %s", set[0], set[1], set[3]);
      CHECK (test_run_with (path, set, output, FALSE, NULL, &error) == !cases[i].sentence);
      if (cases[i].sentence)
        CHECK_ERROR (error, PLAIT_ERROR_INPUT, cases[i].sentence);
      else
        check_evaluated (output, "test", cases[i].update);
      CHECK (plait_test_exists (output) == !cases[i].sentence);
      remove (output);
    }
}

TEST_CASE (kept_checkpoints, that_cannot_be_are_refused_before_training)
{
  static const struct
  {
    const char *set, *sentence;
  } cases[] = {
    { "evaluate.checkpoint=update-7", "update-7 is not kept, because train.keep is 0; set train.keep to the number" },
    { "evaluate.checkpoint=worst", "\"worst\" is not a checkpoint; expected best, last, average or update-N" },
    { "evaluate.checkpoint=update-0", "\"update-0\" is not a checkpoint" },
    { "evaluate.checkpoint=update-x", "\"update-x\" is not a checkpoint" },
    { "train.initialise_checkpoint=first", "\"first\" is not a checkpoint" },
  };
  const char *path = test_write_experiment ("tiny", NULL), *output = plait_test_path ("refused.h5");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      GError *error = NULL;
      CONTEXT ("%s", cases[i].set);

      CHECK (!test_run_with (path, (const char *[]){ cases[i].set, NULL }, output, FALSE, NULL, &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, cases[i].sentence);
      CHECK (!plait_test_exists (output));
    }
}
