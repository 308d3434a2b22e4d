/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include "process/random.h"
#include "significance/equivalence.h"
#include "significance/report.h"
#include "significance/seeds.h"

#include <math.h>

/* Tests of equivalence. The statistics of a sentence are those of accuracy, [right, texts]; scores are per cent. */

#define SENTENCES 4
#define SEEDS 3

static PlaitStatistics *
statistics_of (const double *right, gsize sentences)
{
  PlaitStatistics *statistics = plait_statistics_new (sentences, 2);

  for (gsize i = 0; i < sentences; i++)
    {
      statistics->values[2 * i] = right[i];
      statistics->values[2 * i + 1] = 1;
    }
  return statistics;
}

/* Compares the first @n of SEEDS runs of two systems, then tests them for equivalence within @margin. */
static PlaitComparison
compare (const double *baseline, const double *system, guint n, gsize sentences, guint trials, double margin)
{
  g_autoptr (PlaitMetric) metric = plait_metric_new ("accuracy", NULL);
  PlaitStatistics *one[SEEDS], *other[SEEDS];
  PlaitComparison comparison = { 0 };

  for (guint k = 0; k < n; k++)
    {
      one[k] = statistics_of (baseline + k * sentences, sentences);
      other[k] = statistics_of (system + k * sentences, sentences);
    }
  if (n > 1)
    CHECK (plait_compare_seeds (metric, (const PlaitStatistics *const *)one, n, (const PlaitStatistics *const *)other,
                                n, &comparison, NO_ERROR));
  else
    CHECK (plait_compare_systems (metric, one[0], other[0], PLAIT_TEST_BOOTSTRAP, trials, 7, &comparison, NO_ERROR));
  plait_comparison_test_equivalence (&comparison, margin, metric, one[0], other[0]);
  for (guint k = 0; k < n; k++)
    {
      plait_statistics_free (one[k]);
      plait_statistics_free (other[k]);
    }
  return comparison;
}

/* The 90 % interval lies within the margin exactly if p is at most .05. */
static gboolean
agrees (const PlaitComparison *comparison)
{
  gboolean within = comparison->equivalence_low > -comparison->equivalence_margin
                    && comparison->equivalence_high < comparison->equivalence_margin;

  return within == (comparison->equivalence_p <= 0.05);
}

static double
sum_of_drawn (const double *numbers, guint drawn)
{
  double sum = 0;

  for (guint i = 0; i < SENTENCES; i++, drawn /= SENTENCES)
    sum += numbers[drawn % SENTENCES];
  return sum;
}

/* Returns the exact p. Draws SENTENCES sentences with replacement in all ways, and counts the differences up to
 * -@margin and those from @margin on. The larger fraction is p. */
static double
exact_p (const double *baseline, const double *system, double margin)
{
  guint n = SENTENCES * SENTENCES * SENTENCES * SENTENCES, below = 0, above = 0;

  for (guint drawn = 0; drawn < n; drawn++)
    {
      double difference = 100 * (sum_of_drawn (system, drawn) - sum_of_drawn (baseline, drawn)) / SENTENCES;

      below += difference <= -margin;
      above += difference >= margin;
    }
  return (double)MAX (below, above) / n;
}

TEST_CASE (equivalence, of_resamples_by_brute_force)
{
  const double baseline[] = { 0.1, 0.5, 0.2, 0.3 }, system[] = { 0.4, 0.3, 0.1, 0.7 };
  const double margins[] = { 1, 5.5, 12.1, 20.3, 27.2, 33.3, 37.6, 41 };

  for (guint i = 0; i < G_N_ELEMENTS (margins); i++)
    {
      PlaitComparison worse = compare (baseline, system, 1, SENTENCES, 100000, margins[i]);
      PlaitComparison better = compare (system, baseline, 1, SENTENCES, 100000, margins[i]);

      CONTEXT ("margin %g", margins[i]);
      CHECK_NEAR (worse.equivalence_p, exact_p (baseline, system, margins[i]), 0.005);
      CHECK_NEAR (better.equivalence_p, worse.equivalence_p, 1e-12);
      CHECK (agrees (&worse) && agrees (&better));
    }
}

/* Returns the probability that Student's t with four degrees of freedom is above @t, by its closed form. */
static double
tail_of_four (double t)
{
  double s = 1 + t * t / 4;

  return 0.5 - 0.375 * t / sqrt (s) * (1 - t * t / s / 12);
}

