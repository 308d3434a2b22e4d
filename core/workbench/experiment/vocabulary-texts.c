/* SPDX-License-Identifier: MIT */
#include "experiment/resolution.h"

#include <string.h>

#include "files/path.h"

/* This file finds the text from which each vocabulary is learnt. */

/* TRUE if @key ends in a number above 0 and, in a generated corpus, the value of @key names a text of the task.
 * Otherwise adds a problem. @number points to the dot before the number; NULL: @key has no such dot. */
static gboolean
check_text (const PlaitResolution *resolution, const char *key, const char *number)
{
  const PlaitTask *task = resolution->experiment->data->task;
  const char *value = plait_key_file_value (resolution->file, "data", key);
  g_auto (PlaitTaskSettings) settings = { 0 };
  g_auto (PlaitTaskSettings) defaults = { 0 };
  g_autoptr (GError) fault = NULL;

  if (task)
    defaults = plait_task_defaults (task);
  if (!number || !g_ascii_string_to_unsigned (number + 1, 10, 1, G_MAXUINT, NULL, NULL))
    plait_resolution_problem (resolution, "data", key,
                              "must end in a number from 1; write " PLAIT_VOCABULARY_TEXT_PREFIX
                              "NAME.1 for the first text of vocabulary NAME, " PLAIT_VOCABULARY_TEXT_PREFIX
                              "NAME.2 for the second");
  else if (task && !plait_task_parse_text (task, &defaults, value, &settings, &fault))
    plait_resolution_problem (resolution, "data", key, "%s", fault->message);
  else
    return TRUE;
  return FALSE;
}

/* Returns a list of one path, @path; an empty list if @path is NULL. @data owns the list. (transfer none) */
static char **
list_path (const PlaitParsedData *data, const char *path)
{
  char **paths = g_strdupv ((char *[]){ (char *)path, NULL });

  g_ptr_array_add (data->paths, paths);
  return paths;
}

void
plait_resolution_read_vocabulary_text (const PlaitResolution *resolution, const char *key)
{
  PlaitParsedData *data = resolution->experiment->data;
  const char *name = key + strlen (PLAIT_VOCABULARY_TEXT_PREFIX), *number = strrchr (name, '.');
  PlaitDataFile file = { NULL };

  if (!check_text (resolution, key, number))
    return;
  file.stream = g_string_chunk_insert_len (data->texts, name, number - name);
  file.key = g_string_chunk_insert (data->texts, key);
  if (data->task)
    {
      file.paths = list_path (data, NULL);
      file.written = g_string_chunk_insert (data->texts, plait_key_file_value (resolution->file, "data", key));
    }
  else if (!plait_resolution_read_file_name (resolution, key, &file))
    return;
  g_array_append_val (data->vocabulary_texts, file);
}

void
plait_resolution_check_vocabulary_texts (const PlaitResolution *resolution)
{
  const PlaitParsedData *data = resolution->experiment->data;

  for (guint i = 0; i < data->vocabulary_texts->len; i++)
    for (guint k = 0; k < data->vocabulary_files->len; k++)
      {
        const PlaitDataFile *text = &g_array_index (data->vocabulary_texts, PlaitDataFile, i);
        const PlaitDataFile *file = &g_array_index (data->vocabulary_files, PlaitDataFile, k);

        if (g_str_equal (text->stream, file->stream))
          plait_resolution_problem (resolution, "data", text->key,
                                    "names a text from which to learn vocabulary %s, but %s names a file that holds "
                                    "it; drop one of the two keys",
                                    file->stream, file->key);
      }
}

const GArray *
plait_vocabulary_texts_written (const PlaitExperiment *experiment)
{
  const PlaitExperimentPrivate *own = (const PlaitExperimentPrivate *)experiment;

  return own->vocabulary_texts ? own->vocabulary_texts : own->data->vocabulary_texts;
}

