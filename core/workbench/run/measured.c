/* SPDX-License-Identifier: MIT */
#include "run/measured.h"

#include <math.h>

#include "significance/seeds.h"

static const PlaitRunScore *
score_of (const PlaitMeasure *measure, const PlaitRunResult *result)
{
  return result ? plait_measure_score (measure, result) : NULL;
}

PlaitMeasured
plait_measured_new (const PlaitMeasure *measure, const GPtrArray *results)
{
  PlaitMeasured measured = { .mean = NAN, .deviation = NAN, .low = NAN, .high = NAN };
  g_autofree double *scores = g_new (double, results->len + 1);

  for (guint i = 0; i < results->len; i++)
    {
      const PlaitRunScore *score = score_of (measure, results->pdata[i]);

      if (!score)
        continue;
      scores[measured.n++] = score->score;
      measured.low = measured.n == 1 ? score->low : NAN;
      measured.high = measured.n == 1 ? score->high : NAN;
    }
  if (measured.n > 0)
    measured.mean = plait_mean (scores, measured.n);
  measured.deviation = plait_deviation (scores, measured.n);
  return measured;
}

PlaitTableScore
plait_measured_shown (const PlaitMeasured *measured)
{
  return (PlaitTableScore){ measured->mean, measured->deviation, measured->low, measured->high };
}

void
plait_measured_count_seeds (const PlaitMeasured *measured, guint n[2])
{
  if (measured->compared)
    n[measured->comparison.test == PLAIT_TEST_SEEDS]++;
}

/* The rows of sentences of @results, by @measure, and its metric. (element-type PlaitStatistics)
 * (transfer container) */
static GPtrArray *
statistics_of (const PlaitMeasure *measure, const GPtrArray *results, const PlaitMetric **metric)
{
  GPtrArray *found = g_ptr_array_new ();

  for (guint i = 0; i < results->len; i++)
    {
      const PlaitRunScore *score = score_of (measure, results->pdata[i]);

      if (!score || !score->statistics)
        continue;
      *metric = score->scorer;
      g_ptr_array_add (found, score->statistics);
    }
  return found;
}

gboolean
plait_measured_compare (PlaitMeasured *measured, const PlaitMeasure *measure, const GPtrArray *baseline,
                        const GPtrArray *system, PlaitTest test, guint trials, guint64 seed, GPtrArray *compared,
                        GError **error)
{
  const PlaitMetric *metric = NULL;
  g_autoptr (GPtrArray) one = statistics_of (measure, baseline, &metric);
  g_autoptr (GPtrArray) other = statistics_of (measure, system, &metric);

  measured->compared = one->len > 0 && other->len > 0;
  if (!measured->compared)
    return TRUE;
  g_ptr_array_add (compared, &measured->comparison);
  if (one->len + other->len > 2)
    return plait_compare_seeds (metric, (const PlaitStatistics *const *)one->pdata, one->len,
                                (const PlaitStatistics *const *)other->pdata, other->len, &measured->comparison, error);
  return plait_compare_systems (metric, one->pdata[0], other->pdata[0], test, trials, seed, &measured->comparison,
                                error);
}
