/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/grid-print.h"
#include "cli/options.h"
#include "cli/page.h"
#include "cli/ranks.h"
#include "cli/stop.h"
#include "grid/cost.h"
#include "grid/executor.h"
#include "grid/table.h"
#include "grid/tasks.h"

/* plait grid: what would be done, doing it, and the table of what came out. */

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

/* How long it takes, and where that is from. */
static void
print_cost (PlaitPage *page, const PlaitGrid *grid)
{
  PlaitGridCost cost = plait_grid_cost (grid);
  g_autofree char *duration = plait_log_duration (cost.seconds);
  g_autofree char *sentence = NULL;
  gboolean due = FALSE;

  for (guint i = 0; i < grid->n; i++)
    due = due || plait_grid_cell_is_due (&grid->items[i]);
  if (!due)
    return;
  sentence = cost.n_ran > 0
                 ? g_strdup_printf ("about %s for what is left, one cell after another, by the cells most like each "
                                    "of the %u that are finished",
                                    duration, cost.n_ran)
                 : g_strdup ("how long it takes is not known before a cell has run; --cell runs one");
  plait_page_paragraph (page, 0, 0, sentence);
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
  print_cost (page, grid);
}

static gboolean
print_commands (const PlaitGrid *grid, const PlaitGridOptions *options, GError **error)
{
  g_autoptr (GPtrArray) lines = plait_grid_tasks (grid, options, error);

  for (guint i = 0; lines && i < lines->len; i++)
    printf ("%s\n", (const char *)lines->pdata[i]);
  return lines != NULL;
}

/* Failures are the result. */
static gboolean
check_all_finished (const PlaitGrid *grid, const char *done, PlaitLog *log, GError **error)
{
  g_autoptr (GString) failed = g_string_new (NULL);
  guint n_failed = plait_grid_count (grid, PLAIT_CELL_FAILED);

  if (n_failed == 0)
    {
      plait_log_info (log, "%s: %u cells are finished; %s", grid->folder, grid->n, done);
      return TRUE;
    }
  for (guint i = 0; i < grid->n; i++)
    if (grid->items[i].state == PLAIT_CELL_FAILED)
      g_string_append_printf (failed, "%s%s", failed->len > 0 ? "; " : "", grid->items[i].cell->label);
  return plait_fail (error, PLAIT_ERROR_FAILED,
                     "%u of %u cells failed (%s); their logs are in %s, and the same command tries them again",
                     n_failed, grid->n, failed->str, grid->folder);
}

/* Everything is written and shown whatever failed. */
static gboolean
conclude (const PlaitGrid *grid, gboolean as_json, PlaitLog *log, GError **error)
{
  g_autoptr (PlaitGridTable) table = NULL;

  if (grid->part)
    return check_all_finished (grid, "--collect makes the table of all", log, error);
  table = plait_grid_table_new (grid, error);
  if (!table || !plait_grid_write (grid, table, error) || !plait_grid_write_tables (grid, table, error))
    return FALSE;
  plait_grid_print (grid, table, as_json);
  return check_all_finished (grid, "see table.csv, table.md and grid.h5", log, error);
}

/* What the command line asks for. */
typedef struct
{
  char **overrides;
  char *folder;
  char *jobs;
  char *threads;
  char *retries;
  char *time;
  char *executor;
  char **cells;
  gboolean fresh;
  gboolean resume;
  gboolean collect;
  gboolean commands;
  gboolean dry_run;
  gboolean json;
} Wishes;

static void
wishes_clear (Wishes *wishes)
{
  g_strfreev (wishes->overrides);
  g_free (wishes->folder);
  g_free (wishes->jobs);
  g_free (wishes->threads);
  g_free (wishes->retries);
  g_free (wishes->time);
  g_free (wishes->executor);
  g_strfreev (wishes->cells);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Wishes, wishes_clear)

static gboolean
check_wishes (const Wishes *wishes, GError **error)
{
  guint n = (wishes->cells != NULL) + wishes->collect + wishes->commands + wishes->dry_run;

  if (wishes->fresh && wishes->resume)
    return plait_fail (error, PLAIT_ERROR_INPUT, "--fresh and --resume are opposites; give one of them");
  if (wishes->dry_run && wishes->json)
    return plait_fail (error, PLAIT_ERROR_INPUT, "--dry-run has no table to print as JSON; leave one of the two out");
  if ((wishes->cells || wishes->commands) && wishes->json)
    return plait_fail (error, PLAIT_ERROR_INPUT, "--json prints the table of all cells; --collect --json does so");
  if (n > 1)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "--cell, --collect, --commands and --dry-run are different things to do; give one of them");
  if (wishes->fresh && (wishes->collect || wishes->commands))
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "--fresh would begin a job anew each time that it is put back into the queue; choose another "
                       "folder with --output");
  return TRUE;
}

