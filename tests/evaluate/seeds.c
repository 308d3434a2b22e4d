/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include "text/error.h"
#include "process/random.h"
#include "significance/distributions.h"
#include "metrics/perplexity.h"
#include "significance/seeds.h"

#include <math.h>

/* Tests of significance over seeds. The statistics of a sentence are those of accuracy, [right, texts]; scores are per
 * cent. */

#define MAX_SEEDS 5
#define SENTENCES 30

TEST_CASE (distributions, student_by_hand)
{
  /* The probability beyond t is 1 - 2 atan (t) / pi with one degree of freedom, and 1 - t / sqrt (2 + t t) with two. */
  const double numbers[] = { 0.1, 0.9, 1, 1.1, 3, 40 };

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      double t = numbers[i];

      CHECK_NEAR (plait_student_p (t, 1), 1 - 2 * atan (t) / G_PI, 1e-12);
      CHECK_NEAR (plait_student_p (-t, 2), 1 - t / sqrt (2 + t * t), 1e-12);
    }
  CHECK_NEAR (plait_student_p (0, 3.5), 1, 1e-12);
  CHECK_NEAR (plait_student_p (INFINITY, 3), 0, 0);
  /* The expected values are from published tables of Student's distribution. */
  CHECK_NEAR (plait_student_quantile (0.05, 1), 12.7062, 1e-4);
  CHECK_NEAR (plait_student_quantile (0.05, 4), 2.7764, 1e-4);
  CHECK_NEAR (plait_student_quantile (0.01, 30), 2.7500, 1e-4);
  CHECK_NEAR (plait_student_quantile (0.05, 1e6), 1.95997, 1e-4);
}

TEST_CASE (distributions, variance_ratio_by_hand)
{
  /* If the numerator has one degree of freedom, the ratio of variances is the square of Student's t. With two and two
   * degrees, its tail is 1 / (1 + ratio). */
  CHECK_NEAR (plait_variance_ratio_p (2.25, 1, 7), plait_student_p (1.5, 7), 1e-12);
  CHECK_NEAR (plait_variance_ratio_p (3, 2, 2), 0.25, 1e-12);
  CHECK_NEAR (plait_variance_ratio_p (0.5, 2, 2), 2.0 / 3, 1e-12);
  CHECK_NEAR (plait_variance_ratio_p (INFINITY, 2, 2), 0, 0);
  CHECK_NEAR (plait_variance_ratio_p (1.3519, 60, 300), 0.05, 0.01);
}

typedef struct
{
  guint n;
  PlaitStatistics *seeds[MAX_SEEDS];
} System;

