/* SPDX-License-Identifier: MIT */
#include "grid/slurm.h"

#include <glib/gstdio.h>
#include <string.h>

#include "files/digest.h"
#include "text/number.h"
#include "files/path.h"
#include "process/program.h"
#include "grid/cost.h"
#include "axes/executor-settings.h"
#include "grid/executor.h"
#include "grid/grid-private.h"
#include "grid/tasks.h"

enum
{
  MIN_ARRAY_LENGTH = 1,
  NAME_DIGITS = 8,
  GRACE = 60,                /* seconds that are added to --time of a task for each try of a cell */
  TIMES_SECONDS = 3,         /* requested time divided by measured time, since another machine may be slower */
  MAX_MESSAGE_LENGTH = 2000, /* maximum bytes of a quoted message of Slurm */
  PATIENCE = 60,             /* default time in seconds after which a command of Slurm is given up */
};

/* The requested memory is TIMES_MEMORY times the measured memory, and MORE_MEMORY MiB more. */
#define TIMES_MEMORY 1.5
#define MORE_MEMORY 64

typedef struct
{
  PlaitGrid *grid;
  const PlaitGridOptions *options;
  gint64 seconds;  /* time limit of a cell; 0: no limit */
  char *memory;    /* memory of each cell for --mem; or NULL */
  char *name;      /* name of all jobs of this folder */
  char *logs;      /* folder of the logs of tasks */
  guint patience;  /* time in seconds after which a command of Slurm is given up */
  GPtrArray *jobs; /* numbers of the submitted jobs */
  gboolean unsure; /* TRUE if a job may be in the queue although sbatch did not print its number */
  GPtrArray *plan; /* if not NULL, commands are appended to it instead of being run */
} Submission;

/* Replaces line breaks in a message of Slurm, so that it can be part of one line, and cuts long messages. */
static void
join_lines (char *text)
{
  g_strstrip (text);
  g_strdelimit (text, "\n\r\t", ' ');
  if (strlen (text) > MAX_MESSAGE_LENGTH)
    text[MAX_MESSAGE_LENGTH] = '\0';
}

/* Runs @program and waits until it ends, at most program->seconds. If @program fails, the error quotes the message of
 * @program. */
static gboolean
ask (const PlaitProgramCall *program, PlaitProgramResult *answer, GError **error)
{
  const char *name = program->words[0];
  g_autofree char *path = g_find_program_in_path (name);

  if (!path)
    return plait_fail (
        error, PLAIT_ERROR_INPUT,
        "there is no %s here; run this where jobs are submitted to Slurm, or use --commands for another scheduler",
        name);
  if (!plait_program_call (program, answer, error) || answer->end == PLAIT_PROGRAM_DONE)
    return answer->output != NULL;
  if (answer->end == PLAIT_PROGRAM_TIMED_OUT)
    return plait_fail (error, PLAIT_ERROR_FAILED,
                       "Slurm does not answer: %s did not end within %u seconds; see what scontrol ping says, or use "
                       "--commands for another scheduler",
                       name, program->seconds);
  join_lines (answer->errors);
  return plait_fail (
      error, PLAIT_ERROR_FAILED,
      g_str_equal (name, "sbatch")
          ? "Slurm refuses the job (%s); change the keys executor.* of [grid], or use --commands for another scheduler"
          : "Slurm does not answer (%s); run this where jobs are submitted to it, or use --commands for another "
            "scheduler",
      *answer->errors ? answer->errors : "it does not say why");
}

/* Returns the output of the command @words. (transfer full) */
static char *
call (const Submission *submission, const char *const *words, GError **error)
{
  const PlaitProgramCall program = { words, NULL, submission->patience, submission->options->stop };
  g_auto (PlaitProgramResult) answer = { 0 };

  return ask (&program, &answer, error) ? g_steal_pointer (&answer.output) : NULL;
}