/* What runs the cells: as the command line says, or else the file. */
static gboolean
choose_options (const Wishes *wishes, const PlaitGrid *grid, PlaitGridOptions *options, const PlaitExecutor **executor,
                GError **error)
{
  const PlaitExecutorSettings *settings = &grid->cells->executor;
  const char *name = wishes->executor ? wishes->executor : grid->part ? "local" : settings->executor;
  gint64 jobs = settings->jobs, threads = settings->threads, retries = settings->retries;

  *executor = plait_executor_find (name, error);
  if (!*executor || !plait_option_integer ("--jobs", wishes->jobs, 1, PLAIT_GRID_MOST_JOBS, &jobs, error)
      || !plait_option_threads (wishes->threads, &threads, error)
      || !plait_option_integer ("--retries", wishes->retries, 0, PLAIT_GRID_MOST_RETRIES, &retries, error))
    return FALSE;
  options->jobs = (guint)jobs;
  options->threads = (guint)threads;
  options->retries = (guint)retries;
  options->seconds = settings->seconds;
  if (wishes->time && !plait_executor_parse_time (wishes->time, &options->seconds))
    {
      g_autofree char *shown = g_utf8_make_valid (wishes->time, -1);

      return plait_fail (error, PLAIT_ERROR_INPUT,
                         "--time cannot be \"%s\"; expected a number and s, m, h or d, such as 90s or 2h", shown);
    }
  if (!(*executor)->waits && wishes->fresh)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "--fresh would begin a job anew each time that it is put back into the queue; choose another "
                       "folder with --output");
  return TRUE;
}

gboolean
plait_command_grid (PlaitInvocation *invocation, GError **error)
{
  g_auto (Wishes) wishes = { NULL };
  const GOptionEntry entries[] = {
    { "set", 's', 0, G_OPTION_ARG_FILENAME_ARRAY, &wishes.overrides, "Set a key of all cells, such as train.batch=32",
      "G.K=V" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &wishes.folder, "Folder of the cells; else the file's name without .ini",
      "FOLDER" },
    { "jobs", 'j', 0, G_OPTION_ARG_FILENAME, &wishes.jobs,
      "Cells that run at once; else as many as processors, while memory lasts", "N" },
    { "threads", 't', 0, G_OPTION_ARG_FILENAME, &wishes.threads,
      "Threads of each; else the processors divided by the cells that run at once", "N" },
    { "executor", 'e', 0, G_OPTION_ARG_FILENAME, &wishes.executor, "What runs the cells; else local", "local|slurm" },
    { "time", 0, 0, G_OPTION_ARG_FILENAME, &wishes.time, "Longest time of a cell, such as 90s, 30m or 2h", "TIME" },
    { "retries", 0, 0, G_OPTION_ARG_FILENAME, &wishes.retries, "Run a cell that fails so many times more; else 0",
      "N" },
    { "cell", 'c', 0, G_OPTION_ARG_FILENAME_ARRAY, &wishes.cells,
      "Run this cell alone, by the name of its file or its label", "CELL" },
    { "collect", 0, 0, G_OPTION_ARG_NONE, &wishes.collect, "Run nothing, and make the table of what is finished",
      NULL },
    { "commands", 0, 0, G_OPTION_ARG_NONE, &wishes.commands, "Print a shell line for each cell to be run", NULL },
    { "fresh", 'f', 0, G_OPTION_ARG_NONE, &wishes.fresh, "Run finished and interrupted cells again too, from the start",
      NULL },
    { "resume", 'r', 0, G_OPTION_ARG_NONE, &wishes.resume, "Go on with what is there, as without this option", NULL },
    { "dry-run", 'n', 0, G_OPTION_ARG_NONE, &wishes.dry_run, "List the cells and what would be done with each", NULL },
    { "json", 0, 0, G_OPTION_ARG_NONE, &wishes.json, "Print the table as JSON, with all its numbers", NULL },
    { NULL },
  };
  g_autoptr (PlaitRegistry) registry = NULL;
  g_autoptr (PlaitGrid) grid = NULL;
  PlaitGridOptions options = { .command = invocation->line };
  const PlaitExecutor *executor;
  const char *const *overrides, *const *cells;
  PlaitGridFlags flags;

  if (!plait_invocation_parse (invocation, entries, 1, 1, error) || !check_wishes (&wishes, error))
    return FALSE;
  if (!wishes.folder)
    wishes.folder = default_folder (invocation->arguments[0]);
  overrides = (const char *const *)wishes.overrides;
  cells = (const char *const *)wishes.cells;
  flags = wishes.fresh ? PLAIT_GRID_FRESH : 0;
  if (!plait_ranks_refuse ("plait grid, which starts a process for each cell itself,", error))
    return FALSE;
  registry = plait_registry_new ();
  options.log = invocation->log;
  grid = cells ? plait_grid_new_part (invocation->arguments[0], overrides, wishes.folder, flags, cells, registry,
                                      options.log, error)
               : plait_grid_new (invocation->arguments[0], overrides, wishes.folder, flags, registry, error);
  if (!grid || !choose_options (&wishes, grid, &options, &executor, error))
    return FALSE;
  if (wishes.commands)
    return print_commands (grid, &options, error);
  if (wishes.dry_run)
    {
      if (!plait_grid_check_place (grid, invocation->log, error))
        return FALSE;
      print_plan (grid);
      return TRUE;
    }
  if (wishes.collect)
    return plait_grid_collect (grid, options.log, error) && conclude (grid, wishes.json, options.log, error);
  options.stop = plait_stop_on_signals ();
  return executor->run (grid, &options, error)
         && (!executor->waits || conclude (grid, wishes.json, options.log, error));
}
