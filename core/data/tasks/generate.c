/* SPDX-License-Identifier: MIT */
#include "tasks/generate.h"

#include <string.h>

#include "text/error.h"
#include "files/file.h"
#include "files/folder.h"

#define MAX_TUPLES 10000000

const char *const plait_task_splits[PLAIT_TASK_SPLITS] = { "train", "validation", "test" };

static const PlaitTaskParameter common_parameters[PLAIT_TASK_COMMON] = {
  { "seed", 1, 0, G_MAXINT64, "Seed of the corpus" },
  { "train", 6000, 1, MAX_TUPLES, "Tuples for training" },
  { "validation", 500, 1, MAX_TUPLES, "Tuples for validation" },
  { "test", 500, 1, MAX_TUPLES, "Tuples for the test" },
};

static const PlaitTask *const tasks[] = { &plait_task_agreement,
                                          &plait_task_copy,
                                          &plait_task_names,
                                          &plait_task_needle,
                                          &plait_task_reorder,
                                          &plait_task_topic,
                                          NULL };

const PlaitTask *const *
plait_tasks (void)
{
  return tasks;
}

const PlaitTask *
plait_task_find (const char *name, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_null_terminated (8, NULL, TRUE);
  for (gsize i = 0; tasks[i]; i++)
    {
      if (strcmp (tasks[i]->name, name) == 0)
        return tasks[i];
      g_ptr_array_add (names, (gpointer)tasks[i]->name);
    }
  g_autofree char *remedy = plait_name_remedy (name, (const char *const *)names->pdata, NULL);
  return plait_fail_null (error, PLAIT_ERROR_INPUT, "There is no task \"%s\" to generate; %s", name, remedy);
}

GArray *
plait_task_parameters (const PlaitTask *task)
{
  GArray *parameters = g_array_new (FALSE, FALSE, sizeof (PlaitTaskParameter));

  g_array_append_vals (parameters, common_parameters, PLAIT_TASK_COMMON);
  return g_array_append_vals (parameters, task->parameters, (guint)task->n_parameters);
}

/* Returns the address in @settings of parameter @index, counting common parameters first. */
static gint64 *
value_of (PlaitTaskSettings *settings, guint index)
{
  if (index == 0)
    return (gint64 *)&settings->seed;
  return index < PLAIT_TASK_COMMON ? &settings->sizes[index - 1] : &settings->values[index - PLAIT_TASK_COMMON];
}

PlaitTaskSettings
plait_task_defaults (const PlaitTask *task)
{
  g_autoptr (GArray) parameters = plait_task_parameters (task);
  PlaitTaskSettings settings = { .values = g_new0 (gint64, MAX (task->n_parameters, 1)) };

  for (guint i = 0; i < parameters->len; i++)
    *value_of (&settings, i) = g_array_index (parameters, PlaitTaskParameter, i).initial;
  return settings;
}

void
plait_task_settings_clear (PlaitTaskSettings *settings)
{
  g_clear_pointer (&settings->values, g_free);
}

gboolean
plait_task_set (const PlaitTask *task, PlaitTaskSettings *settings, const char *name, gint64 value, GError **error)
{
  g_autoptr (GArray) parameters = plait_task_parameters (task);

  for (guint i = 0; i < parameters->len; i++)
    {
      const PlaitTaskParameter *parameter = &g_array_index (parameters, PlaitTaskParameter, i);

      if (!g_str_equal (name, parameter->name))
        continue;
      if (value < parameter->minimum || value > parameter->maximum)
        return plait_fail (error, PLAIT_ERROR_INPUT, "Parameter %s of task %s cannot be %jd; expected %jd to %jd", name,
                           task->name, value, parameter->minimum, parameter->maximum);
      *value_of (settings, i) = value;
      return TRUE;
    }
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "Task %s has no parameter \"%s\"; plait generate lists the parameters of %s", task->name, name,
                     task->name);
}

static gboolean
set_word (const PlaitTask *task, PlaitTaskSettings *settings, const char *word, GError **error)
{
  const char *equals = strchr (word, '=');
  g_autofree char *name = equals ? g_strndup (word, (gsize)(equals - word)) : NULL;
  gint64 value;

  if (!equals || !g_ascii_string_to_signed (equals + 1, 10, G_MININT64, G_MAXINT64, &value, NULL))
    return plait_fail (error, PLAIT_ERROR_INPUT, "\"%s\" does not set a parameter of task %s; write NAME=INTEGER", word,
                       task->name);
  return plait_task_set (task, settings, name, value, error);
}

const char *
plait_task_parse_text (const PlaitTask *task, const PlaitTaskSettings *base, const char *text,
                       PlaitTaskSettings *settings, GError **error)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);
  const char *stream = NULL;

  for (guint s = 0; task->streams[s] && words[0] && !stream; s++)
    if (g_str_equal (task->streams[s], words[0]))
      stream = task->streams[s];
  if (!stream)
    {
      g_autofree char *remedy = plait_name_remedy (words[0] ? words[0] : "", task->streams, NULL);

      return plait_fail_null (error, PLAIT_ERROR_INPUT, "\"%s\" is not a stream of the task %s; %s",
                              words[0] ? words[0] : "", task->name, remedy);
    }
  *settings = *base;
  settings->values = g_memdup2 (base->values, (gsize)MAX (task->n_parameters, 1) * sizeof *base->values);
  for (guint i = 1; words[i]; i++)
    if (!set_word (task, settings, words[i], error))
      {
        plait_task_settings_clear (settings);
        return NULL;
      }
  return stream;
}

