/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "files/lock.h"
#include "command/command.h"
#include "runs/print.h"
#include "command/options.h"
#include "command/stop.h"
#include "grid/table.h"
#include "scoring/test.h"

/* Implements plait test: evaluates a trained run and stores the scores in its file, or evaluates all runs of a grid and
 * writes the grid's table again. */

/* Logs how many evaluations were made and how many the file already had. */
static void
log_outcome (const char *path, const PlaitTestOutcome *outcome, PlaitLog *log)
{
  if (outcome->made == 0)
    plait_log_info (log, "%s: nothing to do, its %u evaluations are up to date", path, outcome->kept);
  else
    plait_log_info (log, "%s: %u evaluations made, %u already up to date", path, outcome->made, outcome->kept);
}

static gboolean
test_run (const char *path, const PlaitOverride *sets, const PlaitTestOptions *options, gboolean json, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *place = g_build_filename (folder, "grid", NULL);
  g_autofree char *file = g_strconcat (place, ".h5", NULL);
  g_autofree char *lock_file = g_strconcat (place, PLAIT_LOCK_SUFFIX, NULL);
  g_autofree char *busy = g_strdup_printf ("%s: plait grid is using its folder", path);
  g_autoptr (PlaitLock) lock = NULL;
  PlaitTestOutcome outcome;

  /* If the folder belongs to a grid, take the grid's lock, since a grid renames the files of its cells. */
  if (g_file_test (file, G_FILE_TEST_EXISTS) || g_file_test (lock_file, G_FILE_TEST_EXISTS))
    {
      lock = plait_lock_take (place, busy, "wait for it", options->log, error);
      if (!lock)
        return FALSE;
    }
  if (!plait_test_file (path, sets, options, &outcome, error))
    return FALSE;
  log_outcome (path, &outcome, options->log);
  return plait_run_print_scores (path, json, error);
}

/*
 * Functions for the runs of a grid
 */

static gboolean
test_cells (PlaitGrid *grid, const PlaitOverride *sets, const PlaitTestOptions *options, GError **error)
{
  for (guint i = 0; i < grid->n; i++)
    {
      PlaitGridCell *cell = &grid->items[i];
      g_autofree char *path = plait_grid_file (grid, cell, ".h5");
      PlaitTestOutcome outcome;

      if (cell->state != PLAIT_CELL_FINISHED)
        continue;
      if (!plait_test_file (path, sets, options, &outcome, error) || !plait_grid_read_result (grid, cell, error))
        return FALSE;
      log_outcome (cell->cell->label, &outcome, options->log);
    }
  return TRUE;
}

/* Evaluates all finished cells of the grid file @path, reads their states again and writes the tables. */
static gboolean
test_grid (const char *path, const PlaitOverride *sets, const PlaitTestOptions *options, gboolean json, GError **error)
{
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  g_autoptr (PlaitGrid) grid = plait_grid_open (path, registry, error);
  g_autoptr (PlaitGrid) after = NULL;
  g_autoptr (PlaitGridTable) table = NULL;

  if (!grid || !plait_grid_lock (grid, options->log, error))
    return FALSE;
  if (plait_grid_count (grid, PLAIT_CELL_FINISHED) == 0)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s: the grid has no finished runs; run plait grid first", path);
  if (!test_cells (grid, sets, options, error))
    return FALSE;
  after = plait_grid_open (path, registry, error);
  for (guint i = 0; after && i < after->n; i++)
    if (after->items[i].state == PLAIT_CELL_FINISHED && !plait_grid_read_result (after, &after->items[i], error))
      return FALSE;
  if (after)
    plait_grid_drop_mixed (after, options->log);
  table = after ? plait_grid_table_new (after, error) : NULL;
  if (!table || !plait_grid_write (after, table, error) || !plait_grid_write_tables (after, table, error))
    return FALSE;
  plait_grid_print (after, table, json);
  return TRUE;
}

/* TRUE if @path is the file of a grid. FALSE also if it cannot be read; test_run() then reports the error. */
static gboolean
is_grid (const char *path)
{
  g_autoptr (PlaitStore) store = plait_store_open (path, NULL);

  return store && plait_store_has (store, "/cells");
}

