/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "files/path.h"
#include "command/command.h"
#include "runs/print.h"
#include "command/options.h"
#include "terminal/terminal.h"
#include "command/ranks.h"
#include "command/stop.h"
#include "grid/cost.h"
#include "grid/executor.h"
#include "axes/training-differences.h"
#include "grid/table.h"
#include "grid/tasks.h"
#include "axes/vocabularies.h"
#include "axes/executor-settings.h"

/* Implements plait grid: plans a grid, runs its cells and prints the table of their scores. */

/*
 * Functions that print the plan
 */

/* Actions of plait grid, indexed by the state of a cell. */
static const char *const actions[] = {
  [PLAIT_CELL_NEW] = "run",           [PLAIT_CELL_STALE] = "run again",
  [PLAIT_CELL_PARTIAL] = "go on",     [PLAIT_CELL_TRAINED] = "evaluate again",
  [PLAIT_CELL_FINISHED] = "finished",
};

/* TRUE if the training set of @cell is known, since @cell or a cell that differs only in the seed ran or was timed. */
static gboolean
is_measured (const PlaitGrid *grid, const PlaitGridCost *cost, const PlaitGridCell *cell)
{
  if (cost->cells[cell - grid->items].set.lines > 0)
    return TRUE;
  for (guint i = 0; i < grid->n; i++)
    if (cost->cells[i].set.lines > 0 && plait_cells_are_seeds (grid->cells, grid->items[i].cell, cell->cell))
      return TRUE;
  return FALSE;
}

/* Returns sentences about differences between the training sets of the cells. If the training set of a cell is not
 * known yet, returns sentences about settings that may cause such differences. (transfer full) */
static char **
find_differences (const PlaitGrid *grid, const PlaitGridCost *cost)
{
  g_autofree PlaitTrainingSet *sets = g_new0 (PlaitTrainingSet, grid->n + 1);
  g_autofree const char **names = g_new0 (const char *, grid->n + 1);
  gboolean measured = TRUE;

  for (guint i = 0; i < grid->n; i++)
    {
      sets[i] = cost->cells[i].set;
      names[i] = grid->items[i].cell->label;
      measured = measured && is_measured (grid, cost, &grid->items[i]);
    }
  return measured ? plait_training_sets_describe_differences (sets, names, grid->n)
                  : plait_cells_describe_training_differences (grid->cells);
}

static void
print_left_out (PlaitTerminal *terminal, const PlaitGrid *grid)
{
  const PlaitCells *cells = grid->cells;

  if (cells->n_excluded > 0)
    {
      plait_terminal_heading (terminal, "excluded");
      for (guint e = 0; e < cells->n_exclusions; e++)
        plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "  %5u  %s\n", cells->exclusions[e].n_cells,
                             cells->exclusions[e].rule);
    }
  if (cells->duplicates[0])
    plait_terminal_heading (terminal, "left out, duplicates of an earlier cell");
  for (guint i = 0; cells->duplicates[i]; i++)
    plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "  %s: equals %s\n", cells->duplicates[i],
                         cells->duplicate_of[i]);
  if (grid->unclaimed[0])
    plait_terminal_heading (terminal, "runs in the folder that belong to no cell");
  for (guint i = 0; grid->unclaimed[i]; i++)
    plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "  %s\n", grid->unclaimed[i]);
}

/* Prints those vocabularies of @cell that are in @names. */
static void
add_vocabularies (PlaitTerminal *terminal, guint width, const PlaitGridCell *cell, const char *const *names)
{
  for (guint i = 0; i < cell->cell->vocabularies->len; i++)
    {
      const PlaitCellVocabulary *vocabulary = cell->cell->vocabularies->pdata[i];
      g_autofree char *text = g_strdup_printf ("vocabulary %s: %s", vocabulary->name, vocabulary->text);

      if (g_strv_contains (names, vocabulary->name))
        plait_terminal_row (terminal, width, "", text);
    }
}

