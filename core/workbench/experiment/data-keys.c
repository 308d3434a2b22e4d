/* SPDX-License-Identifier: MIT */
#include "experiment/resolution.h"

#include <string.h>
#include <unistd.h>

#include "files/path.h"
#include "trees/trees.h"

/* This file reads [data]: settings, files of streams and vocabularies, and the task of a generated corpus. */

#define GENERATE_PREFIX "generate."

/*
 * Functions that read the task of a generated corpus
 */

static const char *
decimal (PlaitParsedData *data, gint64 value)
{
  g_autofree char *text = g_strdup_printf ("%jd", value);

  return g_string_chunk_insert (data->texts, text);
}

/* Declares the task's parameters as settings with the keys generate.NAME. */
static void
make_task_settings (PlaitParsedData *data)
{
  g_autoptr (GArray) parameters = plait_task_parameters (data->task);
  g_autoptr (GPtrArray) places = g_ptr_array_new ();

  for (guint i = 0; i < parameters->len; i++)
    {
      const PlaitTaskParameter *parameter = &g_array_index (parameters, PlaitTaskParameter, i);
      g_autofree char *key = g_strconcat (GENERATE_PREFIX, parameter->name, NULL);
      PlaitSettingSpecification specification = {
        .name = g_string_chunk_insert (data->texts, key),
        .type = PLAIT_SETTING_INTEGER,
        .standard = decimal (data, parameter->initial),
        .minimum = decimal (data, parameter->minimum),
        .maximum = decimal (data, parameter->maximum),
        .summary = parameter->summary,
      };

      g_array_append_val (data->task_specifications, specification);
    }
  for (guint i = 0; i < data->task_specifications->len; i++)
    g_ptr_array_add (places, &g_array_index (data->task_specifications, PlaitSettingSpecification, i));
  data->task_settings = plait_settings_new ((const PlaitSettingSpecification *const *)places->pdata, places->len);
}

static void
find_task (const PlaitResolution *resolution)
{
  PlaitParsedData *data = resolution->experiment->data;
  const char *name = plait_key_file_value (resolution->file, "data", "generate");
  g_autoptr (GError) fault = NULL;

  if (!name || *name == '\0')
    return;
  data->task = plait_task_find (name, &fault);
  if (!data->task)
    plait_resolution_problem (resolution, "data", "generate", "%s", fault->message);
  else
    make_task_settings (data);
}

static void
read_task_key (const PlaitResolution *resolution, const char *key)
{
  PlaitSettings *settings = resolution->experiment->data->task_settings;
  g_autoptr (GError) fault = NULL;

  if (!settings)
    {
      if (!plait_key_file_value (resolution->file, "data", "generate"))
        plait_resolution_problem (resolution, "data", key,
                                  "is for a generated corpus; add generate=TASK, or drop the key");
      return;
    }
  if (plait_settings_find (settings, key) < 0)
    {
      const char *task = resolution->experiment->data->task->name;
      g_autofree char *remedy = plait_settings_remedy (settings, key, NULL);

      plait_resolution_problem (resolution, "data", key, "the task %s has no such parameter; %s", task, remedy);
    }
  else if (!plait_settings_set (settings, key, plait_key_file_value (resolution->file, "data", key), &fault))
    plait_resolution_problem (resolution, "data", key, "%s", fault->message);
}

static void
fill_task_settings (const PlaitResolution *resolution)
{
  PlaitParsedData *data = resolution->experiment->data;

  if (!data->task)
    return;
  data->task_values = plait_task_defaults (data->task);
  for (guint i = 0; i < plait_settings_n (data->task_settings); i++)
    {
      const char *key = plait_settings_specification (data->task_settings, i)->name;
      gint64 value = g_ascii_strtoll (plait_settings_text_at (data->task_settings, i), NULL, 10);
      g_autoptr (GError) fault = NULL;

      if (!plait_task_set (data->task, &data->task_values, key + strlen (GENERATE_PREFIX), value, &fault))
        plait_resolution_problem (resolution, "data", key, "%s", fault->message);
    }
}