TEST_CASE (equivalence, of_seeds_by_hand)
{
  /* Scores of the seeds are 10, 20, 30 and 40, 50, 60: difference 30, its variance 200 / 3, 4 degrees of freedom. */
  const double baseline[] = { 0.1, 0.2, 0.3 }, system[] = { 0.4, 0.5, 0.6 }, deviation = sqrt (200.0 / 3);
  const double margins[] = { 5, 29.9, 30.1, 35, 45, 47.3, 47.5, 60, 100 };

  for (guint i = 0; i < G_N_ELEMENTS (margins); i++)
    {
      PlaitComparison comparison = compare (baseline, system, SEEDS, 1, 0, margins[i]);
      double below = tail_of_four ((30 + margins[i]) / deviation), above = tail_of_four ((margins[i] - 30) / deviation);

      CONTEXT ("margin %g", margins[i]);
      CHECK_NEAR (comparison.equivalence_p, MAX (below, above), 1e-9);
      CHECK_NEAR (comparison.equivalence_low, 30 - 2.131847 * deviation, 1e-4);
      CHECK_NEAR (comparison.equivalence_high, 30 + 2.131847 * deviation, 1e-4);
      CHECK (agrees (&comparison));
      CHECK_NEAR (compare (system, baseline, SEEDS, 1, 0, margins[i]).equivalence_p, comparison.equivalence_p, 1e-12);
    }
}

TEST_CASE (equivalence, without_variance)
{
  const double numbers[] = { 0.2, 0.2, 0.2 }, others[] = { 0.25, 0.25, 0.25 }, none[] = { NAN, NAN, NAN };

  CHECK_NEAR (compare (numbers, others, SEEDS, 1, 0, 5.1).equivalence_p, 0, 0);
  CHECK_NEAR (compare (numbers, others, SEEDS, 1, 0, 4.9).equivalence_p, 1, 0);
  CHECK_NEAR (compare (numbers, numbers, 1, SEEDS, 99, 0.1).equivalence_p, 0.01, 1e-12);
  CHECK_NEAR (compare (numbers, others, 1, SEEDS, 99, 4.9).equivalence_p, 1, 0);
  CHECK_NEAR (compare (numbers, none, SEEDS, 1, 0, 5).equivalence_p, 1, 0);
  CHECK_NEAR (compare (none, numbers, 1, SEEDS, 9, 5).equivalence_p, 1, 0);
}

/* Returns the percentage of 2000 comparisons with p below .05, for systems whose scores differ by @difference. The
 * standard deviation is 1 per cent point between seeds, and also between the sentences of a seed. */
static double
found (double difference, double margin)
{
  guint counted = 0;

  for (guint trial = 0; trial < 2000; trial++)
    {
      PlaitRandomKey key = plait_random_key (1, "equivalence", NULL, trial);
      double numbers[2][SEEDS * SENTENCES];

      for (guint s = 0; s < 2; s++)
        for (guint k = 0; k < SEEDS; k++)
          for (guint i = 0; i < SENTENCES; i++)
            {
              PlaitRandomKey seed = plait_random_subkey (key, s * SEEDS + k);

              numbers[s][k * SENTENCES + i]
                  = (s * difference + plait_random_normal (seed, SENTENCES) + plait_random_normal (seed, i)) / 100;
            }
      counted += compare (numbers[0], numbers[1], SEEDS, SENTENCES, 0, margin).equivalence_p < 0.05;
    }
  return counted / 20.0;
}

TEST_CASE (equivalence, is_found_as_often_as_it_says)
{
  CHECK_NEAR (found (6, 6), 5, 1.5); /* differences of exactly the margin are the limit of the null hypothesis */
  CHECK_NEAR (found (-6, 6), 5, 1.5);
  CHECK (found (8, 6) < 2);
  CHECK (found (0, 6) > 90);
  CHECK (found (0, 1) < 5);
}

TEST_CASE (equivalence, in_tables_and_json)
{
  const double baseline[] = { 0.1, 0.5, 0.2, 0.3 }, system[] = { 0.2, 0.4, 0.2, 0.4 };
  PlaitComparison comparison = compare (baseline, system, 1, SENTENCES, 999, 12.5);
  g_autoptr (PlaitTable) table = plait_table_new ();
  g_autoptr (PlaitJson) json = plait_json_new ();
  g_autofree char *note = plait_equivalence_note (12.5);
  g_autofree char *text = NULL;

  plait_equivalence_columns (table, 12.5);
  plait_equivalence_cells (table, &comparison);
  plait_equivalence_cells (table, NULL);
  text = plait_table_cell_text (plait_table_get_column (table, 0), plait_table_cell (table, 0, 0));
  CHECK_STRING (text, "+2.50 [-5.00, +10.00]");
  CHECK_STRING (plait_table_get_column (table, 1)->title, "p (within 12.5)");
  CHECK_INT (plait_table_cell (table, 1, 1)->kind, PLAIT_TABLE_CELL_NONE);
  CHECK_CONTAINS (note, "smaller than 12.5 in either direction");
  plait_comparison_add_json (&comparison, json, NULL);
  CHECK_CONTAINS (plait_json_string (json), "\"equivalence_margin\": 12.5,\n  \"equivalence_p\": 0.001,\n");
}