/* Prints the vocabularies of the grid. @differ names those that differ between cells. */
static void
print_vocabularies (PlaitTerminal *terminal, const PlaitGrid *grid, const char *const *differ)
{
  g_autoptr (GHashTable) told = g_hash_table_new (g_str_hash, g_str_equal); /* name of a vocabulary -> description */
  GHashTableIter names;
  gpointer name, text;
  guint width = 0;

  for (guint i = 0; i < grid->n; i++)
    for (guint v = 0; v < grid->items[i].cell->vocabularies->len; v++)
      {
        const PlaitCellVocabulary *vocabulary = grid->items[i].cell->vocabularies->pdata[v];

        width = MAX (width, (guint)strlen (vocabulary->name));
        g_hash_table_insert (told, vocabulary->name,
                             g_strv_contains (differ, vocabulary->name)
                                 ? "differs between cells, so numbers per token cannot be compared between cells"
                                 : vocabulary->text);
      }
  plait_terminal_heading (terminal, "vocabularies");
  g_hash_table_iter_init (&names, told);
  while (g_hash_table_iter_next (&names, &name, &text))
    plait_terminal_row (terminal, width, name, text);
  if (grid->cells->joined)
    plait_terminal_row (terminal, width, "",
                        "learnt together; with [grid] vocabularies=own each cell learns from its own text");
}

/* Prints the estimated time and memory, and where the estimates come from. */
static void
print_cost (PlaitTerminal *terminal, const PlaitGrid *grid, const PlaitGridCost *cost)
{
  g_autofree char *duration = plait_log_duration (cost->seconds);
  g_autoptr (GString) sentence = g_string_new (NULL);
  guint n_known = cost->n_ran + cost->n_measured;

  if (plait_grid_count_due (grid) == 0)
    return;
  if (n_known == 0)
    g_string_append (sentence, "the time is not known, since no cell has run and none could be measured");
  else
    g_string_append_printf (sentence,
                            "about %s for the remaining cells, one after another, estimated from the most similar "
                            "cells: %u that ran and %u whose speed was measured now",
                            duration, cost->n_ran, cost->n_measured);
  if (cost->n_measured > 0)
    g_string_append_printf (sentence, " with %u thread%s each", cost->threads, cost->threads == 1 ? "" : "s");
  if (cost->bytes > 0)
    g_string_append_printf (sentence, "; memory of a cell at most %.0f MiB", (double)cost->bytes / 1024 / 1024);
  plait_terminal_paragraph (terminal, 0, 0, sentence->str);
}

/* Returns the estimate as text, such as "about 12:30 and 85 MiB: measured", "about 12:30: as LABEL ran" (LABEL names
 * another cell) or "not measured: FAULT". NULL if there is neither estimate nor fault. (transfer full) */
static char *
describe_estimate (const PlaitGridCell *cell, const PlaitGridEstimate *estimate)
{
  g_autofree char *duration = plait_log_duration (estimate->seconds);
  g_autoptr (GString) text = g_string_new (NULL);

  if (estimate->fault)
    g_string_append_printf (text, "not measured: %s%s", estimate->fault, estimate->like ? "; " : "");
  if (!estimate->like)
    return text->len > 0 ? g_strdup (text->str) : NULL;
  g_string_append_printf (text, "about %s", duration);
  if (estimate->bytes > 0)
    g_string_append_printf (text, " and %.0f MiB", (double)estimate->bytes / 1024 / 1024);
  if (estimate->like == cell)
    g_string_append (text, estimate->measured ? ": measured" : ": as in its last run");
  else
    g_string_append_printf (text, ": as %s %s", estimate->like->cell->label,
                            estimate->measured ? "was measured" : "ran");
  return g_strdup (text->str);
}