/*
 * Functions that read the keys of files
 */

static gboolean
is_split (const char *split)
{
  return g_str_equal (split, "train") || g_str_equal (split, "validation")
         || (g_str_has_prefix (split, "test") && plait_name_is_valid (split));
}

/* TRUE if @stream is a name, perhaps with names or numbers after it, separated by dots, such as en.trees or
 * cs.reference.2. */
static gboolean
is_stream (const char *stream)
{
  g_auto (GStrv) parts = g_strsplit (stream, ".", -1);

  for (guint i = 0; parts[i]; i++)
    if (!plait_name_is_valid (parts[i])
        && (i == 0 || *parts[i] == '\0' || strspn (parts[i], "0123456789") < strlen (parts[i])))
      return FALSE;
  return parts[0] != NULL;
}

static const PlaitSettingSpecification any_text = { "file", PLAIT_SETTING_TEXT };

/* Returns the absolute path of the file with the name @text in the value of @key, or NULL after adding a problem.
 * Replaces "~" and variables in the name. Appends the name to @written, which separates names by ';'. If @listed,
 * escapes the appended name as an item of a list. (transfer full) */
static char *
read_path (const PlaitResolution *resolution, const char *key, const char *text, gboolean listed, GString *written)
{
  PlaitParsedData *data = resolution->experiment->data;
  g_autoptr (GError) fault = NULL;
  g_autofree char *expanded = plait_path_expand (text, &fault);
  g_autofree char *name = expanded ? plait_setting_parse (&any_text, expanded, NULL, &fault) : NULL;

  if (!name || *name == '\0')
    {
      plait_resolution_problem (resolution, "data", key, "%s",
                                fault ? fault->message : "the key names no file; name one");
      return NULL;
    }
  g_autofree char *path = g_canonicalize_filename (name, data->folder);
  g_autofree char *item = listed ? plait_key_file_escape_item (name) : g_strdup (name);
  g_string_append_printf (written, "%s%s", written->len > 0 ? ";" : "", item);
  if (!(resolution->resolver->flags & PLAIT_RESOLVE_CHECK_FILES))
    return g_steal_pointer (&path);
  if (!g_file_test (path, G_FILE_TEST_EXISTS) && strchr (name, ';'))
    plait_resolution_problem (
        resolution, "data", key,
        "there is no file %s; only streams of the training split take several files: join the files into one", path);
  else if (!g_file_test (path, G_FILE_TEST_EXISTS))
    plait_resolution_problem (resolution, "data", key,
                              g_path_is_absolute (name) ? "there is no file %s; name another"
                                                        : "there is no file %s; name one relative to %s, or set folder",
                              path, data->folder);
  else if (!g_file_test (path, G_FILE_TEST_IS_REGULAR))
    plait_resolution_problem (resolution, "data", key, "%s is not a regular file; name a regular file", path);
  else if (access (path, R_OK) != 0)
    plait_resolution_problem (resolution, "data", key, "%s cannot be read; change its permissions", path);
  else
    return g_steal_pointer (&path);
  return NULL;
}

gboolean
plait_data_file_is_list (const PlaitDataFile *file)
{
  return g_strcmp0 (file->split, "train") == 0;
}

/* Returns the file names in the value of @key: several if @listed, otherwise the whole value as one name. (transfer
 * full) */
static GStrv
list_names (const PlaitResolution *resolution, const char *key, gboolean listed)
{
  const char *const one[] = { plait_key_file_value (resolution->file, "data", key), NULL };

  return listed ? plait_key_file_list (resolution->file, "data", key) : g_strdupv ((char **)one);
}

