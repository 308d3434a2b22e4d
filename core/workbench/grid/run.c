/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <glib/gstdio.h>
#include <poll.h>

#include "files/file.h"
#include "files/memory.h"
#include "grid/grid-private.h"
#include "grid/table.h"
#include "run/process.h"

enum
{
  POLL_MILLISECONDS = 200,
  PAUSE = 1,      /* minimum seconds between the starts of two cells, if jobs is not given */
  SHOW_EACH = 4,  /* seconds for which the progress of one running cell is shown, until another cell is shown */
  MAX_GRACE = 30, /* maximum seconds that a cell may take for a checkpoint after its time limit */
};

typedef struct
{
  PlaitGridCell *cell;
  PlaitRunProcess *process;
  gint64 start;
  goffset said;  /* bytes in the cell's log that earlier processes of the cell wrote */
  gboolean late; /* TRUE if the cell exceeded the time limit and was asked to end */
} Job;

typedef struct
{
  PlaitGrid *grid;
  const PlaitGridOptions *options;
  GArray *jobs;
  gboolean *started; /* [n cells] */
  guint *failures;   /* [n cells]: failures of each cell so far */
  guint to_run;
  guint done;
  guint finished;
  double seconds; /* seconds of all finished cells together */
  gsize max;      /* largest peak memory of a cell so far, in bytes */
  gint64 last;    /* monotonic time of the last start */
  gboolean stopped;
} Runner;

static void
clear_job (gpointer data)
{
  plait_run_process_free (((Job *)data)->process);
}

static void
log_start (PlaitLog *log, const PlaitGridCell *cell)
{
  const char *label = cell->cell->label;

  if (cell->state == PLAIT_CELL_STALE)
    plait_log_info (log, "%s is run again: %s", label, cell->note);
  else if (cell->state == PLAIT_CELL_TRAINED)
    plait_log_info (log, "%s is only evaluated: %s", label, cell->note);
  else if (cell->state == PLAIT_CELL_PARTIAL)
    plait_log_info (log, "%s continues%s%s", label, cell->note ? " " : "", cell->note ? cell->note : "");
  else
    plait_log_info (log, "%s begins", label);
}

static guint
max_jobs (const PlaitGridOptions *options)
{
  return options->jobs > 0 ? options->jobs : MAX (1, g_get_num_processors () / MAX (1, options->threads));
}

guint
plait_grid_threads (const PlaitGridOptions *options, guint to_run)
{
  guint at_once = MAX (1, MIN (max_jobs (options), to_run));

  return options->threads > 0 ? options->threads : MAX (1, g_get_num_processors () / at_once);
}

/* TRUE if there is memory for one more cell even if each running cell grows to the largest size seen so far. */
static gboolean
has_memory (Runner *runner)
{
  gsize all = 0;

  for (guint i = 0; i < runner->jobs->len; i++)
    {
      gsize held, max;

      plait_run_process_memory (g_array_index (runner->jobs, Job, i).process, &held, &max);
      runner->max = MAX (runner->max, max);
      all += MIN (held, max);
    }
  return plait_memory_is_available ((runner->jobs->len + 1) * runner->max - all);
}

/* TRUE if one more cell may start. If jobs is not given and a cell runs, FALSE in the first PAUSE seconds after a
 * start, so that the started cell shows how much memory it needs. */
static gboolean
has_room (Runner *runner)
{
  if (runner->jobs->len == 0)
    return TRUE;
  if (runner->jobs->len >= max_jobs (runner->options))
    return FALSE;
  return runner->options->jobs > 0
         || (g_get_monotonic_time () - runner->last >= PAUSE * G_USEC_PER_SEC && has_memory (runner));
}

/* Reads the state of @cell again. A trained cell stays trained unless it is finished now, because
 * plait_grid_update_state() does not search the other cells of @grid for equal training. */
static void
reread_state (PlaitGrid *grid, PlaitGridCell *cell)
{
  g_autofree char *trained = cell->state == PLAIT_CELL_TRAINED ? g_strdup (cell->trained) : NULL;
  g_autofree char *note = g_strdup (cell->note);

  plait_grid_update_state (grid, cell);
  if (!trained || cell->state == PLAIT_CELL_FINISHED)
    return;
  g_free (cell->trained);
  cell->trained = g_steal_pointer (&trained);
  plait_grid_cell_set_state (cell, PLAIT_CELL_TRAINED, note);
}

/* Locks @cell. If another process may have run it in the meantime, reads its state again. FALSE if @cell is finished or
 * has failed. @cell fails if another process holds its lock. */
