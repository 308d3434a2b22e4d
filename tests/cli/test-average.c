/* SPDX-License-Identifier: MIT */
#include "call.h"
#include "experiments.h"
#include "files.h"
#include "harness.h"

#include <math.h>
#include <string.h>

#include "hdf5/store.h"
#include "hdf5/walk.h"

/* Tests of plait average. */

#define LAST "/checkpoint/last/parameters"

static const char experiment[]
    = "[experiment]\nseed=3\n" SMALL_TEXT ("agreement", "") SMALL_SOURCE ("a") SMALL_DECODER (
        "serial") "[train]\nbatch=6\nepochs=2\nwarm_up=4\nvalidate_every=5\naverage=3\nkeep=3\n[decode]\nbeam=2\n"
                  "maximum_length=8\n[evaluate]\nresamples=10\nattention=1\ncheckpoint=average\n";

/* The file of a mean, which is checked, and the files whose parameters were averaged. */
typedef struct
{
  PlaitStore *mean;
  PlaitStore *stores[3];
  const char *paths[3]; /* path of the group of parameters in each store */
  guint n;
  guint compared; /* number of parameters that were compared */
} Means;

/* Compares one parameter with the mean of its values in all checkpoints, computed in double precision. */
static PlaitStoreWalkAction
compare (PlaitStore *store, const PlaitStoreVisit *visit, gpointer data, GError **error)
{
  Means *means = data;
  gint64 n = 0;
  gboolean is_mean = TRUE;

  if (visit->object.kind != PLAIT_STORE_DATASET)
    return PLAIT_STORE_WALK_CONTINUE;
  g_autofree PlaitScalar *mean = plait_store_read_array (store, visit->path, PLAIT_STORE_SCALAR, 1 << 20, &n, NULL);
  g_autofree double *sum = g_new0 (double, n);
  for (guint i = 0; i < means->n; i++)
    {
      g_autofree char *path = g_strconcat (means->paths[i], visit->path + strlen (LAST), NULL);
      gint64 m = 0;
      g_autofree PlaitScalar *value
          = plait_store_read_array (means->stores[i], path, PLAIT_STORE_SCALAR, 1 << 20, &m, NULL);

      CHECK (mean && value && n == m);
      if (!mean || !value || n != m)
        return PLAIT_STORE_WALK_SKIP;
      for (gint64 k = 0; k < n; k++)
        sum[k] += (double)value[k];
    }
  for (gint64 k = 0; k < n; k++)
    is_mean &= mean[k] == (PlaitScalar)(sum[k] / means->n);
  CONTEXT ("%s", visit->path);
  CHECK (is_mean);
  means->compared++;
  return PLAIT_STORE_WALK_CONTINUE;
}

static void
check_means (Means *means)
{
  CHECK (plait_store_walk (means->mean, LAST, G_MAXUINT, compare, means, NO_ERROR));
  CHECK (means->compared > 20);
}

/* Trains one.h5 and two.h5, which differ in seed. */
static void
train (void)
{
  plait_test_write ("small.ini", experiment);
  DONE (CALL ("run", "small.ini", "-q", "-o", "one.h5"));
  DONE (CALL ("run", "small.ini", "-q", "-o", "two.h5", "--set", "experiment.seed=4"));
}

TEST_CASE (average, of_runs_is_the_mean_of_each_parameter)
{
  train ();
  QUIET (CALL ("average", "one.h5", "two.h5:last", "one.h5:average", "-o", "mean.h5"));
  g_autoptr (PlaitStore) one = plait_store_open (plait_test_path ("one.h5"), NO_ERROR);
  g_autoptr (PlaitStore) two = plait_store_open (plait_test_path ("two.h5"), NO_ERROR);
  g_autoptr (PlaitStore) mean = plait_store_open (plait_test_path ("mean.h5"), NO_ERROR);
  Means means
      = { mean, { one, two, one }, { "/checkpoint/best/parameters", LAST, "/checkpoint/average/parameters" }, 3, 0 };

  REQUIRE (one && two && mean);
  check_means (&means);
}

