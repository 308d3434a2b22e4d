/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/file.h"
#include "grid/table.h"
#include "store/heatmap.h"
#include "store/table.h"

/* The files over all cells. */

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

      if (!plait_store_write_strings (store, path, axis->values, axis->n_values, error))
        return FALSE;
    }
  return TRUE;
}

/* Columns of text: label, name, status and key of each cell, then its value on each axis. */
static gboolean
write_cells (const PlaitGrid *grid, PlaitStore *store, GError **error)
{
  static const char *const names[] = { "label", "name", "status", "key" };
  const guint n_names = G_N_ELEMENTS (names), n_columns = n_names + grid->cells->n_axes;
  g_autofree const char **values = g_new0 (const char *, (gsize)n_columns * grid->n + 1);
  g_autofree PlaitStoreColumn *columns = g_new0 (PlaitStoreColumn, n_columns);

  for (guint c = 0; c < n_columns; c++)
    columns[c] = (PlaitStoreColumn){ c < n_names ? names[c] : grid->cells->axes[c - n_names].key, PLAIT_STORE_STRING,
                                     values + (gsize)c * grid->n, NULL };
  for (guint i = 0; i < grid->n; i++)
    {
      const PlaitGridCell *cell = &grid->items[i];
      const char *const named[]
          = { cell->cell->label, cell->name, plait_grid_cell_state_name (cell->state), cell->key };

      for (guint c = 0; c < n_names; c++)
        values[(gsize)c * grid->n + i] = named[c];
      for (guint a = 0; a < grid->cells->n_axes; a++)
        values[(gsize)(n_names + a) * grid->n + i] = grid->cells->axes[a].values[cell->cell->places[a]];
    }
  return plait_store_write_table (store, "/cells", columns, n_columns, grid->n, NULL, NULL, error);
}

/* Viewers open with what the first finished cell opens with: a heatmap of its attention. */
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

/* A column for a file: text, integers (-1 where there is none) or real numbers (NaN). The
 * values are kept in @memory. */
static PlaitStoreColumn
stored_column (const PlaitTable *table, guint c, GPtrArray *memory)
{
  const PlaitTableColumn *column = plait_table_get_column (table, c);
  guint n = plait_table_rows (table);
  PlaitTableKind kind = column->kind;
  gpointer values = g_new0 (gint64, n + 1); /* or as many pointers or doubles */

  g_ptr_array_add (memory, values);
  for (guint r = 0; r < n; r++)
    {
      const PlaitTableCell *cell = plait_table_cell (table, r, c);
      gboolean none = cell->kind == PLAIT_TABLE_CELL_NONE;

      if (kind == PLAIT_TABLE_COUNTS)
        ((gint64 *)values)[r] = none ? -1 : cell->integer;
      else if (kind == PLAIT_TABLE_NUMBERS)
        ((double *)values)[r] = none ? NAN : cell->real;
      else
        ((const char **)values)[r] = cell->text;
    }
  return (PlaitStoreColumn){ column->title,
                             kind == PLAIT_TABLE_COUNTS    ? PLAIT_STORE_INT64
                             : kind == PLAIT_TABLE_NUMBERS ? PLAIT_STORE_DOUBLE
                                                           : PLAIT_STORE_STRING,
                             values, NULL };
}

static gboolean
write_summary (const PlaitGridTable *table, PlaitStore *store, GError **error)
{
  g_autoptr (PlaitTable) numbers = plait_grid_table_numbers (table);
  g_autoptr (GPtrArray) memory = g_ptr_array_new_with_free_func (g_free);
  guint n = numbers->columns->len;
  g_autofree PlaitStoreColumn *columns = g_new (PlaitStoreColumn, n);

  for (guint c = 0; c < n; c++)
    columns[c] = stored_column (numbers, c, memory);
  return plait_store_write_table (store, "/summary", columns, n, table->n_rows, NULL, NULL, error);
}

gboolean
plait_grid_write (const PlaitGrid *grid, const PlaitGridTable *table, GError **error)
{
  g_autofree char *path = g_build_filename (grid->folder, "grid.h5", NULL);
  g_autoptr (PlaitStore) store = plait_store_create (path, error);

  return store && plait_store_set_string (store, "/", "version", PLAIT_VERSION, error)
         && plait_store_set_string (store, "/", "name", grid->cells->name, error)
         && plait_store_set_string (store, "/", "experiment", grid->text, error) && write_axes (grid, store, error)
         && write_cells (grid, store, error) && (!table || write_summary (table, store, error))
         && write_links (grid, store, error) && plait_store_commit (store, error);
}
