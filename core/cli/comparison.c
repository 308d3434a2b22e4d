/* SPDX-License-Identifier: MIT */
#include "cli/comparison.h"

void
plait_run_comparison_free (PlaitRunComparison *comparison)
{
  if (!comparison)
    return;
  g_free (comparison->measures);
  g_free (comparison->values);
  g_clear_pointer (&comparison->differences, g_ptr_array_unref);
  g_clear_pointer (&comparison->runs, g_ptr_array_unref);
  g_free (comparison);
}

/* Of the runs' results, without evaluations of one name that were made in different ways. */
static void
find_measures (PlaitRunComparison *comparison)
{
  guint n = comparison->runs->len;
  g_autofree PlaitRunResult **results = g_new (PlaitRunResult *, n + 1);
  g_autofree const char **names = g_new (const char *, n + 1);
  GArray *measures;

  for (guint r = 0; r < n; r++)
    {
      const PlaitRunFile *run = comparison->runs->pdata[r];

      results[r] = run->result;
      names[r] = run->name;
    }
  plait_run_results_leave_mixed (results, names, n, comparison->options.log);
  measures = plait_run_results_measures ((const PlaitRunResult *const *)results, n);
  comparison->n_measures = measures->len;
  comparison->measures = (PlaitMeasure *)(gpointer)g_array_free (measures, FALSE);
}

/* Tests every run that can be against the first of the same references. */
static gboolean
compare (PlaitRunComparison *comparison, guint m, GError **error)
{
  guint n = comparison->runs->len, n_compared = 0;
  g_autofree PlaitComparison *comparisons = g_new0 (PlaitComparison, n);
  guint baseline = plait_run_comparison_baseline (comparison, m);
  const PlaitRunScore *first = plait_run_comparison_value (comparison, baseline, m)->score;

  for (guint r = baseline + 1; r < n; r++)
    {
      PlaitRunValue *value = &comparison->values[r * comparison->n_measures + m];

      if (!first || !value->score || !first->statistics || !value->score->statistics)
        continue;
      if (!plait_compare_systems (first->scorer, first->statistics, value->score->statistics, comparison->options.test,
                                  (guint)comparison->options.trials, (guint64)comparison->options.seed,
                                  &comparisons[n_compared++], error))
        return FALSE;
      value->compared = TRUE;
    }
  plait_holm_adjust (comparisons, n_compared);
  n_compared = 0;
  for (guint r = 1; r < n; r++)
    {
      PlaitRunValue *value = &comparison->values[r * comparison->n_measures + m];

      if (value->compared)
        value->comparison = comparisons[n_compared++];
    }
  return TRUE;
}

PlaitRunComparison *
plait_run_comparison_new (char *const *paths, const PlaitComparisonOptions *options, GError **error)
{
  g_autoptr (PlaitRunComparison) comparison = g_new0 (PlaitRunComparison, 1);

  comparison->options = *options;
  comparison->runs = plait_runs_open (paths, options->dumps, options->log, error);
  if (!comparison->runs)
    return NULL;
  comparison->differences = plait_runs_differences (comparison->runs);
  find_measures (comparison);
  comparison->values = g_new0 (PlaitRunValue, (gsize)comparison->runs->len * comparison->n_measures + 1);
  for (guint r = 0; r < comparison->runs->len; r++)
    for (guint m = 0; m < comparison->n_measures; m++)
      comparison->values[r * comparison->n_measures + m].score
          = plait_measure_score (&comparison->measures[m], ((const PlaitRunFile *)comparison->runs->pdata[r])->result);
  for (guint m = 0; m < comparison->n_measures && options->tested; m++)
    if (!compare (comparison, m, error))
      return NULL;
  return g_steal_pointer (&comparison);
}

guint
plait_run_comparison_baseline (const PlaitRunComparison *comparison, guint measure)
{
  for (guint r = 0; r < comparison->runs->len; r++)
    for (guint m = 0; m < comparison->n_measures; m++)
      if (plait_measure_is_beside (&comparison->measures[m], &comparison->measures[measure])
          && plait_run_comparison_value (comparison, r, m)->score)
        return r;
  return 0;
}

const PlaitRunValue *
plait_run_comparison_value (const PlaitRunComparison *comparison, guint run, guint measure)
{
  return &comparison->values[run * comparison->n_measures + measure];
}
