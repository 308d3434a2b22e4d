/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cli/command.h"
#include "cli/grid-print.h"
#include "cli/options.h"
#include "cli/page.h"
#include "cli/stop.h"
#include "grid/table.h"

/* plait grid: what would be done, doing it, and the table of what came out. */

#define MOST_JOBS 1024

/* "FOLDER/NAME.ini" -> "NAME", in the current folder. (transfer full) */
static char *
default_folder (const char *file)
{
  char *name = g_path_get_basename (file);

  if (g_str_has_suffix (name, ".ini"))
    name[strlen (name) - strlen (".ini")] = '\0';
  return name;
}

/*
 * The plan
 */

static const char *
describe_action (const PlaitGridCell *cell)
{
  switch (cell->state)
    {
    case PLAIT_CELL_NEW:
      return "run";
    case PLAIT_CELL_STALE:
      return "run again";
    case PLAIT_CELL_PARTIAL:
      return "go on";
    case PLAIT_CELL_TRAINED:
      return "evaluate again";
    default:
      return "finished";
    }
}

static void
print_left_out (PlaitPage *page, const PlaitGrid *grid)
{
  const PlaitCells *cells = grid->cells;

  if (cells->n_excluded > 0)
    {
      plait_page_heading (page, "excluded");
      for (guint e = 0; e < cells->n_exclusions; e++)
        plait_page_text (page, PLAIT_PAGE_PLAIN, "  %5u  %s\n", cells->exclusions[e].n_cells,
                         cells->exclusions[e].rule);
    }
  if (cells->same[0])
    plait_page_heading (page, "left out, the same as a cell before");
  for (guint i = 0; cells->same[i]; i++)
    plait_page_text (page, PLAIT_PAGE_PLAIN, "  %s\n", cells->same[i]);
  if (grid->strangers[0])
    plait_page_heading (page, "runs in the folder that belong to no cell");
  for (guint i = 0; grid->strangers[i]; i++)
    plait_page_text (page, PLAIT_PAGE_PLAIN, "  %s\n", grid->strangers[i]);
}

static void
print_plan (const PlaitGrid *grid)
{
  g_autoptr (PlaitPage) page = plait_page_new ();
  guint width = 0;

  for (guint i = 0; i < grid->n; i++)
    width = MAX (width, (guint)strlen (describe_action (&grid->items[i])));
  for (guint i = 0; i < grid->n; i++)
    {
      const PlaitGridCell *cell = &grid->items[i];
      g_autofree char *found = cell->found ? g_strdup_printf ("as %s", cell->found) : NULL;
      const char *because = found ? found : cell->note;

      plait_page_row (page, width, describe_action (cell), cell->cell->label);
      plait_page_row (page, width, "", cell->cell->matched);
      if (because && *because != '\0')
        plait_page_row (page, width, "", because);
    }
  print_left_out (page, grid);
  g_autofree char *sum = g_strdup_printf (
      "%u cells in %s: %u to run, %u to run again, %u to go on with, %u to evaluate again, %u finished; "
      "%u excluded",
      grid->n, grid->folder, plait_grid_count (grid, PLAIT_CELL_NEW), plait_grid_count (grid, PLAIT_CELL_STALE),
      plait_grid_count (grid, PLAIT_CELL_PARTIAL), plait_grid_count (grid, PLAIT_CELL_TRAINED),
      plait_grid_count (grid, PLAIT_CELL_FINISHED), grid->cells->n_excluded);
  plait_page_text (page, PLAIT_PAGE_PLAIN, "\n");
  plait_page_paragraph (page, 0, 0, sum);
}