/* Prints the plan. @asked has the commands for the scheduler, one in each element; NULL: no scheduler. */
static void
print_plan (const PlaitGrid *grid, const PlaitGridCost *cost, const GPtrArray *asked)
{
  g_autoptr (PlaitTerminal) terminal = plait_terminal_new ();
  g_autofree char *seeds = plait_cells_describe_seeds (grid->cells);
  g_autofree const char **differ = plait_vocabularies_that_differ (grid->cells);
  g_auto (GStrv) differences = find_differences (grid, cost);
  guint width = 0;

  for (guint i = 0; i < grid->n; i++)
    width = MAX (width, (guint)strlen (actions[grid->items[i].state]));
  for (guint i = 0; i < grid->n; i++)
    {
      const PlaitGridCell *cell = &grid->items[i];
      g_autofree char *found = cell->found ? g_strdup_printf ("as %s", cell->found) : NULL;
      g_autofree char *estimate = describe_estimate (cell, &cost->cells[i]);
      const char *because = found ? found : cell->note;

      plait_terminal_row (terminal, width, actions[cell->state], cell->cell->label);
      plait_terminal_row (terminal, width, "", cell->cell->matched);
      add_vocabularies (terminal, width, cell, differ);
      if (because && *because != '\0')
        plait_terminal_row (terminal, width, "", because);
      plait_terminal_row (terminal, width, "", estimate);
    }
  print_vocabularies (terminal, grid, differ);
  if (differences[0])
    plait_terminal_heading (terminal, "other differences");
  for (guint i = 0; differences[i]; i++)
    plait_terminal_row (terminal, 0, "", differences[i]);
  print_left_out (terminal, grid);
  g_autofree char *sum = g_strdup_printf (
      "%u cells in %s: %u to run, %u to run again, %u to resume, %u to evaluate again, %u finished; %u excluded",
      grid->n, grid->folder, plait_grid_count (grid, PLAIT_CELL_NEW), plait_grid_count (grid, PLAIT_CELL_STALE),
      plait_grid_count (grid, PLAIT_CELL_PARTIAL), plait_grid_count (grid, PLAIT_CELL_TRAINED),
      plait_grid_count (grid, PLAIT_CELL_FINISHED), grid->cells->n_excluded);
  plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "\n");
  plait_terminal_paragraph (terminal, 0, 0, sum);
  print_cost (terminal, grid, cost);
  if (seeds)
    plait_terminal_paragraph (terminal, 0, 0, seeds);
  if (asked && asked->len > 0)
    plait_terminal_heading (terminal, "requested from the scheduler");
  for (guint i = 0; asked && i < asked->len; i++)
    plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "  %s\n", (const char *)asked->pdata[i]);
}

/*
 * Functions that print the plan as JSON
 */

/* Returns @bytes for JSON; if they are unknown, NaN, which JSON shows as null. */
static double
known_bytes (gsize bytes)
{
  return bytes > 0 ? (double)bytes : NAN;
}

static void
add_cell (PlaitJson *json, const PlaitGridCell *cell, const PlaitGridEstimate *estimate)
{
  plait_json_begin_object (json, NULL);
  plait_json_members (json, "label=%s name=%s state=%s action=%s because=%s found=%s matched=%s", cell->cell->label,
                      cell->name, plait_grid_cell_state_name (cell->state), actions[cell->state], cell->note,
                      cell->found, cell->cell->matched);
  plait_json_begin_array (json, "vocabularies");
  for (guint i = 0; i < cell->cell->vocabularies->len; i++)
    {
      const PlaitCellVocabulary *vocabulary = cell->cell->vocabularies->pdata[i];

      plait_json_object (json, NULL, "name=%s text=%s", vocabulary->name, vocabulary->text);
    }
  plait_json_end_array (json);
  plait_json_members (json, "seconds=%g bytes=%g like=%s measured=%d fault=%s",
                      estimate->like ? estimate->seconds : NAN, known_bytes (estimate->bytes),
                      estimate->like ? estimate->like->cell->label : NULL, estimate->measured, estimate->fault);
  plait_json_end_object (json);
}