static gboolean
find_array_size (const Submission *submission, guint *size, GError **error)
{
  const char *const words[] = { "scontrol", "show", "config", NULL };
  g_autofree char *config = call (submission, words, error);
  const char *line = config ? strstr (config, "MaxArraySize") : NULL;
  const char *digits = line ? line + strcspn (line, "0123456789-\n") : "";

  if (!config)
    return FALSE;
  if (!g_ascii_isdigit (*digits))
    return plait_fail (error, PLAIT_ERROR_FAILED,
                       "scontrol show config gives no number for MaxArraySize; check that scontrol is Slurm's own "
                       "program, or use --commands");
  *size = (guint)MIN (g_ascii_strtoull (digits, NULL, 10), G_MAXUINT);
  return *size >= MIN_ARRAY_LENGTH
         || plait_fail (error, PLAIT_ERROR_FAILED,
                        "this cluster takes no job arrays (MaxArraySize of scontrol show config is %u); use --commands",
                        *size);
}

/* Returns the lines in @output of squeue that begin with a number, joined with ' ': these list jobs. Other lines may be
 * messages of the cluster. Cuts a long result. (transfer full) */
static char *
list_queued (const char *output)
{
  g_auto (GStrv) lines = g_strsplit (output, "\n", -1);
  g_autoptr (GString) jobs = g_string_new (NULL);

  for (guint i = 0; lines[i]; i++)
    if (g_ascii_isdigit (*g_strstrip (lines[i])))
      g_string_append_printf (jobs, "%s%s", jobs->len > 0 ? " " : "", lines[i]);
  if (jobs->len > MAX_MESSAGE_LENGTH)
    g_string_truncate (jobs, MAX_MESSAGE_LENGTH);
  return g_string_free (g_steal_pointer (&jobs), FALSE);
}

static gboolean
check_queue (const Submission *submission, GError **error)
{
  g_autofree char *name = g_strconcat ("--name=", submission->name, NULL);
  const char *const words[] = { "squeue", "--noheader", "--format=%i", name, NULL };
  g_autofree char *output = call (submission, words, error);
  g_autofree char *queued = output ? list_queued (output) : NULL;

  if (!queued)
    return FALSE;
  return *queued == '\0'
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "%s: jobs of this grid are in Slurm's queue already (%s); wait for them, or cancel them with "
                        "scancel --name=%s",
                        submission->grid->folder, queued, submission->name);
}

/* Cancels all jobs with the name of this submission. If some may be left, adds to @error how to cancel them. */
static void
cancel (const Submission *submission, GError **error)
{
  g_autofree char *name = g_strconcat ("--name=", submission->name, NULL);
  const char *const words[] = { "scancel", name, NULL };
  const PlaitProgramCall program = { words, NULL, submission->patience, NULL };
  g_auto (PlaitProgramResult) answer = { 0 };
  g_autoptr (GError) fault = NULL;

  if ((submission->jobs->len == 0 && !submission->unsure) || (ask (&program, &answer, NULL) && !submission->unsure))
    return;
  fault = g_steal_pointer (error);
  g_set_error (error, fault->domain, fault->code,
               "%s; jobs may be in the queue: squeue %s shows them, scancel %s cancels them", fault->message, name,
               name);
}

/* Returns the first lines of a script, which check that the node can run the program. (transfer full) */
static GString *
begin_script (GError **error)
{
  g_autofree char *program = plait_grid_program (error);
  g_autofree char *quoted = program ? g_shell_quote (program) : NULL;
  GString *script;

  if (!program)
    return NULL;
  script = g_string_new ("#!/bin/sh\n");
  g_string_append_printf (script,
                          "plait=%s\n"
                          "[ -x \"$plait\" ] || { echo \"$(hostname): $plait is not there or cannot be run; keep plait "
                          "where all nodes see it\" >&2; exit 127; }\n",
                          quoted);
  return script;
}

/* Adds @words to the plan and returns a placeholder for the job's number. (transfer full) */
static char *
note (Submission *submission, const GPtrArray *words)
{
  GString *line = g_string_new (NULL);

  for (guint i = 0; words->pdata[i]; i++)
    plait_path_append_quoted (line, words->pdata[i]);
  g_ptr_array_add (submission->plan, g_string_free (line, FALSE));
  return g_strdup_printf ("JOB%u", submission->plan->len);
}

