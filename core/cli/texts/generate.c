/* SPDX-License-Identifier: MIT */
#include "tasks/generate.h"

#include <stdio.h>
#include <string.h>

#include "text/display.h"
#include "text/error.h"
#include "text/json.h"
#include "text/number.h"
#include "files/file.h"
#include "command/command.h"
#include "command/options.h"
#include "terminal/table-print.h"

/* Implements plait generate: writes the corpus of a task as text files. Without a task it lists the tasks. */

static void
add_task_json (PlaitJson *json, const PlaitTask *task)
{
  g_autoptr (GArray) parameters = plait_task_parameters (task);

  plait_json_begin_object (json, NULL);
  plait_json_members (json, "name=%s summary=%s", task->name, task->summary);
  plait_json_texts (json, "streams", task->streams, -1);
  plait_json_begin_array (json, "parameters");
  for (guint i = 0; i < parameters->len; i++)
    {
      const PlaitTaskParameter *parameter = &g_array_index (parameters, PlaitTaskParameter, i);

      plait_json_begin_object (json, NULL);
      plait_json_members (json, "name=%s default=%jd", parameter->name, parameter->initial);
      if (i >= PLAIT_TASK_COMMON)
        plait_json_members (json, "minimum=%jd maximum=%jd", parameter->minimum, parameter->maximum);
      plait_json_text (json, "summary", parameter->summary);
      plait_json_end_object (json);
    }
  plait_json_end_array (json);
  plait_json_end_object (json);
}

static void
print_task (PlaitTerminal *terminal, const PlaitTask *task)
{
  g_autoptr (GArray) parameters = plait_task_parameters (task);
  g_autoptr (PlaitTable) table = plait_table_new ();
  g_autofree char *streams = g_strjoinv (", ", (char **)task->streams);

  plait_terminal_text (terminal, PLAIT_TERMINAL_HEADING, "%s", task->name);
  plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "  ");
  plait_terminal_paragraph (terminal, (guint)strlen (task->name) + 2, 2, task->summary);
  plait_terminal_text (terminal, PLAIT_TERMINAL_DIM, "  streams: %s\n", streams);
  plait_table_column (table, PLAIT_TABLE_CODE, "Parameter");
  plait_table_column (table, PLAIT_TABLE_COUNTS, "Default");
  plait_table_column (table, PLAIT_TABLE_WORDS, "Range");
  plait_table_column (table, PLAIT_TABLE_PROSE, "Meaning");
  for (guint i = 0; i < parameters->len; i++)
    {
      const PlaitTaskParameter *parameter = &g_array_index (parameters, PlaitTaskParameter, i);
      g_autoptr (GString) range = g_string_new (NULL);

      g_string_printf (range, "%jd ..", parameter->minimum);
      if (i >= PLAIT_TASK_COMMON)
        g_string_append_printf (range, " %jd", parameter->maximum);
      plait_table_text (table, PLAIT_TABLE_NAME, parameter->name);
      plait_table_integer (table, PLAIT_TABLE_PLAIN, parameter->initial);
      plait_table_text (table, PLAIT_TABLE_DIM, range->str);
      plait_table_text (table, PLAIT_TABLE_PLAIN, parameter->summary);
    }
  plait_table_print (table, terminal);
}

static void
list_tasks (gboolean as_json)
{
  const PlaitTask *const *tasks = plait_tasks ();

  if (as_json)
    {
      g_autoptr (PlaitJson) json = plait_json_new_array ();

      for (guint i = 0; tasks[i]; i++)
        add_task_json (json, tasks[i]);
      plait_json_print (json);
      return;
    }
  g_autoptr (PlaitTerminal) terminal = plait_terminal_new ();
  for (guint i = 0; tasks[i]; i++)
    {
      plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "%s", i > 0 ? "\n" : "");
      print_task (terminal, tasks[i]);
    }
}

typedef struct
{
  const char *output;
  const char *const *sets;
  gboolean force, json;
} Options;

/* Sets a parameter of @task from @text, "KEY=VALUE". */
static gboolean
set (const PlaitTask *task, PlaitTaskSettings *settings, const char *text, GError **error)
{
  const char *equals = strchr (text, '=');
  gint64 value;

  if (!equals || !plait_parse_integer (equals + 1, &value))
    return plait_fail (error, PLAIT_ERROR_INPUT, "--set %s: expected KEY=NUMBER, such as train=6000", text);
  g_autofree char *name = g_strndup (text, (gsize)(equals - text));
  return plait_task_set (task, settings, name, value, error);
}

static gboolean
run_command (PlaitInvocation *invocation, GError **error)
{
  const Options *options = invocation->options;
  const char *name = invocation->arguments[0];

  if (!name)
    {
      if (options->output || options->sets)
        return plait_fail (
            error, PLAIT_ERROR_INPUT,
            "TASK is missing; usage: plait generate TASK --output FOLDER (plait generate lists the tasks)");
      list_tasks (options->json);
      return TRUE;
    }
  const PlaitTask *task = plait_task_find (name, error);
  if (!task)
    return FALSE;
  if (!options->output)
    return plait_fail (error, PLAIT_ERROR_INPUT, "--output is missing; name the folder for the files of %s", name);
  if (options->json)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "--json is only for the list of tasks; drop --json, or task %s and its options", name);
  g_auto (PlaitTaskSettings) settings = plait_task_defaults (task);
  for (guint i = 0; options->sets && options->sets[i]; i++)
    if (!set (task, &settings, options->sets[i], error))
      return FALSE;
  g_auto (GStrv) files = plait_task_files (task);
  for (guint i = 0; files[i]; i++)
    {
      g_autofree char *path = g_build_filename (options->output, files[i], NULL);

      if (!plait_file_check_new (path, options->force, "", "--output", error))
        return FALSE;
    }
  if (!plait_task_write (task, &settings, options->output, error))
    return FALSE;
  for (guint i = 0; files[i] && !invocation->quiet; i++)
    {
      g_autofree char *path = g_build_filename (options->output, files[i], NULL);

      plait_display_line (stdout, path);
    }
  return TRUE;
}

static const PlaitOption options[] = {
  PLAIT_OPTION ("output", 'o', TEXT, output, "Folder for the files SPLIT.STREAM; created if it does not exist",
                "FOLDER"),
  PLAIT_OPTION_FORCE (Options),
  PLAIT_OPTION ("set", 's', TEXTS, sets, "Set a parameter, such as seed=2 or train=20000", "KEY=VALUE"),
  PLAIT_FLAG ("json", 0, json, "Print the list of tasks as JSON"),
  { NULL },
};

const PlaitCommand plait_command_generate = {
  .name = "generate",
  .synopsis = "TASK --output FOLDER [--set KEY=VALUE]... [--force]",
  .summary = "Write the corpus of a generated task as text files, or list the tasks",
  .details
  = "The files are FOLDER/SPLIT.STREAM; equal parameters give equal bytes. The names of the files are printed unless "
    "--quiet is given.\n"
    "\n"
    "Examples:\n"
    "  plait generate\n"
    "  plait generate agreement --output data --set train=20000 --set seed=7",
  .options = options,
  .size = sizeof (Options),
  .max = 1,
  .run = run_command
};
