/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "runs.h"

/* Tests of training that diverges, although its numbers stay finite. */

TEST_CASE (divergence, is_told_of_a_sequence)
{
  const char *experiment = test_write_experiment ("tiny", NULL);

  test_check_diverges (experiment, NULL);
  test_check_diverges (experiment, (const char *[]){ "decoder.type=gru", NULL });
  test_check_diverges (experiment, (const char *[]){ "train.updates=1", NULL });
}

static void
check_well (const char *const *overrides, const char *name)
{
  const char *experiment = test_write_experiment ("tiny", NULL);

  g_autoptr (PlaitStore) run = test_run_open (experiment, overrides, name);
  CHECK (run != NULL);
}

TEST_CASE (divergence, is_not_told_where_nothing_is_learnt)
{
  check_well ((const char *[]){ "train.learning_rate=0", NULL }, "run.h5");
}

/* A model whose loss is at first far above that of guessing, as in a wide model, has not diverged. */
TEST_CASE (divergence, is_not_told_where_a_model_begins_badly)
{
  const char *experiment = test_write_experiment ("tiny", NULL);

  test_check_diverges (experiment, NULL);
  check_well ((const char *[]){ "train.learning_rate=0", "train.initialise=diverged.h5", NULL }, "run.h5");
}