char *
plait_task_name_text (const PlaitTask *task, const PlaitTaskSettings *base, const char *stream,
                      const PlaitTaskSettings *settings)
{
  g_autoptr (GArray) parameters = plait_task_parameters (task);
  g_autoptr (GString) text = g_string_new (stream);

  for (guint i = 0; i < parameters->len; i++)
    {
      PlaitTaskSettings own = *settings, other = *base;
      gint64 value = *value_of (&own, i);

      /* TRUE for the sizes of the validation and test splits, which follow the seed and the size of train. */
      gboolean evaluates = i > 1 && i < PLAIT_TASK_COMMON;

      if (!evaluates && value != *value_of (&other, i))
        g_string_append_printf (text, " %s=%jd", g_array_index (parameters, PlaitTaskParameter, i).name, value);
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

gint64
plait_task_draw_length (gint64 shortest, gint64 longest, PlaitRandomKey key, gint64 index)
{
  return shortest + plait_task_draw (key, index, MAX (longest - shortest, 0) + 1);
}

void
plait_task_append (GString *line, const char *word)
{
  if (line->len > 0 && !g_ascii_isspace (line->str[line->len - 1]))
    g_string_append_c (line, ' ');
  g_string_append (line, word);
}

void
plait_task_append_stem (GString *line, gint64 number, gint64 multiplier)
{
  static const char consonants[] = "bdfgklmnprstvz", vowels[] = "aeiou";
  gint64 code = number * multiplier % 4900;
  const char stem[]
      = { consonants[code % 14], vowels[code / 14 % 5], consonants[code / 70 % 14], vowels[code / 980], 0 };

  plait_task_append (line, stem);
}

void
plait_task_tuple (const PlaitTask *task, const PlaitTaskSettings *settings, gint64 split, gint64 tuple,
                  GString *const *lines)
{
  for (gsize s = 0; task->streams[s]; s++)
    g_string_truncate (lines[s], 0);
  PlaitRandomKey key = plait_random_key (settings->seed, "generate", task->name, (guint64)split);
  task->generate (settings->values, plait_random_subkey (key, (guint64)tuple), lines);
}

typedef struct
{
  PlaitFile *file;
  GString *line;
} Output;

static void
output_clear (gpointer data)
{
  Output *output = data;

  plait_file_abandon (output->file);
  if (output->line)
    g_string_free (output->line, TRUE);
}

gboolean
plait_task_write_split (const PlaitTask *task, const PlaitTaskSettings *settings, guint split, const char *folder,
                        GError **error)
{
  gsize n = g_strv_length ((char **)task->streams);
  g_autoptr (GArray) all = g_array_new (FALSE, TRUE, sizeof (Output));
  g_autofree GString **lines = g_new0 (GString *, n);
  Output *outputs;

  g_array_set_clear_func (all, output_clear);
  g_array_set_size (all, (guint)n);
  outputs = (Output *)(gpointer)all->data;
  for (gsize s = 0; s < n; s++)
    {
      g_autofree char *path = g_strdup_printf ("%s/%s.%s", folder, plait_task_splits[split], task->streams[s]);

      lines[s] = outputs[s].line = g_string_new (NULL);
      outputs[s].file = plait_file_begin (path, error);
      if (!outputs[s].file)
        return FALSE;
    }
  for (gint64 tuple = 0; tuple < settings->sizes[split]; tuple++)
    {
      plait_task_tuple (task, settings, split, tuple, lines);
      for (gsize s = 0; s < n; s++)
        {
          g_string_append_c (lines[s], '\n');
          fwrite (lines[s]->str, 1, lines[s]->len, plait_file_stream (outputs[s].file));
        }
    }
  for (gsize s = 0; s < n; s++)
    if (!plait_file_commit (g_steal_pointer (&outputs[s].file), error))
      return FALSE;
  return TRUE;
}

GStrv
plait_task_files (const PlaitTask *task)
{
  GPtrArray *files = g_ptr_array_new_null_terminated (8, NULL, TRUE);

  for (guint split = 0; split < PLAIT_TASK_SPLITS; split++)
    for (guint s = 0; task->streams[s]; s++)
      g_ptr_array_add (files, g_strconcat (plait_task_splits[split], ".", task->streams[s], NULL));
  return (GStrv)g_ptr_array_free (files, FALSE);
}

gboolean
plait_task_write (const PlaitTask *task, const PlaitTaskSettings *settings, const char *path, GError **error)
{
  g_auto (GStrv) names = plait_task_files (task);
  g_autoptr (PlaitFolder) folder = plait_folder_begin (path, error);

  for (guint split = 0; folder && split < PLAIT_TASK_SPLITS; split++)
    if (!plait_task_write_split (task, settings, split, plait_folder_temporary (folder), error))
      return plait_folder_fail (folder, error);
  return folder && plait_folder_commit (g_steal_pointer (&folder), (const char *const *)names, error);
}
