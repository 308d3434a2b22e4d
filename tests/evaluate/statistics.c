/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include "text/error.h"
#include "process/random.h"
#include "metrics/perplexity.h"
#include "significance/statistics.h"

#include <math.h>
#include <stdlib.h>

/* Returns the statistics of @sentences sentences with one token (and word) each, whose perplexity is exp of the mean of
 * @surprises. */
static PlaitStatistics *
rows_of (const double *surprises, gsize sentences)
{
  PlaitStatistics *statistics = plait_statistics_new (sentences, 3);
  for (gsize i = 0; i < sentences; i++)
    {
      statistics->values[3 * i] = -surprises[i];
      statistics->values[3 * i + 1] = statistics->values[3 * i + 2] = 1;
    }
  return statistics;
}

TEST_CASE (statistics, median)
{
  const double numbers[] = { 3, -1, 7, 2 };

  CHECK (isnan (plait_median (numbers, 0)));
  CHECK_NEAR (plait_median (numbers, 1), 3, 0);
  CHECK_NEAR (plait_median (numbers, 3), 3, 0);
  CHECK_NEAR (plait_median (numbers, 4), 2.5, 0);
  CHECK_NEAR (numbers[1], -1, 0);
}

static PlaitComparison
compare (const double *baseline, const double *system, gsize sentences, PlaitTest test, guint trials)
{
  g_autoptr (PlaitMetric) metric = plait_metric_new_perplexity (PLAIT_PERPLEXITY_TOKEN);
  g_autoptr (PlaitStatistics) a = rows_of (baseline, sentences);
  g_autoptr (PlaitStatistics) b = rows_of (system, sentences);
  PlaitComparison comparison = { 0 };
  CHECK (plait_compare_systems (metric, a, b, test, trials, 7, &comparison, NO_ERROR));
  return comparison;
}

TEST_CASE (bootstrap, equal_sentences_leave_no_interval)
{
  const double surprises[] = { 1, 1, 1, 1, 1 };
  g_autoptr (PlaitMetric) metric = plait_metric_new_perplexity (PLAIT_PERPLEXITY_TOKEN);
  g_autoptr (PlaitStatistics) statistics = rows_of (surprises, 5);
  PlaitInterval interval;
  REQUIRE (plait_bootstrap_interval (metric, statistics, 100, 1, &interval, NULL));
  CHECK_NEAR (interval.mean, exp (1), 1e-12);
  CHECK_NEAR (interval.half_range, 0, 0);
  CHECK_INT (interval.resamples, 100);
}

TEST_CASE (bootstrap, two_sentences_by_hand)
{
  /* Resamples score 2, 4, 4 and 8 with equal probabilities: mean 4.5, standard deviation 2.18. Each end of the interval
   * is one of these scores. */
  const double surprises[] = { log (2), log (8) };
  g_autoptr (PlaitMetric) metric = plait_metric_new_perplexity (PLAIT_PERPLEXITY_TOKEN);
  g_autoptr (PlaitStatistics) statistics = rows_of (surprises, 2);
  PlaitInterval interval;
  REQUIRE (plait_bootstrap_interval (metric, statistics, 4000, 1, &interval, NULL));
  CHECK_NEAR (interval.low, 2, 1e-9);
  CHECK_NEAR (interval.high, 8, 1e-9);
  CHECK_NEAR (interval.half_range, 3, 1e-9);
  CHECK_NEAR (interval.mean, 4.5, 0.14);
}

static int
compare_doubles (const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

TEST_CASE (bootstrap, percentiles_leave_out_one_in_forty_at_either_end)
{
  /* Computes the interval by its definition, with the documented keyed draws. */
  enum
  {
    SENTENCES = 9,
    RESAMPLES = 120
  };
  double surprises[SENTENCES], scores[RESAMPLES];
  for (guint i = 0; i < SENTENCES; i++)
    surprises[i] = sqrt (i + 2.0);
  for (guint r = 0; r < RESAMPLES; r++)
    {
      PlaitRandomKey key = plait_random_key (5, "bootstrap", NULL, r);
      double sum = 0;
      for (guint i = 0; i < SENTENCES; i++)
        sum += surprises[plait_random_below (key, i, SENTENCES)];
      scores[r] = exp (sum / SENTENCES);
    }
  qsort (scores, RESAMPLES, sizeof (double), compare_doubles);

  g_autoptr (PlaitMetric) metric = plait_metric_new_perplexity (PLAIT_PERPLEXITY_TOKEN);
  g_autoptr (PlaitStatistics) statistics = rows_of (surprises, SENTENCES);
  PlaitInterval interval;
  REQUIRE (plait_bootstrap_interval (metric, statistics, RESAMPLES, 5, &interval, NULL));
  /* Neighbouring scores must differ, so that an index that is off by one is noticed. */
  CHECK (scores[2] < scores[3] && scores[116] < scores[117]);
  CHECK_NEAR (interval.low, scores[3], 1e-12);
  CHECK_NEAR (interval.high, scores[116], 1e-12);
}

TEST_CASE (permutation, identical_systems_have_p_of_one)
{
  const double surprises[] = { 0.1, 0.7, 0.3, 1.9 };
  for (PlaitTest test = PLAIT_TEST_PERMUTATION; test <= PLAIT_TEST_BOOTSTRAP; test++)
    {
      PlaitComparison comparison = compare (surprises, surprises, 4, test, 50);
      CHECK (comparison.p == 1);
      CHECK (comparison.adjusted_p == 1);
      CHECK (comparison.difference == 0);
      CHECK_NEAR (comparison.share_better, 0, 0);
    }
}

TEST_CASE (permutation, one_sentence_tells_nothing)
{
  /* Each shuffle has the observed difference, although its sums are rounded differently. */
  const double pairs[][2] = { { 0.1, 0.7 }, { 0.155, 1.116 }, { 1.974, 0.86 }, { 2.17, 0.979 } };
  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++)
    CHECK (compare (&pairs[i][0], &pairs[i][1], 1, PLAIT_TEST_PERMUTATION, 99).p == 1);
}

