/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include "significance/report.h"
#include "text/error.h"

/* Correlations and errors of numbers. */

static const char *const said[] = { "0.1", " 0.4", "0.35", "0.8", "0.8", "-1e-1", "2" };
static const char *const set[] = { "0", "0.5", "0.25", "0.75", "1", "0", "0.9" };

static double
score (const char *name)
{
  const char *const *references[] = { set };
  PlaitTextPairs pairs = { G_N_ELEMENTS (said), said, 1, references };
  g_autoptr (PlaitMetric) metric = plait_metric_new (name, NO_ERROR);
  g_autoptr (PlaitResult) result = plait_evaluate (metric, &pairs, 20, 1, NO_ERROR);

  g_assert (result);
  CHECK (result->interval.resamples == 20);
  return result->score;
}

/* The values are those of numpy.corrcoef of the numbers, and of their mean ranks. */
TEST_CASE (numbers, equal_numpy)
{
  CHECK_NEAR (score ("pearson"), 79.68512363344288, 1e-9);
  CHECK_NEAR (score ("spearman"), 92.72727272727273, 1e-9);
  CHECK_NEAR (score ("mse"), 0.18464285714285716, 1e-9);
}

/* A large common offset changes no correlation. Constant numbers correlate with nothing. */
TEST_CASE (numbers, keep_digits)
{
  static const char *const near[] = { "1000000001", "1000000002", "1000000004", "1000000003" };
  static const char *const far[] = { "1000000002", "1000000004", "1000000008", "1000000006" };
  static const char *const same[] = { "3", "3", "3", "3" };
  const char *const *references[] = { far };
  PlaitTextPairs pairs = { G_N_ELEMENTS (near), near, 1, references };
  g_autoptr (PlaitMetric) metric = plait_metric_new ("pearson", NO_ERROR);
  g_autoptr (PlaitResult) result = plait_evaluate (metric, &pairs, 0, 1, NO_ERROR);

  pairs.hypotheses = same;
  g_autoptr (PlaitResult) none = plait_evaluate (metric, &pairs, 0, 1, NO_ERROR);
  REQUIRE (result && none);
  CHECK_NEAR (result->score, 100, 1e-6);
  CHECK_NEAR (none->score, 0, 0);
  CHECK (result->larger_is_better);
}

TEST_CASE (numbers, must_be_numbers)
{
  static const char *const words[] = { "1", "many" };
  const char *const *references[] = { set };
  PlaitTextPairs pairs = { G_N_ELEMENTS (words), words, 1, references };
  g_autoptr (PlaitMetric) metric = plait_metric_new ("mse", NO_ERROR);
  g_autoptr (GError) error = NULL;

  CHECK (!plait_evaluate (metric, &pairs, 0, 1, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "the hypothesis of sentence 2 is \"many\"; expected a number");
}
