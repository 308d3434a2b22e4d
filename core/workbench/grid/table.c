/* SPDX-License-Identifier: MIT */
#include "grid/table.h"

/* Groups the cells into rows: cells that differ only in the seed share a row. Rows are in the order of their first
 * cells. (transfer full) (element-type GPtrArray of PlaitGridCell) */
static GPtrArray *
group_cells (const PlaitGrid *grid)
{
  GPtrArray *rows = g_ptr_array_new_with_free_func ((GDestroyNotify)g_ptr_array_unref);

  for (guint i = 0; i < grid->n; i++)
    {
      GPtrArray *row = NULL;

      for (guint r = 0; r < rows->len && !row; r++)
        if (plait_cells_are_seeds (grid->cells,
                                   ((PlaitGridCell *)g_ptr_array_index ((GPtrArray *)rows->pdata[r], 0))->cell,
                                   grid->items[i].cell))
          row = rows->pdata[r];
      if (!row)
        {
          row = g_ptr_array_new ();
          g_ptr_array_add (rows, row);
        }
      g_ptr_array_add (row, &grid->items[i]);
    }
  return rows;
}

static void
collect_score_columns (PlaitGridTable *table, const PlaitGrid *grid)
{
  g_autofree const PlaitRunResult **results = g_new (const PlaitRunResult *, grid->n);
  GArray *score_columns;

  for (guint i = 0; i < grid->n; i++)
    results[i] = grid->items[i].result;
  score_columns = plait_run_results_score_columns (results, grid->n);
  table->n_score_columns = score_columns->len;
  table->score_columns = (PlaitScoreColumn *)(gpointer)g_array_free (score_columns, FALSE);
  table->one_split = TRUE;
  for (guint m = 1; m < table->n_score_columns; m++)
    table->one_split &= plait_score_column_has_same_references (&table->score_columns[m], &table->score_columns[0]);
}

/* Returns the results of @cells, with NULL for each unfinished cell. (transfer container) (element-type
 * PlaitRunResult) */
static GPtrArray *
results_of (const GPtrArray *cells)
{
  GPtrArray *results = g_ptr_array_new ();

  for (guint i = 0; i < cells->len; i++)
    g_ptr_array_add (results, ((const PlaitGridCell *)cells->pdata[i])->result);
  return results;
}

static void
fill_row (PlaitGridTable *table, PlaitGridRow *row, const PlaitGrid *grid, const GPtrArray *cells)
{
  const PlaitAxis *axes = grid->cells->axes;
  const PlaitGridCell *first = g_ptr_array_index (cells, 0);
  g_autoptr (GArray) rates = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GPtrArray) results = results_of (cells);

  row->values = g_new0 (const char *, table->n_axes + 1);
  for (guint a = 0, n = 0; a < grid->cells->n_axes; a++)
    if (!plait_axis_is_seed (&grid->cells->axes[a]))
      row->values[n++] = axes[a].values[first->cell->value_indices[a]];
  row->parameters = -1;
  row->n_cells = cells->len;
  for (guint i = 0; i < cells->len; i++)
    {
      const PlaitRunResult *result = ((const PlaitGridCell *)cells->pdata[i])->result;

      if (!result)
        continue;
      row->n++;
      if (row->parameters < 0)
        row->parameters = result->parameters;
      g_array_append_vals (rates, result->rates->data, result->rates->len);
    }
  row->rate = plait_median ((const double *)(gpointer)rates->data, rates->len);
  row->seed_statistics = g_new0 (PlaitSeedStatistics, table->n_score_columns + 1);
  for (guint m = 0; m < table->n_score_columns; m++)
    row->seed_statistics[m] = plait_seed_statistics_new (&table->score_columns[m], results);
}

/* Returns evaluate.seed of the first of the row's @cells whose experiment is known; 0 if none is known. */
static guint64
seed_of_row (const GPtrArray *cells)
{
  for (guint i = 0; i < cells->len; i++)
    {
      const PlaitExperiment *experiment = ((const PlaitGridCell *)cells->pdata[i])->cell->experiment;

      if (experiment)
        return (guint64)experiment->evaluate.seed;
    }
  return 0;
}

