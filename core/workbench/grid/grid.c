/* SPDX-License-Identifier: MIT */
#include "grid/grid.h"

#include <string.h>

#include "files/digest.h"
#include "grid/grid-private.h"

enum
{
  MAX_NAME_LENGTH = 60, /* maximum bytes of a file name, without digest and ending */
  SHORT_KEY = 3,        /* bytes of each key in a name that would be longer */
  NAME_DIGITS = 8,
};

#define ENDING ".h5"

const char *
plait_grid_cell_state_name (PlaitGridCellState state)
{
  static const char *const names[] = { "new", "stale", "partial", "trained", "finished", "failed" };

  return names[state];
}

char *
plait_grid_file (const PlaitGrid *grid, const PlaitGridCell *cell, const char *ending)
{
  g_autofree char *name = g_strconcat (cell->name, ending, NULL);

  return g_build_filename (grid->folder, name, NULL);
}

gboolean
plait_grid_cell_is_due (const PlaitGridCell *cell)
{
  return cell->state != PLAIT_CELL_FINISHED && cell->state != PLAIT_CELL_FAILED;
}

guint
plait_grid_count_due (const PlaitGrid *grid)
{
  guint count = 0;

  for (guint i = 0; i < grid->n; i++)
    count += plait_grid_cell_is_due (&grid->items[i]);
  return count;
}

guint
plait_grid_count (const PlaitGrid *grid, PlaitGridCellState state)
{
  guint count = 0;

  for (guint i = 0; i < grid->n; i++)
    count += grid->items[i].state == state;
  return count;
}

/* Returns the part of a file name for axis @a of @cell, such as "combiner-flat". It is the last word of the axis's key,
 * cut to @key_bytes except for the seed, and the cell's value. Characters other than ASCII letters, digits and "-_+."
 * become '-'. Returns "" if the value is empty. (transfer full) */
static char *
name_part (const PlaitCells *cells, const PlaitExperimentCell *cell, guint a, int key_bytes)
{
  const PlaitAxis *axis = &cells->axes[a];
  const char *last = strrchr (axis->key, '.'), *value = axis->values[cell->value_indices[a]];
  int bytes = plait_axis_is_seed (axis) ? G_MAXINT : key_bytes;
  char *part = *value ? g_strdup_printf ("%.*s-%s", bytes, last ? last + 1 : axis->key, value) : g_strdup ("");

  for (char *p = part; *p; p++)
    if (!g_ascii_isalnum (*p) && !strchr ("-_+.", *p))
      *p = '-';
  return part;
}

/* Joins @parts, except @skipped and empty ones, with '_'. Each part is cut to @limit bytes. (transfer full) */
static GString *
join_parts (const GPtrArray *parts, const char *skipped, int limit)
{
  GString *name = g_string_new (NULL);

  for (guint a = 0; a < parts->len; a++)
    {
      const char *part = parts->pdata[a];

      if (*part && part != skipped)
        g_string_append_printf (name, "%s%.*s", name->len > 0 ? "_" : "", limit, part);
    }
  return name;
}

/* Returns the parts of a file name, and sets *@seed to the part of the seed, or NULL. (transfer full) */
static GPtrArray *
name_parts (const PlaitCells *cells, const PlaitExperimentCell *cell, int key_bytes, const char **seed)
{
  GPtrArray *parts = g_ptr_array_new_with_free_func (g_free);

  *seed = NULL;
  for (guint a = 0; a < cells->n_axes; a++)
    {
      char *part = name_part (cells, cell, a, key_bytes);

      g_ptr_array_add (parts, part);
      if (plait_axis_is_seed (&cells->axes[a]) && *part)
        *seed = part;
    }
  return parts;
}

/* Returns the file name of @cell without ending, such as "combiner-flat_seed-1-DIGEST". If the name without the digest
 * is longer than MAX_NAME_LENGTH, cuts the keys and then long parts. Never cuts the seed, but moves it to the end.
 * (transfer full) */
static char *
name_cell (const PlaitCells *cells, const PlaitExperimentCell *cell)
{
  g_autofree char *digest = plait_digest_bytes (cell->label, strlen (cell->label));
  const char *seed;
  g_autoptr (GPtrArray) whole = name_parts (cells, cell, G_MAXINT, &seed);
  g_autoptr (GString) name = join_parts (whole, NULL, G_MAXINT);

  if (name->len > MAX_NAME_LENGTH)
    {
      g_autoptr (GPtrArray) parts = name_parts (cells, cell, SHORT_KEY, &seed);
      gsize room = MAX_NAME_LENGTH - (seed ? strlen (seed) + 1 : 0);
      int limit = MAX_NAME_LENGTH;

      do
        {
          g_string_free (name, TRUE);
          name = join_parts (parts, seed, limit);
        }
      while (name->len > room && --limit > 0);
      g_string_truncate (name, MIN (name->len, room));
      if (seed)
        g_string_append_printf (name, "_%s", seed);
    }
  g_string_append_printf (name, "-%.*s", NAME_DIGITS, digest);
  return g_string_free (g_steal_pointer (&name), FALSE);
}

static gboolean
check_folder (const char *folder, GError **error)
{
  if (!g_file_test (folder, G_FILE_TEST_EXISTS) || g_file_test (folder, G_FILE_TEST_IS_DIR))
    return TRUE;
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "%s: is a file, but a grid needs a folder; choose another one with --output", folder);
}

