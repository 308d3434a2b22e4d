/* SPDX-License-Identifier: MIT */
#include "metrics/perplexity.h"

#include "text/error.h"
#include "text/number.h"
#include "metrics/metric-kind.h"

#include <math.h>

#define WIDTH 3

static double
perplexity (double log_probability, double count)
{
  if (count > 0)
    return exp (-log_probability / count);
  return log_probability < 0 ? INFINITY : 1; /* no tokens, as in a resample of empty sentences */
}

static const PlaitMetricKind kinds[2]; /* indexed by PlaitPerplexityUnit */

static gboolean
is_of_words (const PlaitMetric *metric)
{
  return metric->kind == &kinds[PLAIT_PERPLEXITY_WORD];
}

static double
score (const PlaitMetric *metric, const double *sums)
{
  return perplexity (sums[0], sums[is_of_words (metric) ? 2 : 1]);
}

static char *
detail (const PlaitMetric *metric, const double *sums)
{
  return plait_format ("(log_probability = %.3f tokens = %.0f words = %.0f)", sums[0], sums[1], sums[2]);
}

static void
append_signature (const PlaitMetric *metric, GString *signature)
{
  g_string_append (signature, is_of_words (metric) ? "unit:word|" : "unit:token|");
}

#define KIND(name_, title_)                                                                                            \
  {                                                                                                                    \
    .name = name_, .title = title_, .width = WIDTH, .size = sizeof (PlaitMetric), .score = score, .detail = detail,    \
    .append_signature = append_signature,                                                                              \
  }

static const PlaitMetricKind kinds[2] = {
  [PLAIT_PERPLEXITY_TOKEN] = KIND ("perplexity", "perplexity per token"),
  [PLAIT_PERPLEXITY_WORD] = KIND ("perplexity-word", "perplexity per word"),
};

PlaitMetric *
plait_metric_new_perplexity (PlaitPerplexityUnit unit)
{
  return plait_metric_new_default (&kinds[unit], kinds[unit].name);
}

PlaitStatistics *
plait_perplexity_statistics (const double *log_probabilities, const gint64 *tokens, const gint64 *words,
                             gsize sentences, GError **error)
{
  g_autoptr (PlaitStatistics) statistics = plait_statistics_new (sentences, WIDTH);
  gint64 all_tokens = 0, all_words = 0;
  for (gsize i = 0; i < sentences; i++)
    {
      if (!(log_probabilities[i] <= 0) || tokens[i] < 0 || words[i] < 0)
        {
          char number[PLAIT_NUMBER_LENGTH];
          return plait_fail_null (error, PLAIT_ERROR_INPUT,
                                  "sentence %zu has log-probability %s for %jd tokens and %jd words; expected a "
                                  "log-probability of at most 0, and counts of at least 0",
                                  i + 1, plait_format_double (number, log_probabilities[i]), tokens[i], words[i]);
        }
      double *row = statistics->values + i * WIDTH;
      row[0] = log_probabilities[i];
      row[1] = (double)tokens[i];
      row[2] = (double)words[i];
      all_tokens += tokens[i];
      all_words += words[i];
    }
  if (all_tokens == 0 || all_words == 0)
    return plait_fail_null (
        error, PLAIT_ERROR_INPUT,
        "perplexity over %zu sentences has %jd tokens and %jd words, but needs at least one of each", sentences,
        all_tokens, all_words);
  return g_steal_pointer (&statistics);
}