typedef struct
{
  const PlaitOverride *sets;
  const char *checkpoint, *as;
  gint64 threads;
  gboolean json;
} Options;

/* TRUE if @name is NULL or a valid value of --as. The name becomes part of an HDF5 path, SPLIT.NAME. */
static gboolean
check_name (const char *name, GError **error)
{
  gsize length = name ? strlen (name) : 0;

  if (name && g_str_has_suffix (name, "-forced"))
    return plait_fail (
        error, PLAIT_ERROR_INPUT,
        "--as cannot be \"%s\": the file uses this ending for the attention of forced decoding; leave -forced out",
        name);
  if (!name || (length >= 1 && length <= 64 && strspn (name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "-_") == length))
    return TRUE;
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "--as cannot be \"%s\"; expected 1 to 64 letters, digits, - or _, such as greedy", name);
}

static gboolean
run_command (PlaitInvocation *invocation, GError **error)
{
  const Options *options = invocation->options;
  static const char *const keys[] = { "decode.", "-decode.n_best", "evaluate.", "data.", NULL };
  PlaitTestOptions how = { .name = options->as, .threads = (guint)options->threads, .log = invocation->log };
  g_autoptr (GPtrArray) values = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GArray) all = g_array_new (TRUE, FALSE, sizeof (PlaitOverride));
  const PlaitOverride checkpoint = { "evaluate.checkpoint", options->checkpoint };
  const char *path;

  if (!plait_option_sets (options->sets, keys, "keys of [data], of [evaluate] and of [decode] except n_best", error)
      || !check_name (options->as, error))
    return FALSE;
  for (guint i = 0; options->sets && options->sets[i].key; i++)
    {
      /* The run stores the setting, so make its path independent of the current folder. */
      PlaitOverride set = { options->sets[i].key, plait_override_from_here (&options->sets[i], error) };

      if (!set.value)
        return FALSE;
      g_ptr_array_add (values, (gpointer)set.value);
      g_array_append_val (all, set);
    }
  if (options->checkpoint)
    g_array_append_val (all, checkpoint);
  how.stop = plait_stop_on_signals ();
  path = invocation->arguments[0];
  if (!is_grid (path))
    return test_run (path, (const PlaitOverride *)(gpointer)all->data, &how, options->json, error);
  return test_grid (path, (const PlaitOverride *)(gpointer)all->data, &how, options->json, error);
}

static const PlaitOption options[] = {
  PLAIT_OPTION ("set", 's', SETS, sets,
                "Set a key of [decode], [evaluate], or of a test split in [data], such as decode.beam=10", "G.K=V"),
  PLAIT_OPTION ("checkpoint", 'c', TEXT, checkpoint, "Parameters to use; default: evaluate.checkpoint",
                PLAIT_OPTION_CHECKPOINTS),
  PLAIT_OPTION ("as", 'a', TEXT, as,
                "Store the results as SPLIT.NAME, beside the run's own evaluation; default: replace it", "NAME"),
  PLAIT_OPTION_THREADS (Options),
  PLAIT_FLAG ("json", 0, json, "Print the scores as JSON"),
  { NULL },
};

const PlaitCommand plait_command_test = {
  .name = "test",
  .synopsis = "RUN.h5|grid.h5 [--set G.K=V]... [--checkpoint " PLAIT_OPTION_CHECKPOINTS "] [--as NAME] [--json]",
  .summary = "Evaluate a finished run or the runs of a grid under other settings, and store the scores in their files",
  .details = "Trained parameters do not change. A split that was already evaluated under equal settings is not "
             "evaluated again; the table of a grid is made anew. Without --as the run has these settings from then on, "
             "and plait grid with the old settings evaluates the run again. With --as NAME the scores appear as "
             "SPLIT.NAME beside the others in every table.\n"
             "\n"
             "Examples:\n"
             "  plait test run.h5 --set 'evaluate.metrics=bleu;chrf;rouge' --set evaluate.attention=20\n"
             "  plait test run.h5 --set data.test2017.en=new.en --set data.test2017.cs=new.cs\n"
             "  plait test run.h5 --checkpoint average --as average\n"
             "  plait test grid/grid.h5 --set decode.beam=1 --as greedy",
  .options = options,
  .size = sizeof (Options),
  .min = 1,
  .max = 1,
  .run = run_command,
};