/* Returns the number of the job in the output of sbatch --parsable: a line with only the number, or with the cluster's
 * name as in "12;name". 0 if there is no such line, or more than one. */
static gint64
find_number (const char *output)
{
  g_auto (GStrv) lines = g_strsplit (output, "\n", -1);
  gint64 found = 0;

  for (guint i = 0; lines[i]; i++)
    {
      gint64 number;
      gsize cluster = strcspn (g_strstrip (lines[i]), ";");

      if (strpbrk (lines[i] + cluster, " \t"))
        continue;
      lines[i][cluster] = '\0';
      if (!plait_parse_integer (lines[i], &number) || number <= 0)
        continue;
      if (found > 0)
        return 0;
      found = number;
    }
  return found;
}

/* Submits @script with sbatch, called with @words, and returns the job's number. (transfer full) */
static char *
call_sbatch (Submission *submission, const GPtrArray *words, const char *script, GError **error)
{
  const PlaitProgramCall program
      = { (const char *const *)words->pdata, script, submission->patience, submission->options->stop };
  g_auto (PlaitProgramResult) answer = { 0 };
  gboolean done = ask (&program, &answer, error);
  gint64 number = done ? find_number (answer.output) : 0;

  if (number > 0)
    return g_strdup_printf ("%jd", number);
  submission->unsure = done || answer.end == PLAIT_PROGRAM_TIMED_OUT || (answer.output && *answer.output != '\0');
  if (!done)
    return NULL;
  join_lines (answer.output);
  return plait_fail_null (error, PLAIT_ERROR_FAILED,
                          "sbatch --parsable should print the number of the job on a line of its own, but printed "
                          "\"%s\"; check that sbatch is Slurm's own program and prints nothing else",
                          answer.output);
}

/* Submits @script with the sbatch command @words, or adds only this command to the plan. Returns the job's number,
 * which @submission owns. */
static const char *
submit (Submission *submission, GPtrArray *words, const char *script, GError **error)
{
  char **further = submission->grid->cells->executor.words;
  char *number;

  for (guint i = 0; further && further[i]; i++)
    g_ptr_array_add (words, g_strdup (further[i]));
  number = submission->plan ? note (submission, words) : call_sbatch (submission, words, script, error);
  if (!number)
    return NULL;
  g_ptr_array_add (submission->jobs, number);
  return number;
}

/* Returns the beginning of the command line of sbatch, with the options that all jobs share. @log is the pattern of
 * their log files. (transfer full) */
static GPtrArray *
begin_words (const Submission *submission, const char *log)
{
  GPtrArray *words = g_ptr_array_new_null_terminated (8, g_free, TRUE);
  g_auto (GStrv) parts = g_strsplit (submission->logs, "%", -1);
  g_autofree char *logs = g_strjoinv ("%%", parts);

  g_ptr_array_add (words, g_strdup ("sbatch"));
  g_ptr_array_add (words, g_strdup ("--parsable"));
  g_ptr_array_add (words, g_strdup ("--open-mode=append"));
  g_ptr_array_add (words, g_strdup_printf ("--job-name=%s", submission->name));
  g_ptr_array_add (words, g_strdup_printf ("--output=%s/%s", logs, log));
  return words;
}

/* Returns an option such as "--dependency=afterany:12:13" for the submitted jobs from index @from on; NULL if there are
 * none. (transfer full) */
static char *
after (const Submission *submission, guint from)
{
  g_autoptr (GString) text = g_string_new ("--dependency=afterany");

  if (from >= submission->jobs->len)
    return NULL;
  for (guint i = from; i < submission->jobs->len; i++)
    g_string_append_printf (text, ":%s", (const char *)submission->jobs->pdata[i]);
  return g_strdup (text->str);
}

/* Submits @n @lines as one job array. If the number of jobs at once is limited, the array starts after the previous
 * array has ended. */
