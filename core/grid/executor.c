/* SPDX-License-Identifier: MIT */
#include "grid/executor.h"

#include <string.h>

#include "base/number.h"
#include "base/pool.h"
#include "grid/slurm.h"

static const PlaitExecutor executors[] = {
  { "local", plait_grid_run, NULL, TRUE },
  { "slurm", plait_grid_submit, plait_grid_plan_submission, FALSE },
};

#define TIME_EXPECTED "a number and s, m, h or d, such as 90s or 2h, up to a year, or measured"
#define YEAR ((gint64)366 * 24 * 60 * 60)

enum
{
  LONGEST_MEMORY = 20,
};

const PlaitExecutor *
plait_executor_find (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (executors); i++)
    if (g_str_equal (executors[i].name, name))
      return &executors[i];
  return NULL;
}

gboolean
plait_executor_parse_time (const char *text, gint64 *seconds)
{
  static const struct
  {
    char letter;
    gint64 seconds;
  } units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 60 * 60 }, { 'd', 24 * 60 * 60 } };
  gsize length = strlen (text);
  g_autofree char *digits = g_strndup (text, length > 0 ? length - 1 : 0);
  gint64 number;

  for (guint i = 0; length > 0 && i < G_N_ELEMENTS (units); i++)
    if (text[length - 1] == units[i].letter && plait_parse_integer (digits, &number) && number > 0
        && number <= YEAR / units[i].seconds)
      {
        *seconds = number * units[i].seconds;
        return TRUE;
      }
  return FALSE;
}

/* "4G": what sbatch --mem takes. */
static gboolean
is_memory (const char *text)
{
  gsize digits = strspn (text, "0123456789");

  return digits > 0 && strlen (text) <= LONGEST_MEMORY
         && (text[digits] == '\0' || (strchr ("KMGT", text[digits]) && text[digits + 1] == '\0'));
}

/*
 * The keys. Each takes the text of its value; NULL, or what was expected.
 */

static const char *
take_executor (PlaitExecutorSettings *settings, char **items)
{
  const PlaitExecutor *executor = plait_executor_find (items[0]);

  if (executor)
    settings->executor = executor->name;
  return executor ? NULL : "local or slurm";
}

static gboolean
take_count (const char *text, gint64 least, gint64 most, guint *value)
{
  gint64 number;

  if (!plait_parse_integer (text, &number) || number < least || number > most)
    return FALSE;
  *value = (guint)number;
  return TRUE;
}

static const char *
take_jobs (PlaitExecutorSettings *settings, char **items)
{
  return take_count (items[0], 1, PLAIT_GRID_MOST_JOBS, &settings->jobs)
             ? NULL
             : "an integer from 1 to " G_STRINGIFY (PLAIT_GRID_MOST_JOBS);
}

static const char *
take_threads (PlaitExecutorSettings *settings, char **items)
{
  return take_count (items[0], 1, PLAIT_POOL_MOST_THREADS, &settings->threads) ? NULL : "a number of threads";
}

static const char *
take_time (PlaitExecutorSettings *settings, char **items)
{
  settings->timed = g_str_equal (items[0], PLAIT_EXECUTOR_MEASURED);
  return settings->timed || plait_executor_parse_time (items[0], &settings->seconds) ? NULL : TIME_EXPECTED;
}

static const char *
take_retries (PlaitExecutorSettings *settings, char **items)
{
  return take_count (items[0], 0, PLAIT_GRID_MOST_RETRIES, &settings->retries)
             ? NULL
             : "an integer from 0 to " G_STRINGIFY (PLAIT_GRID_MOST_RETRIES);
}

static const char *
take_memory (PlaitExecutorSettings *settings, char **items)
{
  if (!is_memory (items[0]) && !g_str_equal (items[0], PLAIT_EXECUTOR_MEASURED))
    return "a size such as 500M or 4G, or measured";
  g_free (settings->memory);
  settings->memory = g_strdup (items[0]);
  return NULL;
}

static const char *
take_options (PlaitExecutorSettings *settings, char **items)
{
  for (guint i = 0; items[i]; i++)
    if (items[i][0] != '-')
      return "options of sbatch between ';', such as --partition=cpu;--account=mt";
  g_strfreev (settings->options);
  settings->options = g_strdupv (items);
  return NULL;
}

static const struct
{
  const char *name;
  const char *(*take) (PlaitExecutorSettings *settings, char **items);
  gboolean many;
} keys[] = {
  { "executor", take_executor, FALSE },        { "executor.jobs", take_jobs, FALSE },
  { "executor.threads", take_threads, FALSE }, { "executor.time", take_time, FALSE },
  { "executor.retries", take_retries, FALSE }, { "executor.memory", take_memory, FALSE },
  { "executor.options", take_options, TRUE },
};

gboolean
plait_executor_has_key (const char *key)
{
  return g_str_equal (key, "executor") || g_str_has_prefix (key, "executor.");
}

static void
read_key (const PlaitKeyFile *file, const char *key, PlaitExecutorSettings *settings, PlaitProblems *problems)
{
  g_auto (GStrv) items = plait_key_file_list (file, PLAIT_GRID_GROUP, key);

  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    if (g_str_equal (keys[i].name, key))
      {
        guint n = g_strv_length (items);
        const char *expected = n == 1 || (n > 1 && keys[i].many) ? keys[i].take (settings, items) : "one value";

        if (expected)
          plait_problems_add_key (problems, file, PLAIT_GRID_GROUP, key, "cannot be \"%s\"; expected %s",
                                  plait_key_file_value (file, PLAIT_GRID_GROUP, key), expected);
        return;
      }
  plait_problems_add_key (problems, file, PLAIT_GRID_GROUP, key,
                          "is unknown; an executor has the keys jobs, threads, time, retries, memory and options");
}

void
plait_executor_read (const PlaitKeyFile *file, PlaitExecutorSettings *settings, PlaitProblems *problems)
{
  const char *const *names = plait_key_file_keys (file, PLAIT_GRID_GROUP);

  for (guint i = 0; names[i]; i++)
    if (plait_executor_has_key (names[i]))
      read_key (file, names[i], settings, problems);
}