/* The mean of a checkpoint with itself has the bits of the checkpoint, and translates as the checkpoint. */
TEST_CASE (average, of_one_checkpoint_twice_is_the_checkpoint)
{
  plait_test_write ("small.ini", experiment);
  DONE (CALL ("run", "small.ini", "-q", "-o", "two.h5", "--set", "evaluate.checkpoint=best"));
  QUIET (CALL ("average", "two.h5:last", "two.h5:last", "-o", "mean.h5"));
  QUIET (CALL ("export", "mean.h5", "-o", "mean.safetensors"));
  QUIET (CALL ("export", "two.h5", "-c", "last", "-o", "last.safetensors"));
  g_autoptr (GBytes) mean = plait_test_read ("mean.safetensors");
  g_autoptr (GBytes) last = plait_test_read ("last.safetensors");
  CHECK (g_bytes_get_size (mean) > 10000);
  CHECK (g_bytes_equal (mean, last));
  PlaitTestCall translated = DONE (CALL ("translate", "mean.h5", "-q", "-s", "a=small.ini"));
  PlaitTestCall expected = DONE (CALL ("translate", "two.h5", "-q", "-c", "last", "-s", "a=small.ini"));
  CHECK_STRING (translated.output, expected.output);
}

/* Training with train.average=3 averages the parameters at the last three validations. plait average gives the same
 * mean of the checkpoints that train.keep=3 keeps. */
TEST_CASE (average, of_kept_checkpoints_is_the_average_of_training)
{
  train ();
  QUIET (CALL ("average", "one.h5:update-10", "one.h5:update-15", "one.h5:update-20", "-o", "mean.h5"));
  g_autoptr (PlaitStore) one = plait_store_open (plait_test_path ("one.h5"), NO_ERROR);
  g_autoptr (PlaitStore) mean = plait_store_open (plait_test_path ("mean.h5"), NO_ERROR);
  Means means = { mean, { one }, { "/checkpoint/average/parameters" }, 1, 0 };

  REQUIRE (one && mean);
  check_means (&means);
  PlaitTestCall kept
      = DONE (CALL ("score", "one.h5", "-q", "-c", "update-20", "-s", "a=small.ini", "--target", "small.ini"));
  PlaitTestCall last
      = DONE (CALL ("score", "one.h5", "-q", "-c", "last", "-s", "a=small.ini", "--target", "small.ini"));
  CHECK_STRING (kept.output, last.output);
  CHECK_REFUSED (CALL ("score", "one.h5", "-c", "update-5", "-s", "a=small.ini", "--target", "small.ini"),
                 "there is no checkpoint \"update-5\"");
}

TEST_CASE (average, is_read_by_the_commands_that_read_runs)
{
  train ();
  QUIET (CALL ("average", "one.h5", "two.h5", "-o", "mean.h5"));
  QUIET (CALL ("translate", "mean.h5", "-q", "-s", "a=small.ini", "-o", "mean.txt"));
  DONE (CALL ("score", "mean.h5", "-q", "-s", "a=small.ini", "--target", "small.ini"));
  DONE (CALL ("test", "mean.h5", "-q"));
  PlaitTestCall shown = DONE (CALL ("show", "mean.h5", "/average/runs"));
  CHECK_CONTAINS (shown.output, "/two.h5");
  CHECK_CONTAINS (shown.output, "/checkpoint/best/parameters");
  /* compare shows the mean as a system of its own, although its settings are those of its first run. */
  PlaitTestCall compared = DONE (CALL ("compare", "one.h5", "two.h5", "mean.h5", "--test", "none"));
  CHECK_CONTAINS (compared.output, "2 seeds");
  QUIET (CALL ("report", "mean.h5", "-q", "-o", "mean.html"));
  DONE (CALL ("verify", "mean.h5"));
  DONE (CALL ("run", "small.ini", "-q", "-o", "next.h5", "--set", "train.initialise=mean.h5"));
  CHECK_REFUSED (CALL ("run", "small.ini", "--resume", "-o", "mean.h5"), "mean.h5 is a mean of checkpoints");
  CHECK_REFUSED (CALL ("reproduce", "mean.h5"), "mean.h5 is a mean of checkpoints");
}

