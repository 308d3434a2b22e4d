/* SPDX-License-Identifier: MIT */
#include "run/seed-statistics.h"

#include <math.h>

#include "significance/equivalence.h"
#include "significance/report.h"
#include "significance/seeds.h"

static const PlaitRunScore *
score_of (const PlaitScoreColumn *score_column, const PlaitRunResult *result)
{
  return result ? plait_score_column_score (score_column, result) : NULL;
}

PlaitSeedStatistics
plait_seed_statistics_new (const PlaitScoreColumn *score_column, const GPtrArray *results)
{
  PlaitSeedStatistics seed_statistics = { .mean = NAN, .deviation = NAN, .low = NAN, .high = NAN };
  g_autofree double *scores = g_new (double, results->len + 1);

  for (guint i = 0; i < results->len; i++)
    {
      const PlaitRunScore *score = score_of (score_column, results->pdata[i]);

      if (!score)
        continue;
      scores[seed_statistics.n++] = score->score;
      seed_statistics.low = seed_statistics.n == 1 ? score->low : NAN;
      seed_statistics.high = seed_statistics.n == 1 ? score->high : NAN;
    }
  if (seed_statistics.n > 0)
    seed_statistics.mean = plait_mean (scores, seed_statistics.n);
  seed_statistics.deviation = plait_standard_deviation (scores, seed_statistics.n);
  return seed_statistics;
}

PlaitTableScore
plait_seed_statistics_shown (const PlaitSeedStatistics *seed_statistics)
{
  return (PlaitTableScore){ seed_statistics->mean, seed_statistics->deviation, seed_statistics->low,
                            seed_statistics->high };
}

void
plait_seed_statistics_count_seeds (const PlaitSeedStatistics *seed_statistics, guint n[2])
{
  if (seed_statistics->compared)
    n[seed_statistics->comparison.test == PLAIT_TEST_SEEDS]++;
}

/* Returns the statistics of sentences that @results have in @score_column. If any of @results has them, sets *@metric
 * to the metric. (element-type PlaitStatistics) (transfer container) */
static GPtrArray *
statistics_of (const PlaitScoreColumn *score_column, const GPtrArray *results, const PlaitMetric **metric)
{
  GPtrArray *found = g_ptr_array_new ();

  for (guint i = 0; i < results->len; i++)
    {
      const PlaitRunScore *score = score_of (score_column, results->pdata[i]);

      if (!score || !score->statistics)
        continue;
      *metric = score->scorer;
      g_ptr_array_add (found, score->statistics);
    }
  return found;
}

gboolean
plait_seed_statistics_compare (PlaitSeedStatistics *seed_statistics, const PlaitScoreColumn *score_column,
                               const GPtrArray *baseline, const GPtrArray *system, PlaitTest test, guint trials,
                               guint64 seed, GPtrArray *compared, GError **error)
{
  const PlaitMetric *metric = NULL;
  g_autoptr (GPtrArray) one = statistics_of (score_column, baseline, &metric);
  g_autoptr (GPtrArray) other = statistics_of (score_column, system, &metric);
  PlaitComparison *comparison = &seed_statistics->comparison;
  gboolean done;

  seed_statistics->compared = one->len > 0 && other->len > 0;
  if (!seed_statistics->compared)
    return TRUE;
  g_ptr_array_add (compared, comparison);
  if (one->len + other->len > 2)
    done = plait_compare_seeds (metric, (const PlaitStatistics *const *)one->pdata, one->len,
                                (const PlaitStatistics *const *)other->pdata, other->len, comparison, error);
  else
    done = plait_compare_systems (metric, one->pdata[0], other->pdata[0], test, trials, seed, comparison, error);
  if (done && seed_statistics->margin > 0)
    plait_comparison_test_equivalence (comparison, seed_statistics->margin, metric, one->pdata[0], other->pdata[0]);
  return done;
}

void
plait_seed_statistics_add_json (const PlaitSeedStatistics *seed_statistics, const PlaitScoreColumn *score_column,
                                PlaitJson *json)
{
  gboolean bounded = seed_statistics->low < seed_statistics->high;

  plait_json_begin_object (json, NULL);
  plait_json_members (
      json, "split=%s metric=%s name=%s larger_is_better=%d seeds=%u score=%g standard_deviation=%g low=%g high=%g",
      score_column->split, score_column->metric, score_column->name, score_column->larger_is_better, seed_statistics->n,
      seed_statistics->mean, seed_statistics->deviation, bounded ? seed_statistics->low : NAN,
      bounded ? seed_statistics->high : NAN);
  if (seed_statistics->compared)
    plait_comparison_add_json (&seed_statistics->comparison, json, "comparison");
  plait_json_end_object (json);
}
