/* SPDX-License-Identifier: MIT */
#include "evaluate/perplexity.h"

#include "base/error.h"
#include "base/number.h"
#include "evaluate/metric-kind.h"

#include <math.h>

#define WIDTH 3

static double
perplexity (double log_probability, double count)
{
  if (count > 0)
    return exp (-log_probability / count);
  return log_probability < 0 ? INFINITY : 1; /* a resample of empty sentences alone */
}

static gboolean
finish_token (PlaitMetric *metric, GError **error)
{
  metric->title = g_strdup ("perplexity per token");
  metric->width = WIDTH;
  return TRUE;
}

static gboolean
finish_word (PlaitMetric *metric, GError **error)
{
  metric->title = g_strdup ("perplexity per word");
  metric->width = WIDTH;
  return TRUE;
}

static double
score_token (const PlaitMetric *metric, const double *sums)
{
  return perplexity (sums[0], sums[1]);
}

static double
score_word (const PlaitMetric *metric, const double *sums)
{
  return perplexity (sums[0], sums[2]);
}

static char *
detail (const PlaitMetric *metric, const double *sums)
{
  GString *text = g_string_new ("(log_probability = ");
  plait_append_number (text, sums[0], 3);
  g_string_append (text, " tokens = ");
  plait_append_number (text, sums[1], 0);
  g_string_append (text, " words = ");
  plait_append_number (text, sums[2], 0);
  g_string_append_c (text, ')');
  return g_string_free (text, FALSE);
}

static void
sign_token (const PlaitMetric *metric, GString *signature)
{
  g_string_append (signature, "unit:token|");
}

static void
sign_word (const PlaitMetric *metric, GString *signature)
{
  g_string_append (signature, "unit:word|");
}

/* Exponential of the mean negative log-probability of a token. */
static const PlaitMetricKind per_token = {
  .name = "perplexity",
  .size = sizeof (PlaitMetric),
  .finish = finish_token,
  .score = score_token,
  .detail = detail,
  .sign = sign_token,
};

/* Exponential of the negative log-probability spread over words. */
static const PlaitMetricKind per_word = {
  .name = "perplexity-word",
  .size = sizeof (PlaitMetric),
  .finish = finish_word,
  .score = score_word,
  .detail = detail,
  .sign = sign_word,
};

PlaitMetric *
plait_metric_new_perplexity (PlaitPerplexityUnit unit)
{
  return plait_metric_new_default (unit == PLAIT_PERPLEXITY_TOKEN ? &per_token : &per_word);
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
          plait_fail (error, PLAIT_ERROR_INPUT,
                      "sentence %" G_GSIZE_FORMAT " has log-probability %s for %" G_GINT64_FORMAT
                      " tokens and %" G_GINT64_FORMAT
                      " words, but a log-probability is at most 0 and counts at least 0",
                      i + 1, plait_format_double (number, log_probabilities[i]), tokens[i], words[i]);
          return NULL;
        }
      double *row = statistics->values + i * WIDTH;
      row[0] = log_probabilities[i];
      row[1] = (double)tokens[i];
      row[2] = (double)words[i];
      all_tokens += tokens[i];
      all_words += words[i];
    }
  if (all_tokens == 0 || all_words == 0)
    {
      plait_fail (error, PLAIT_ERROR_INPUT,
                  "perplexity over %" G_GSIZE_FORMAT " sentences has %" G_GINT64_FORMAT " tokens and %" G_GINT64_FORMAT
                  " words, but needs at least one of each",
                  sentences, all_tokens, all_words);
      return NULL;
    }
  return g_steal_pointer (&statistics);
}
