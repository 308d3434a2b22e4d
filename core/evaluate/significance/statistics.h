/* SPDX-License-Identifier: MIT */
#pragma once

#include "metrics/metric.h"

/*
 * Confidence intervals of scores and tests between systems, from the rows of sentences (metric.h).
 *
 * Random numbers are keyed by (seed, test, trial, sentence). So a resample has the same sentences for every system and
 * metric, and results do not depend on the order of calls.
 */

#define PLAIT_BOOTSTRAP_RESAMPLES 1000
#define PLAIT_PERMUTATION_SHUFFLES 10000
#define PLAIT_MAX_TRIALS 10000000

/* Returns the mean of @n numbers; NaN if @n is 0. plait_median returns their median likewise. */
double plait_mean (const double *numbers, gsize n);

/* Returns the sample standard deviation of @numbers; NaN if @n < 2. */
double plait_standard_deviation (const double *numbers, gsize n);
double plait_median (const double *numbers, gsize n);

/* The middle 95 % of the scores of bootstrap resamples (sentences drawn with replacement). */
typedef struct
{
  guint resamples; /* number of resamples; 0: no interval was computed */
  guint64 seed;
  double mean;       /* mean of the resamples' scores */
  double low, high;  /* 2.5 % and 97.5 % percentiles: of N scores, N / 40 are below @low and N / 40 above @high */
  double half_range; /* (high - low) / 2, which sacreBLEU prints after plus-minus */
} PlaitInterval;

/* Computes the bootstrap interval of a score. Fails with PLAIT_ERROR_INPUT if @resamples is not in 1 ..
 * PLAIT_MAX_TRIALS, or without sentences. */
gboolean plait_bootstrap_interval (const PlaitMetric *metric, const PlaitStatistics *statistics, guint resamples,
                                   guint64 seed, PlaitInterval *interval, GError **error);

typedef enum
{
  /* Approximate randomisation (Noreen 1989; Riezler & Maxwell 2005): the rows of each sentence are exchanged with
   * probability 1/2. A shuffle counts if its |difference| is at least the observed one. */
  PLAIT_TEST_PERMUTATION,
  /* Paired bootstrap (Koehn 2004): scores both systems on the same resample. The differences, shifted to mean zero, are
   * the null distribution; a resample counts if its shifted difference has at least the magnitude of the observed
   * difference. */
  PLAIT_TEST_BOOTSTRAP,
  /* t test over seeds and sentences, for systems trained several times: plait_compare_seeds in seeds.h. */
  PLAIT_TEST_SEEDS,
} PlaitTest;

typedef struct
{
  PlaitTest test;
  guint trials;
  guint64 seed;
  double baseline, system; /* scores of the two systems */
  double difference;       /* system - baseline */
  gint better;             /* 1: the system is better, -1: worse, 0: equal */
  /* Two-sided p value; exactly 1 for identical systems. Permutation and bootstrap compute (trials that count + 1) /
   * (trials + 1). */
  double p;
  double adjusted_p; /* equal to p until plait_holm_adjust */

  /* Mean of the difference over resamples (bootstrap), or the difference of the means (seeds), and its 95 % interval; 0
   * for a permutation. */
  double mean, low, high;
  double share_better; /* share of resamples in which the system is strictly better; bootstrap only */

  double standard_error; /* standard error of the difference; seeds only */
  double degrees;        /* degrees of freedom of the t test; seeds only */

  /* Set by plait_comparison_test_equivalence (equivalence.h). */
  double equivalence_margin; /* 0: equivalence was not tested */
  double equivalence_p;
  double equivalence_low, equivalence_high; /* 90 % interval of the difference */
} PlaitComparison;

/* Sets the fields baseline, system, difference and better of @comparison. */
void plait_comparison_set_scores (PlaitComparison *comparison, const PlaitMetric *metric, double baseline,
                                  double system);

/* Compares two systems on the same sentences by permutation or bootstrap. @trials in 1 .. PLAIT_MAX_TRIALS. Fails with
 * PLAIT_ERROR_INPUT without sentences, or if the rows do not match. */
gboolean plait_compare_systems (const PlaitMetric *metric, const PlaitStatistics *baseline,
                                const PlaitStatistics *system, PlaitTest test, guint trials, guint64 seed,
                                PlaitComparison *comparison, GError **error);

/* Returns the differences, system - baseline, of @trials bootstrap resamples. (transfer full) */
double *plait_bootstrap_differences (const PlaitMetric *metric, const PlaitStatistics *baseline,
                                     const PlaitStatistics *system, guint trials, guint64 seed);

/* Sorts @values, and sets *@low to the value with @cut values below it and *@high to the value with @cut values above
 * it. */
void plait_percentiles (double *values, guint count, guint cut, double *low, double *high);

/* Adjusts the p values of @comparisons (element-type PlaitComparison), all with the same baseline, by Holm's step-down
 * method (Holm 1979): if the null hypotheses with adjusted_p <= alpha are rejected, the probability of any false
 * rejection is at most alpha. Sets adjusted_p of each comparison, and sorts the comparisons by p. */
void plait_holm_adjust (GPtrArray *comparisons);

/* TRUE if @p, an adjusted p value, is below .05. Tables mark these values. */
gboolean plait_is_significant (double p);