static void
print_plan_json (const PlaitGrid *grid, const PlaitGridCost *cost, const GPtrArray *asked)
{
  g_autoptr (PlaitJson) json = plait_json_new_object ();
  g_autofree char *seeds = plait_cells_describe_seeds (grid->cells);
  g_auto (GStrv) differences = find_differences (grid, cost);

  plait_json_members (json, "folder=%s cells=%u finished=%u seconds=%g bytes=%g ran=%u measured=%u threads=%u",
                      grid->folder, grid->n, plait_grid_count (grid, PLAIT_CELL_FINISHED),
                      cost->n_ran + cost->n_measured > 0 ? cost->seconds : NAN, known_bytes (cost->bytes), cost->n_ran,
                      cost->n_measured, cost->threads);
  plait_json_begin_array (json, "plan");
  for (guint i = 0; i < grid->n; i++)
    add_cell (json, &grid->items[i], &cost->cells[i]);
  plait_json_end_array (json);
  plait_json_begin_array (json, "excluded");
  for (guint e = 0; e < grid->cells->n_exclusions; e++)
    plait_json_object (json, NULL, "rule=%s cells=%u", grid->cells->exclusions[e].rule,
                       grid->cells->exclusions[e].n_cells);
  plait_json_end_array (json);
  plait_json_texts (json, "differences", (const char *const *)differences, -1);
  plait_json_texts (json, "same", (const char *const *)grid->cells->duplicates, -1);
  plait_json_text (json, "one_seed", seeds);
  plait_json_texts (json, "same_as", (const char *const *)grid->cells->duplicate_of, -1);
  plait_json_texts (json, "others", (const char *const *)grid->unclaimed, -1);
  if (asked)
    plait_json_texts (json, "asked", (const char *const *)asked->pdata, (gint64)asked->len);
  plait_json_print (json);
}

static gboolean
print_commands (const PlaitGrid *grid, const PlaitGridOptions *options, PlaitLog *log, GError **error)
{
  g_autoptr (GPtrArray) lines = plait_grid_tasks (grid, options, FALSE, error);

  if (lines && lines->len == 0)
    plait_log_info (log, "%s: no cell is left to run; --collect makes the table", grid->folder);
  for (guint i = 0; lines && i < lines->len; i++)
    printf ("%s\n", (const char *)lines->pdata[i]);
  return lines != NULL;
}

/* Logs that all cells are finished. If cells failed, instead fails with PLAIT_ERROR_FAILED, which names the cells. */
static gboolean
check_all_finished (const PlaitGrid *grid, const char *done, gboolean ran, PlaitLog *log, GError **error)
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
  return plait_fail (error, PLAIT_ERROR_FAILED, "%u of %u cells failed (%s); their logs are in %s, and %s", n_failed,
                     grid->n, failed->str, grid->folder,
                     ran ? "the same command tries them again" : "the same command without --collect runs them");
}

/* Writes and prints the table, except with --cell. In any case fails if cells failed. @ran is FALSE with --collect. */
static gboolean
conclude (const PlaitGrid *grid, gboolean as_json, gboolean ran, PlaitLog *log, GError **error)
{
  g_autoptr (PlaitGridTable) table = NULL;

  if (grid->part)
    return check_all_finished (grid, "--collect makes the table of all cells", ran, log, error);
  table = plait_grid_table_new (grid, error);
  if (!table || !plait_grid_write (grid, table, error) || !plait_grid_write_tables (grid, table, error))
    return FALSE;
  plait_grid_print (grid, table, as_json);
  return check_all_finished (grid, "see table.csv, table.md and grid.h5", ran, log, error);
}

/* Logs which cells are duplicates and, if each cell has one seed, what p values mean. With --cell, logs nothing. */
static void
log_left_out (const PlaitGrid *grid, PlaitLog *log)
{
  g_autofree char *duplicates = grid->part ? NULL : plait_cells_describe_duplicates (grid->cells);
  g_autofree char *seeds = grid->part ? NULL : plait_cells_describe_seeds (grid->cells);

  if (duplicates)
    plait_log_info (log, "%s", duplicates);
  if (seeds)
    plait_log_info (log, "%s", seeds);
}

/* Options of the command line. */
typedef struct
{
  const PlaitOverride *overrides;
  const char *const *cells;
  const char *folder, *time, *executor, *lines;
  gint64 jobs, threads, retries; /* values of the options; -1: not given */
  gboolean fresh, collect, commands, dry_run, json;
} Options;

static gboolean
check_given (const Options *given, GError **error)
{
  guint n = (given->cells != NULL) + given->collect + given->commands + given->dry_run;

  if ((given->cells || given->commands) && given->json)
    return plait_fail (
        error, PLAIT_ERROR_INPUT,
        "--json prints the table of all cells, but --cell and --commands make no table; use --collect --json");
  if (n > 1)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "only one of --cell, --collect, --commands and --dry-run can be given; choose one");
  if (given->collect && given->lines)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "--log writes a log of training, but --collect trains nothing; leave --log out");
  return TRUE;
}

