/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/file.h"
#include "experiment/grid-table.h"
#include "store/heatmap.h"
#include "store/table.h"

/* The files over all cells. */

static gboolean
replace_text (const PlaitGrid *grid, const char *name, const char *text, GError **error)
{
  g_autofree char *path = g_build_filename (grid->folder, name, NULL);

  return plait_file_replace (path, text, strlen (text), error);
}

gboolean
plait_grid_write_tables (const PlaitGrid *grid, const PlaitGridTable *table, GError **error)
{
  g_autofree char *csv = plait_grid_table_csv (table);
  g_autofree char *markdown = plait_grid_table_markdown (table, grid->cells->name);

  return replace_text (grid, "table.csv", csv, error) && replace_text (grid, "table.md", markdown, error);
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
  enum
  {
    LABEL,
    NAME,
    STATUS,
    KEY,
    FIXED,
  };
  static const char *const names[FIXED] = { "label", "name", "status", "key" };
  guint n_columns = FIXED + grid->cells->n_axes;
  g_autofree const char **values = g_new0 (const char *, (gsize)n_columns * grid->n + 1);
  g_autofree PlaitStoreColumn *columns = g_new0 (PlaitStoreColumn, n_columns);

  for (guint c = 0; c < n_columns; c++)
    columns[c] = (PlaitStoreColumn){ c < FIXED ? names[c] : grid->cells->axes[c - FIXED].key, PLAIT_STORE_STRING,
                                     values + (gsize)c * grid->n, NULL };
  for (guint i = 0; i < grid->n; i++)
    {
      const PlaitGridCell *cell = &grid->items[i];

      values[LABEL * grid->n + i] = cell->cell->label;
      values[NAME * grid->n + i] = cell->name;
      values[STATUS * grid->n + i] = plait_grid_cell_state_name (cell->state);
      values[KEY * grid->n + i] = cell->key;
      for (guint a = 0; a < grid->cells->n_axes; a++)
        values[(gsize)(FIXED + a) * grid->n + i] = grid->cells->axes[a].values[cell->cell->places[a]];
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
      if (first == NULL)
        first = cell->name;
    }
  if (first == NULL)
    return TRUE;
  g_autofree char *shown = g_strdup_printf ("/runs/%s", first);
  return plait_store_set_default (store, shown, error);
}

static gpointer
integers (const double *values, guint n)
{
  gint64 *whole = g_new0 (gint64, n + 1);

  for (guint i = 0; i < n; i++)
    whole[i] = isnan (values[i]) ? -1 : (gint64)values[i];
  return whole;
}

/* The values of axes as text, then the numbers; an integer that is not known is -1. */
static gboolean
write_summary (const PlaitGridTable *table, PlaitStore *store, GError **error)
{
  g_autoptr (GPtrArray) numbers = plait_grid_table_columns (table);
  g_autoptr (GPtrArray) memory = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GArray) columns = g_array_new (FALSE, FALSE, sizeof (PlaitStoreColumn));

  for (guint a = 0; a < table->n_axes; a++)
    {
      const char **values = g_new0 (const char *, table->n_rows + 1);
      PlaitStoreColumn column = { table->axes[a], PLAIT_STORE_STRING, values, NULL };

      for (guint r = 0; r < table->n_rows; r++)
        values[r] = table->rows[r].values[a];
      g_ptr_array_add (memory, values);
      g_array_append_val (columns, column);
    }
  for (guint c = 0; c < numbers->len; c++)
    {
      const PlaitGridColumn *number = numbers->pdata[c];
      PlaitStoreColumn column = { number->name, PLAIT_STORE_DOUBLE, number->values, NULL };

      if (number->whole)
        {
          gpointer whole = integers (number->values, table->n_rows);

          g_ptr_array_add (memory, whole);
          column.type = PLAIT_STORE_INT64;
          column.values = whole;
        }
      g_array_append_val (columns, column);
    }
  return plait_store_write_table (store, "/summary", (const PlaitStoreColumn *)(gpointer)columns->data, columns->len,
                                  table->n_rows, NULL, NULL, error);
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
