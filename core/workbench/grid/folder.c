/* SPDX-License-Identifier: MIT */
#include "grid/grid-private.h"

#include "hdf5/store.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <sys/stat.h>

/* The files about all cells, in the order of writing. */
static const char *const written[] = { "grid.h5", "table.csv", "table.md", "table.tex" };

/* TRUE if a grid wrote the grid.h5 at @path. */
static gboolean
check_grid_file (const char *path, GError **error)
{
  g_autoptr (PlaitStore) store = plait_store_open (path, error);

  if (!store || plait_store_has (store, "/cells"))
    return store != NULL;
  return plait_fail (
      error, PLAIT_ERROR_INPUT,
      "%s: is not the file of a grid, but the grid would overwrite it; choose another folder with --output", path);
}

/* TRUE if a grid wrote grid.h5 in @folder, or if @folder has neither grid.h5 nor files of the table. */
static gboolean
check_files (const char *folder, GError **error)
{
  g_autofree char *first = g_build_filename (folder, written[0], NULL);

  if (g_file_test (first, G_FILE_TEST_EXISTS))
    return check_grid_file (first, error);
  for (guint i = 1; i < G_N_ELEMENTS (written); i++)
    {
      g_autofree char *path = g_build_filename (folder, written[i], NULL);

      if (g_file_test (path, G_FILE_TEST_EXISTS))
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "%s: exists, but there is no %s in its folder, so no grid wrote it; choose another folder "
                           "with --output, or move the file",
                           path, written[0]);
    }
  return TRUE;
}

/* TRUE if @path is a run, damaged or not, or does not exist. */
static gboolean
is_run_or_nothing (const char *path)
{
  g_autoptr (PlaitStore) store = NULL;
  struct stat status;

  if (lstat (path, &status) != 0)
    return TRUE;
  if (!plait_store_recognize (path))
    return FALSE;
  store = plait_store_open (path, NULL);
  return !store || plait_store_has_attribute (store, "/", "status");
}

gboolean
plait_grid_check_cells (const PlaitGrid *grid, GError **error)
{
  static const char *const endings[] = { ".h5", ".training.h5" };

  for (guint i = 0; i < grid->n * G_N_ELEMENTS (endings) && !grid->fresh; i++)
    {
      const PlaitGridCell *cell = &grid->items[i / G_N_ELEMENTS (endings)];
      g_autofree char *path = plait_grid_file (grid, cell, endings[i % G_N_ELEMENTS (endings)]);

      if (!is_run_or_nothing (path))
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "%s: this file is not a run, and a cell of the grid would overwrite it; choose another "
                           "folder with --output, move the file, or replace it with --fresh",
                           path);
      if (!plait_store_check_not_left_open (path, error))
        return FALSE;
    }
  return TRUE;
}

gboolean
plait_grid_make_folder (const PlaitGrid *grid, GError **error)
{
  return g_mkdir_with_parents (grid->folder, 0777) == 0
         || plait_fail (error, plait_error_code (errno),
                        "%s: the grid's folder cannot be made or opened (%s); choose another one with --output",
                        grid->folder, g_strerror (errno));
}

gboolean
plait_grid_lock (PlaitGrid *grid, PlaitLog *log, GError **error)
{
  g_autofree char *path = g_build_filename (grid->folder, "grid", NULL);
  g_autofree char *busy = g_strdup_printf ("%s: another plait grid is working in this folder", grid->folder);

  if (!plait_grid_make_folder (grid, error))
    return FALSE;
  if (!grid->lock)
    grid->lock = plait_lock_take (path, busy, "wait for it, or choose another folder with --output", log, error);
  return grid->lock && check_files (grid->folder, error);
}

gboolean
plait_grid_check_folder (PlaitGrid *grid, PlaitLog *log, GError **error)
{
  g_autoptr (GPtrArray) missing = g_ptr_array_new_with_free_func (g_free);
  char *path = g_strdup (grid->folder);
  gboolean good;

  for (; !g_file_test (path, G_FILE_TEST_EXISTS); path = g_path_get_dirname (path))
    g_ptr_array_add (missing, path);
  g_free (path);
  good = plait_grid_lock (grid, log, error);
  g_clear_pointer (&grid->lock, plait_lock_release);
  for (guint i = 0; i < missing->len; i++)
    g_rmdir (missing->pdata[i]);
  return good;
}
