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
  g_clear_pointer (&comparison->systems, g_array_unref);
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

/* What the runs of system @s came to, a seed each. (element-type PlaitRunResult) (transfer container) */
static GPtrArray *
results_of (const PlaitRunComparison *comparison, guint s)
{
  const PlaitRunSystem *system = &g_array_index (comparison->systems, PlaitRunSystem, s);
  GPtrArray *results = g_ptr_array_new ();

  for (guint i = 0; i < system->n; i++)
    g_ptr_array_add (results, plait_run_at (comparison->runs, system->runs[i])->result);
  return results;
}

static void
measure (PlaitRunComparison *comparison)
{
  for (guint s = 0; s < comparison->systems->len; s++)
    {
      g_autoptr (GPtrArray) results = results_of (comparison, s);

      for (guint m = 0; m < comparison->n_measures; m++)
        comparison->values[s * comparison->n_measures + m] = plait_measured_new (&comparison->measures[m], results);
    }
}

/* Tests every system that can be against the first of the same references. */
static gboolean
compare (PlaitRunComparison *comparison, guint m, GError **error)
{
  guint n = comparison->systems->len, first = plait_run_comparison_baseline (comparison, m);
  const PlaitComparisonOptions *options = &comparison->options;
  g_autoptr (GPtrArray) compared = g_ptr_array_new ();
  g_autoptr (GPtrArray) baseline = results_of (comparison, first);

  for (guint s = 0; s < n; s++)
    {
      g_autoptr (GPtrArray) system = results_of (comparison, s);

      if (s > first
          && !plait_measured_compare (&comparison->values[s * comparison->n_measures + m], &comparison->measures[m],
                                      baseline, system, options->test, (guint)options->trials, (guint64)options->seed,
                                      compared, error))
        return FALSE;
    }
  plait_holm_adjust (compared);
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
  comparison->systems = plait_run_systems_new (comparison->runs);
  comparison->values = g_new0 (PlaitMeasured, (gsize)comparison->systems->len * comparison->n_measures + 1);
  measure (comparison);
  for (guint m = 0; m < comparison->n_measures && options->tested; m++)
    if (!compare (comparison, m, error))
      return NULL;
  return g_steal_pointer (&comparison);
}

guint
plait_run_comparison_baseline (const PlaitRunComparison *comparison, guint measure)
{
  for (guint s = 0; s < comparison->systems->len; s++)
    for (guint m = 0; m < comparison->n_measures; m++)
      if (plait_measure_is_beside (&comparison->measures[m], &comparison->measures[measure])
          && plait_run_comparison_value (comparison, s, m)->n > 0)
        return s;
  return 0;
}

const PlaitMeasured *
plait_run_comparison_value (const PlaitRunComparison *comparison, guint system, guint measure)
{
  return &comparison->values[system * comparison->n_measures + measure];
}