static gboolean
is_still_due (Runner *runner, PlaitGridCell *cell)
{
  g_autoptr (GError) fault = NULL;
  gboolean held = cell->lock != NULL;

  if (!plait_grid_lock_cell (runner->grid, cell, runner->options->log, &fault))
    plait_grid_cell_set_state (cell, PLAIT_CELL_FAILED, fault->message);
  else if (!held)
    reread_state (runner->grid, cell);
  if (cell->state == PLAIT_CELL_FINISHED)
    plait_grid_collect_cell (runner->grid, cell);
  if (plait_grid_cell_is_due (cell))
    return TRUE;
  runner->done++;
  return FALSE;
}

static void
start_job (Runner *runner, PlaitGridCell *cell)
{
  const PlaitGridOptions *options = runner->options;
  gboolean partial = cell->state == PLAIT_CELL_PARTIAL && !cell->trained;
  g_autofree char *output = plait_grid_file (runner->grid, cell, ".training.h5");
  g_autofree char *log = plait_grid_file (runner->grid, cell, ".log");
  g_autofree char *trained = cell->trained ? g_build_filename (runner->grid->folder, cell->trained, NULL) : NULL;
  g_autofree char *name = g_strconcat (cell->name, ".jsonl", NULL);
  g_autofree char *lines = options->lines ? g_build_filename (options->lines, name, NULL) : NULL;
  g_autoptr (GError) fault = NULL;
  PlaitRunOptions run = {
    .output = output,
    .command = options->command,
    .threads = plait_grid_threads (options, runner->to_run - runner->done),
    .resume = TRUE,
    .trained = trained,
    .lines = lines,
    .stop = options->stop,
  };
  Job job = { .cell = cell, .start = g_get_monotonic_time () };
  GStatBuf status;

  if (partial && g_stat (log, &status) == 0)
    job.said = status.st_size;
  if (!partial)
    g_unlink (output);
  cell->begun = TRUE;
  log_start (options->log, cell);
  runner->last = job.start;
  job.process = plait_run_process_new (cell->cell->experiment, &run, log, partial, &fault);
  if (job.process)
    g_array_append_val (runner->jobs, job);
  else
    {
      plait_grid_cell_set_state (cell, PLAIT_CELL_FAILED, fault->message);
      runner->done++;
    }
}

/* If a cell with the same training as @cell has finished, marks @cell to be only evaluated, with that cell's model.
 * FALSE while a cell with the same training runs. */
static gboolean
find_trained (Runner *runner, PlaitGridCell *cell)
{
  PlaitGrid *grid = runner->grid;

  if (cell->state != PLAIT_CELL_NEW && cell->state != PLAIT_CELL_STALE)
    return TRUE;
  for (guint i = 0; i < runner->jobs->len; i++)
    if (g_str_equal (g_array_index (runner->jobs, Job, i).cell->cell->training_fingerprint,
                     cell->cell->training_fingerprint))
      return FALSE;
  for (guint i = 0; i < grid->n; i++)
    if (runner->started[i] && grid->items[i].state == PLAIT_CELL_FINISHED
        && g_str_equal (grid->items[i].cell->training_fingerprint, cell->cell->training_fingerprint))
      {
        cell->trained = g_strconcat (grid->items[i].name, ".h5", NULL);
        plait_grid_cell_set_state (cell, PLAIT_CELL_TRAINED, "an earlier cell has the same training");
        return TRUE;
      }
  return TRUE;
}

static void
start_jobs (Runner *runner)
{
  PlaitGrid *grid = runner->grid;

  for (guint i = 0; !runner->stopped && i < grid->n && has_room (runner); i++)
    if (!runner->started[i] && plait_grid_cell_is_due (&grid->items[i]) && find_trained (runner, &grid->items[i]))
      {
        runner->started[i] = TRUE;
        if (is_still_due (runner, &grid->items[i]))
          start_job (runner, &grid->items[i]);
      }
}

static void
log_scores (const Runner *runner, const Job *job)
{
  g_autofree char *duration = plait_log_duration ((double)(g_get_monotonic_time () - job->start) / 1e6);
  g_autoptr (GString) scores = g_string_new (NULL);
  const PlaitRunResult *result = job->cell->result;
  g_autoptr (GArray) score_columns = plait_run_results_score_columns (&result, 1);

  for (guint i = 0; i < score_columns->len; i++)
    {
      const PlaitScoreColumn *score_column = &g_array_index (score_columns, PlaitScoreColumn, i);
      double score = plait_score_column_score (score_column, result)->score;
      char digits[G_ASCII_DTOSTR_BUF_SIZE];

      g_string_append_printf (scores, "; %s %s %s", score_column->split, score_column->name,
                              g_ascii_formatd (digits, sizeof digits, "%.2f", score));
    }
  plait_log_info (runner->options->log, "%s: finished in %s%s", job->cell->cell->label, duration, scores->str);
}