TEST_CASE (permutation, ties_count)
{
  /* Two sentences, each better by the same amount: half of the shuffles give the observed difference, and no shuffle a
   * larger one. */
  const double baseline[] = { 2, 2 }, system[] = { 1, 1 };
  CHECK_NEAR (compare (baseline, system, 2, PLAIT_TEST_PERMUTATION, 10000).p, 0.5, 0.02);

  /* Only sentences 0 and 64 differ. Their random bits are in different words, so they must be exchanged
   * independently. */
  double one[65] = { 0 }, other[65] = { 0 };
  one[0] = one[64] = 1;
  CHECK_NEAR (compare (one, other, 65, PLAIT_TEST_PERMUTATION, 10000).p, 0.5, 0.02);
}

TEST_CASE (permutation, p_by_hand)
{
  /* Four sentences are all better with the system: 2 of 16 shuffles have at least this difference. */
  const double baseline[] = { 2, 3, 4, 5 }, system[] = { 1, 1.5, 2, 4.5 };
  CHECK_NEAR (compare (baseline, system, 4, PLAIT_TEST_PERMUTATION, 10000).p, 2.0 / 16, 0.014);

  /* Three sentences have the differences 3, 1 and -1, with the observed sum 3. Of the eight signs of (3, 1, 1), sums of
   * magnitude 3 or 5 come from +++, ++-, +-+ and their opposites: 6. */
  const double one[] = { 4, 2, 1 }, other[] = { 1, 1, 2 };
  CHECK_NEAR (compare (one, other, 3, PLAIT_TEST_PERMUTATION, 10000).p, 6.0 / 8, 0.018);
}

TEST_CASE (permutation, smallest_p_is_one_in_trials_plus_one)
{
  double baseline[70], system[70];
  for (guint i = 0; i < 70; i++)
    {
      baseline[i] = 2;
      system[i] = 1;
    }
  PlaitComparison comparison = compare (baseline, system, 70, PLAIT_TEST_PERMUTATION, 199);
  CHECK_NEAR (comparison.p, 1.0 / 200, 0);
  CHECK_NEAR (comparison.baseline, exp (2), 1e-12);
  CHECK_NEAR (comparison.system, exp (1), 1e-12);
  CHECK_NEAR (comparison.difference, exp (1) - exp (2), 1e-12);

  /* Sentences after the first 64 count too. Only the last six differ, and 2 of 64 shuffles have at least the observed
   * difference. */
  for (guint i = 0; i < 64; i++)
    system[i] = 2;
  CHECK_NEAR (compare (baseline, system, 70, PLAIT_TEST_PERMUTATION, 10000).p, 2.0 / 64, 0.008);
}

TEST_CASE (permutation, does_not_mind_which_system_is_called_baseline)
{
  const double one[] = { 1, 2, 3, 4, 5, 6 }, other[] = { 1.5, 1.2, 3.1, 4.4, 4, 6.2 };
  for (PlaitTest test = PLAIT_TEST_PERMUTATION; test <= PLAIT_TEST_BOOTSTRAP; test++)
    {
      PlaitComparison forth = compare (one, other, 6, test, 500), back = compare (other, one, 6, test, 500);
      CHECK_NEAR (forth.p, back.p, 0);
      CHECK_NEAR (forth.difference, -back.difference, 0);
    }
}

