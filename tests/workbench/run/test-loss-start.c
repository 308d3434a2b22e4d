/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "harness.h"
#include "runs.h"

/* Tests of coverage.start: the coverage loss of See et al. 2017 begins at this update. */

static const char parameter[] = "/checkpoint/last/parameters/embedding/shared/table";

/* Trains @updates updates with coverage=loss and @setting. Returns the elements of a parameter. (transfer full) */
static float *
train (const char *setting, gint64 updates, gint64 *n)
{
  const char *path = test_write_experiment ("tiny", NULL);
  const char *const more[] = { "decoder.coverage=loss", setting, plait_test_format ("train.updates=%jd", updates),
                               "train.log_every=1", NULL };
  g_autoptr (PlaitStore) run = test_run_open (path, more, plait_test_format ("%s-%jd.h5", setting, updates));

  return run ? plait_store_read_array (run, parameter, PLAIT_STORE_FLOAT, 1 << 20, n, NO_ERROR) : NULL;
}

/* TRUE if training for @updates updates gives equal bits with the settings @a and @b. */
static gboolean
is_equal (const char *a, const char *b, gint64 updates)
{
  gint64 n = 0, m = 0;
  g_autofree float *x = train (a, updates, &n), *y = train (b, updates, &m);

  CHECK (x && y && n > 0 && n == m);
  return x && y && n == m && memcmp (x, y, (gsize)n * sizeof *x) == 0;
}

TEST_CASE (loss_start, the_loss_trains_from_its_first_update_on)
{
  CHECK (is_equal ("coverage.start=6", "coverage.weight=0", 5));
  CHECK (!is_equal ("coverage.start=6", "coverage.weight=0", 6));
  CHECK (is_equal ("coverage.start=1", "coverage.start=0", 3));
}

/* The column auxiliary includes the loss only from coverage.start on; the loss itself is measured in all updates. */
TEST_CASE (loss_start, the_log_has_the_loss_before)
{
  const char *const more[]
      = { "decoder.coverage=loss", "coverage.start=3", "train.updates=4", "train.log_every=1", NULL };
  g_autoptr (PlaitStore) run = test_run_open (test_write_experiment ("tiny", NULL), more, "log.h5");
  gint64 n = 0;
  REQUIRE (run != NULL);
  g_autofree double *auxiliary
      = plait_store_read_array (run, "/training/updates/auxiliary", PLAIT_STORE_DOUBLE, 100, &n, NO_ERROR);
  g_autofree double *loss
      = plait_store_read_array (run, "/training/updates/coverage.covloss", PLAIT_STORE_DOUBLE, 100, &n, NO_ERROR);

  REQUIRE (auxiliary && loss && n == 4);
  for (gint64 i = 0; i < n; i++)
    {
      CHECK (loss[i] > 0);
      CHECK_NEAR (auxiliary[i], i + 1 < 3 ? 0 : loss[i], 1e-6 * loss[i]);
    }
}

/* A run that is trained further also counts its earlier updates. */
TEST_CASE (loss_start, is_counted_when_training_goes_on)
{
  const char *path = test_write_experiment ("tiny", NULL);
  const char *output = plait_test_path ("goes-on.h5");
  gint64 n = 0, m = 0;
  g_autofree float *whole = train ("coverage.start=7", 8, &n), *plain = train ("coverage.weight=0", 8, &m);

  for (gint64 updates = 5; updates <= 8; updates += 3)
    {
      const char *const more[] = { "decoder.coverage=loss", "coverage.start=7",
                                   plait_test_format ("train.updates=%jd", updates), "train.log_every=1", NULL };

      REQUIRE (test_run_with (path, more, output, updates == 8, NULL, NO_ERROR));
    }
  g_autoptr (PlaitStore) run = plait_store_open (output, NO_ERROR);
  REQUIRE (run && whole && plain);
  g_autofree float *parts = plait_store_read_array (run, parameter, PLAIT_STORE_FLOAT, 1 << 20, &m, NO_ERROR);

  CHECK (parts && n == m && memcmp (parts, whole, (gsize)n * sizeof *parts) == 0);
  CHECK (parts && memcmp (parts, plain, (gsize)n * sizeof *parts) != 0);
}
