/* SPDX-License-Identifier: MIT */
#include "files/input-guard.h"
#include "files/file.h"
#include "grid/grid-private.h"
#include "grid/table.h"
#include "tables/heatmap.h"
#include "tables/table.h"

gboolean
plait_grid_write_tables (const PlaitGrid *grid, const PlaitGridTable *table, GError **error)
{
  g_autoptr (PlaitTable) numbers = plait_grid_table_numbers (table);
  g_autoptr (GPtrArray) shown = plait_grid_tables_shown (table);
  g_autofree char *csv = plait_table_csv (numbers);
  g_autoptr (GString) page = g_string_new (NULL);
  g_autoptr (GString) latex = g_string_new (NULL);

  g_string_append_printf (page, "# %s\n", grid->cells->name);
  for (guint i = 0; i < shown->len; i++)
    {
      g_autofree char *markdown = plait_table_markdown (shown->pdata[i]);
      g_autofree char *tabular = plait_table_latex (shown->pdata[i]);

      g_string_append_printf (page, "\n%s", markdown);
      g_string_append_printf (latex, "%s%s", i > 0 ? "\n" : "", tabular);
    }
  return plait_file_replace_text (grid->folder, "table.csv", csv, error)
         && plait_file_replace_text (grid->folder, "table.md", page->str, error)
         && plait_file_replace_text (grid->folder, "table.tex", latex->str, error);
}

static gboolean
write_axes (const PlaitGrid *grid, PlaitStore *store, GError **error)
{
  for (guint a = 0; a < grid->cells->n_axes; a++)
    {
      const PlaitAxis *axis = &grid->cells->axes[a];
      g_autofree char *path = g_strdup_printf ("/axes/%s", axis->key);

      if (!plait_store_write_strings (store, path, (const char *const *)axis->values, axis->n_values, error)
          || !plait_store_make_axis (store, path, axis->key, error))
        return FALSE;
    }
  return TRUE;
}

/* Writes the table /cells, whose columns are text: label, name, status and key (fingerprint) of each cell, then its
 * value on each axis. */
static gboolean
write_cells (const PlaitGrid *grid, PlaitStore *store, GError **error)
{
  static const char *const names[PLAIT_GRID_CELL_COLUMNS] = { "label", "name", "status", "key" };
  const PlaitAxis *axes = grid->cells->axes;
  g_autoptr (PlaitTable) table = plait_table_new ();

  for (guint c = 0; c < G_N_ELEMENTS (names); c++)
    plait_table_column (table, PLAIT_TABLE_WORDS, names[c]);
  for (guint a = 0; a < grid->cells->n_axes; a++)
    plait_table_column (table, PLAIT_TABLE_WORDS, axes[a].key);
  for (guint i = 0; i < grid->n; i++)
    {
      const PlaitGridCell *cell = &grid->items[i];

      plait_table_text (table, PLAIT_TABLE_PLAIN, cell->cell->label);
      plait_table_text (table, PLAIT_TABLE_PLAIN, cell->name);
      plait_table_text (table, PLAIT_TABLE_PLAIN, plait_grid_cell_state_name (cell->state));
      plait_table_text (table, PLAIT_TABLE_PLAIN, cell->cell->fingerprint);
      for (guint a = 0; a < grid->cells->n_axes; a++)
        plait_table_text (table, PLAIT_TABLE_PLAIN, axes[a].values[cell->cell->value_indices[a]]);
    }
  return plait_store_write_table (store, "/cells", table, error);
}

/* Writes the table /same: for each cell that is left out, its label and the label of the earlier cell that equals it.
 * Without such cells, writes no table. */
static gboolean
write_same (const PlaitCells *cells, PlaitStore *store, GError **error)
{
  g_autoptr (PlaitTable) table = plait_table_new ();

  plait_table_column (table, PLAIT_TABLE_WORDS, "label");
  plait_table_column (table, PLAIT_TABLE_WORDS, "as");
  for (guint i = 0; cells->duplicates && cells->duplicates[i]; i++)
    {
      plait_table_text (table, PLAIT_TABLE_PLAIN, cells->duplicates[i]);
      plait_table_text (table, PLAIT_TABLE_PLAIN, cells->duplicate_of[i]);
    }
  return plait_table_rows (table) == 0 || plait_store_write_table (store, PLAIT_GRID_DUPLICATES, table, error);
}

/* Writes links to finished runs. Makes the first finished run the default object of grid.h5: viewers that open grid.h5
 * show what they show for this run. */
static gboolean
write_links (const PlaitGrid *grid, PlaitStore *store, GError **error)
{
  const char *first = NULL;

  if (!plait_store_make_group (store, "/runs", error))
    return FALSE;
  for (guint i = 0; i < grid->n; i++)
    {
      const PlaitGridCell *cell = &grid->items[i];
      g_autofree char *path = g_strdup_printf ("/runs/%s", cell->name);
      g_autofree char *file = g_strconcat (cell->name, ".h5", NULL);

      if (cell->state != PLAIT_CELL_FINISHED)
        continue;
      if (!plait_store_link_external (store, path, file, "/", error))
        return FALSE;
      if (!first)
        first = cell->name;
    }
  if (!first)
    return TRUE;
  g_autofree char *shown = g_strdup_printf ("/runs/%s", first);
  return plait_store_set_default (store, shown, error);
}

/* Writes, for the column of each score, whether a larger score is better. */
static gboolean
write_directions (const PlaitGridTable *table, PlaitStore *store, GError **error)
{
  for (guint m = 0; m < table->n_score_columns; m++)
    {
      const PlaitScoreColumn *score_column = &table->score_columns[m];
      g_autofree char *split = plait_score_column_split_text (score_column);
      g_autofree char *path = g_strdup_printf ("/summary/%s %s", split, score_column->name);

      if (!plait_store_set_int (store, path, "larger_is_better", score_column->larger_is_better, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
write_summary (const PlaitGridTable *table, PlaitStore *store, GError **error)
{
  g_autoptr (PlaitTable) numbers = plait_grid_table_numbers (table);
  guint n = g_strv_length (table->notes);

  return plait_store_write_table (store, "/summary", numbers, error) && write_directions (table, store, error)
         && (n == 0 || plait_store_set_list (store, "/summary", "notes", PLAIT_STORE_STRING, n, table->notes, error));
}

gboolean
plait_grid_write (const PlaitGrid *grid, const PlaitGridTable *table, GError **error)
{
  g_autofree char *path = g_build_filename (grid->folder, "grid.h5", NULL);
  g_autoptr (PlaitStore) store = NULL;

  plait_input_guard_allow (path);
  store = plait_store_create (path, error);
  return store && plait_store_set_string (store, "/", "version", PLAIT_VERSION, error)
         && plait_store_set_string (store, "/", "name", grid->cells->name, error)
         && plait_store_set_string (store, "/", "experiment", grid->text, error) && write_axes (grid, store, error)
         && write_cells (grid, store, error) && write_same (grid->cells, store, error)
         && (!table || write_summary (table, store, error)) && write_links (grid, store, error)
         && plait_store_commit (store, error);
}
