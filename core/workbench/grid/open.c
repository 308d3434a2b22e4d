/* SPDX-License-Identifier: MIT */
#include "grid/grid-private.h"

#include "setup/trained.h"
#include "tables/table.h"

#define CELLS "/cells"
#define MAX_BYTES ((gsize)1 << 26)

static gboolean
read_axes (PlaitCells *cells, PlaitStore *store, GError **error)
{
  gint64 n;
  g_auto (GStrv) columns = plait_store_table_columns (store, CELLS, &n, error);
  guint first = PLAIT_GRID_CELL_COLUMNS;
  guint n_axes = columns ? g_strv_length (columns) : 0;

  /* Read the keys of the axes from the columns of /cells, not from /axes: there, a key with '/' is a nested group. */
  n_axes -= MIN (n_axes, first);
  cells->axes = g_new0 (PlaitAxis, n_axes);
  for (guint a = 0; a < n_axes; a++)
    {
      g_autofree char *path = g_strdup_printf ("/axes/%s", columns[first + a]);
      char **values = plait_store_read_strings (store, path, MAX_BYTES, &n, error);

      if (!values)
        return FALSE;
      cells->axes[cells->n_axes++] = (PlaitAxis){ g_strdup (columns[first + a]), values, (guint)n };
    }
  return columns != NULL;
}

/* Returns column @name of @table as texts. The column must have *@n rows; if *@n is -1, sets *@n to their number.
 * (transfer full) */
static char **
read_column (PlaitStore *store, const char *table, const char *name, gint64 *n, GError **error)
{
  g_autofree char *path = g_strdup_printf ("%s/%s", table, name);
  gint64 rows;
  g_auto (GStrv) column = plait_store_read_strings (store, path, MAX_BYTES, &rows, error);

  if (!column)
    return NULL;
  if (*n >= 0 && rows != *n)
    return plait_fail_null (error, PLAIT_ERROR_CORRUPT, "%s:%s has %jd rows, expected %jd; run plait grid again",
                            plait_store_path (store), path, rows, *n);
  *n = rows;
  return g_steal_pointer (&column);
}

static gboolean
read_value_indices (const PlaitCells *cells, guint a, PlaitStore *store, GError **error)
{
  const PlaitAxis *axis = &cells->axes[a];
  gint64 n = cells->n_cells;
  g_auto (GStrv) values = read_column (store, CELLS, axis->key, &n, error);

  for (gint64 i = 0; values && i < n; i++)
    {
      guint v = 0;

      while (v < axis->n_values && !g_str_equal (axis->values[v], values[i]))
        v++;
      if (v == axis->n_values)
        return plait_fail (error, PLAIT_ERROR_CORRUPT, "%s:/cells: \"%s\" is not a value of %s; run plait grid again",
                           plait_store_path (store), values[i], axis->key);
      cells->cells[i].value_indices[a] = v;
    }
  return values != NULL;
}

/* If @cell has a finished run, reads the experiment and the fingerprint of this run into @own, and sets the state of
 * @cell to PLAIT_CELL_FINISHED. */
static gboolean
read_cell (PlaitGrid *grid, PlaitGridCell *cell, PlaitExperimentCell *own, PlaitRegistry *registry, GError **error)
{
  g_autofree char *path = plait_grid_file (grid, cell, ".h5");
  g_autoptr (PlaitStore) run = NULL;

  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    return TRUE;
  run = plait_store_open (path, error);
  own->experiment = run ? plait_trained_experiment (run, NULL, registry, error) : NULL;
  if (!own->experiment)
    return FALSE;
  g_free (own->fingerprint);
  own->fingerprint = plait_store_get_string (run, "/", "key", error);
  cell->state = PLAIT_CELL_FINISHED;
  return own->fingerprint != NULL;
}

static gboolean
read_cells (PlaitGrid *grid, PlaitStore *store, PlaitRegistry *registry, GError **error)
{
  gint64 n = -1;
  PlaitCells *cells = grid->cells;
  g_auto (GStrv) labels = read_axes (cells, store, error) ? read_column (store, CELLS, "label", &n, error) : NULL;
  g_auto (GStrv) names = labels ? read_column (store, CELLS, "name", &n, error) : NULL;
  g_auto (GStrv) keys = names ? read_column (store, CELLS, "key", &n, error) : NULL;

  if (!keys)
    return FALSE;
  cells->cells = g_new0 (PlaitExperimentCell, n);
  cells->n_cells = grid->n = grid->n_known = (guint)n;
  grid->items = g_new0 (PlaitGridCell, n + 1);
  for (gint64 i = 0; i < n; i++)
    {
      PlaitExperimentCell *own = &cells->cells[i];

      own->label = g_strdup (labels[i]);
      own->value_indices = g_new0 (guint, cells->n_axes + 1);
      grid->items[i].cell = own;
      grid->items[i].name = g_strdup (names[i]);
      own->fingerprint = g_strdup (keys[i]);
      if (!read_cell (grid, &grid->items[i], own, registry, error))
        return FALSE;
    }
  for (guint a = 0; a < cells->n_axes; a++)
    if (!read_value_indices (cells, a, store, error))
      return FALSE;
  return TRUE;
}

static gboolean
read_same (PlaitCells *cells, PlaitStore *store, GError **error)
{
  gint64 n = -1;

  if (!plait_store_has (store, PLAIT_GRID_DUPLICATES))
    return TRUE;
  cells->duplicates = read_column (store, PLAIT_GRID_DUPLICATES, "label", &n, error);
  cells->duplicate_of = cells->duplicates ? read_column (store, PLAIT_GRID_DUPLICATES, "as", &n, error) : NULL;
  return cells->duplicate_of != NULL;
}

PlaitGrid *
plait_grid_open (const char *path, PlaitRegistry *registry, GError **error)
{
  g_autoptr (PlaitGrid) grid = g_new0 (PlaitGrid, 1);
  g_autoptr (PlaitStore) store = plait_store_open (path, error);

  if (!store)
    return NULL;
  grid->folder = g_path_get_dirname (path);
  grid->cells = g_new0 (PlaitCells, 1);
  grid->cells->name = plait_store_get_string (store, "/", "name", error);
  grid->text = grid->cells->name ? plait_store_get_string (store, "/", "experiment", error) : NULL;
  return grid->text && read_cells (grid, store, registry, error) && read_same (grid->cells, store, error)
             ? g_steal_pointer (&grid)
             : NULL;
}
