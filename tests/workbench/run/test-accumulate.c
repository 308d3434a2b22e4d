/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "runs.h"

#include <glib/gstdio.h>

/* Tests of runs whose updates accumulate the gradients of several batches. Unless a test changes this, a run has
 * two epochs of ten batches. */

#define ITS_DROPOUT(group) group ".dropout=0", group ".attention_dropout=0", group ".feed_forward_dropout=0"
#define WITHOUT_DROPOUT "train.log_every=1", ITS_DROPOUT ("decoder"), ITS_DROPOUT ("source.a"), ITS_DROPOUT ("source.b")
#define MAXIMUM 32

/* Reads column @column of the table /training/@table into @values. The table has at most MAXIMUM rows. Returns the
 * number of rows. */
static gint64
read_column (PlaitStore *store, const char *table, const char *column, double *values)
{
  g_autofree char *path = g_strdup_printf ("/training/%s/%s", table, column);
  gint64 n = 0;
  g_autofree double *read = plait_store_read_array (store, path, PLAIT_STORE_DOUBLE, MAXIMUM, &n, NO_ERROR);

  for (gint64 i = 0; i < n; i++)
    values[i] = read[i];
  return n;
}

/* Checks the columns step, epoch and target_tokens of a run. @accumulate is an override of train.accumulate, with which
 * an epoch has @updates updates. */
static void
check_epochs (const char *experiment, const char *accumulate, gint64 updates)
{
  const char *const overrides[] = { accumulate, "train.validate_every=0", "train.log_every=1", NULL };
  g_autoptr (PlaitStore) store = test_run_open (experiment, overrides, accumulate);
  double values[MAXIMUM] = { 0 }, whole;
  CONTEXT ("%s", accumulate);

  REQUIRE (store != NULL);
  CHECK_INT (read_column (store, "validation", "step", values), 2);
  CHECK_INT ((gint64)values[0], updates);
  CHECK_INT ((gint64)values[1], 2 * updates);
  CHECK_INT (read_column (store, "updates", "epoch", values), 2 * updates);
  for (gint64 i = 0; i < 2 * updates; i++)
    CHECK_INT ((gint64)values[i], i < updates ? 1 : 2);
  CHECK_INT (read_column (store, "updates", "target_tokens", values), 2 * updates);
  whole = values[updates - 1];
  CHECK_NEAR (values[2 * updates - 1], 2 * whole, 0);
}

TEST_CASE (accumulate, ends_an_epoch_with_a_short_update)
{
  const char *experiment = test_write_experiment ("tiny", NULL);

  check_epochs (experiment, "train.accumulate=1", 10);
  check_epochs (experiment, "train.accumulate=2", 5);
  check_epochs (experiment, "train.accumulate=3", 4);
  check_epochs (experiment, "train.accumulate=4", 3);
  check_epochs (experiment, "train.accumulate=9", 2);
  check_epochs (experiment, "train.accumulate=10000", 1);
}

/* If an update has fewer batches than train.accumulate says, its gradient is the mean over the tokens of these batches.
 * Ten batches of six sentences give the gradient of one batch of sixty, with accumulate=10 and with accumulate=25. */
TEST_CASE (accumulate, scales_a_short_update_by_what_it_has)
{
  static const char *const whole[] = { WITHOUT_DROPOUT, "train.batch=60", NULL };
  static const char *const ten[] = { WITHOUT_DROPOUT, "train.accumulate=10", NULL };
  static const char *const more[] = { WITHOUT_DROPOUT, "train.accumulate=25", NULL };
  const char *const *const runs[] = { whole, ten, more };
  const char *const names[] = { "whole.h5", "ten.h5", "more.h5" };
  const char *experiment = test_write_experiment_of_two ("tiny", NULL);
  double norms[3][MAXIMUM] = { 0 }, rates[3][MAXIMUM] = { 0 };

  for (guint i = 0; i < G_N_ELEMENTS (runs); i++)
    {
      g_autoptr (PlaitStore) store = test_run_open (experiment, runs[i], names[i]);

      REQUIRE (store != NULL);
      CHECK_INT (read_column (store, "updates", "gradient_norm", norms[i]), 2);
      CHECK_INT (read_column (store, "updates", "learning_rate", rates[i]), 2);
    }
  for (guint step = 0; step < 2; step++)
    {
      CHECK_NEAR (norms[1][step], norms[0][step], 1e-4 * norms[0][step]);
      CHECK_NEAR (norms[2][step], norms[1][step], 0);
      CHECK_NEAR (rates[2][step], rates[1][step], 0);
    }
}

