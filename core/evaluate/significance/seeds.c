/* SPDX-License-Identifier: MIT */
#include "significance/seeds.h"

#include "text/error.h"
#include "significance/distributions.h"

#include <math.h>

/* Significance level of the test of T against R, which decides whether the variance includes T - R (seeds.h). Also the
 * probability outside the interval of the difference. */
#define LEVEL 0.05

typedef struct
{
  guint n;
  gsize sentences;
  double *scores; /* [n] score of each seed */
  double mean;    /* mean of @scores */
  double *parts;  /* [n, sentences] jackknife pseudo-values: contribution of each sentence to a seed's score */
  double *common; /* [sentences], mean of @parts over seeds */
} Seeds;

static void
seeds_clear (Seeds *seeds)
{
  g_free (seeds->scores);
  g_free (seeds->parts);
  g_free (seeds->common);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Seeds, seeds_clear)

static void
take_seed (Seeds *seeds, guint k, const PlaitMetric *metric, const PlaitStatistics *statistics)
{
  gsize sentences = statistics->sentences;
  guint width = statistics->width;
  g_autofree double *sums = g_new (double, 2 * (gsize)width);
  double *without = sums + width, *parts = seeds->parts + k * sentences;

  plait_statistics_sum (statistics, sums);
  seeds->scores[k] = plait_metric_score (metric, sums);
  seeds->mean += seeds->scores[k] / seeds->n;
  for (gsize i = 0; i < sentences; i++)
    {
      const double *row = statistics->values + i * width;

      /* If there is only one sentence, there is no score without it, so it contributes the whole score. */
      for (guint c = 0; c < width; c++)
        without[c] = sums[c] - row[c];
      parts[i] = sentences == 1 ? seeds->scores[k]
                                : (double)sentences * seeds->scores[k]
                                      - (double)(sentences - 1) * plait_metric_score (metric, without);
      seeds->common[i] += parts[i] / seeds->n;
    }
}

static Seeds
take_seeds (const PlaitMetric *metric, const PlaitStatistics *const *statistics, guint n)
{
  Seeds seeds = { .n = n, .sentences = statistics[0]->sentences };

  seeds.scores = g_new (double, n);
  seeds.parts = g_new (double, n *seeds.sentences);
  seeds.common = g_new0 (double, seeds.sentences);
  for (guint k = 0; k < n; k++)
    take_seed (&seeds, k, metric, statistics[k]);
  return seeds;
}

/* Returns the sum of squared deviations of the seeds' scores from their mean. */
static double
squares_of_seeds (const Seeds *seeds)
{
  double squares = 0;

  for (guint k = 0; k < seeds->n; k++)
    squares += (seeds->scores[k] - seeds->mean) * (seeds->scores[k] - seeds->mean);
  return squares;
}

/* Returns the sum of squared interactions of seed and sentence. An interaction is an entry of @parts minus the mean of
 * its seed, minus the mean of its sentence, plus the mean of all entries. */
static double
squares_of_rest (const Seeds *seeds)
{
  double squares = 0, all = plait_mean (seeds->common, seeds->sentences);

  for (guint k = 0; k < seeds->n; k++)
    {
      const double *parts = seeds->parts + k * seeds->sentences;
      double own = plait_mean (parts, seeds->sentences);

      for (gsize i = 0; i < seeds->sentences; i++)
        {
          double rest = parts[i] - own - seeds->common[i] + all;

          squares += rest * rest;
        }
    }
  return squares;
}

/* Returns the sum, over sentences, of (d - mean of d)^2. d: contribution of a sentence to system - baseline. */
static double
squares_of_sentences (const Seeds *baseline, const Seeds *system)
{
  double squares = 0;
  double difference
      = plait_mean (system->common, system->sentences) - plait_mean (baseline->common, baseline->sentences);

  for (gsize i = 0; i < system->sentences; i++)
    {
      double rest = system->common[i] - baseline->common[i] - difference;

      squares += rest * rest;
    }
  return squares;
}

/* Returns the variance of the difference, and its degrees of freedom in *@degrees (Hillis 2007). */
static double
variance_of (const Seeds *baseline, const Seeds *system, double *degrees)
{
  double seeds = baseline->n + system->n - 2.0, others = (double)system->sentences - 1;
  double share = 1.0 / baseline->n + 1.0 / system->n;
  double of_seeds = (squares_of_seeds (baseline) + squares_of_seeds (system)) / seeds * share;
  double of_sentences, of_rest, variance;

  *degrees = seeds;
  if (others == 0)
    return of_seeds;
  of_sentences = squares_of_sentences (baseline, system) / others / (others + 1);
  of_rest = (squares_of_rest (baseline) + squares_of_rest (system)) / seeds / others / (others + 1) * share;
  if (!(of_sentences > of_rest) || plait_variance_ratio_p (of_sentences / of_rest, others, seeds * others) >= LEVEL)
    return of_seeds;
  variance = of_seeds + of_sentences - of_rest;
  *degrees = fmin (of_seeds > 0 ? variance * variance / (of_seeds * of_seeds / seeds) : others, fmax (others, seeds));
  return variance;
}

static gboolean
check (const PlaitMetric *metric, const PlaitStatistics *first, const PlaitStatistics *statistics, GError **error)
{
  if (statistics->sentences == 0)
    return plait_fail (error, PLAIT_ERROR_INPUT, "there are no sentences to compare by %s; give at least one",
                       plait_metric_title (metric));
  if (statistics->sentences != first->sentences || statistics->width != first->width)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "the statistics of %s have %zu rows of %u numbers for one run and %zu rows of %u for another: "
                       "the runs have different references; compare runs with equal references",
                       plait_metric_title (metric), first->sentences, first->width, statistics->sentences,
                       statistics->width);
  return TRUE;
}

gboolean
plait_compare_seeds (const PlaitMetric *metric, const PlaitStatistics *const *baseline, guint n_baseline,
                     const PlaitStatistics *const *system, guint n_system, PlaitComparison *comparison, GError **error)
{
  g_assert (n_baseline > 0 && n_system > 0 && n_baseline + n_system > 2);
  for (guint k = 0; k < n_baseline; k++)
    if (!check (metric, baseline[0], baseline[k], error))
      return FALSE;
  for (guint k = 0; k < n_system; k++)
    if (!check (metric, baseline[0], system[k], error))
      return FALSE;

  g_auto (Seeds) one = take_seeds (metric, baseline, n_baseline);
  g_auto (Seeds) other = take_seeds (metric, system, n_system);
  double degrees, deviation = sqrt (variance_of (&one, &other, &degrees));
  *comparison = (PlaitComparison){ .test = PLAIT_TEST_SEEDS, .p = 1, .standard_error = deviation, .degrees = degrees };
  plait_comparison_set_scores (comparison, metric, one.mean, other.mean);
  double difference = comparison->difference, reach = 0;
  if (isfinite (difference) && isfinite (deviation) && deviation > 0)
    {
      comparison->p = plait_student_p (difference / deviation, degrees);
      reach = deviation * plait_student_quantile (LEVEL, degrees);
    }
  else if (deviation == 0 && difference != 0) /* the variance is estimated as 0 */
    comparison->p = 0;
  comparison->mean = difference;
  comparison->low = difference - reach;
  comparison->high = difference + reach;
  comparison->adjusted_p = comparison->p;
  return TRUE;
}