/* Everything is written and shown whatever failed; then failures are the result. */
static gboolean
conclude (const PlaitGrid *grid, gboolean as_json, PlaitLog *log, GError **error)
{
  g_autoptr (PlaitGridTable) table = plait_grid_table_new (grid, error);
  g_autoptr (GString) failed = g_string_new (NULL);
  guint n_failed = plait_grid_count (grid, PLAIT_CELL_FAILED);

  if (!table || !plait_grid_write (grid, table, error) || !plait_grid_write_tables (grid, table, error))
    return FALSE;
  plait_grid_print (grid, table, as_json);
  if (n_failed == 0)
    {
      plait_log_info (log, "%s: %u cells are finished; see table.csv, table.md and grid.h5", grid->folder, grid->n);
      return TRUE;
    }
  for (guint i = 0; i < grid->n; i++)
    if (grid->items[i].state == PLAIT_CELL_FAILED)
      g_string_append_printf (failed, "%s%s", failed->len > 0 ? "; " : "", grid->items[i].cell->label);
  return plait_fail (error, PLAIT_ERROR_FAILED,
                     "%u of %u cells failed (%s); their logs are in %s, and the same command tries them again",
                     n_failed, grid->n, failed->str, grid->folder);
}

gboolean
plait_command_grid (PlaitInvocation *invocation, GError **error)
{
  g_auto (GStrv) overrides = NULL;
  g_autofree char *folder = NULL;
  g_autofree char *jobs_text = NULL;
  g_autofree char *threads_text = NULL;
  gboolean fresh = FALSE;
  gboolean resume = FALSE;
  gboolean dry_run = FALSE;
  gboolean json = FALSE;
  gint64 jobs = 0;
  gint64 threads = 0;
  const GOptionEntry entries[] = {
    { "set", 's', 0, G_OPTION_ARG_FILENAME_ARRAY, &overrides, "Set a key of all cells, such as train.batch=32",
      "G.K=V" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &folder, "Folder of the cells; else the file's name without .ini",
      "FOLDER" },
    { "jobs", 'j', 0, G_OPTION_ARG_FILENAME, &jobs_text,
      "Cells that run at once; else as many as processors, while memory lasts", "N" },
    { "threads", 't', 0, G_OPTION_ARG_FILENAME, &threads_text,
      "Threads of each; else the processors divided by the cells that run at once", "N" },
    { "fresh", 'f', 0, G_OPTION_ARG_NONE, &fresh, "Run finished and interrupted cells again too, from the start",
      NULL },
    { "resume", 'r', 0, G_OPTION_ARG_NONE, &resume, "Go on with what is there, as without this option", NULL },
    { "dry-run", 'n', 0, G_OPTION_ARG_NONE, &dry_run, "List the cells and what would be done with each", NULL },
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "Print the table as JSON, with all its numbers", NULL },
    { NULL },
  };
  g_autoptr (PlaitRegistry) registry = NULL;
  g_autoptr (PlaitGrid) grid = NULL;
  PlaitGridOptions options;

  if (!plait_invocation_parse (invocation, entries, 1, 1, error)
      || !plait_option_integer ("--jobs", jobs_text, 1, MOST_JOBS, &jobs, error)
      || !plait_option_threads (threads_text, &threads, error))
    return FALSE;
  if (fresh && resume)
    return plait_fail (error, PLAIT_ERROR_INPUT, "--fresh and --resume are opposites; give one of them");
  if (dry_run && json)
    return plait_fail (error, PLAIT_ERROR_INPUT, "--dry-run has no table to print as JSON; leave one of the two out");
  if (!folder)
    folder = default_folder (invocation->arguments[0]);
  registry = plait_registry_new ();
  grid = plait_grid_new (invocation->arguments[0], (const char *const *)overrides, folder, fresh ? PLAIT_GRID_FRESH : 0,
                         registry, error);
  if (!grid)
    return FALSE;
  if (dry_run)
    {
      if (!plait_grid_check_place (grid, invocation->log, error))
        return FALSE;
      print_plan (grid);
      return TRUE;
    }
  options = (PlaitGridOptions){
    .jobs = (guint)jobs,
    .threads = (guint)threads,
    .command = invocation->line,
    .log = invocation->log,
    .stop = plait_stop_on_signals (),
  };
  return plait_grid_run (grid, &options, error) && conclude (grid, json, invocation->log, error);
}
