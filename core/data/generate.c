/* SPDX-License-Identifier: MIT */
#include "data/generate.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"

#define MOST_TUPLES 10000000

const char *const plait_task_splits[PLAIT_TASK_SPLITS] = { "train", "validation", "test" };

static const PlaitTaskParameter common_parameters[PLAIT_TASK_COMMON] = {
  { "seed", 1, 0, G_MAXINT64, "Seed of the corpus" },
  { "train", 6000, 1, MOST_TUPLES, "Tuples for training" },
  { "validation", 500, 1, MOST_TUPLES, "Tuples for validation" },
  { "test", 500, 1, MOST_TUPLES, "Tuples for the test" },
};

static const PlaitTask *const tasks[]
    = { &plait_task_agreement, &plait_task_copy, &plait_task_needle, &plait_task_reorder, &plait_task_topic, NULL };

const PlaitTask *const *
plait_tasks (void)
{
  return tasks;
}

const PlaitTask *
plait_task_find (const char *name, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  for (gsize i = 0; tasks[i]; i++)
    {
      if (strcmp (tasks[i]->name, name) == 0)
        return tasks[i];
      g_ptr_array_add (names, (gpointer)tasks[i]->name);
    }
  g_ptr_array_add (names, NULL);
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

/* Where @settings has the value of parameter @index of them all. */
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
  return plait_fail (error, PLAIT_ERROR_INPUT, "Task %s has no parameter \"%s\"; plait generate %s --help lists them",
                     task->name, name, task->name);
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

/* A file that is made. */
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

/* Writes the streams of a split. */
static gboolean
write_split (const PlaitTask *task, const PlaitTaskSettings *settings, gsize split, Output *outputs, gsize n_streams,
             GError **error)
{
  g_autofree GString **lines = g_new0 (GString *, n_streams);
  for (gsize s = 0; s < n_streams; s++)
    lines[s] = outputs[s].line;
  for (gint64 tuple = 0; tuple < settings->sizes[split]; tuple++)
    {
      plait_task_tuple (task, settings, (gint64)split, tuple, lines);
      for (gsize s = 0; s < n_streams; s++)
        {
          g_string_append_c (lines[s], '\n');
          fwrite (lines[s]->str, 1, lines[s]->len, plait_file_stream (outputs[s].file));
        }
    }
  for (gsize s = 0; s < n_streams; s++)
    if (!plait_file_complete (outputs[s].file, error))
      return FALSE;
  return TRUE;
}

/* Files of one making belong together: none takes its place before all are written. */
static gboolean
write_all (const PlaitTask *task, const PlaitTaskSettings *settings, const char *folder, GError **error)
{
  gsize n_streams = g_strv_length ((char **)task->streams), n = PLAIT_TASK_SPLITS * n_streams;
  g_autoptr (GArray) all = g_array_new (FALSE, TRUE, sizeof (Output));
  Output *outputs;

  g_array_set_clear_func (all, output_clear);
  g_array_set_size (all, (guint)n);
  outputs = (Output *)(gpointer)all->data;
  for (gsize i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("%s.%s", plait_task_splits[i / n_streams], task->streams[i % n_streams]);
      g_autofree char *path = g_build_filename (folder, name, NULL);
      outputs[i].line = g_string_new (NULL);
      outputs[i].file = plait_file_begin (path, error);
      if (!outputs[i].file)
        return FALSE;
    }
  for (gsize split = 0; split < PLAIT_TASK_SPLITS; split++)
    if (!write_split (task, settings, split, outputs + split * n_streams, n_streams, error))
      return FALSE;
  for (gsize i = 0; i < n; i++)
    if (!plait_file_commit (g_steal_pointer (&outputs[i].file), error))
      return FALSE;
  return TRUE;
}

gboolean
plait_task_write (const PlaitTask *task, const PlaitTaskSettings *settings, const char *folder, GError **error)
{
  gboolean existed = g_file_test (folder, G_FILE_TEST_EXISTS);
  if (g_mkdir_with_parents (folder, 0777) != 0)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s: the folder cannot be made (%s)", folder, g_strerror (errno));
  if (write_all (task, settings, folder, error))
    return TRUE;
  if (!existed)
    g_rmdir (folder);
  return FALSE;
}