/* Sets @options and *@executor from the command line, else from the file. The default executor of --cell is local. */
static gboolean
choose_options (const Options *given, const PlaitGrid *grid, PlaitGridOptions *options, const PlaitExecutor **executor,
                GError **error)
{
  const PlaitExecutorSettings *settings = &grid->cells->executor;
  const char *name = given->executor ? given->executor
                     : grid->part    ? "local"
                                     : plait_executors[settings->keys.executor].name;

  *executor = plait_executor_find (name);
  options->threads = (guint)(given->threads < 0 ? settings->keys.executor_threads : given->threads);
  options->jobs = (guint)(given->jobs < 0 ? settings->keys.executor_jobs : given->jobs);
  options->retries = (guint)(given->retries < 0 ? settings->keys.executor_retries : given->retries);
  options->seconds = settings->seconds;
  options->lines = given->lines;
  if (given->time && !plait_executor_parse_time (given->time, &options->seconds))
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "--time cannot be \"%s\"; expected a time up to a year, such as 90s, 5m, 2h or 7d", given->time);
  if (given->fresh && (given->collect || given->commands || !(*executor)->waits))
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "--fresh is for cells that this command runs itself, not for --collect, --commands or Slurm; "
                       "choose another folder with --output instead of --fresh");
  return TRUE;
}

static gboolean
run_command (PlaitInvocation *invocation, GError **error)
{
  const Options *given = invocation->options;
  g_autofree char *usual = plait_path_stem (invocation->arguments[0], ".ini");
  g_autoptr (PlaitRegistry) registry = NULL;
  g_autoptr (PlaitGrid) grid = NULL;
  PlaitGridOptions options = { .command = invocation->line };
  PlaitResolveFlags more = 0;
  const PlaitExecutor *executor;

  if (!check_given (given, error)
      || !plait_ranks_refuse ("plait grid, which starts a process for each cell itself,", error))
    return FALSE;
  registry = plait_registry_new ();
  options.log = invocation->log;
  /* Report files with unequal numbers of lines once, before the cells begin. A single cell counts lines when it
   * runs. */
  if (!given->cells && !given->collect)
    more = PLAIT_RESOLVE_COUNT_LINES;
  grid = plait_grid_new (invocation->arguments[0], given->overrides, given->folder ? given->folder : usual,
                         given->fresh, given->cells, more, registry, options.log, error);
  if (!grid || !choose_options (given, grid, &options, &executor, error))
    return FALSE;
  if (given->commands)
    return print_commands (grid, &options, invocation->log, error);
  if (given->dry_run)
    {
      g_autoptr (PlaitGridCost) cost = NULL;
      g_autoptr (GPtrArray) asked = NULL;

      if (!plait_grid_check_folder (grid, invocation->log, error))
        return FALSE;
      /* Slurm gives a task one processor by default. */
      if (!executor->waits)
        options.threads = MAX (1, options.threads);
      cost = plait_grid_cost_new (grid, &options);
      if (executor->plan)
        asked = executor->plan (grid, &options, cost, error);
      (given->json ? print_plan_json : print_plan) (grid, cost, asked);
      return asked || !executor->plan;
    }
  log_left_out (grid, options.log);
  if (given->collect)
    return plait_grid_collect (grid, options.log, error) && conclude (grid, given->json, FALSE, options.log, error);
  options.stop = plait_stop_on_signals ();
  return executor->run (grid, &options, error)
         && (!executor->waits || conclude (grid, given->json, TRUE, options.log, error));
}