TEST_CASE (paired_bootstrap, by_hand)
{
  /* All resamples have the same difference. */
  const double baseline[] = { 2, 2, 2 }, system[] = { 1, 1, 1 };
  PlaitComparison same = compare (baseline, system, 3, PLAIT_TEST_BOOTSTRAP, 99);
  CHECK_NEAR (same.p, 1.0 / 100, 0);
  CHECK_NEAR (same.share_better, 1, 0); /* smaller perplexity is better */
  CHECK_NEAR (same.low, exp (1) - exp (2), 1e-12);
  CHECK_NEAR (same.high, exp (1) - exp (2), 1e-12);
  CHECK_NEAR (compare (system, baseline, 3, PLAIT_TEST_BOOTSTRAP, 99).share_better, 0, 0);

  /* The baseline scores 1 on each sentence; the system scores 2 and 8, and 4 on both. Resampled differences are 1, 3, 3
   * and 7 (mean 3.5), the observed one is 3. Shifted to mean zero they are -2.5, -0.5, -0.5 and 3.5, of which one in
   * four has a magnitude of at least 3. */
  const double none[] = { 0, 0 }, some[] = { log (2), log (8) };
  PlaitComparison mixed = compare (none, some, 2, PLAIT_TEST_BOOTSTRAP, 4000);
  CHECK_NEAR (mixed.p, 0.25, 0.03);
  CHECK_NEAR (mixed.mean, 3.5, 0.14);
  CHECK_NEAR (mixed.low, 1, 1e-9);
  CHECK_NEAR (mixed.high, 7, 1e-9);
}

/* Returns the fraction of 300 comparisons of equally good systems with p <= 0.05. */
static double
false_alarms (PlaitTest test)
{
  enum
  {
    WORLDS = 300,
    SENTENCES = 40
  };
  guint alarms = 0;
  for (guint world = 0; world < WORLDS; world++)
    {
      double one[SENTENCES], other[SENTENCES];
      PlaitRandomKey key = plait_random_key (11, "null", NULL, world);
      for (guint i = 0; i < SENTENCES; i++)
        {
          double common = 2 * plait_random_uniform (key, 3 * i);
          one[i] = common + plait_random_uniform (key, 3 * i + 1);
          other[i] = common + plait_random_uniform (key, 3 * i + 2);
        }
      alarms += compare (one, other, SENTENCES, test, 199).p <= 0.05;
    }
  return (double)alarms / WORLDS;
}

TEST_CASE (permutation, false_alarms_are_as_rare_as_promised)
{
  CHECK_NEAR (false_alarms (PLAIT_TEST_PERMUTATION), 0.05, 0.035);
  CHECK_NEAR (false_alarms (PLAIT_TEST_BOOTSTRAP), 0.05, 0.04);
}

TEST_CASE (holm, by_hand)
{
  const double p[] = { 0.01, 0.04, 0.03, 0.005 }, adjusted[] = { 0.03, 0.06, 0.06, 0.02 };
  PlaitComparison comparisons[4] = { 0 };
  g_autoptr (GPtrArray) compared = g_ptr_array_new ();
  for (guint i = 0; i < 4; i++)
    {
      comparisons[i].p = p[i];
      g_ptr_array_add (compared, &comparisons[i]);
    }
  plait_holm_adjust (compared);
  for (guint i = 0; i < 4; i++)
    {
      CHECK_NEAR (comparisons[i].adjusted_p, adjusted[i], 1e-15);
      CHECK_NEAR (comparisons[i].p, p[i], 0);
    }

  g_ptr_array_set_size (compared, 0);
  g_ptr_array_add (compared, &comparisons[0]);
  g_ptr_array_add (compared, &comparisons[1]);
  comparisons[0].p = 0.9;
  comparisons[1].p = 0.6;
  plait_holm_adjust (compared);
  CHECK_NEAR (comparisons[0].adjusted_p, 1, 0);
  CHECK_NEAR (comparisons[1].adjusted_p, 1, 0);
  g_ptr_array_set_size (compared, 0);
  g_ptr_array_add (compared, &comparisons[0]);
  plait_holm_adjust (compared);
  CHECK_NEAR (comparisons[0].adjusted_p, 0.9, 0);
  g_ptr_array_set_size (compared, 0);
  plait_holm_adjust (compared);
}

TEST_CASE (statistics, refuse_what_cannot_be_tested)
{
  const double surprises[] = { 1, 2, 3 };
  g_autoptr (PlaitMetric) metric = plait_metric_new_perplexity (PLAIT_PERPLEXITY_TOKEN);
  g_autoptr (PlaitStatistics) three = rows_of (surprises, 3);
  g_autoptr (PlaitStatistics) two = rows_of (surprises, 2);
  g_autoptr (PlaitStatistics) none = rows_of (surprises, 0);
  PlaitComparison comparison;
  PlaitInterval interval;
  g_autoptr (GError) error = NULL;
  CHECK (!plait_compare_systems (metric, three, two, PLAIT_TEST_PERMUTATION, 10, 1, &comparison, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "the baseline has 3 sentences and the system 2");
  CHECK (!plait_compare_systems (metric, none, none, PLAIT_TEST_PERMUTATION, 10, 1, &comparison, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "no sentences");
  CHECK (!plait_compare_systems (metric, two, two, PLAIT_TEST_PERMUTATION, 0, 1, &comparison, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "is 0, but must be from 1");
  CHECK (!plait_bootstrap_interval (metric, none, 10, 1, &interval, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "no sentences");
  CHECK (!plait_bootstrap_interval (metric, two, PLAIT_MAX_TRIALS + 1, 1, &interval, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "10000001");
}