gboolean
plait_resolution_read_file_name (const PlaitResolution *resolution, const char *key, PlaitDataFile *file)
{
  PlaitParsedData *data = resolution->experiment->data;
  gboolean listed = plait_data_file_is_list (file);
  g_auto (GStrv) names = list_names (resolution, key, listed);
  guint n_names = MAX (g_strv_length (names), 1), n = 0; /* an empty list stands for one file with an empty name */
  g_auto (GStrv) paths = g_new0 (char *, n_names + 1);
  g_autoptr (GString) written = g_string_new (NULL);

  for (guint i = 0; i < n_names; i++)
    {
      paths[n] = read_path (resolution, key, names[i] ? names[i] : "", listed, written);
      n += paths[n] != NULL;
    }
  file->key = g_string_chunk_insert (data->texts, key);
  file->written = g_string_chunk_insert (data->texts, written->str);
  if (n < n_names)
    return FALSE;
  file->paths = g_steal_pointer (&paths);
  g_ptr_array_add (data->paths, file->paths);
  return TRUE;
}

/* Reads a key with a dot, such as "train.en", "vocabulary.cs" or "generate.length". Returns FALSE if @key has no
 * dot. */
static gboolean
take_data_key (const PlaitResolution *resolution, const char *group, const char *key, gconstpointer nothing)
{
  PlaitParsedData *data = resolution->experiment->data;
  const char *dot = strchr (key, '.');
  PlaitDataFile file = { NULL };

  if (!dot)
    return FALSE;
  if (g_str_has_prefix (key, GENERATE_PREFIX))
    {
      read_task_key (resolution, key);
      return TRUE;
    }
  if (g_str_has_prefix (key, PLAIT_VOCABULARY_TEXT_PREFIX))
    {
      plait_resolution_read_vocabulary_text (resolution, key);
      return TRUE;
    }
  if (g_str_has_prefix (key, PLAIT_VOCABULARY_PREFIX))
    {
      file.stream = g_string_chunk_insert (data->texts, key + strlen (PLAIT_VOCABULARY_PREFIX));
      if (plait_resolution_read_file_name (resolution, key, &file))
        g_array_append_val (data->vocabulary_files, file);
      return TRUE;
    }

  g_autofree char *split = g_strndup (key, (gsize)(dot - key));
  if (!is_split (split))
    {
      static const char *const splits[] = { "train", "validation", "test", NULL };
      g_autofree char *remedy
          = plait_name_remedy (split, splits, "splits are train, validation, and names that begin with test");

      plait_resolution_problem (resolution, group, key, "\"%s\" is not a split; %s", split, remedy);
    }
  else if (!is_stream (dot + 1))
    plait_resolution_problem (
        resolution, group, key,
        "\"%s\" is not a name of a stream; write SPLIT.STREAM, such as train.en, where STREAM is " PLAIT_NAME_FORM,
        dot + 1);
  else
    {
      file.split = g_string_chunk_insert_const (data->texts, split);
      file.stream = g_string_chunk_insert (data->texts, dot + 1);
      if (plait_resolution_read_file_name (resolution, key, &file))
        g_array_append_val (data->files, file);
      if (g_str_has_prefix (split, "test") && !g_ptr_array_find (data->test_splits, file.split, NULL))
        g_ptr_array_add (data->test_splits, (gpointer)file.split);
    }
  return TRUE;
}

/* Makes data.folder absolute. Must run before file names, which are relative to data.folder, are read. */
static void
find_folder (const PlaitResolution *resolution)
{
  PlaitParsedData *data = resolution->experiment->data;
  const char *written = plait_key_file_value (resolution->file, "data", "folder");
  g_autoptr (GError) fault = NULL;
  g_autofree char *expanded = plait_path_expand (written ? written : "", &fault);
  g_autofree char *folder = g_canonicalize_filename (expanded ? expanded : "", resolution->resolver->folder);
  g_autofree char *text = plait_setting_parse (&any_text, folder, NULL, NULL);

  if (!expanded)
    plait_resolution_problem (resolution, "data", "folder", "%s", fault->message);
  /* Runs store the folder's name as text, so it must be UTF-8. */
  else if (!text)
    plait_resolution_problem (
        resolution, "data", "folder",
        "the folder's name is not UTF-8, has a control character or is too long; rename it, or name another");
  data->folder = g_string_chunk_insert (data->texts, folder);
}

