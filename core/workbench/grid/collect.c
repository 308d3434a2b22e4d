/* SPDX-License-Identifier: MIT */
#include "grid/grid-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>

#include "files/file.h"
#include "files/transfer.h"

enum
{
  TAIL_LINES = 8,
  TAIL_BYTES = 2000,
};

/* Renames the finished run @name in the folder to NAME.h5 of @cell. Replaces an older NAME.h5. */
static gboolean
move_to_final_name (const PlaitGrid *grid, const PlaitGridCell *cell, const char *name, GError **error)
{
  g_autofree char *from = g_build_filename (grid->folder, name, NULL);
  g_autofree char *to = plait_grid_file (grid, cell, ".h5");

  if (g_rename (from, to) != 0)
    return plait_fail (error, PLAIT_ERROR_FAILED, "%s: cannot be renamed to %s (%s)", from, to, g_strerror (errno));
  plait_file_sync (grid->folder);
  return TRUE;
}

void
plait_grid_cell_set_state (PlaitGridCell *cell, PlaitGridCellState state, const char *note)
{
  g_free (cell->note);
  cell->note = g_strdup (note);
  cell->state = state;
}

gboolean
plait_grid_collect_cell (const PlaitGrid *grid, PlaitGridCell *cell)
{
  g_autofree char *training = plait_grid_file (grid, cell, ".training.h5");
  g_autoptr (GError) fault = NULL;
  gboolean placed = !cell->found || move_to_final_name (grid, cell, cell->found, &fault);

  if (placed)
    {
      g_clear_pointer (&cell->found, g_free);
      g_unlink (training);
    }
  if (placed && plait_grid_read_result (grid, cell, &fault))
    return TRUE;
  plait_grid_cell_set_state (cell, PLAIT_CELL_FAILED, fault->message);
  return FALSE;
}

void
plait_grid_collect_finished (PlaitGrid *grid)
{
  for (guint i = 0; i < grid->n; i++)
    if (grid->items[i].state == PLAIT_CELL_FINISHED)
      plait_grid_collect_cell (grid, &grid->items[i]);
}

char *
plait_grid_read_tail (const char *path, goffset from)
{
  char bytes[TAIL_BYTES + 1] = "";
  int descriptor = open (path, O_RDONLY | O_CLOEXEC
                                   | O_NONBLOCK); /* O_NONBLOCK: opening a named pipe without a writer would block */
  goffset end = descriptor >= 0 ? lseek (descriptor, 0, SEEK_END) : 0;
  gssize n = plait_read_at (descriptor, bytes, TAIL_BYTES, MAX (MAX (from, end - TAIL_BYTES), 0));
  char *first;

  if (descriptor >= 0)
    close (descriptor);
  while (n > 0 && g_ascii_isspace (bytes[n - 1]))
    n--;
  n = MAX (n, 0);
  bytes[n] = '\0';
  first = bytes + n;
  for (guint lines = 0; first > bytes; first--)
    if (first[-1] == '\n' && ++lines == TAIL_LINES)
      break;
  return g_utf8_make_valid (first, -1);
}

void
plait_grid_report_failures (const PlaitGrid *grid, PlaitLog *log)
{
  for (guint i = 0; i < grid->n; i++)
    {
      const PlaitGridCell *cell = &grid->items[i];
      g_autofree char *path = plait_grid_file (grid, cell, ".log");
      g_autofree char *tail = NULL;
      g_auto (GStrv) lines = NULL;

      if (cell->state != PLAIT_CELL_FAILED)
        continue;
      plait_log_warning (log, "the cell %s failed: %s", cell->cell->label, cell->note);
      tail = plait_grid_read_tail (path, 0);
      lines = g_strsplit (tail, "\n", -1);
      if (*tail)
        plait_log_warning (log, "the last lines of %s:", path);
      for (guint k = 0; *tail && lines[k]; k++)
        plait_log_warning (log, "  %s", lines[k]);
    }
}

/* Returns why @cell is not finished, as the note of a failed cell. (transfer full) */
static char *
describe_missing (const PlaitGridCell *cell)
{
  static const char *const lacks[] = {
    [PLAIT_CELL_NEW] = "no process has begun it",
    [PLAIT_CELL_STALE] = "it has to be run again",
    [PLAIT_CELL_PARTIAL] = "it is not finished",
    [PLAIT_CELL_TRAINED] = "it has to be evaluated",
  };

  return g_strdup_printf ("%s%s%s", lacks[cell->state], cell->note ? ": " : "", cell->note ? cell->note : "");
}

gboolean
plait_grid_collect (PlaitGrid *grid, PlaitLog *log, GError **error)
{
  if (!plait_grid_lock (grid, log, error))
    return FALSE;
  plait_grid_collect_finished (grid);
  for (guint i = 0; i < grid->n; i++)
    if (plait_grid_cell_is_due (&grid->items[i]))
      {
        g_autofree char *missing = describe_missing (&grid->items[i]);

        plait_grid_cell_set_state (&grid->items[i], PLAIT_CELL_FAILED, missing);
      }
  plait_grid_drop_mixed (grid, log);
  plait_grid_report_failures (grid, log);
  return TRUE;
}
