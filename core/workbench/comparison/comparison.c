/* SPDX-License-Identifier: MIT */
#include "comparison/comparison.h"

void
plait_run_comparison_free (PlaitRunComparison *comparison)
{
  if (!comparison)
    return;
  g_free (comparison->score_columns);
  g_free (comparison->values);
  g_strfreev (comparison->notes);
  g_clear_pointer (&comparison->differences, g_ptr_array_unref);
  g_clear_pointer (&comparison->systems, g_array_unref);
  g_clear_pointer (&comparison->runs, g_ptr_array_unref);
  g_free (comparison);
}

/* Collects the score columns of all runs, and drops those that the user did not choose. Before that, drops the scores
 * of each named evaluation whose settings differ from those of the first evaluation with that name. */
static gboolean
find_score_columns (PlaitRunComparison *comparison, GError **error)
{
  guint n = comparison->runs->len;
  g_autofree PlaitRunResult **results = g_new (PlaitRunResult *, n + 1);
  g_autofree const char **names = g_new (const char *, n + 1);
  g_autoptr (GArray) score_columns = NULL;

  for (guint r = 0; r < n; r++)
    {
      const PlaitRunFile *run = comparison->runs->pdata[r];

      results[r] = run->result;
      names[r] = run->name;
    }
  plait_run_results_drop_mixed (results, names, n, comparison->options.log);
  score_columns = plait_run_results_score_columns ((const PlaitRunResult *const *)results, n);
  if (!plait_choice_take_columns (&comparison->options.choice, score_columns, error))
    return FALSE;
  comparison->n_score_columns = score_columns->len;
  comparison->score_columns = (PlaitScoreColumn *)(gpointer)g_array_free (g_steal_pointer (&score_columns), FALSE);
  return TRUE;
}

/* Collects notes about differences in the vocabularies and training data of runs, and sets tokens_differ. */
static void
find_notes (PlaitRunComparison *comparison)
{
  guint n = comparison->runs->len;
  g_autofree const PlaitRunResult **results = g_new (const PlaitRunResult *, n + 1);
  g_autofree const char **names = g_new (const char *, n + 1);

  for (guint s = 0; s < comparison->systems->len; s++)
    {
      const PlaitRunSystem *system = plait_run_system_at (comparison->systems, s);

      for (guint i = 0; i < system->n; i++)
        {
          results[system->runs[i]] = plait_run_at (comparison->runs, system->runs[i])->result;
          names[system->runs[i]] = system->name;
        }
    }
  comparison->tokens_differ = plait_run_results_differ_in_target (results, n);
  comparison->notes = plait_run_results_describe_differences (results, names, n);
}

/* Returns the results of the runs of system @s, one for each seed. (transfer container) (element-type
 * PlaitRunResult) */
static GPtrArray *
results_of (const PlaitRunComparison *comparison, guint s)
{
  const PlaitRunSystem *system = plait_run_system_at (comparison->systems, s);
  GPtrArray *results = g_ptr_array_new ();

  for (guint i = 0; i < system->n; i++)
    g_ptr_array_add (results, plait_run_at (comparison->runs, system->runs[i])->result);
  return results;
}

static void
fill_values (PlaitRunComparison *comparison)
{
  for (guint s = 0; s < comparison->systems->len; s++)
    {
      g_autoptr (GPtrArray) results = results_of (comparison, s);

      for (guint m = 0; m < comparison->n_score_columns; m++)
        comparison->values[s * comparison->n_score_columns + m]
            = plait_seed_statistics_new (&comparison->score_columns[m], results);
    }
}

const PlaitSeedStatistics *
plait_run_comparison_value (const PlaitRunComparison *comparison, guint system, guint score_column)
{
  return &comparison->values[system * comparison->n_score_columns + score_column];
}

/* Returns the index of the first system whose references are those of @score_column. The other systems with these
 * references are tested against this one. */
