/* SPDX-License-Identifier: MIT */

/*
 * Metrics of numbers, one for each text, such as estimates of quality. The first reference of each text counts.
 *
 *   pearson     correlation of hypotheses x and references y, in per cent
 *   spearman    correlation of their ranks, in per cent; equal numbers share the mean of their ranks. Intervals and
 *               tests use the ranks among all texts; resamples are not ranked again
 *   mse         mean of (x - y)^2
 *
 * A row of a correlation is [1, x, y, x^2, y^2, x y], a row of mse [(x - y)^2, 1].
 */
#include "metrics/metric-kind.h"

#include "text/error.h"
#include "text/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CORRELATION_WIDTH 6
#define ROUNDING 1e-12 /* a variance up to this share of the mean square counts as 0: it is due to rounding */

/* Sets @numbers [n] to the numbers in @texts [n]. @what: name of the texts for messages. */
static gboolean
read_numbers (const char *const *texts, gsize n, const char *what, double *numbers, GError **error)
{
  for (gsize i = 0; i < n; i++)
    {
      g_autofree char *text = g_strstrip (g_strdup (texts[i]));

      if (!plait_parse_double (text, &numbers[i]) || !isfinite (numbers[i]))
        return plait_fail (error, PLAIT_ERROR_INPUT, "the %s of sentence %zu is \"%s\"; expected a number", what, i + 1,
                           text);
    }
  return TRUE;
}

/* Reads the number in each hypothesis into @x, and the number in each reference into @y: [sentences]. */
static gboolean
read_pairs (const PlaitTextPairs *pairs, double *x, double *y, GError **error)
{
  g_autofree const char **references = g_new (const char *, pairs->sentences);

  for (gsize i = 0; i < pairs->sentences; i++)
    for (guint k = pairs->reference_sets; k-- > 0;)
      if (pairs->references[k][i])
        references[i] = pairs->references[k][i];
  return read_numbers (pairs->hypotheses, pairs->sentences, "hypothesis", x, error)
         && read_numbers (references, pairs->sentences, "reference", y, error);
}

typedef struct
{
  double value;
  gsize sentence;
} Ranked;

static int
compare (const void *a, const void *b)
{
  const Ranked *x = a, *y = b;

  return (x->value > y->value) - (x->value < y->value);
}

/* Replaces @numbers [n] by their ranks, from 1; equal numbers get the mean of their ranks. */
static void
rank (double *numbers, gsize n)
{
  g_autofree Ranked *ranked = g_new (Ranked, n);

  for (gsize i = 0; i < n; i++)
    ranked[i] = (Ranked){ numbers[i], i };
  qsort (ranked, n, sizeof *ranked, compare);
  for (gsize first = 0, end; first < n; first = end)
    {
      for (end = first + 1; end < n && compare (&ranked[first], &ranked[end]) == 0; end++)
        ;
      for (gsize i = first; i < end; i++)
        numbers[ranked[i].sentence] = (double)(first + 1 + end) / 2;
    }
}

/* Returns the rows of a correlation of x and y. Subtracts the first y from all numbers. This does not change the
 * correlation, but reduces rounding errors. */
static PlaitStatistics *
correlation_rows (const double *x, const double *y, gsize n)
{
  PlaitStatistics *statistics = plait_statistics_new (n, CORRELATION_WIDTH);

  for (gsize i = 0; i < n; i++)
    {
      double a = x[i] - y[0], b = y[i] - y[0];
      const double row[CORRELATION_WIDTH] = { 1, a, b, a * a, b * b, a * b };

      memcpy (statistics->values + i * CORRELATION_WIDTH, row, sizeof row);
    }
  return statistics;
}

static PlaitStatistics *
pearson_rows (const PlaitMetric *metric, const PlaitTextPairs *pairs, GError **error)
{
  g_autofree double *x = g_new (double, pairs->sentences), *y = g_new (double, pairs->sentences);

  return read_pairs (pairs, x, y, error) ? correlation_rows (x, y, pairs->sentences) : NULL;
}

static PlaitStatistics *
spearman_rows (const PlaitMetric *metric, const PlaitTextPairs *pairs, GError **error)
{
  g_autofree double *x = g_new (double, pairs->sentences), *y = g_new (double, pairs->sentences);

  if (!read_pairs (pairs, x, y, error))
    return NULL;
  rank (x, pairs->sentences);
  rank (y, pairs->sentences);
  return correlation_rows (x, y, pairs->sentences);
}

/* Returns the correlation in per cent; 0 if all x or all y are equal up to rounding. */
static double
correlation (const PlaitMetric *metric, const double *sums)
{
  double n = sums[0], x = n * sums[3] - sums[1] * sums[1], y = n * sums[4] - sums[2] * sums[2];

  return x > ROUNDING * n * sums[3] && y > ROUNDING * n * sums[4]
             ? 100 * (n * sums[5] - sums[1] * sums[2]) / sqrt (x * y)
             : 0;
}

static PlaitStatistics *
mse_rows (const PlaitMetric *metric, const PlaitTextPairs *pairs, GError **error)
{
  g_autofree double *x = g_new (double, pairs->sentences), *y = g_new (double, pairs->sentences);
  PlaitStatistics *statistics;

  if (!read_pairs (pairs, x, y, error))
    return NULL;
  statistics = plait_statistics_new (pairs->sentences, 2);
  for (gsize i = 0; i < pairs->sentences; i++)
    {
      statistics->values[2 * i] = (x[i] - y[i]) * (x[i] - y[i]);
      statistics->values[2 * i + 1] = 1;
    }
  return statistics;
}

static double
mean (const PlaitMetric *metric, const double *sums)
{
  return sums[1] > 0 ? sums[0] / sums[1] : 0;
}

static void
append_signature (const PlaitMetric *metric, GString *signature)
{
  g_string_append (signature, "of:numbers|");
}

const PlaitMetricKind plait_metric_pearson = {
  .name = "pearson",
  .summary = "Pearson correlation, per cent",
  .title = "Pearson",
  .width = PLAIT_WIDTH_OF_TEXT,
  .size = sizeof (PlaitMetric),
  .larger_is_better = TRUE,
  .rows = pearson_rows,
  .score = correlation,
  .append_signature = append_signature,
};

const PlaitMetricKind plait_metric_spearman = {
  .name = "spearman",
  .summary = "Spearman correlation, per cent",
  .title = "Spearman",
  .width = PLAIT_WIDTH_OF_TEXT,
  .size = sizeof (PlaitMetric),
  .larger_is_better = TRUE,
  .rows = spearman_rows,
  .score = correlation,
  .append_signature = append_signature,
};

const PlaitMetricKind plait_metric_mse = {
  .name = "mse",
  .summary = "Mean squared error of numbers",
  .title = "MSE",
  .width = PLAIT_WIDTH_OF_TEXT,
  .size = sizeof (PlaitMetric),
  .rows = mse_rows,
  .score = mean,
  .append_signature = append_signature,
};