/* Returns the cells of the grid file with their file names, but without their states. (transfer full) */
static PlaitGrid *
read_grid (const char *path, const PlaitOverride *overrides, const char *folder, gboolean fresh, PlaitResolveFlags more,
           PlaitRegistry *registry, GError **error)
{
  g_autoptr (PlaitGrid) grid = g_new0 (PlaitGrid, 1);
  g_autoptr (PlaitKeyFile) file = NULL;

  if (!check_folder (folder, error))
    return NULL;
  grid->path = g_strdup (path);
  grid->overrides = overrides;
  grid->folder = g_strdup (folder);
  grid->fresh = fresh;
  grid->cells = plait_cells_load (path, overrides, more, registry, error);
  file = grid->cells ? plait_experiment_read (path, overrides, error) : NULL;
  if (!file)
    return NULL;
  grid->text = plait_key_file_text (file);
  grid->n = grid->n_known = grid->cells->n_cells;
  grid->items = g_new0 (PlaitGridCell, grid->n);
  for (guint i = 0; i < grid->n; i++)
    {
      PlaitGridCell *cell = &grid->items[i];

      cell->cell = &grid->cells->cells[i];
      cell->name = name_cell (grid->cells, cell->cell);
    }
  return g_steal_pointer (&grid);
}

static void
clear_cell (PlaitGridCell *cell)
{
  g_free (cell->name);
  g_free (cell->note);
  g_free (cell->found);
  g_free (cell->trained);
  plait_run_result_free (cell->result);
  plait_lock_release (cell->lock);
}

gboolean
plait_grid_lock_cell (const PlaitGrid *grid, PlaitGridCell *cell, PlaitLog *log, GError **error)
{
  g_autofree char *path = g_build_filename (grid->folder, cell->name, NULL);
  g_autofree char *busy = g_strdup_printf ("the cell %s: another process runs it", cell->cell->label);

  if (!cell->lock)
    cell->lock = plait_lock_take (path, busy, "wait for it", log, error);
  return cell->lock != NULL;
}

static gboolean
is_wanted (const PlaitGridCell *cell, const char *const *names, gboolean *known)
{
  gboolean wanted = FALSE;

  for (guint i = 0; names[i]; i++)
    if (g_str_equal (names[i], cell->name) || g_str_equal (names[i], cell->cell->label))
      known[i] = wanted = TRUE;
  return wanted;
}

/* Restricts @grid to the cells with the names or labels @names, and moves these cells to the front. */
static gboolean
choose (PlaitGrid *grid, const char *const *names, GError **error)
{
  g_autofree gboolean *known = g_new0 (gboolean, g_strv_length ((char **)names));
  guint n = 0;

  for (guint i = 0; i < grid->n_known; i++)
    if (is_wanted (&grid->items[i], names, known))
      {
        PlaitGridCell chosen = grid->items[i];

        memmove (&grid->items[n + 1], &grid->items[n], (i - n) * sizeof chosen);
        grid->items[n++] = chosen;
      }
  grid->n = n;
  grid->part = TRUE;
  for (guint i = 0; names[i]; i++)
    if (!known[i])
      return plait_fail (error, PLAIT_ERROR_INPUT,
                         "there is no cell \"%s\" in this grid; --dry-run shows the labels of its cells", names[i]);
  return TRUE;
}

PlaitGrid *
plait_grid_new (const char *path, const PlaitOverride *overrides, const char *folder, gboolean fresh,
                const char *const *names, PlaitResolveFlags more, PlaitRegistry *registry, PlaitLog *log,
                GError **error)
{
  g_autoptr (PlaitGrid) grid = read_grid (path, overrides, folder, fresh, more, registry, error);

  if (!grid || (names && (!choose (grid, names, error) || !plait_grid_make_folder (grid, error))))
    return NULL;
  for (guint i = 0; grid->part && i < grid->n; i++)
    if (!plait_grid_lock_cell (grid, &grid->items[i], log, error))
      return NULL;
  if (!plait_grid_check_cells (grid, error))
    return NULL;
  plait_grid_update_states (grid);
  return g_steal_pointer (&grid);
}

void
plait_grid_free (PlaitGrid *grid)
{
  if (!grid)
    return;
  for (guint i = 0; i < grid->n_known; i++)
    clear_cell (&grid->items[i]);
  g_free (grid->items);
  g_free (grid->text);
  g_free (grid->path);
  g_free (grid->folder);
  g_strfreev (grid->unclaimed);
  plait_lock_release (grid->lock);
  plait_cells_free (grid->cells);
  g_free (grid);
}

gboolean
plait_grid_read_result (const PlaitGrid *grid, PlaitGridCell *cell, GError **error)
{
  g_autofree char *path = plait_grid_file (grid, cell, ENDING);
  g_autoptr (PlaitStore) store = plait_store_open (path, error);

  g_clear_pointer (&cell->result, plait_run_result_free);
  cell->result = store ? plait_run_result_new (store, error) : NULL;
  return cell->result != NULL;
}

void
plait_grid_drop_mixed (const PlaitGrid *grid, PlaitLog *log)
{
  g_autofree PlaitRunResult **results = g_new (PlaitRunResult *, grid->n + 1);
  g_autofree const char **names = g_new (const char *, grid->n + 1);

  for (guint i = 0; i < grid->n; i++)
    {
      results[i] = grid->items[i].result;
      names[i] = grid->items[i].cell->label;
    }
  plait_run_results_drop_mixed (results, names, grid->n, log);
}
