/* SPDX-License-Identifier: MIT */
#include "significance/report.h"

#include <math.h>

#include "text/number.h"

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

PlaitTableScore
plait_result_score (const PlaitResult *result)
{
  gboolean any = result->interval.resamples > 0;

  return (PlaitTableScore){ result->score, NAN, any ? result->interval.low : NAN, any ? result->interval.high : NAN };
}

char *
plait_result_to_text (const PlaitResult *result, guint decimals)
{
  int digits = (int)decimals;
  g_autofree char *score = plait_format ("%.*f", digits, result->score);
  g_autofree char *interval
      = result->interval.resamples > 0
            ? plait_format (" (μ = %.*f ± %.*f)", digits, result->interval.mean, digits, result->interval.half_range)
            : g_strdup ("");
  return g_strdup_printf ("%s|%s = %s%s%s%s", result->name, result->signature, score, interval,
                          result->detail ? " " : "", result->detail ? result->detail : "");
}

void
plait_result_add_json (const PlaitResult *result, PlaitJson *json)
{
  plait_json_begin_object (json, NULL);
  plait_json_members (json, "name=%s score=%g signature=%s", result->name, result->score, result->signature);
  if (result->detail)
    plait_json_text (json, "verbose_score", result->detail);
  plait_json_members (json, "metric=%s larger_is_better=%d sentences=%jd", result->metric, result->larger_is_better,
                      (gint64)result->sentences);
  if (result->interval.resamples > 0)
    plait_json_members (
        json, "confidence_mean=%g confidence_var=%g confidence_low=%g confidence_high=%g resamples=%u seed=%jd",
        result->interval.mean, result->interval.half_range, result->interval.low, result->interval.high,
        result->interval.resamples, (gint64)result->interval.seed);
  plait_json_end_object (json);
}

static const char *const test_names[]
    = { "approximate randomisation", "paired bootstrap", "t test over seeds and sentences" };

void
plait_comparison_add_json (const PlaitComparison *comparison, PlaitJson *json, const char *name)
{
  plait_json_begin_object (json, name);
  plait_json_members (
      json, "test=%s baseline=%g system=%g difference=%g better=%jd p=%g adjusted_p=%g trials=%u seed=%jd",
      test_names[comparison->test], comparison->baseline, comparison->system, comparison->difference,
      (gint64)comparison->better, comparison->p, comparison->adjusted_p, comparison->trials, (gint64)comparison->seed);
  if (comparison->test != PLAIT_TEST_PERMUTATION)
    plait_json_members (json, "mean=%g low=%g high=%g", comparison->mean, comparison->low, comparison->high);
  if (comparison->test == PLAIT_TEST_BOOTSTRAP)
    plait_json_real (json, "share_better", comparison->share_better);
  if (comparison->equivalence_margin > 0)
    plait_json_members (json, "equivalence_margin=%g equivalence_p=%g equivalence_low=%g equivalence_high=%g",
                        comparison->equivalence_margin, comparison->equivalence_p, comparison->equivalence_low,
                        comparison->equivalence_high);
  plait_json_end_object (json);
}

void
plait_comparison_columns (PlaitTable *table, const char *seeds)
{
  g_autofree char *plain = seeds ? g_strdup_printf ("p (%s)", seeds) : g_strdup ("p");
  g_autofree char *adjusted = seeds ? g_strdup_printf ("p (Holm, %s)", seeds) : g_strdup ("p (Holm)");

  plait_table_column (table, PLAIT_TABLE_NUMBERS, plain);
  plait_table_column (table, PLAIT_TABLE_NUMBERS, adjusted);
}

const char *
plait_comparison_seeds (guint one, guint several)
{
  if (one == 0)
    return NULL;
  return several > 0 ? "some of one seed" : "one seed";
}

static PlaitTableMark
mark_of (const PlaitComparison *comparison)
{
  if (!plait_is_significant (comparison->adjusted_p))
    return PLAIT_TABLE_UNMARKED;
  return comparison->better > 0 ? PLAIT_TABLE_BETTER : comparison->better < 0 ? PLAIT_TABLE_WORSE : PLAIT_TABLE_MARKED;
}

void
plait_comparison_cells (PlaitTable *table, const PlaitComparison *comparison)
{
  if (!comparison)
    {
      plait_table_none (table);
      plait_table_none (table);
      return;
    }
  plait_table_p (table, comparison->p, PLAIT_TABLE_UNMARKED);
  plait_table_p (table, comparison->adjusted_p, mark_of (comparison));
}

void
plait_equivalence_columns (PlaitTable *table, double margin)
{
  g_autofree char *title = plait_format ("p (within %g)", margin);

  plait_table_column (table, PLAIT_TABLE_NUMBERS, "Difference")->format = "%+.2f";
  plait_table_column (table, PLAIT_TABLE_NUMBERS, title);
}

void
plait_equivalence_cells (PlaitTable *table, const PlaitComparison *comparison)
{
  if (!comparison)
    {
      plait_table_none (table);
      plait_table_none (table);
      return;
    }
  plait_table_score (table, (PlaitTableScore){ comparison->difference, NAN, comparison->equivalence_low,
                                               comparison->equivalence_high });
  plait_table_p (table, comparison->equivalence_p, PLAIT_TABLE_UNMARKED);
}

char *
plait_equivalence_note (double margin)
{
  return plait_format (
      "p (within %g) tests equivalence by two one-sided tests: if it is below 0.05, the difference is smaller than %g "
      "in either direction. Brackets of the difference are its 90 %% interval, by t if a system has several seeds, "
      "else over bootstrap resamples of the sentences. p (within %g) is not adjusted for the number of comparisons.",
      margin, margin, margin);
}

char *
plait_comparison_note (const char *baseline, PlaitTest test, guint trials, guint64 seed, gboolean seeds)
{
  g_autoptr (GString) note = g_string_new (
      seeds ? "Brackets are 95 % bootstrap intervals of a single seed, ± is the standard deviation over seeds."
            : "Brackets are 95 % bootstrap intervals.");

  if (!baseline)
    return g_string_free (g_steal_pointer (&note), FALSE);
  g_string_append_printf (note, " p compares with %s: %s", baseline, test_names[test]);
  if (trials > 0)
    g_string_append_printf (note, ", %u %s, seed %ju", trials, test == PLAIT_TEST_BOOTSTRAP ? "resamples" : "shuffles",
                            seed);
  g_string_append (note, seeds ? ", if both systems have one seed" : "");
  g_string_append (
      note,
      ". The test says whether other sentences could reverse a difference, not whether other training seeds could.");
  if (seeds)
    g_string_append_printf (note, " If a system has several seeds, the test is a %s.", test_names[PLAIT_TEST_SEEDS]);
  g_string_append (note, " p (Holm) is adjusted for the number of comparisons. * marks p (Holm) below 0.05; better and "
                         "worse are by the metric.");
  return g_string_free (g_steal_pointer (&note), FALSE);
}
