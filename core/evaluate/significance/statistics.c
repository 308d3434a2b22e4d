/* SPDX-License-Identifier: MIT */
#include "significance/statistics.h"

#include "text/error.h"
#include "process/random.h"
#include "metrics/metric-kind.h"

#include <math.h>
#include <string.h>

static int
compare_numbers (const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double
plait_mean (const double *numbers, gsize n)
{
  double sum = 0;
  for (gsize i = 0; i < n; i++)
    sum += numbers[i];
  return sum / (double)n;
}

double
plait_standard_deviation (const double *numbers, gsize n)
{
  double mean = plait_mean (numbers, n), squares = 0;

  for (gsize i = 0; i < n; i++)
    squares += (numbers[i] - mean) * (numbers[i] - mean);
  return n > 1 ? sqrt (squares / (double)(n - 1)) : NAN;
}

double
plait_median (const double *numbers, gsize n)
{
  if (n == 0)
    return NAN;
  g_autofree double *sorted = g_memdup2 (numbers, n * sizeof *sorted);
  qsort (sorted, n, sizeof *sorted, compare_numbers);
  return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

static void
add_row (double *sums, const double *row, guint width)
{
  for (guint k = 0; k < width; k++)
    sums[k] += row[k];
}

static gboolean
check_trials (guint trials, GError **error)
{
  if (trials == 0 || trials > PLAIT_MAX_TRIALS)
    return plait_fail (error, PLAIT_ERROR_INPUT, "the number of resamples or shuffles is %u, but must be from 1 to %d",
                       trials, PLAIT_MAX_TRIALS);
  return TRUE;
}

static gboolean
check_statistics (const PlaitMetric *metric, const PlaitStatistics *statistics, GError **error)
{
  g_assert (metric->width == PLAIT_WIDTH_OF_TEXT || statistics->width == metric->width);
  if (statistics->sentences == 0)
    return plait_fail (error, PLAIT_ERROR_INPUT, "there are no sentences to resample for %s; give at least one",
                       plait_metric_title (metric));
  return TRUE;
}

/* Draws the @count sentences of a resample, the same ones for every system. */
static void
draw (guint64 seed, guint resample, gsize *sentences, gsize count)
{
  PlaitRandomKey key = plait_random_key (seed, "bootstrap", NULL, resample);
  for (gsize i = 0; i < count; i++)
    sentences[i] = (gsize)plait_random_below (key, i, count);
}

static double
score_of (const PlaitMetric *metric, const PlaitStatistics *statistics, const gsize *sentences, double *sums)
{
  memset (sums, 0, statistics->width * sizeof (double));
  for (gsize i = 0; i < statistics->sentences; i++)
    add_row (sums, statistics->values + sentences[i] * statistics->width, statistics->width);
  return plait_metric_score (metric, sums);
}

void
plait_percentiles (double *values, guint count, guint cut, double *low, double *high)
{
  qsort (values, count, sizeof (double), compare_numbers);
  *low = values[cut];
  *high = values[count - cut - 1];
}

gboolean
plait_bootstrap_interval (const PlaitMetric *metric, const PlaitStatistics *statistics, guint resamples, guint64 seed,
                          PlaitInterval *interval, GError **error)
{
  if (!check_trials (resamples, error) || !check_statistics (metric, statistics, error))
    return FALSE;

  g_autofree gsize *sentences = g_new (gsize, statistics->sentences);
  g_autofree double *sums = g_new (double, statistics->width);
  g_autofree double *scores = g_new (double, resamples);
  for (guint r = 0; r < resamples; r++)
    {
      draw (seed, r, sentences, statistics->sentences);
      scores[r] = score_of (metric, statistics, sentences, sums);
    }

  *interval = (PlaitInterval){ .resamples = resamples, .seed = seed, .mean = plait_mean (scores, resamples) };
  plait_percentiles (scores, resamples, resamples / 40, &interval->low, &interval->high);
  interval->half_range = 0.5 * (interval->high - interval->low);
  return TRUE;
}

/* TRUE if the magnitude of a trial's difference is at least that of the observed one. The tolerance allows for another
 * order of summation. A NaN, from infinite scores, counts. */
static gboolean
counts (double difference, double observed)
{
  return !(fabs (difference) < fabs (observed) * (1 - 1e-12));
}

static double
p_value (guint counted, guint trials)
{
  return (counted + 1.0) / (trials + 1.0);
}

/* Number of columns that sum_subsets sums at once, in registers. */
#define COLUMNS 12
#define GROUP 4
#define MAX_GROUPED 65536

/* Precomputed sums, for exchanging the sentences of two systems quickly: for each group of GROUP sentences and each
 * subset of the group, the sum of the rows' differences. Used only for at most MAX_GROUPED sentences, if all
 * differences are whole and small. */
typedef struct
{
  gsize groups, stride; /* @stride: width rounded up to a multiple of COLUMNS */
  gint32 *rows;         /* [groups, 1 << GROUP, stride] sum for each subset of each group; NULL: not used */
} Subsets;

/* TRUE if the differences of the rows are whole, and any sum of them fits into 32 bits. */
static gboolean
are_small (const PlaitStatistics *baseline, const PlaitStatistics *system)
{
  double sum = 0;

  for (gsize i = 0; i < baseline->sentences * baseline->width; i++)
    {
      double difference = system->values[i] - baseline->values[i];

      if (floor (difference) < difference)
        return FALSE;
      sum += fabs (difference);
    }
  return sum < 0x1p31;
}

static Subsets
subsets_new (const PlaitStatistics *baseline, const PlaitStatistics *system)
{
  gsize n = baseline->sentences, width = baseline->width;
  Subsets subsets = { (n + GROUP - 1) / GROUP, (width + COLUMNS - 1) / COLUMNS * COLUMNS, NULL };

  if (n > MAX_GROUPED || !are_small (baseline, system))
    return subsets;
  subsets.rows = g_new0 (gint32, (subsets.groups << GROUP) * subsets.stride);
  for (gsize group = 0; group < subsets.groups; group++)
    for (guint subset = 1; subset < 1u << GROUP; subset++)
      {
        gint32 *rows = subsets.rows + (group << GROUP) * subsets.stride, *row = rows + subset * subsets.stride;
        const gint32 *others = rows + (subset & (subset - 1)) * subsets.stride;
        gsize first = (group * GROUP + (guint)__builtin_ctz (subset)) * width;

        for (gsize k = 0; k < width && first < n * width; k++)
          row[k] = others[k] + (gint32)(system->values[first + k] - baseline->values[first + k]);
      }
  return subsets;
}

/* Sets @sums to the sum, over the sentences whose bits are set in @chosen, of the system's row minus the baseline's. */
static void
sum_subsets (double *sums, const Subsets *subsets, const guint64 *chosen)
{
  for (gsize first = 0; first < subsets->stride; first += COLUMNS)
    {
      const gint32 *rows = subsets->rows + first;
      gint32 block[COLUMNS] = { 0 };
      guint64 bits = 0;

      for (gsize group = 0; group < subsets->groups; group++, bits >>= GROUP, rows += subsets->stride << GROUP)
        {
          if (group % (64 / GROUP) == 0)
            bits = chosen[group / (64 / GROUP)];

          const gint32 *row = rows + (bits & ((1 << GROUP) - 1)) * subsets->stride;
          for (guint k = 0; k < COLUMNS; k++)
            block[k] += row[k];
        }
      for (guint k = 0; k < COLUMNS; k++)
        sums[first + k] = block[k];
    }
}

/* Does what sum_subsets does, in the order of sentences, because sums of fractions depend on the order. */
static void
sum_differences (double *sums, const PlaitStatistics *baseline, const PlaitStatistics *system, const guint64 *chosen)
{
  gsize n = baseline->sentences, width = baseline->width;

  memset (sums, 0, width * sizeof *sums);
  for (gsize word = 0; word * 64 < n; word++)
    for (guint64 bits = chosen[word]; bits; bits &= bits - 1)
      {
        gsize i = word * 64 + (guint)__builtin_ctzll (bits);

        for (gsize k = 0; k < width && i < n; k++)
          sums[k] += system->values[i * width + k] - baseline->values[i * width + k];
      }
}

static void
permute (const PlaitMetric *metric, const PlaitStatistics *baseline, const PlaitStatistics *system,
         PlaitComparison *comparison)
{
  gsize width = baseline->width, n = baseline->sentences;
  Subsets subsets = subsets_new (baseline, system);
  g_autofree guint64 *chosen = g_new (guint64, n / 64 + 1);
  g_autofree double *sums = g_new (double, 5 * subsets.stride);
  double *total_baseline = sums, *total_system = sums + subsets.stride, *moved = sums + 2 * subsets.stride;
  double *one = sums + 3 * subsets.stride, *other = sums + 4 * subsets.stride;
  PlaitRandomBase base = plait_random_base (comparison->seed, "permutation", NULL);
  guint counted = 0;

  plait_statistics_sum (baseline, total_baseline);
  plait_statistics_sum (system, total_system);
  for (guint trial = 0; trial < comparison->trials; trial++)
    {
      PlaitRandomKey key = plait_random_base_key (base, trial);

      for (gsize word = 0; word * 64 < n; word++)
        chosen[word] = plait_random_bits (key, word);
      if (subsets.rows)
        sum_subsets (moved, &subsets, chosen);
      else
        sum_differences (moved, baseline, system, chosen);
      for (gsize k = 0; k < width; k++)
        {
          one[k] = total_baseline[k] + moved[k];
          other[k] = total_system[k] - moved[k];
        }
      double difference = plait_metric_score (metric, other) - plait_metric_score (metric, one);
      counted += counts (difference, comparison->difference);
    }
  g_free (subsets.rows);
  comparison->p = p_value (counted, comparison->trials);
}

double *
plait_bootstrap_differences (const PlaitMetric *metric, const PlaitStatistics *baseline, const PlaitStatistics *system,
                             guint trials, guint64 seed)
{
  g_autofree gsize *sentences = g_new (gsize, baseline->sentences);
  g_autofree double *sums = g_new (double, baseline->width);
  double *differences = g_new (double, trials);

  for (guint r = 0; r < trials; r++)
    {
      draw (seed, r, sentences, baseline->sentences);
      differences[r] = score_of (metric, system, sentences, sums) - score_of (metric, baseline, sentences, sums);
    }
  return differences;
}

static void
resample (const PlaitMetric *metric, const PlaitStatistics *baseline, const PlaitStatistics *system,
          PlaitComparison *comparison)
{
  guint trials = comparison->trials, better = 0, counted = 0;
  double sign = plait_metric_larger_is_better (metric) ? 1 : -1;
  g_autofree double *differences = plait_bootstrap_differences (metric, baseline, system, trials, comparison->seed);

  comparison->mean = plait_mean (differences, trials);
  for (guint r = 0; r < trials; r++)
    {
      better += sign * differences[r] > 0;
      counted += counts (differences[r] - comparison->mean, comparison->difference);
    }
  comparison->share_better = (double)better / trials;
  comparison->p = p_value (counted, trials);
  plait_percentiles (differences, trials, trials / 40, &comparison->low, &comparison->high);
}

void
plait_comparison_set_scores (PlaitComparison *comparison, const PlaitMetric *metric, double baseline, double system)
{
  double difference = system - baseline, gain = plait_metric_larger_is_better (metric) ? difference : -difference;

  comparison->baseline = baseline;
  comparison->system = system;
  comparison->difference = difference;
  comparison->better = (gain > 0) - (gain < 0);
}

gboolean
plait_compare_systems (const PlaitMetric *metric, const PlaitStatistics *baseline, const PlaitStatistics *system,
                       PlaitTest test, guint trials, guint64 seed, PlaitComparison *comparison, GError **error)
{
  if (!check_trials (trials, error) || !check_statistics (metric, baseline, error))
    return FALSE;
  if (system->width != baseline->width)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "the statistics of %s have rows of %u numbers for the baseline and of %u for the system: the "
                       "two have different references; score both against the same references",
                       plait_metric_title (metric), baseline->width, system->width);
  if (system->sentences != baseline->sentences)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "the baseline has %zu sentences and the system %zu, but a paired test needs translations of the "
                       "same sentences; score both systems on one test set",
                       baseline->sentences, system->sentences);

  g_autofree double *sums = g_new (double, baseline->width);
  double score;
  *comparison = (PlaitComparison){ .test = test, .trials = trials, .seed = seed };
  plait_statistics_sum (baseline, sums);
  score = plait_metric_score (metric, sums);
  plait_statistics_sum (system, sums);
  plait_comparison_set_scores (comparison, metric, score, plait_metric_score (metric, sums));

  if (test == PLAIT_TEST_PERMUTATION)
    permute (metric, baseline, system, comparison);
  else
    resample (metric, baseline, system, comparison);
  comparison->adjusted_p = comparison->p;
  return TRUE;
}

static int
compare_p (const void *a, const void *b)
{
  const PlaitComparison *x = *(PlaitComparison *const *)a, *y = *(PlaitComparison *const *)b;
  return (x->p > y->p) - (x->p < y->p);
}

void
plait_holm_adjust (GPtrArray *comparisons)
{
  double most = 0;

  g_ptr_array_sort (comparisons, compare_p);
  for (guint i = 0; i < comparisons->len; i++)
    {
      PlaitComparison *comparison = comparisons->pdata[i];

      most = MAX (most, (double)(comparisons->len - i) * comparison->p);
      comparison->adjusted_p = MIN (most, 1);
    }
}

gboolean
plait_is_significant (double p)
{
  return p < .05;
}