/* The linear schedule needs the number of updates beforehand: its rate falls to zero at the last update. */
TEST_CASE (accumulate, plans_as_many_updates_as_there_are)
{
  static const char *const overrides[]
      = { "train.accumulate=4", "train.schedule=linear", "train.warm_up=1", "train.log_every=1", NULL };
  const char *experiment = test_write_experiment ("tiny", NULL);
  g_autoptr (PlaitStore) store = test_run_open (experiment, overrides, "run.h5");
  double rates[MAXIMUM] = { 0 };

  REQUIRE (store != NULL);
  CHECK_INT (read_column (store, "updates", "learning_rate", rates), 6);
  CHECK (rates[4] > 0);
  CHECK_NEAR (rates[5], 0, 0);
}

TEST_CASE (accumulate, goes_on_to_the_same_bits_on_any_threads)
{
  const char *experiment = test_write_experiment ("tiny", "accumulate=4\nshards=2\ncheckpoint_every=1");
  const char *whole = plait_test_path ("whole.h5"), *parts = plait_test_path ("parts.h5");

  for (int line = 1; line <= 5; line++)
    {
      CONTEXT ("stopped at line %d of progress", line);
      g_unlink (whole);
      g_unlink (parts);
      test_check_interruption (experiment, line, 1 + (guint)line % 2);
    }
}

TEST_CASE (accumulate, trains_further_by_an_epoch_to_the_same_bits)
{
  static const char *const one[]
      = { "train.accumulate=3", "train.validate_every=0", "train.log_every=1", "train.epochs=1", NULL };
  static const char *const two[]
      = { "train.accumulate=3", "train.validate_every=0", "train.log_every=1", "train.epochs=2", NULL };
  const char *experiment = test_write_experiment ("tiny", NULL);
  const char *output = plait_test_path ("run.h5"), *whole = plait_test_path ("whole.h5");

  CHECK (test_run_with (experiment, two, whole, FALSE, NULL, NO_ERROR));
  CHECK (test_run_with (experiment, one, output, FALSE, NULL, NO_ERROR));
  CHECK (test_run_with (experiment, two, output, TRUE, NULL, NO_ERROR));
  test_check_same_run (output, whole);
}

/* The end of the shorter training adds a row to the log, which resets the sums of the log. It must not reset the ratio
 * that detects divergence. */
TEST_CASE (accumulate, trains_further_to_the_same_measure_of_divergence)
{
  static const char *const names[] = { "longer.h5", "straight.h5" };
  static const char *const one[] = { "train.log_every=100", "train.validate_every=0", "train.epochs=1", NULL };
  static const char *const two[] = { "train.log_every=100", "train.validate_every=0", "train.epochs=2", NULL };
  const char *experiment = test_write_experiment ("tiny", NULL);
  double ratios[2];

  for (guint i = 0; i < 2; i++)
    {
      const char *output = plait_test_path (names[i]);

      CHECK (i == 1 || test_run_with (experiment, one, output, FALSE, NULL, NO_ERROR));
      CHECK (test_run_with (experiment, two, output, i == 0, NULL, NO_ERROR));

      g_autoptr (PlaitStore) run = plait_store_open (output, NO_ERROR);
      REQUIRE (run != NULL);
      CHECK (plait_store_get_double (run, "/checkpoint/last/state", "recent_ratio", &ratios[i], NO_ERROR));
    }
  CHECK (ratios[0] == ratios[1]);
}