/* Appends the reason of failure to the cell's log, where a process that makes the table can read the reason. */
static void
note_reason (const PlaitGrid *grid, const PlaitGridCell *cell, const char *reason)
{
  g_autofree char *path = plait_grid_file (grid, cell, ".log");
  FILE *file = plait_file_open_output (path, TRUE);

  if (!file)
    return;
  fprintf (file, "the cell failed: %s\n", reason);
  fclose (file);
}

/* Handles the failure of @job: retries its cell if retries are left and the stop flag is not set, else marks the cell
 * as failed. */
static void
fail_job (Runner *runner, const Job *job, const char *reason)
{
  PlaitGrid *grid = runner->grid;
  PlaitGridCell *cell = job->cell;
  gsize index = (gsize)(cell - grid->items);

  plait_log_warning (runner->options->log, "%s: failed: %s", cell->cell->label, reason);
  if (grid->part)
    note_reason (grid, cell, reason);
  if (!runner->stopped && runner->failures[index]++ < runner->options->retries)
    {
      plait_grid_update_state (grid, cell);
      runner->started[index] = FALSE;
      runner->done--;
    }
  else
    plait_grid_cell_set_state (cell, PLAIT_CELL_FAILED, reason);
}

/* Handles the end of the process of @job. FALSE only if grid.h5 cannot be written. */
static gboolean
end_job (Runner *runner, const Job *job, PlaitProcessEnd end, const char *reason, GError **error)
{
  PlaitGridCell *cell = job->cell;
  gboolean late = job->late && end != PLAIT_PROCESS_DONE;

  runner->done++;
  if (late || end == PLAIT_PROCESS_FAILED)
    {
      fail_job (runner, job,
                late ? "it ran longer than --time allows; with a longer --time it continues from its checkpoint"
                     : reason);
      return TRUE;
    }
  if (end == PLAIT_PROCESS_INTERRUPTED)
    {
      /* A trained cell keeps its state, because its evaluation writes no checkpoint. */
      if (cell->state != PLAIT_CELL_TRAINED)
        plait_grid_cell_set_state (cell, PLAIT_CELL_PARTIAL, NULL);
      return TRUE;
    }
  runner->finished++;
  runner->seconds += (double)(g_get_monotonic_time () - job->start) / 1e6;
  plait_grid_cell_set_state (cell, PLAIT_CELL_FINISHED, NULL);
  cell->found = g_strconcat (cell->name, ".training.h5", NULL);
  if (!plait_grid_collect_cell (runner->grid, cell))
    return TRUE;
  log_scores (runner, job);
  return runner->grid->part || plait_grid_write (runner->grid, NULL, error);
}

/* Stops @job if it is over its time limit: first asks it for a checkpoint, later kills it. plait_run_process_poll()
 * reports its end. */
static void
enforce_time_limit (const Runner *runner, Job *job)
{
  gint64 limit = runner->options->seconds;
  gint64 ran = (g_get_monotonic_time () - job->start) / G_USEC_PER_SEC;

  if (limit == 0 || ran < limit)
    return;
  if (ran >= limit + MIN (limit, MAX_GRACE))
    plait_run_process_stop (job->process, TRUE);
  else if (!job->late)
    plait_run_process_stop (job->process, FALSE);
  job->late = TRUE;
}

static void
wait_for_jobs (const Runner *runner)
{
  g_autofree struct pollfd *waits = g_new0 (struct pollfd, runner->jobs->len);

  for (guint i = 0; i < runner->jobs->len; i++)
    waits[i] = (struct pollfd){
      .fd = plait_run_process_descriptor (g_array_index (runner->jobs, Job, i).process),
      .events = POLLIN,
    };
  poll (waits, runner->jobs->len, POLL_MILLISECONDS);
}

static gboolean
poll_jobs (Runner *runner, GError **error)
{
  for (guint i = 0; i < runner->jobs->len;)
    {
      Job *job = &g_array_index (runner->jobs, Job, i);
      g_autofree char *reason = NULL;
      PlaitProcessEnd end = plait_run_process_poll (job->process, &reason);

      if (end == PLAIT_PROCESS_RUNNING)
        enforce_time_limit (runner, job);
      if (end == PLAIT_PROCESS_RUNNING)
        i++;
      else if (!end_job (runner, job, end, reason, error))
        return FALSE;
      else
        {
          if (!runner->grid->part)
            g_clear_pointer (&job->cell->lock, plait_lock_release);
          g_array_remove_index (runner->jobs, i);
        }
    }
  return TRUE;
}