static gboolean
compare_all (PlaitGridTable *table, const GPtrArray *rows, guint m, GError **error)
{
  g_autoptr (GPtrArray) compared = g_ptr_array_new ();
  guint first = 0;

  /* If cells have different references for a split, some rows have no score in this column. The first row with a score
   * is the baseline. */
  while (table->score_columns[m].apart && first + 1 < rows->len && table->rows[first].seed_statistics[m].n == 0)
    first++;
  g_autoptr (GPtrArray) baseline = results_of (rows->pdata[first]);
  for (guint r = 0; r < rows->len; r++)
    {
      g_autoptr (GPtrArray) system = results_of (rows->pdata[r]);

      if (r != first
          && !plait_seed_statistics_compare (&table->rows[r].seed_statistics[m], &table->score_columns[m], baseline,
                                             system, PLAIT_TEST_PERMUTATION, PLAIT_PERMUTATION_SHUFFLES,
                                             seed_of_row (rows->pdata[r]), compared, error))
        return FALSE;
    }
  plait_holm_adjust (compared);
  return TRUE;
}

/* Returns the name of the row of @cell: its axis values without the seed. (transfer full) */
static char *
name_row (const PlaitGrid *grid, const PlaitGridCell *cell)
{
  g_autoptr (GString) name = g_string_new (NULL);

  for (guint a = 0; a < grid->cells->n_axes; a++)
    {
      const PlaitAxis *axis = &grid->cells->axes[a];
      const char *value = axis->values[cell->cell->value_indices[a]];

      if (!plait_axis_is_seed (axis) && *value != '\0')
        g_string_append_printf (name, "%s%s", name->len > 0 ? " " : "", value);
    }
  return g_string_free (g_steal_pointer (&name), FALSE);
}

static char **
find_notes (const PlaitGrid *grid)
{
  g_autoptr (GStrvBuilder) notes = g_strv_builder_new ();
  g_autofree char *duplicates = plait_cells_describe_duplicates (grid->cells);
  g_autofree char *seeds = plait_cells_describe_seeds (grid->cells);
  g_autofree const PlaitRunResult **results = g_new (const PlaitRunResult *, grid->n + 1);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_auto (GStrv) sentences = NULL;

  for (guint i = 0; i < grid->n; i++)
    {
      results[i] = grid->items[i].result;
      g_ptr_array_add (names, name_row (grid, &grid->items[i]));
    }
  sentences = plait_run_results_describe_differences (results, (const char *const *)names->pdata, grid->n);
  g_strv_builder_addv (notes, (const char **)sentences);
  if (duplicates)
    g_strv_builder_add (notes, duplicates);
  if (seeds)
    g_strv_builder_add (notes, seeds);
  return g_strv_builder_end (notes);
}

PlaitGridTable *
plait_grid_table_new (const PlaitGrid *grid, GError **error)
{
  g_autoptr (PlaitGridTable) table = g_new0 (PlaitGridTable, 1);
  g_autoptr (GPtrArray) rows = group_cells (grid);

  table->axes = g_new0 (const char *, grid->cells->n_axes + 1);
  for (guint a = 0; a < grid->cells->n_axes; a++)
    if (!plait_axis_is_seed (&grid->cells->axes[a]))
      table->axes[table->n_axes++] = grid->cells->axes[a].key;
  collect_score_columns (table, grid);
  table->n_rows = rows->len;
  table->rows = g_new0 (PlaitGridRow, rows->len);
  for (guint r = 0; r < rows->len; r++)
    fill_row (table, &table->rows[r], grid, rows->pdata[r]);
  for (guint m = 0; m < table->n_score_columns; m++)
    if (table->score_columns[m].tested && !compare_all (table, rows, m, error))
      return NULL;
  table->notes = find_notes (grid);
  return g_steal_pointer (&table);
}

void
plait_grid_table_free (PlaitGridTable *table)
{
  if (!table)
    return;
  for (guint r = 0; r < table->n_rows; r++)
    {
      g_free (table->rows[r].values);
      g_free (table->rows[r].seed_statistics);
    }
  g_free (table->score_columns);
  g_free (table->rows);
  g_free (table->axes);
  g_strfreev (table->notes);
  g_free (table);
}