static guint
baseline_of (const PlaitRunComparison *comparison, guint score_column)
{
  for (guint s = 0; s < comparison->systems->len; s++)
    for (guint m = 0; m < comparison->n_score_columns; m++)
      if (plait_score_column_has_same_references (&comparison->score_columns[m],
                                                  &comparison->score_columns[score_column])
          && plait_run_comparison_value (comparison, s, m)->n > 0)
        return s;
  return 0;
}

/* Takes all systems whose score in column @m has the same references as the column, and tests them against the first of
 * these systems. */
static gboolean
compare (PlaitRunComparison *comparison, guint m, GError **error)
{
  guint n = comparison->systems->len, first = baseline_of (comparison, m);
  const PlaitComparisonOptions *options = &comparison->options;
  g_autoptr (GPtrArray) compared = g_ptr_array_new ();
  g_autoptr (GPtrArray) baseline = results_of (comparison, first);

  for (guint s = first + 1; s < n; s++)
    {
      g_autoptr (GPtrArray) system = results_of (comparison, s);
      PlaitSeedStatistics *value = &comparison->values[s * comparison->n_score_columns + m];

      value->margin = options->margin;
      if (!plait_seed_statistics_compare (value, &comparison->score_columns[m], baseline, system, options->test,
                                          (guint)options->trials, (guint64)options->seed, compared, error))
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
  if (!comparison->runs || !plait_choice_take_runs (&options->choice, comparison->runs, error)
      || !find_score_columns (comparison, error))
    return NULL;
  comparison->differences = plait_setting_differences (comparison->runs);
  comparison->systems = plait_run_systems_new (comparison->runs);
  if (!plait_choice_name_systems (&options->choice, comparison->systems, comparison->runs, error))
    return NULL;
  find_notes (comparison);
  comparison->values = g_new0 (PlaitSeedStatistics, (gsize)comparison->systems->len * comparison->n_score_columns + 1);
  fill_values (comparison);
  for (guint m = 0; m < comparison->n_score_columns && options->tested; m++)
    if (!compare (comparison, m, error))
      return NULL;
  return g_steal_pointer (&comparison);
}

static char *
legend (const PlaitRunComparison *comparison, guint first)
{
  const PlaitComparisonOptions *options = &comparison->options;
  const char *baseline = plait_run_system_at (comparison->systems, baseline_of (comparison, first))->name;

  return plait_comparison_note (comparison->systems->len > 1 && options->tested ? baseline : NULL, options->test,
                                (guint)options->trials, (guint64)options->seed,
                                comparison->systems->len < comparison->runs->len);
}

guint
plait_run_comparison_split_end (const PlaitRunComparison *comparison, guint first)
{
  guint end = first + 1;

  while (end < comparison->n_score_columns
         && plait_score_column_has_same_references (&comparison->score_columns[first], &comparison->score_columns[end]))
    end++;
  return end;
}

/* Returns a note on seeds, which stands in the heading of the p values for score column @m. */
static const char *
seeds_of (const PlaitRunComparison *comparison, guint m)
{
  guint n[2] = { 0, 0 };

  for (guint s = 0; s < comparison->systems->len; s++)
    plait_seed_statistics_count_seeds (plait_run_comparison_value (comparison, s, m), n);
  return plait_comparison_seeds (n[0], n[1]);
}

/* TRUE if system @s has a row in the table of the score columns @first to @end - 1. If all runs have equal references
 * for the split, every system has a row. Otherwise, only systems that were scored with the references of these columns
 * have a row. */
static gboolean
has_row (const PlaitRunComparison *comparison, guint s, guint first, guint end)
{
  for (guint m = first; m < end; m++)
    if (!comparison->score_columns[m].apart || plait_run_comparison_value (comparison, s, m)->n > 0)
      return TRUE;
  return FALSE;
}

PlaitTable *
plait_run_comparison_scores (const PlaitRunComparison *comparison, guint first)
{
  PlaitTable *table = plait_table_new ();
  gboolean several = comparison->systems->len > 1;
  guint end = plait_run_comparison_split_end (comparison, first);

  plait_table_column (table, PLAIT_TABLE_WORDS, "Run");
  for (guint m = first; m < end; m++)
    {
      const PlaitScoreColumn *score_column = &comparison->score_columns[m];
      PlaitTableColumn *column = plait_table_column (table, PLAIT_TABLE_NUMBERS, score_column->name);

      column->best = !several                         ? PLAIT_TABLE_NO_BEST
                     : score_column->larger_is_better ? PLAIT_TABLE_LARGEST
                                                      : PLAIT_TABLE_SMALLEST;
      column->has_plots = several && score_column->tested;
      if (several && score_column->tested)
        plait_comparison_columns (table, seeds_of (comparison, m));
      if (several && score_column->tested && comparison->options.margin > 0)
        plait_equivalence_columns (table, comparison->options.margin);
    }
  for (guint s = 0; s < comparison->systems->len; s++)
    {
      if (!has_row (comparison, s, first, end))
        continue;
      plait_table_run (table, plait_run_system_at (comparison->systems, s)->name,
                       plait_run_system_at (comparison->systems, s)->runs[0]);
      for (guint m = first; m < end; m++)
        {
          const PlaitSeedStatistics *value = plait_run_comparison_value (comparison, s, m);

          plait_table_score (table, plait_seed_statistics_shown (value));
          if (several && comparison->score_columns[m].tested)
            plait_comparison_cells (table, value->compared ? &value->comparison : NULL);
          if (several && comparison->score_columns[m].tested && comparison->options.margin > 0)
            plait_equivalence_cells (table, value->compared ? &value->comparison : NULL);
        }
    }
  if (comparison->score_columns[first].apart)
    plait_table_note (table, "Runs with other references of this split have a table of their own.");
  if (comparison->score_columns[first].apart || end == comparison->n_score_columns)
    {
      g_autofree char *note = legend (comparison, first);
      g_autofree char *equivalence = plait_equivalence_note (comparison->options.margin);

      plait_table_note (table, note);
      if (several && comparison->options.margin > 0)
        plait_table_note (table, equivalence);
    }
  for (guint i = 0; comparison->notes[i] && end == comparison->n_score_columns; i++)
    plait_table_note (table, comparison->notes[i]);
  return table;
}

PlaitTable *
plait_run_comparison_sizes (const PlaitRunComparison *comparison)
{
  PlaitTable *table = plait_table_new ();

  plait_table_column (table, PLAIT_TABLE_WORDS, "Run");
  plait_table_column (table, PLAIT_TABLE_COUNTS, "Parameters");
  plait_table_column (table, PLAIT_TABLE_NUMBERS, "Target tokens/s")->format = "%.0f";
  plait_table_column (table, PLAIT_TABLE_PATHS, "File");
  for (guint r = 0; r < comparison->runs->len; r++)
    {
      const PlaitRunFile *run = comparison->runs->pdata[r];

      plait_table_run (table, run->name, r);
      if (run->dump)
        plait_table_text (table, PLAIT_TABLE_PLAIN, NULL);
      else
        plait_table_integer (table, PLAIT_TABLE_PLAIN, run->result->parameters);
      plait_table_real_or_none (table, run->rate);
      plait_table_text (table, PLAIT_TABLE_DIM, plait_store_path (run->store));
    }
  return table;
}

PlaitTable *
plait_run_comparison_settings (const PlaitRunComparison *comparison)
{
  PlaitTable *table = plait_table_new ();

  plait_table_column (table, PLAIT_TABLE_CODE, "Key");
  for (guint r = 0; r < comparison->runs->len; r++)
    plait_table_column (table, PLAIT_TABLE_CODE, plait_run_at (comparison->runs, r)->name);
  for (guint d = 0; d < comparison->differences->len; d++)
    {
      const PlaitSettingDifference *difference = comparison->differences->pdata[d];

      plait_table_text (table, PLAIT_TABLE_NAME, difference->key);
      for (guint r = 0; r < comparison->runs->len; r++)
        plait_table_text (table, PLAIT_TABLE_PLAIN, plait_setting_difference_text (difference, r));
    }
  return table;
}
