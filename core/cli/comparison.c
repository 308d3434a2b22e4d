/* SPDX-License-Identifier: MIT */
#include "cli/comparison.h"

#include <math.h>
#include <string.h>

#define SIGNIFICANT 0.05

void
plait_run_comparison_free (PlaitRunComparison *comparison)
{
  if (comparison == NULL)
    return;
  g_free (comparison->measures);
  g_free (comparison->values);
  g_clear_pointer (&comparison->differences, g_ptr_array_unref);
  g_clear_pointer (&comparison->runs, g_ptr_array_unref);
  g_free (comparison);
}

static void
find_measures (PlaitRunComparison *comparison)
{
  guint n = comparison->runs->len;
  g_autofree const PlaitCellResult **results = g_new (const PlaitCellResult *, n + 1);
  GArray *measures;

  for (guint r = 0; r < n; r++)
    results[r] = ((const PlaitRunFile *)comparison->runs->pdata[r])->result;
  measures = plait_cell_results_measures (results, n);
  comparison->n_measures = measures->len;
  comparison->measures = (PlaitMeasure *)(gpointer)g_array_free (measures, FALSE);
}

/* Tests every run that can be against the first. */
static gboolean
compare (PlaitRunComparison *comparison, guint m, GError **error)
{
  guint n = comparison->runs->len, n_compared = 0;
  g_autofree PlaitComparison *comparisons = g_new0 (PlaitComparison, n);
  const PlaitCellScore *first = comparison->values[m].score;

  for (guint r = 1; r < n; r++)
    {
      PlaitRunValue *value = &comparison->values[r * comparison->n_measures + m];

      if (first == NULL || value->score == NULL || first->statistics == NULL || value->score->statistics == NULL
          || strcmp (first->references, value->score->references) != 0)
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
  comparison->runs = plait_runs_open (paths, error);
  if (comparison->runs == NULL)
    return NULL;
  comparison->differences = plait_runs_differences (comparison->runs);
  find_measures (comparison);
  comparison->values = g_new0 (PlaitRunValue, (gsize)comparison->runs->len * comparison->n_measures + 1);
  for (guint r = 0; r < comparison->runs->len; r++)
    for (guint m = 0; m < comparison->n_measures; m++)
      comparison->values[r * comparison->n_measures + m].score
          = plait_cell_result_find (((const PlaitRunFile *)comparison->runs->pdata[r])->result,
                                    comparison->measures[m].split, comparison->measures[m].metric);
  for (guint m = 0; m < comparison->n_measures && options->tested; m++)
    if (!compare (comparison, m, error))
      return NULL;
  return g_steal_pointer (&comparison);
}

const PlaitRunValue *
plait_run_comparison_value (const PlaitRunComparison *comparison, guint run, guint measure)
{
  return &comparison->values[run * comparison->n_measures + measure];
}

char *
plait_run_value_text (const PlaitRunValue *value, guint digits)
{
  g_autofree char *format = g_strdup_printf ("%%.%uf", digits);
  char texts[3][G_ASCII_DTOSTR_BUF_SIZE];

  if (value->score == NULL)
    return g_strdup ("–");
  double numbers[] = { value->score->score, value->score->low, value->score->high };
  for (guint i = 0; i < 3; i++)
    g_ascii_formatd (texts[i], sizeof texts[i], format, numbers[i]);
  if (value->score->low == value->score->score && value->score->high == value->score->score)
    return g_strdup (texts[0]);
  return g_strdup_printf ("%s [%s, %s]", texts[0], texts[1], texts[2]);
}

char *
plait_run_value_p (const PlaitRunValue *value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  return g_strdup (value->compared ? g_ascii_formatd (text, sizeof text, "%.4f", value->comparison.adjusted_p) : "–");
}

gboolean
plait_run_value_is_significant (const PlaitRunValue *value)
{
  return value->compared && value->comparison.adjusted_p < SIGNIFICANT;
}

char *
plait_run_comparison_legend (const PlaitRunComparison *comparison)
{
  const PlaitRunFile *first = comparison->runs->pdata[0];
  gboolean bootstrap = comparison->options.test == PLAIT_TEST_BOOTSTRAP;

  if (comparison->runs->len < 2 || !comparison->options.tested)
    return g_strdup ("Brackets are 95 % intervals of the bootstrap.");
  return g_strdup_printf ("Brackets are 95 %% intervals of the bootstrap. p is against %s: %s, %" G_GINT64_FORMAT
                          " %s, seed %" G_GINT64_FORMAT
                          ", adjusted by Holm's method; * marks p below 0.05. It speaks of these trained "
                          "models on other sentences, not of other training seeds.",
                          first->name, bootstrap ? "paired bootstrap" : "approximate randomisation",
                          comparison->options.trials, bootstrap ? "resamples" : "shuffles", comparison->options.seed);
}