static void
system_clear (System *system)
{
  for (guint k = 0; k < system->n; k++)
    plait_statistics_free (system->seeds[k]);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (System, system_clear)

static void
add_seed (System *system, const double *right, gsize sentences)
{
  PlaitStatistics *statistics = plait_statistics_new (sentences, 2);

  for (gsize i = 0; i < sentences; i++)
    {
      statistics->values[2 * i] = right[i];
      statistics->values[2 * i + 1] = 1;
    }
  system->seeds[system->n++] = statistics;
}

static PlaitComparison
compare (const System *baseline, const System *system)
{
  g_autoptr (PlaitMetric) metric = plait_metric_new ("accuracy", NULL);
  PlaitComparison comparison = { 0 };

  CHECK (plait_compare_seeds (metric, (const PlaitStatistics *const *)baseline->seeds, baseline->n,
                              (const PlaitStatistics *const *)system->seeds, system->n, &comparison, NO_ERROR));
  return comparison;
}

TEST_CASE (seeds, by_hand_where_sentences_are_alike)
{
  /* Scores of the seeds are 10, 20, 30 and 40, 50, 60: pooled variance 100, t = 30 / sqrt (100 * 2 / 3), 4 degrees of
   * freedom. */
  g_auto (System) baseline = { 0 };
  g_auto (System) system = { 0 };

  for (guint k = 0; k < 3; k++)
    {
      const double one[] = { 0.1 * (k + 1), 0.1 * (k + 1) }, other[] = { 0.1 * (k + 4), 0.1 * (k + 4) };

      add_seed (&baseline, one, 2);
      add_seed (&system, other, 2);
    }
  PlaitComparison comparison = compare (&baseline, &system);
  CHECK_INT (comparison.test, PLAIT_TEST_SEEDS);
  CHECK_INT (comparison.trials, 0);
  CHECK_NEAR (comparison.baseline, 20, 1e-9);
  CHECK_NEAR (comparison.system, 50, 1e-9);
  CHECK_NEAR (comparison.difference, 30, 1e-9);
  CHECK_NEAR (comparison.p, 0.021312, 1e-6);
  CHECK_NEAR (comparison.adjusted_p, comparison.p, 0);
  CHECK_NEAR (comparison.low, 30 - 2.776445 * sqrt (200.0 / 3), 1e-4);
  CHECK_NEAR (comparison.high, 30 + 2.776445 * sqrt (200.0 / 3), 1e-4);
}

TEST_CASE (seeds, by_hand_where_seeds_are_alike)
{
  /* All seeds have equal scores, so the test is the paired t test over sentences: differences 0.1, 0.2, 0.3 and 0.6,
   * mean 0.3, variance 0.14 / 3, t = 0.3 / sqrt (0.14 / 12), 3 degrees of freedom. */
  const double one[] = { 0.1, 0.5, 0.2, 0.3 }, other[] = { 0.2, 0.7, 0.5, 0.9 };
  g_auto (System) baseline = { 0 };
  g_auto (System) system = { 0 };

  for (guint k = 0; k < 2; k++)
    {
      add_seed (&baseline, one, 4);
      add_seed (&system, other, 4);
    }
  CHECK_NEAR (compare (&baseline, &system).p, plait_student_p (0.3 / sqrt (0.14 / 12), 3), 1e-9);
  CHECK_NEAR (compare (&baseline, &baseline).p, 1, 0);
}

TEST_CASE (seeds, one_sentence_and_one_seed_against_several)
{
  const double numbers[] = { 0.2, 0.4, 0.3 };
  g_auto (System) baseline = { 0 };
  g_auto (System) system = { 0 };

  add_seed (&baseline, numbers, 1);
  add_seed (&baseline, numbers + 1, 1);
  add_seed (&system, numbers + 2, 1);
  CHECK_NEAR (compare (&baseline, &system).p, 1, 1e-9);
  add_seed (&system, numbers, 1);
  /* The variances are 2 and 0.5 squared per cent points, pooled 125 over 10000; t = 5 / sqrt (125), 2 degrees of
   * freedom. */
  CHECK_NEAR (compare (&baseline, &system).p, plait_student_p (5 / sqrt (125), 2), 1e-9);
}

TEST_CASE (seeds, other_references_are_refused)
{
  const double numbers[] = { 0.2, 0.4, 0.3 };
  g_autoptr (PlaitMetric) metric = plait_metric_new ("accuracy", NULL);
  g_autoptr (GError) error = NULL;
  g_auto (System) baseline = { 0 };
  g_auto (System) system = { 0 };
  PlaitComparison comparison;

  add_seed (&baseline, numbers, 3);
  add_seed (&system, numbers, 3);
  add_seed (&system, numbers, 2);
  CHECK (!plait_compare_seeds (metric, (const PlaitStatistics *const *)baseline.seeds, 1,
                               (const PlaitStatistics *const *)system.seeds, 2, &comparison, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "the runs have different references");
}

/* Draws the scores of a system for @n seeds. Standard deviations: @of_seeds between seeds, 1 between sentences for one
 * seed, @of_system between sentences for all seeds together. @common is the difficulty of each sentence for every
 * system. */
static void
draw_system (System *system, guint n, PlaitRandomKey key, const double *common, double of_seeds, double of_system)
{
  PlaitRandomKey own = plait_random_subkey (key, MAX_SEEDS);

  for (guint k = 0; k < n; k++)
    {
      PlaitRandomKey seed = plait_random_subkey (key, k);
      double right[SENTENCES], shift = of_seeds * plait_random_normal (seed, SENTENCES);

      for (guint i = 0; i < SENTENCES; i++)
        right[i] = common[i] + shift + of_system * plait_random_normal (own, i) + plait_random_normal (seed, i);
      add_seed (system, right, SENTENCES);
    }
}

/* Returns the percentage of @trials comparisons of equally good systems with p below .05. */
static double
false_positives (guint trials, double of_seeds, double of_system)
{
  guint counted = 0;

  for (guint trial = 0; trial < trials; trial++)
    {
      PlaitRandomKey key = plait_random_key (1, "null comparison", NULL, trial);
      guint n = 2 + trial % (MAX_SEEDS - 1);
      double common[SENTENCES];
      g_auto (System) baseline = { 0 };
      g_auto (System) system = { 0 };

      for (guint i = 0; i < SENTENCES; i++)
        common[i] = plait_random_normal (plait_random_subkey (key, 0), i);
      draw_system (&baseline, n, plait_random_subkey (key, 1), common, of_seeds, of_system);
      draw_system (&system, n, plait_random_subkey (key, 2), common, of_seeds, of_system);
      counted += plait_is_significant (compare (&baseline, &system).p);
    }
  return 100.0 * counted / trials;
}

TEST_CASE (seeds, systems_that_do_not_differ_are_told_apart_as_often_as_it_says)
{
  /* Each seed draws a number of deviation 1 for each of the 30 sentences; their mean has the deviation .18. */
  CHECK_NEAR (false_positives (2000, 1, 0), 5, 1);    /* seeds vary more than sentences */
  CHECK_NEAR (false_positives (2000, 0.18, 0), 5, 1); /* seeds vary as much as sentences */
  CHECK_NEAR (false_positives (2000, 0.03, 0), 5, 1); /* seeds vary less than sentences */
  /* Each system is better at certain sentences. */
  CHECK_NEAR (false_positives (2000, 0.18, 1), 5, 1);
  CHECK_NEAR (false_positives (2000, 0.03, 0.5), 5, 1.5);
}

TEST_CASE (seeds, systems_that_differ_are_told_apart)
{
  guint found = 0;

  for (guint trial = 0; trial < 200; trial++)
    {
      PlaitRandomKey key = plait_random_key (2, "comparison", NULL, trial);
      double worse[SENTENCES], better[SENTENCES];
      g_auto (System) baseline = { 0 };
      g_auto (System) system = { 0 };

      for (guint i = 0; i < SENTENCES; i++)
        better[i] = 1 + (worse[i] = plait_random_normal (key, i));
      draw_system (&baseline, 3, plait_random_subkey (key, 1), worse, 0.1, 0);
      draw_system (&system, 3, plait_random_subkey (key, 2), better, 0.1, 0);
      found += plait_is_significant (compare (&baseline, &system).p);
    }
  CHECK (found > 190);
}
