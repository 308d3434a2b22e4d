/* SPDX-License-Identifier: MIT */
#include "runs/print.h"

#include <math.h>

#include "terminal/table-print.h"
#include "comparison/runs.h"

static void
print_scores (const PlaitRunResult *result, const GArray *score_columns)
{
  g_autoptr (PlaitTerminal) terminal = plait_terminal_new ();
  g_autoptr (PlaitTable) table = plait_table_new ();

  plait_table_column (table, PLAIT_TABLE_WORDS, "Split");
  plait_table_column (table, PLAIT_TABLE_WORDS, "Metric");
  plait_table_column (table, PLAIT_TABLE_NUMBERS, "Score");
  for (guint i = 0; i < score_columns->len; i++)
    {
      const PlaitScoreColumn *score_column = &g_array_index (score_columns, PlaitScoreColumn, i);
      const PlaitRunScore *score = plait_score_column_score (score_column, result);

      plait_table_text (table, PLAIT_TABLE_PLAIN, score_column->split);
      plait_table_text (table, PLAIT_TABLE_NAME, score_column->name);
      plait_table_score (table, (PlaitTableScore){ score->score, NAN, score->low, score->high });
    }
  if (score_columns->len > 0)
    plait_table_print (table, terminal);
}

static void
print_scores_json (const PlaitRunResult *result, const GArray *score_columns, const char *path)
{
  g_autoptr (PlaitJson) json = plait_json_new_object ();

  plait_json_members (json, "file=%s parameters=%jd", path, result->parameters);
  plait_json_begin_array (json, "scores");
  for (guint i = 0; i < score_columns->len; i++)
    plait_run_score_add_json (plait_score_column_score (&g_array_index (score_columns, PlaitScoreColumn, i), result),
                              json);
  plait_json_end_array (json);
  plait_json_print (json);
}

gboolean
plait_run_print_scores (const char *path, gboolean as_json, GError **error)
{
  g_autoptr (PlaitStore) run = plait_store_open (path, error);
  g_autoptr (PlaitRunResult) result = run ? plait_run_result_new (run, error) : NULL;
  g_autoptr (GArray) score_columns = NULL;

  if (!result)
    return FALSE;
  score_columns = plait_run_results_score_columns ((const PlaitRunResult *const *)&result, 1);
  if (as_json)
    print_scores_json (result, score_columns, path);
  else
    print_scores (result, score_columns);
  return TRUE;
}

static void
print_cells (const PlaitGridTable *table)
{
  g_autoptr (PlaitTerminal) terminal = plait_terminal_new ();
  g_autoptr (GPtrArray) shown = plait_grid_tables_shown (table);

  for (guint i = 0; i < shown->len; i++)
    {
      if (i > 0)
        plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "\n");
      plait_table_print (shown->pdata[i], terminal);
    }
}

static void
print_cells_json (const PlaitGrid *grid, const PlaitGridTable *table)
{
  g_autoptr (PlaitJson) json = plait_json_new_object ();
  g_autoptr (PlaitTable) numbers = plait_grid_table_numbers (table);

  plait_json_members (json, "folder=%s cells=%u finished=%u", grid->folder, grid->n,
                      plait_grid_count (grid, PLAIT_CELL_FINISHED));
  plait_table_add_json (numbers, json);
  plait_json_texts (json, "notes", (const char *const *)table->notes, -1);
  plait_json_print (json);
}

void
plait_grid_print (const PlaitGrid *grid, const PlaitGridTable *table, gboolean as_json)
{
  if (as_json)
    print_cells_json (grid, table);
  else
    print_cells (table);
}