static void
pass_on_stop (Runner *runner)
{
  const gint *stop = runner->options->stop;

  if (runner->stopped || !stop || !g_atomic_int_get (stop))
    return;
  runner->stopped = TRUE;
  plait_log_info (runner->options->log, "stopping: each running cell writes its checkpoint");
  for (guint i = 0; i < runner->jobs->len; i++)
    plait_run_process_stop (g_array_index (runner->jobs, Job, i).process, FALSE);
}

/* Estimates the seconds until all cells end. Assumes that each cell takes the mean time of the finished cells, and that
 * running cells that have already taken longer end now. -1 while no cell has finished. */
static double
seconds_left (const Runner *runner)
{
  gint64 now = g_get_monotonic_time ();
  double mean = runner->finished > 0 ? runner->seconds / runner->finished : -1, left;

  if (mean < 0)
    return -1;
  left = mean * (runner->to_run - runner->done - runner->jobs->len);
  for (guint i = 0; i < runner->jobs->len; i++)
    left += MAX (0, mean - (double)(now - g_array_index (runner->jobs, Job, i).start) / 1e6);
  return left / MAX (1, runner->jobs->len);
}

/* Returns the last line of the log of @job; "" if it has logged nothing yet. (transfer full) */
static char *
last_line (const Runner *runner, const Job *job)
{
  g_autofree char *path = plait_grid_file (runner->grid, job->cell, ".log");
  g_autofree char *tail = plait_grid_read_tail (path, job->said);
  const char *line = strrchr (tail, '\n');

  return g_strdup (line ? line + 1 : tail);
}

/* Shows the progress of all cells and of one running cell; the running cells take turns. */
static void
show_progress (const Runner *runner)
{
  double seconds = seconds_left (runner);
  g_autofree char *left = seconds > 0 ? plait_log_duration (seconds) : NULL;
  guint turn = (guint)(g_get_monotonic_time () / (SHOW_EACH * G_USEC_PER_SEC) % runner->jobs->len);
  const Job *job = &g_array_index (runner->jobs, Job, turn);
  g_autofree char *line = last_line (runner, job);

  plait_log_progress (runner->options->log, "%u of %u cells done, %u running%s%s%s; %s%s%s", runner->done,
                      runner->to_run, runner->jobs->len, left ? ", about " : "", left ? left : "", left ? " left" : "",
                      job->cell->cell->label, *line ? ": " : "", line);
}

static gboolean
run_jobs (Runner *runner, GError **error)
{
  pass_on_stop (runner);
  start_jobs (runner);
  while (runner->jobs->len > 0)
    {
      show_progress (runner);
      wait_for_jobs (runner);
      pass_on_stop (runner);
      if (!poll_jobs (runner, error))
        return FALSE;
      start_jobs (runner);
    }
  return TRUE;
}

gboolean
plait_grid_make_log_folders (const PlaitGridOptions *options, GError **error)
{
  return !options->lines || g_mkdir_with_parents (options->lines, 0777) == 0
         || plait_fail (error, plait_error_code (errno),
                        "--log %s: the folder for a log of each cell cannot be made (%s); name another folder",
                        options->lines, g_strerror (errno));
}

gboolean
plait_grid_run (PlaitGrid *grid, const PlaitGridOptions *options, GError **error)
{
  Runner runner = { .grid = grid, .options = options };
  g_autoptr (GArray) jobs = g_array_new (FALSE, FALSE, sizeof (Job));
  g_autofree gboolean *started = g_new0 (gboolean, grid->n);
  g_autofree guint *failures = g_new0 (guint, grid->n);
  gboolean done;

  if (!plait_grid_make_log_folders (options, error) || (!grid->part && !plait_grid_lock (grid, options->log, error)))
    return FALSE;
  g_array_set_clear_func (jobs, clear_job);
  runner.jobs = jobs;
  runner.started = started;
  runner.failures = failures;
  plait_grid_collect_finished (grid);
  runner.to_run = plait_grid_count_due (grid);
  done = run_jobs (&runner, error);
  plait_log_progress_end (options->log);
  if (!done)
    return FALSE;
  plait_grid_drop_mixed (grid, options->log);
  plait_grid_report_failures (grid, options->log);
  if (runner.stopped && plait_grid_count_due (grid) > 0)
    return plait_fail (error, PLAIT_ERROR_INTERRUPTED,
                       "interrupted; the checkpoints are in the folder %s; run the same command to continue",
                       grid->folder);
  return TRUE;
}