static gboolean
submit_array (Submission *submission, char *const *lines, guint n, GError **error)
{
  const PlaitGridOptions *options = submission->options;
  gint64 tries = (gint64)(options->retries + 1) * plait_grid_longest_task (submission->grid);
  g_autoptr (GPtrArray) words = begin_words (submission, "%A_%a.log");
  g_autoptr (GString) script = begin_script (error);
  g_autofree char *dependency = options->jobs > 0 ? after (submission, MAX (submission->jobs->len, 1) - 1) : NULL;

  if (!script)
    return FALSE;
  g_string_append (script, "case \"$SLURM_ARRAY_TASK_ID\" in\n");
  for (guint i = 0; i < n; i++)
    g_string_append_printf (script, "%u) %s ;;\n", i, lines[i]);
  g_string_append (script, "esac\n");
  g_ptr_array_add (words, g_strdup ("--requeue"));
  g_ptr_array_add (words, options->jobs > 0 ? g_strdup_printf ("--array=0-%u%%%u", n - 1, options->jobs)
                                            : g_strdup_printf ("--array=0-%u", n - 1));
  g_ptr_array_add (words, g_strdup_printf ("--cpus-per-task=%u", MAX (1, options->threads)));
  if (submission->seconds > 0)
    g_ptr_array_add (words, g_strdup_printf ("--time=%jd", (tries * submission->seconds + tries * GRACE + 59) / 60));
  if (submission->memory)
    g_ptr_array_add (words, g_strconcat ("--mem=", submission->memory, NULL));
  if (dependency)
    g_ptr_array_add (words, g_steal_pointer (&dependency));
  return submit (submission, words, script->str, error) != NULL;
}

static const char *
submit_collector (Submission *submission, GError **error)
{
  g_autoptr (GPtrArray) words = begin_words (submission, "collect_%j.log");
  g_autoptr (GString) script = begin_script (error);
  g_autofree char *line = script ? plait_grid_collect_command (submission->grid, error) : NULL;

  if (!line)
    return NULL;
  g_string_append_printf (script, "%s\n", line);
  g_ptr_array_add (words, after (submission, 0));
  return submit (submission, words, script->str, error);
}

static gboolean
submit_all (Submission *submission, GPtrArray *lines, guint size, GError **error)
{
  const char *collector;
  g_autofree char *arrays = NULL;

  for (guint from = 0; from < lines->len; from += size)
    if (!submit_array (submission, (char *const *)lines->pdata + from, MIN (size, lines->len - from), error))
      return FALSE;
  arrays = g_strjoinv (", ", (char **)submission->jobs->pdata);
  collector = submit_collector (submission, error);
  if (!collector)
    return FALSE;
  if (submission->plan)
    return TRUE;
  plait_log_info (submission->options->log,
                  "%u tasks are submitted to Slurm under job number %s (job name %s); after all tasks, job %s makes "
                  "the table; the logs are in %s",
                  lines->len, arrays, submission->name, collector, submission->logs);
  return TRUE;
}

/* Sets the time and memory that tasks request. If the grid asks for measured values, takes them from @cost; if @cost is
 * NULL, measures them. */
static gboolean
find_needs (Submission *submission, const PlaitGridCost *cost, GError **error)
{
  const PlaitGrid *grid = submission->grid;
  const PlaitExecutorSettings *settings = &grid->cells->executor;
  PlaitGridOptions options = *submission->options;
  gboolean timed = settings->timed && options.seconds == 0;
  gboolean weighed = g_strcmp0 (settings->keys.executor_memory, PLAIT_EXECUTOR_MEASURED) == 0;
  g_autoptr (PlaitGridCost) measured = NULL;
  double longest = 0;

  submission->seconds = options.seconds;
  if (!timed && !weighed)
    {
      submission->memory = g_strdup (settings->keys.executor_memory);
      return TRUE;
    }
  options.threads = MAX (1, options.threads);
  if (!cost)
    cost = measured = plait_grid_cost_new (grid, &options);
  for (guint i = 0; i < grid->n; i++)
    {
      const PlaitGridEstimate *cell = &cost->cells[i];

      if (plait_grid_cell_is_due (&grid->items[i]) && (!cell->like || (weighed && cell->bytes == 0)))
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "time and memory of the cell %s could not be measured (%s); set executor.time and "
                           "executor.memory in [grid]",
                           grid->items[i].cell->label,
                           cell->fault ? cell->fault : "no other cell could be measured either");
      longest = MAX (longest, cell->seconds);
    }
  if (timed)
    submission->seconds = MAX (1, (gint64)(TIMES_SECONDS * longest));
  submission->memory
      = weighed ? g_strdup_printf ("%zuM", (gsize)(TIMES_MEMORY * (double)cost->bytes / 1024 / 1024) + MORE_MEMORY)
                : g_strdup (settings->keys.executor_memory);
  return TRUE;
}