static const PlaitOption options[] = {
  PLAIT_OPTION ("set", 's', SETS, overrides, "Set a key of all cells, such as train.batch=32", "G.K=V"),
  PLAIT_OPTION_UNSET (Options, overrides),
  PLAIT_OPTION ("output", 'o', TEXT, folder, "Folder of the cells; default: ./NAME for NAME.ini", "FOLDER"),
  PLAIT_OPTION ("jobs", 'j', INTEGER, jobs, "Cells that run at once; default: one per processor, if memory allows", "N",
                1, PLAIT_GRID_EXECUTOR_JOBS_MAXIMUM),
  PLAIT_OPTION ("threads", 't', INTEGER, threads,
                "Threads per cell; default: the processors divided by the cells that run at once", "N", 0,
                PLAIT_POOL_MAX_THREADS),
  PLAIT_OPTION ("executor", 'e', TEXT, executor, "Program that runs the cells; default: local", "local|slurm"),
  PLAIT_OPTION ("time", 0, TEXT, time, "Time limit of a cell, such as 90s, 30m or 2h", "TIME"),
  PLAIT_OPTION ("retries", 0, INTEGER, retries, "Retries of a cell that fails; default: 0", "N", 0,
                PLAIT_GRID_EXECUTOR_RETRIES_MAXIMUM),
  PLAIT_OPTION ("log", 0, TEXT, lines,
                "Write the training logs for other programs to FOLDER/CELL.jsonl, one JSON object a line", "FOLDER"),
  PLAIT_OPTION ("cell", 'c', TEXTS, cells,
                "Run only this cell, named by its file without .h5, or by its label (may be repeated)", "CELL"),
  PLAIT_FLAG ("collect", 0, collect, "Run nothing; make the table of the finished cells"),
  PLAIT_FLAG ("commands", 0, commands, "Print a shell line for each cell that is left to run"),
  PLAIT_FLAG ("fresh", 'f', fresh, "Run finished and interrupted cells again from the start"),
  PLAIT_FLAG ("dry-run", 'n', dry_run, "List the cells, the action for each, and the estimated time and memory"),
  PLAIT_FLAG ("json", 0, json, "Print the table with all its numbers, or the plan, as JSON"),
  { NULL },
};

const PlaitCommand plait_command_grid = {
  .name = "grid",
  .synopsis
  = "FILE [--set G.K=V]... [--unset G.K]... [--output FOLDER] [--executor local|slurm] [--jobs N] [--threads N] "
    "[--time TIME] [--retries N] [--log FOLDER] [--fresh] [--dry-run|--commands|--cell CELL...|--collect] [--json]",
  .summary = "Run all cells of an experiment's [grid] and make a table of them",
  .details = "A finished cell is not run again unless its settings, data or plugins have changed; an interrupted one "
             "is resumed. So the same command, given again, does the rest. --dry-run estimates the time from the "
             "finished cells. Cells that differ from all of these in more than the seed are measured, a few seconds "
             "each and about a minute in total.\n"
             "\n"
             "With match=parameters and match.vary=decoder.feed_forward in [grid], the named widths are chosen in each "
             "cell so that all cells have about as many parameters as the first; --dry-run shows them.\n"
             "\n"
             "In [grid], zip=source.en.layers & source.de.layers makes axes vary together, and "
             "only.combiner.heads=decoder.combiner=flat applies an axis only to cells that meet the condition.\n"
             "\n"
             "Cells that would learn different vocabularies for a stream share one, learnt from the training text of "
             "all of them; --dry-run shows the shared vocabulary. With vocabularies=own in [grid] each cell learns "
             "from its own text. Cells with equal settings and files are run once.\n"
             "\n"
             "--log writes training logs while cells train, like those of plait run: a file for each trained cell, "
             "with the name of the cell's file.\n"
             "\n"
             "--executor slurm submits the cells to Slurm as job arrays, and a job that makes the table when they have "
             "ended. For other schedulers --commands prints a shell line for each cell; the lines may run at once, on "
             "all machines that see the folder, and --collect then makes the table. Cells with equal training share "
             "one line. The keys executor, executor.jobs, executor.threads, executor.time and executor.retries in "
             "[grid] have the meaning of the options. For Slurm there are also executor.memory=4G and "
             "executor.options=--partition=cpu;--account=mt. With executor.memory=measured or executor.time=measured, "
             "cells are measured before they are submitted, as with --dry-run, and a margin is added.\n"
             "\n"
             "Examples:\n"
             "  plait grid experiments/quickstart.ini --dry-run\n"
             "  plait grid experiments/quickstart.ini --output quickstart\n"
             "  plait grid experiments/quickstart.ini --executor slurm --time 2h\n"
             "  plait grid experiments/quickstart.ini --commands | parallel",
  .options = options,
  .size = sizeof (Options),
  .defaults = &(const Options){ .jobs = -1, .threads = -1, .retries = -1 },
  .min = 1,
  .max = 1,
  .run = run_command,
};
