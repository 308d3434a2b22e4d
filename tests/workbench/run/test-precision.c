/* SPDX-License-Identifier: MIT */
#include "files.h"
#include "harness.h"
#include "runs.h"
#include "kernels/kernels.h"
#include "tensor/packed.h"

#include <glib/gstdio.h>
#include <math.h>

#define EMULATED "precision=bfloat16_emulated\n"

/* Returns the loss of the last validation of @run; NaN if there is no validation. */
static double
validation_loss (PlaitStore *run)
{
  static const char path[] = "/training/validation/negative_log_likelihood";
  gint64 n = 0;
  g_autofree double *losses = plait_store_read_array (run, path, PLAIT_STORE_DOUBLE, 1000, &n, NULL);

  CHECK (losses && n > 0);
  return losses && n > 0 ? losses[n - 1] : NAN;
}

static void
check_bfloat16 (const char *output)
{
  const char *set = plait_test_format ("decoder.output=%s", output);
  /* The losses of such a small model differ by chance if the rate is higher. */
  const char *const plainly[] = { "train.learning_rate=.1", set, NULL };
  const char *const emulated[] = { "train.learning_rate=.1", set, "train.precision=bfloat16_emulated", NULL };
  const char *const instructions[] = { "train.learning_rate=.1", set, "train.precision=bfloat16", NULL };
  const char *path = test_write_experiment ("tiny", NULL);
  g_autoptr (PlaitStore) plain = test_run_open (path, plainly, plait_test_format ("%s-float.h5", output));
  g_autoptr (PlaitStore) run = test_run_open (path, emulated, plait_test_format ("%s-emulated.h5", output));
  g_autofree char *text = run ? plait_store_get_string (run, "/", "experiment", NULL) : NULL;
  double loss = validation_loss (run);
  CONTEXT ("%s", output);

  CHECK_NEAR (loss, validation_loss (plain), .005 * validation_loss (plain));
  CHECK (loss != validation_loss (plain));
  CHECK_CONTAINS (text, EMULATED);
  if (!plait_precision_runs_here (PLAIT_PRECISION_BFLOAT16))
    SKIP_TEST ("this processor does not multiply bfloat16 (AVX512-BF16)");
  g_autoptr (PlaitStore) fast = test_run_open (path, instructions, plait_test_format ("%s-fast.h5", output));

  CHECK (validation_loss (fast) == loss);
}

TEST_CASE (precision, bfloat16_trains_as_well)
{
  check_bfloat16 ("softmax");
  check_bfloat16 ("pointer");
}

TEST_CASE (precision, bfloat16_goes_on_to_the_same_bits_on_more_threads)
{
  const char *path = test_write_experiment ("tiny", EMULATED);

  test_check_interruption (path, 5, 2);
}

/* A run whose precision the processor lacks is refused, and writes no file. */
TEST_CASE (precision, bfloat16_is_refused_where_it_does_not_run)
{
  const char *path = test_write_experiment ("tiny", "precision=bfloat16\n");
  const char *output = plait_test_path ("refused.h5");
  g_autoptr (GError) error = NULL;

  plait_kernels_choose ("v1");
  CHECK (!test_run_with (path, NULL, output, FALSE, NULL, &error));
  plait_kernels_choose (NULL);
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "train.precision=bfloat16 needs a processor with AVX512-BF16");
  CHECK (!plait_test_exists (output));
}

TEST_CASE (precision, bfloat16_is_not_gone_on_with_in_float)
{
  static const char *const one[] = { "train.updates=3", "train.precision=bfloat16_emulated", NULL };
  static const char *const more[] = { "train.updates=5", NULL };
  const char *path = test_write_experiment ("tiny", NULL);
  const char *output = plait_test_path ("begun.h5");
  g_autoptr (GError) error = NULL;

  CHECK (test_run_with (path, one, output, FALSE, NULL, NO_ERROR));
  CHECK (!test_run_with (path, more, output, TRUE, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "precision");
}
