/* SPDX-License-Identifier: MIT */
#include "files.h"
#include "harness.h"
#include "initial.h"
#include "runs.h"

#include <math.h>
#include <string.h>

/* Tests of training that continues with the optimizer state of another run. */

#define STATE "train.initialise_checkpoint=last", "train.initialise_state=optimizer"

static double *
read_numbers (PlaitStore *run, const char *path, gint64 *n)
{
  double *numbers = plait_store_read_array (run, path, PLAIT_STORE_DOUBLE, 1 << 20, n, NULL);

  CHECK (numbers != NULL);
  return numbers;
}

/* The learning rate of the first update is that which the other run would have had after its last update. */
TEST_CASE (initial_state, goes_on_in_the_schedule)
{
  static const char rates[] = "/training/updates/learning_rate";
  static const char *const from_base[]
      = { "train.initialise=base.h5", STATE, "train.updates=2", "train.log_every=1", NULL };
  static const char *const from_second[]
      = { "train.initialise=second.h5", STATE, "train.updates=1", "train.log_every=1", NULL };
  static const char *const whole[] = { "train.updates=10", "train.log_every=1", NULL };
  const char *experiment = test_write_experiment ("tiny", NULL);
  gint64 n = 0, m = 0, k = 0;

  test_base_run (experiment);
  g_autoptr (PlaitStore) second = test_run_open (experiment, from_base, "second.h5");
  g_autoptr (PlaitStore) third = test_run_open (experiment, from_second, "third.h5");
  g_autoptr (PlaitStore) long_run = test_run_open (experiment, whole, "whole.h5");
  REQUIRE (second && third && long_run);
  g_autofree double *expected = read_numbers (long_run, rates, &n);
  g_autofree double *in_second = read_numbers (second, rates, &m);
  g_autofree double *in_third = read_numbers (third, rates, &k);

  REQUIRE (n == 10 && m == 2 && k == 1);
  CHECK_NEAR (in_second[0], expected[7], 0);
  CHECK_NEAR (in_second[1], expected[8], 0);
  CHECK_NEAR (in_third[0], expected[9], 0);
  CHECK (expected[7] != expected[0]);
}

/* Two runs of one update differ only in the moments that they begin with: the new moment is m' = beta1 m + (1 - beta1)
 * g. */
TEST_CASE (initial_state, takes_the_moments)
{
  static const char place[] = "/checkpoint/last/optimizer/first/embedding/shared/table";
  const char *experiment = test_write_experiment ("tiny", NULL);
  const char *base_path = test_base_run (experiment);
  g_autofree char *said = NULL;
  g_autoptr (PlaitStore) base = plait_store_open (base_path, NO_ERROR);
  g_autoptr (PlaitStore) with = test_run_still (
      experiment, "with.h5", (const char *[]){ "train.initialise=base.h5", STATE, NULL }, &said, NO_ERROR);
  g_autoptr (PlaitStore) without = test_run_still (
      experiment, "without.h5",
      (const char *[]){ "train.initialise=base.h5", "train.initialise_checkpoint=last", NULL }, NULL, NO_ERROR);
  gint64 n = 0;
  double largest = 0, moved = 0;

  REQUIRE (base && with && without);
  g_autofree double *m = read_numbers (base, place, &n);
  g_autofree double *a = read_numbers (with, place, &n);
  g_autofree double *b = read_numbers (without, place, &n);
  for (gint64 i = 0; i < n; i++)
    {
      largest = fmax (largest, fabs (a[i] - b[i] - .9 * m[i]));
      moved = fmax (moved, fabs (m[i]));
    }
  CHECK (moved > 1e-4);
  CHECK (largest < 1e-6 * fmax (1, moved));
  CHECK_CONTAINS (said,
                  "the optimizer and the learning-rate schedule continue after update 7 of that run: moments of ");
}

/* The moments of parameters that are not taken are zero at first. */
TEST_CASE (initial_state, leaves_the_moments_of_what_is_not_taken)
{
  static const char place[] = "/checkpoint/last/optimizer/first/decoder/norm/gain";
  const char *experiment = test_write_experiment ("tiny", NULL);

  test_base_run (experiment);
  g_autoptr (PlaitStore) with = test_run_still (
      experiment, "with.h5",
      (const char *[]){ "train.initialise=base.h5", "train.initialise_leave=decoder/*", STATE, NULL }, NULL, NO_ERROR);
  g_autoptr (PlaitStore) without
      = test_run_still (experiment, "without.h5",
                        (const char *[]){ "train.initialise=base.h5", "train.initialise_leave=decoder/*",
                                          "train.initialise_checkpoint=last", NULL },
                        NULL, NO_ERROR);
  gint64 n = 0;

  REQUIRE (with && without);
  g_autofree double *a = read_numbers (with, place, &n);
  g_autofree double *b = read_numbers (without, place, &n);
  for (gint64 i = 0; i < n; i++)
    CHECK_NEAR (a[i], b[i], 0);
}

TEST_CASE (initial_state, goes_on_after_an_interruption_to_the_same_bits)
{
  const char *first = test_write_experiment ("tiny", NULL);
  const char *experiment = test_write_experiment (
      "second", "updates=5\ninitialise=base.h5\ninitialise_checkpoint=last\ninitialise_state=optimizer");

  test_base_run (first);
  test_check_interruption (experiment, 3, 1);
}

TEST_CASE (initial_state, refuses_what_does_not_fit)
{
  static const struct
  {
    const char *overrides[5];
    const char *part;
  } cases[] = {
    { { "train.initialise_state=optimizer" }, "optimizer needs a run in train.initialise" },
    { { "train.initialise=w.safetensors", STATE }, "optimizer needs a run in train.initialise" },
    { { "train.initialise=base.h5", "train.initialise_state=optimizer" },
      "a run stores the optimizer's state only for its last parameters; set initialise_checkpoint=last" },
    { { "train.initialise=base.h5", STATE, "train.schedule=linear" }, "a linear schedule ends at its last" },
    { { "train.initialise=base.h5", STATE, "train.optimizer=adadelta" },
      "base.h5: was trained by adam, and train.optimizer=adadelta cannot use its moments" },
  };
  const char *experiment = test_write_experiment ("tiny", NULL);
  const char *output = plait_test_path ("none.h5");

  test_base_run (experiment);
  plait_test_write_bytes ("w.safetensors", "x", 1);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      GError *error = NULL;
      CONTEXT ("case %zu", i);

      CHECK (!test_run_with (experiment, cases[i].overrides, output, FALSE, NULL, &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, cases[i].part);
      CHECK (!plait_test_exists (output));
    }
}