/* Finds the head rules for making given trees binary. A run stores the rules, so their file may be missing when a run
 * is read. */
static void
find_head_rules (const PlaitResolution *resolution)
{
  PlaitExperiment *experiment = &resolution->experiment->public;
  const PlaitDataSettings *data = &experiment->data;
  g_autoptr (GError) fault = NULL;

  if (!plait_experiment_reads_trees (experiment) || data->trees != PLAIT_TREES_GIVEN
      || data->binarisation != PLAIT_BINARISE_HEAD)
    return;
  experiment->head_rules
      = plait_registry_find_text (resolution->resolver->registry, PLAIT_HEAD_RULES_FOLDER, data->head_rules, &fault);
  if (!experiment->head_rules && (resolution->resolver->flags & PLAIT_RESOLVE_CHECK_FILES))
    plait_resolution_problem (resolution, "data", "head_rules", "%s", fault->message);
}

/* Reads the group [data] into resolution->experiment->data. */
static void
read_data (const PlaitResolution *resolution)
{
  PlaitParsedData *data = resolution->experiment->data;

  find_folder (resolution);
  find_task (resolution);
  /* The task sets the default target and the default streams of documents; keys of the file replace them. */
  if (data->task)
    {
      const char *const *streams = data->task->streams;
      plait_settings_set (data->settings, "target", streams[g_strv_length ((char **)streams) - 1], NULL);
      if (data->task->documents)
        plait_settings_set (data->settings, "documents", data->task->documents, NULL);
    }
  plait_resolution_read_group (resolution, "data", data->settings, take_data_key, NULL);
  fill_task_settings (resolution);
  plait_resolution_check_vocabulary_texts (resolution);
  if (data->task)
    g_ptr_array_add (data->test_splits, (gpointer) "test");
}

static PlaitParsedData *
parsed_data_new (void)
{
  PlaitParsedData *data = g_new0 (PlaitParsedData, 1);

  data->texts = g_string_chunk_new (1024);
  data->settings = plait_settings_new_for_group (&plait_data_group);
  data->files = g_array_new (FALSE, FALSE, sizeof (PlaitDataFile));
  data->vocabulary_files = g_array_new (FALSE, FALSE, sizeof (PlaitDataFile));
  data->vocabulary_texts = g_array_new (FALSE, FALSE, sizeof (PlaitDataFile));
  data->paths = g_ptr_array_new_with_free_func ((GDestroyNotify)g_strfreev);
  data->test_splits = g_ptr_array_new_null_terminated (8, NULL, TRUE);
  data->task_specifications = g_array_new (FALSE, TRUE, sizeof (PlaitSettingSpecification));
  return data;
}

void
plait_parsed_data_free (gpointer data_in_file)
{
  PlaitParsedData *data = data_in_file;

  plait_settings_free (data->task_settings);
  plait_task_settings_clear (&data->task_values);
  g_ptr_array_unref (data->paths);
  g_ptr_array_unref (data->test_splits);
  g_array_unref (data->files);
  g_array_unref (data->vocabulary_files);
  g_array_unref (data->vocabulary_texts);
  g_array_unref (data->task_specifications);
  g_string_chunk_free (data->texts);
  g_free (data);
}

void
plait_resolution_read_data (const PlaitResolution *resolution)
{
  PlaitExperiment *public = &resolution->experiment->public;
  PlaitParsedData *data = resolution->experiment->data = parsed_data_new ();

  read_data (resolution);
  plait_settings_fill_group (data->settings, &plait_data_group, &public->data);
  /* A missing target was already reported. No stream has an empty name, so the remaining checks can run. */
  if (!public->data.target)
  public->data.target = "";
  g_hash_table_insert (resolution->experiment->settings, (gpointer) "data", data->settings);
  public->data.folder = data->folder;
  public->task = data->task;
  public->task_settings = data->task_values;
  public->test_splits = (const char *const *)data->test_splits->pdata;
  find_head_rules (resolution);
}
