/* SPDX-License-Identifier: MIT */
#pragma once

#include "metrics/metric.h"

/*
 * How sure a score is, and whether two systems differ, from the rows of sentences (metric.h).
 *
 * Random numbers are keyed: (seed, test, trial, sentence). So a resample takes the same sentences for every system and
 * every metric, and nothing depends on the order of calls.
 */

#define PLAIT_BOOTSTRAP_RESAMPLES 1000
#define PLAIT_PERMUTATION_SHUFFLES 10000
#define PLAIT_MAX_TRIALS 10000000

/* The mean and the median of @n numbers; NaN of none. */
double plait_mean (const double *numbers, gsize n);

/* The sample standard deviation of @numbers; NaN of fewer than two. What the sign plus-minus and the bands of figures
 * show of several seeds. */
double plait_standard_deviation (const double *numbers, gsize n);
double plait_median (const double *numbers, gsize n);

/* The middle 95 % of the scores of bootstrap resamples (sentences drawn with replacement). */
typedef struct
{
  guint resamples; /* 0: no interval was made */
  guint64 seed;
  double mean;       /* of the resamples' scores */
  double low, high;  /* the 2.5 % and 97.5 % percentiles: scores number N/40 from below and above */
  double half_range; /* (high - low) / 2, what sacreBLEU prints behind the sign plus-minus */
} PlaitInterval;

/* @resamples in 1 .. PLAIT_MAX_TRIALS, else PLAIT_ERROR_INPUT. */
gboolean plait_bootstrap_interval (const PlaitMetric *metric, const PlaitStatistics *statistics, guint resamples,
                                   guint64 seed, PlaitInterval *interval, GError **error);

typedef enum
{
  /* Approximate randomisation (Noreen 1989; Riezler & Maxwell 2005): each sentence's rows change sides with probability
   * 1/2; a shuffle counts if its |difference| is at least as large as the observed one. */
  PLAIT_TEST_PERMUTATION,
  /* Paired bootstrap (Koehn 2004): both systems are scored on the same resample; the difference, moved to mean zero, is
   * what chance gives, and a resample counts if it is at least as large as the observed one in magnitude. */
  PLAIT_TEST_BOOTSTRAP,
  /* Of systems that were trained several times, a t test over seeds and sentences: plait_compare_seeds in seeds.h. */
  PLAIT_TEST_SEEDS,
} PlaitTest;

typedef struct
{
  PlaitTest test;
  guint trials;
  guint64 seed;
  double baseline, system; /* scores */
  double difference;       /* system - baseline */
  gint better;             /* 1: the system is better, -1: it is worse, 0: neither */
  double p;                /* two-sided, (trials that count + 1) / (trials + 1): identical systems have exactly 1 */
  double adjusted_p;       /* p until plait_holm_adjust is asked */

  /* Of the bootstrap and of the test over seeds, 0 else: the difference over the resamples, or of the means, with its
   * 95 % interval. */
  double mean, low, high;
  double share_better; /* of the bootstrap alone: of resamples where the system is strictly better */
} PlaitComparison;

/* Sets the scores, the difference and what it says of the system. */
void plait_comparison_set_scores (PlaitComparison *comparison, const PlaitMetric *metric, double baseline,
                                  double system);

/* Compares two systems on the same sentences by permutation or bootstrap. @trials in 1 .. PLAIT_MAX_TRIALS.
 * PLAIT_ERROR_INPUT if the numbers of sentences differ or there are none. */
gboolean plait_compare_systems (const PlaitMetric *metric, const PlaitStatistics *baseline,
                                const PlaitStatistics *system, PlaitTest test, guint trials, guint64 seed,
                                PlaitComparison *comparison, GError **error);

/* Holm's step-down adjustment (Holm 1979) of the p values of comparisons (element-type PlaitComparison) with one
 * baseline: rejecting where adjusted_p <= a keeps the chance of any false rejection at or below a. Sets adjusted_p of
 * each, and sorts them by p. */
void plait_holm_adjust (GPtrArray *comparisons);

/* What tables mark: a p, adjusted, below .05. */
gboolean plait_is_significant (double p);
