/* SPDX-License-Identifier: MIT */
#include "evaluate/report.h"

#include "base/number.h"
#include "evaluate/metric-kind.h"

#include <math.h>

PlaitResult *
plait_result_new (const PlaitMetric *metric, const PlaitStatistics *statistics, guint resamples, guint64 seed,
                  GError **error)
{
  PlaitInterval interval = { 0 };
  if (resamples > 0 && !plait_bootstrap_interval (metric, statistics, resamples, seed, &interval, error))
    return NULL;

  g_autofree double *sums = g_new (double, statistics->width);
  plait_statistics_sum (statistics, sums);
  PlaitResult *result = g_new0 (PlaitResult, 1);
  result->metric = g_strdup (plait_metric_text (metric));
  result->name = g_strdup (plait_metric_title (metric));
  result->signature = plait_metric_signature (metric, statistics->references, resamples, seed);
  result->detail = plait_metric_detail (metric, sums);
  result->score = plait_metric_score (metric, sums);
  result->larger_is_better = plait_metric_larger_is_better (metric);
  result->sentences = statistics->sentences;
  result->interval = interval;
  return result;
}

PlaitResult *
plait_evaluate (const PlaitMetric *metric, const PlaitTextPairs *pairs, guint resamples, guint64 seed, GError **error)
{
  g_autoptr (PlaitStatistics) statistics = plait_metric_statistics (metric, pairs, error);
  return statistics ? plait_result_new (metric, statistics, resamples, seed, error) : NULL;
}

void
plait_result_free (PlaitResult *result)
{
  if (!result)
    return;
  g_free (result->metric);
  g_free (result->name);
  g_free (result->signature);
  g_free (result->detail);
  g_free (result);
}

char *
plait_result_to_cell (const PlaitResult *result, guint decimals)
{
  GString *text = g_string_new (NULL);
  plait_append_number (text, result->score, decimals);
  if (result->interval.resamples > 0)
    {
      g_string_append (text, " ± ");
      plait_append_number (text, result->interval.half_range, decimals);
    }
  return g_string_free (text, FALSE);
}

char *
plait_result_to_text (const PlaitResult *result, guint decimals)
{
  GString *text = g_string_new (NULL);
  g_string_append_printf (text, "%s|%s = ", result->name, result->signature);
  plait_append_number (text, result->score, decimals);
  if (result->interval.resamples > 0)
    {
      g_string_append (text, " (μ = ");
      plait_append_number (text, result->interval.mean, decimals);
      g_string_append (text, " ± ");
      plait_append_number (text, result->interval.half_range, decimals);
      g_string_append_c (text, ')');
    }
  if (result->detail)
    g_string_append_printf (text, " %s", result->detail);
  return g_string_free (text, FALSE);
}

static void
append_key (GString *json, const char *key)
{
  g_string_append_printf (json, "%s\"%s\": ", g_str_has_suffix (json->str, "{") ? "" : ", ", key);
}

static void
append_string (GString *json, const char *key, const char *value)
{
  append_key (json, key);
  g_string_append_c (json, '"');
  for (; *value; value++)
    if (*value == '"' || *value == '\\')
      g_string_append_printf (json, "\\%c", *value);
    else if ((guchar)*value < 0x20)
      g_string_append_printf (json, "\\u%04x", (guint)*value);
    else
      g_string_append_c (json, *value);
  g_string_append_c (json, '"');
}

static void
append_double (GString *json, const char *key, double value)
{
  append_key (json, key);
  if (!isfinite (value))
    {
      g_string_append (json, "null");
      return;
    }
  char digits[PLAIT_NUMBER_LENGTH];
  g_string_append (json, plait_format_double (digits, value));
}

static void
append_count (GString *json, const char *key, guint64 value)
{
  append_key (json, key);
  g_string_append_printf (json, "%" G_GUINT64_FORMAT, value);
}

void
plait_result_append_json (const PlaitResult *result, GString *json)
{
  g_string_append_c (json, '{');
  append_string (json, "name", result->name);
  append_double (json, "score", result->score);
  append_string (json, "signature", result->signature);
  if (result->detail)
    append_string (json, "verbose_score", result->detail);
  append_string (json, "metric", result->metric);
  append_count (json, "sentences", result->sentences);
  if (result->interval.resamples > 0)
    {
      append_double (json, "confidence_mean", result->interval.mean);
      append_double (json, "confidence_var", result->interval.half_range);
      append_double (json, "confidence_low", result->interval.low);
      append_double (json, "confidence_high", result->interval.high);
      append_count (json, "resamples", result->interval.resamples);
      append_count (json, "seed", result->interval.seed);
    }
  g_string_append_c (json, '}');
}

char *
plait_comparison_to_text (const PlaitComparison *comparison, guint decimals)
{
  gboolean bootstrap = comparison->test == PLAIT_TEST_BOOTSTRAP;
  GString *text = g_string_new (comparison->difference < 0 ? "" : "+");
  plait_append_number (text, comparison->difference, decimals);
  g_string_append (text, " (");
  plait_append_number (text, comparison->baseline, decimals);
  g_string_append (text, " -> ");
  plait_append_number (text, comparison->system, decimals);
  g_string_append (text, "), p = ");
  plait_append_number (text, comparison->p, 4);
  if (comparison->adjusted_p != comparison->p)
    {
      g_string_append (text, ", adjusted ");
      plait_append_number (text, comparison->adjusted_p, 4);
    }
  if (bootstrap)
    {
      g_string_append (text, ", 95 % of differences in [");
      plait_append_number (text, comparison->low, decimals);
      g_string_append (text, ", ");
      plait_append_number (text, comparison->high, decimals);
      g_string_append (text, "]");
    }
  g_string_append_printf (text, " (%s, %u %s, seed %" G_GUINT64_FORMAT ")",
                          bootstrap ? "paired bootstrap" : "approximate randomisation", comparison->trials,
                          bootstrap ? "resamples" : "shuffles", comparison->seed);
  return g_string_free (text, FALSE);
}

void
plait_comparison_append_json (const PlaitComparison *comparison, GString *json)
{
  gboolean bootstrap = comparison->test == PLAIT_TEST_BOOTSTRAP;
  g_string_append_c (json, '{');
  append_string (json, "test", bootstrap ? "paired bootstrap" : "approximate randomisation");
  append_double (json, "baseline", comparison->baseline);
  append_double (json, "system", comparison->system);
  append_double (json, "difference", comparison->difference);
  append_double (json, "p", comparison->p);
  append_double (json, "adjusted_p", comparison->adjusted_p);
  append_count (json, "trials", comparison->trials);
  append_count (json, "seed", comparison->seed);
  if (bootstrap)
    {
      append_double (json, "mean", comparison->mean);
      append_double (json, "low", comparison->low);
      append_double (json, "high", comparison->high);
      append_double (json, "share_better", comparison->share_better);
    }
  g_string_append_c (json, '}');
}