/* TRUE if @stream is read as tokens of a vocabulary. */
static gboolean
is_tokens (const PlaitExperiment *experiment, const char *stream)
{
  for (guint i = 0; i < experiment->n_sources; i++)
    if (g_str_equal (experiment->sources[i].stream, stream))
      return plait_input_kind_is_text (experiment->sources[i].kind);
  return plait_experiment_target_kind (experiment, stream) <= PLAIT_TARGET_TAGS;
}

GPtrArray *
plait_experiment_vocabulary_streams (const PlaitExperiment *experiment, const char *name)
{
  g_autofree const char **used = plait_experiment_streams (experiment);
  GPtrArray *streams = g_ptr_array_new ();

  for (guint i = 0; used[i]; i++)
    if (is_tokens (experiment, used[i]) && g_str_equal (plait_experiment_vocabulary (experiment, used[i]), name))
      g_ptr_array_add (streams, (gpointer)used[i]);
  return streams;
}

const char **
plait_experiment_first_streams (const PlaitExperiment *experiment)
{
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  const char **streams = plait_experiment_streams (experiment);
  guint n = 0;

  for (guint i = 0; streams[i]; i++)
    if (is_tokens (experiment, streams[i])
        && g_hash_table_add (names, (gpointer)plait_experiment_vocabulary (experiment, streams[i])))
      streams[n++] = streams[i];
  streams[n] = NULL;
  return streams;
}

/* Appends the training text of @stream to @texts: its files, or the generated text. */
static void
add_training (GArray *texts, const PlaitExperiment *experiment, const char *stream)
{
  const char *const *paths = plait_experiment_data_files (experiment, "train", stream);
  PlaitVocabularyText text = { .stream = experiment->task ? stream : NULL };

  if (experiment->task)
    g_array_append_val (texts, text);
  for (guint i = 0; paths[i]; i++)
    {
      text.path = paths[i];
      g_array_append_val (texts, text);
    }
}

GArray *
plait_experiment_vocabulary_texts (const PlaitExperiment *experiment, const char *name)
{
  GArray *texts = g_array_new (FALSE, FALSE, sizeof (PlaitVocabularyText));
  const GArray *written = plait_vocabulary_texts_written (experiment);
  g_autoptr (GPtrArray) streams = plait_experiment_vocabulary_streams (experiment, name);
  guint n;

  for (guint i = 0; i < written->len; i++)
    {
      const PlaitDataFile *file = &g_array_index (written, PlaitDataFile, i);
      const PlaitVocabularyText text = { file->key, *file->paths, *file->paths ? NULL : file->written };

      if (g_str_equal (file->stream, name))
        g_array_append_val (texts, text);
    }
  n = texts->len;
  for (guint i = 0; i < streams->len && n == 0; i++)
    add_training (texts, experiment, streams->pdata[i]);
  return texts;
}

void
plait_experiment_set_vocabulary_texts (PlaitExperiment *experiment, const char *name, const GArray *texts)
{
  PlaitExperimentPrivate *own = (PlaitExperimentPrivate *)experiment;
  const GArray *before = plait_vocabulary_texts_written (experiment);
  GArray *after = g_array_new (FALSE, FALSE, sizeof (PlaitDataFile));

  for (guint i = 0; i < before->len; i++)
    if (!g_str_equal (g_array_index (before, PlaitDataFile, i).stream, name))
      g_array_append_val (after, g_array_index (before, PlaitDataFile, i));
  for (guint i = 0; i < texts->len; i++)
    {
      const PlaitVocabularyText *text = &g_array_index (texts, PlaitVocabularyText, i);
      g_autofree char *key = g_strdup_printf (PLAIT_VOCABULARY_TEXT_PREFIX "%s.%u", name, i + 1);
      const char *written = text->path ? plait_path_within (text->path, experiment->data.folder) : text->stream;
      PlaitDataFile file = {
        .stream = g_string_chunk_insert_const (own->data->texts, name),
        .written = g_string_chunk_insert_const (own->data->texts, written),
        .paths = list_path (own->data, text->path),
        .key = g_string_chunk_insert_const (own->data->texts, key),
      };

      g_array_append_val (after, file);
    }
  g_clear_pointer (&own->vocabulary_texts, g_array_unref);
  own->vocabulary_texts = after;
}
