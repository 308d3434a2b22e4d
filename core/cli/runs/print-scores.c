/* SPDX-License-Identifier: MIT */
#include "runs/print-scores.h"

#include <math.h>

#include "terminal/table-print.h"
#include "comparison/runs.h"

static void
print_table (const PlaitRunResult *result, const GArray *measures)
{
  g_autoptr (PlaitPage) page = plait_page_new ();
  g_autoptr (PlaitTable) table = plait_table_new ();

  plait_table_column (table, PLAIT_TABLE_WORDS, "Split");
  plait_table_column (table, PLAIT_TABLE_WORDS, "Metric");
  plait_table_column (table, PLAIT_TABLE_NUMBERS, "Score");
  for (guint i = 0; i < measures->len; i++)
    {
      const PlaitMeasure *measure = &g_array_index (measures, PlaitMeasure, i);
      const PlaitRunScore *score = plait_measure_score (measure, result);

      plait_table_text (table, PLAIT_TABLE_PLAIN, measure->split);
      plait_table_text (table, PLAIT_TABLE_NAME, measure->name);
      plait_table_score (table, (PlaitTableScore){ score->score, NAN, score->low, score->high });
    }
  if (measures->len > 0)
    plait_table_print (table, page);
}

static void
print_json (const PlaitRunResult *result, const GArray *measures, const char *path)
{
  g_autoptr (PlaitJson) json = plait_json_new_object ();

  plait_json_text (json, "file", path);
  plait_json_integer (json, "parameters", result->parameters);
  plait_json_begin_array (json, "scores");
  for (guint i = 0; i < measures->len; i++)
    plait_run_score_add_json (plait_measure_score (&g_array_index (measures, PlaitMeasure, i), result), json);
  plait_json_end_array (json);
  plait_json_print (json);
}

gboolean
plait_run_print_scores (const char *path, gboolean as_json, GError **error)
{
  g_autoptr (PlaitStore) run = plait_store_open (path, error);
  g_autoptr (PlaitRunResult) result = run ? plait_run_result_new (run, error) : NULL;
  g_autoptr (GArray) measures = NULL;

  if (!result)
    return FALSE;
  measures = plait_run_results_measures ((const PlaitRunResult *const *)&result, 1);
  if (as_json)
    print_json (result, measures, path);
  else
    print_table (result, measures);
  return TRUE;
}