/* A run without attention leaves its mean nothing to draw: neither heatmap nor training curve. */
TEST_CASE (average, of_a_run_without_attention_is_evaluated)
{
  plait_test_write ("small.ini", SMALL_CLASSES);
  DONE (CALL ("run", "small.ini", "-q", "-o", "one.h5"));
  QUIET (CALL ("average", "one.h5:last", "one.h5:last", "-o", "mean.h5"));
  PlaitTestCall trained = DONE (CALL ("test", "one.h5", "-q"));
  PlaitTestCall mean = DONE (CALL ("test", "mean.h5", "-q"));
  CHECK_STRING (mean.output, trained.output);
}

/* Checks that a run trained with --set @set cannot be averaged with one.h5, and that the error contains @part. */
static void
check_misfit (const char *set, const char *part)
{
  CONTEXT ("%s", set);
  DONE (CALL ("run", "small.ini", "-q", "--force", "-o", "other.h5", "--set", set, "--set", "train.epochs=1"));
  PlaitTestCall refused = CALL ("average", "one.h5", "other.h5", "-o", "mean.h5");
  CHECK_REFUSED (refused, part);
  CHECK_CONTAINS (refused.errors, "one.h5");
  CHECK_CONTAINS (refused.errors, "other.h5");
  CHECK (!g_file_test (plait_test_path ("mean.h5"), G_FILE_TEST_EXISTS));
}

TEST_CASE (average, refuses_runs_that_differ)
{
  train ();
  check_misfit ("decoder.width=16", "the parameter embedding/shared/table is [");
  check_misfit ("decoder.layers=2", "decoder/layer/1/");
  check_misfit ("decoder.heads=1", "decoder.heads was 2, is 1");
  check_misfit ("data.generate.train=40", "the parameter embedding/shared/table is [");
}

TEST_CASE (average, refuses_other_words_in_vocabularies_of_one_size)
{
  static const char text[] = "data.vocabulary_size=100";

  plait_test_write ("small.ini", experiment);
  DONE (CALL ("run", "small.ini", "-q", "-o", "one.h5", "--set", text));
  DONE (CALL ("run", "small.ini", "-q", "-o", "other.h5", "--set", text, "--set", "data.generate.seed=9"));
  CHECK_REFUSED (CALL ("average", "one.h5", "other.h5", "-o", "mean.h5"),
                 "one.h5 and other.h5 have different vocabularies \"a\"");
}

TEST_CASE (average, refuses_bad_usage)
{
  train ();
  CHECK_REFUSED (CALL ("average", "one.h5", "two.h5"), "--output is missing");
  CHECK_REFUSED (CALL ("average", "one.h5", "-o", "mean.h5"), "at least two checkpoints");
  CHECK_REFUSED (CALL ("average", "one.h5:worst", "two.h5", "-o", "mean.h5"), "no checkpoint has the name \"worst\"");
  CHECK_REFUSED (CALL ("average", "one.h5:update-7", "two.h5", "-o", "mean.h5"), "there is no checkpoint \"update-7\"");
  CHECK_REFUSED (CALL ("average", "one.h5", "two.h5", "-o", "two.h5", "--force"), "is the same file as two.h5");
  CHECK_REFUSED (CALL ("average", "one.h5", "none.h5", "-o", "mean.h5"), "none.h5");
  CHECK_REFUSED (CALL ("average", "one.h5", "small.ini", "-o", "mean.h5"), "small.ini");
  plait_test_write ("mean.h5", "mine");
  CHECK_REFUSED (CALL ("average", "one.h5", "two.h5", "-o", "mean.h5"), "mean.h5 exists");
}
