/* SPDX-License-Identifier: MIT */
#include "significance/equivalence.h"

#include "significance/distributions.h"

#include <math.h>

/* Probability outside the interval of the difference. If this 90 % interval lies within the margin, the systems are
 * equivalent at .05. */
#define OUTSIDE 0.1

/* Computes only the one-sided t test against the nearer margin. The other test has the same standard error, so its p is
 * not larger. */
static void
test_seeds (PlaitComparison *comparison)
{
  double deviation = comparison->standard_error,
         distance = comparison->equivalence_margin - fabs (comparison->difference);
  double reach = deviation > 0 ? deviation * plait_student_quantile (OUTSIDE, comparison->degrees) : 0;
  double tail = deviation > 0 ? plait_student_p (distance / deviation, comparison->degrees) / 2 : 0;

  comparison->equivalence_low = comparison->difference - reach;
  comparison->equivalence_high = comparison->difference + reach;
  comparison->equivalence_p = distance > 0 ? tail : 1 - tail;
}

static void
test_resamples (PlaitComparison *comparison, double *differences)
{
  guint trials = comparison->trials, below = 0, above = 0;

  for (guint r = 0; r < trials; r++)
    {
      below += !(differences[r] > -comparison->equivalence_margin);
      above += !(differences[r] < comparison->equivalence_margin);
    }
  comparison->equivalence_p = (MAX (below, above) + 1.0) / (trials + 1.0);
  /* p is at most .05 if neither "below" nor "above" exceeds (trials + 1) / 20 - 1. So leave this number of
   * resamples outside each end of the interval. */
  plait_percentiles (differences, trials, MAX ((trials + 1) / 20, 1) - 1, &comparison->equivalence_low,
                     &comparison->equivalence_high);
}

void
plait_comparison_test_equivalence (PlaitComparison *comparison, double margin, const PlaitMetric *metric,
                                   const PlaitStatistics *baseline, const PlaitStatistics *system)
{
  comparison->equivalence_margin = margin;
  comparison->equivalence_p = 1;
  comparison->equivalence_low = comparison->equivalence_high = NAN;
  if (!isfinite (comparison->difference) || !isfinite (comparison->standard_error))
    return;
  if (comparison->test == PLAIT_TEST_SEEDS)
    {
      test_seeds (comparison);
      return;
    }
  g_autofree double *differences
      = plait_bootstrap_differences (metric, baseline, system, comparison->trials, comparison->seed);
  test_resamples (comparison, differences);
}