/* Returns the name of the jobs of @folder, by which they are found in the queue. (transfer full) */
static char *
name_jobs (const char *folder)
{
  g_autofree char *digest = plait_digest_bytes (folder, strlen (folder));

  return g_strdup_printf ("plait-%.*s", NAME_DIGITS, digest);
}

static void
submission_clear (Submission *submission)
{
  g_free (submission->memory);
  g_free (submission->name);
  g_free (submission->logs);
  g_ptr_array_unref (submission->jobs);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Submission, submission_clear)

static Submission
begin_submission (PlaitGrid *grid, const PlaitGridOptions *options)
{
  g_autofree char *folder = g_canonicalize_filename (grid->folder, NULL);

  return (Submission){ .grid = grid,
                       .options = options,
                       .name = name_jobs (folder),
                       .logs = g_build_filename (folder, "slurm", NULL),
                       .patience = options->patience > 0 ? options->patience : PATIENCE,
                       .jobs = g_ptr_array_new_null_terminated (8, g_free, TRUE) };
}

GPtrArray *
plait_grid_plan_submission (PlaitGrid *grid, const PlaitGridOptions *options, const PlaitGridCost *cost, GError **error)
{
  g_auto (Submission) submission = begin_submission (grid, options);
  g_autoptr (GPtrArray) lines = plait_grid_tasks (grid, options, TRUE, error);
  g_autoptr (GPtrArray) plan = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *slurm = g_find_program_in_path ("scontrol");
  guint size = G_MAXUINT;

  submission.plan = plan;
  if (!lines || (slurm && (!find_array_size (&submission, &size, error) || !check_queue (&submission, error)))
      || !find_needs (&submission, cost, error)
      || (lines->len > 0 && !submit_all (&submission, lines, MIN (size, lines->len), error)))
    return NULL;
  return g_steal_pointer (&plan);
}

/* Submits the command lines @lines. The caller must hold the lock of the grid's folder, so that no other process
 * submits jobs of this grid. */
static gboolean
check_and_submit (Submission *submission, GPtrArray *lines, GError **error)
{
  PlaitGrid *grid = submission->grid;
  PlaitLog *log = submission->options->log;
  guint size;

  if (!find_array_size (submission, &size, error) || !check_queue (submission, error)
      || !find_needs (submission, NULL, error) || !plait_grid_make_log_folders (submission->options, error))
    return FALSE;
  plait_grid_collect_finished (grid);
  if (lines->len == 0)
    {
      plait_log_info (log, "%s: nothing is left to run; --collect makes the table", grid->folder);
      return TRUE;
    }
  if (g_mkdir_with_parents (submission->logs, 0777) != 0)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s: the folder cannot be made; choose another one with --output",
                       submission->logs);
  if (submit_all (submission, lines, size, error))
    return TRUE;
  cancel (submission, error);
  return FALSE;
}

gboolean
plait_grid_submit (PlaitGrid *grid, const PlaitGridOptions *options, GError **error)
{
  g_auto (Submission) submission = begin_submission (grid, options);
  g_autoptr (GPtrArray) lines = plait_grid_tasks (grid, options, TRUE, error);
  gboolean made_folder = !g_file_test (grid->folder, G_FILE_TEST_EXISTS);
  gboolean made_logs = !g_file_test (submission.logs, G_FILE_TEST_EXISTS);

  if (!lines)
    return FALSE;
  if (plait_grid_lock (grid, options->log, error) && check_and_submit (&submission, lines, error))
    return TRUE;
  if (made_logs)
    g_rmdir (submission.logs);
  g_clear_pointer (&grid->lock, plait_lock_release);
  if (made_folder)
    g_rmdir (grid->folder);
  return FALSE;
}
