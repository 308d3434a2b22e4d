/* SPDX-License-Identifier: MIT */
#include "experiment/resolution.h"

#include <string.h>
#include <unistd.h>

#include "data/trees.h"

/* [data]: settings, files of streams and vocabularies, and the task of a generated corpus. */

#define VOCABULARY_PREFIX "vocabulary."
#define GENERATE_PREFIX "generate."
#define MOST_TUPLES 10000000

/*
 * The generated task.
 */

static char *
decimal (gint64 value)
{
  return g_strdup_printf ("%" G_GINT64_FORMAT, value);
}

static void
add_task_setting (PlaitExperimentPrivate *experiment, const char *name, gint64 initial, gint64 minimum, gint64 maximum,
                  const char *summary)
{
  g_autofree char *standard = decimal (initial), *least = decimal (minimum), *most = decimal (maximum);
  PlaitSettingSpecification specification = {
    .name = name,
    .type = PLAIT_SETTING_INTEGER,
    .standard = g_string_chunk_insert (experiment->texts, standard),
    .minimum = g_string_chunk_insert (experiment->texts, least),
    .maximum = g_string_chunk_insert (experiment->texts, most),
    .summary = summary,
  };

  g_array_append_val (experiment->task_specifications, specification);
}

/* The keys generate.NAME of @task as settings. */
static void
make_task_settings (PlaitExperimentPrivate *experiment, const PlaitTask *task)
{
  g_auto (PlaitTaskSettings) usual = plait_task_defaults (task);
  g_autoptr (GPtrArray) places = g_ptr_array_new ();

  add_task_setting (experiment, "seed", (gint64)usual.seed, 0, G_MAXINT64, "Seed of the corpus");
  for (guint i = 0; i < PLAIT_TASK_SPLITS; i++)
    add_task_setting (experiment, plait_task_splits[i], usual.sizes[i], 1, MOST_TUPLES, "Tuples of this split");
  for (gint64 i = 0; i < task->n_parameters; i++)
    {
      const PlaitTaskParameter *parameter = &task->parameters[i];

      add_task_setting (experiment, parameter->name, parameter->initial, parameter->minimum, parameter->maximum,
                        parameter->summary);
    }
  for (guint i = 0; i < experiment->task_specifications->len; i++)
    g_ptr_array_add (places, &g_array_index (experiment->task_specifications, PlaitSettingSpecification, i));
  experiment->task_settings = plait_settings_new ((const PlaitSettingSpecification *const *)places->pdata, places->len);
}

static void
find_task (const PlaitResolution *resolution)
{
  PlaitExperimentPrivate *experiment = resolution->experiment;
  const char *name = plait_key_file_value (resolution->file, "data", "generate");
  g_autoptr (GError) fault = NULL;

  if (name == NULL || *name == '\0')
    return;
  experiment->public.task = plait_task_find (name, &fault);
  if (experiment->public.task == NULL)
    plait_resolution_problem (resolution, "data", "generate", "%s", fault->message);
  else
    make_task_settings (experiment, experiment->public.task);
}

static void
read_task_key (const PlaitResolution *resolution, const char *key)
{
  PlaitSettings *settings = resolution->experiment->task_settings;
  const char *name = key + strlen (GENERATE_PREFIX);
  g_autoptr (GError) fault = NULL;

  if (settings == NULL)
    {
      if (plait_key_file_value (resolution->file, "data", "generate") == NULL)
        plait_resolution_problem (resolution, "data", key, "belongs to a generated corpus; add generate=TASK");
      return;
    }
  if (plait_settings_find (settings, name) < 0)
    {
      const char *nearest = plait_settings_nearest (settings, name);
      const char *task = resolution->experiment->public.task->name;

      if (nearest != NULL)
        plait_resolution_problem (resolution, "data", key, "the task %s has no such parameter; did you mean \"%s%s\"?",
                                  task, GENERATE_PREFIX, nearest);
      else
        plait_resolution_problem (resolution, "data", key,
                                  "the task %s has no such parameter; plait generate %s --help lists them", task, task);
    }
  else if (!plait_settings_set (settings, name, plait_key_file_value (resolution->file, "data", key), &fault))
    plait_resolution_problem (resolution, "data", key, "%s", fault->message);
}

static void
fill_task_settings (const PlaitResolution *resolution)
{
  PlaitExperimentPrivate *experiment = resolution->experiment;
  PlaitExperiment *public = &experiment->public;

  if (public->task == NULL)
    return;
  public->task_settings = plait_task_defaults (public->task);
  for (guint i = 0; i < plait_settings_n (experiment->task_settings); i++)
    {
      const char *name = plait_settings_specification (experiment->task_settings, i)->name;
      gint64 value = g_ascii_strtoll (plait_settings_text_at (experiment->task_settings, i), NULL, 10);
      g_autofree char *key = g_strconcat (GENERATE_PREFIX, name, NULL);
      g_autoptr (GError) fault = NULL;

      if (!plait_task_set (public->task, &public->task_settings, name, value, &fault))
        plait_resolution_problem (resolution, "data", key, "%s", fault->message);
    }
}

/*
 * Files.
 */

static gboolean
is_split (const char *split)
{
  return g_str_equal (split, "train") || g_str_equal (split, "validation")
         || (g_str_has_prefix (split, "test") && plait_name_is_valid (split));
}

/* A stream is a name, or names between dots (en.trees). */
static gboolean
is_stream (const char *stream)
{
  g_auto (GStrv) parts = g_strsplit (stream, ".", -1);

  for (guint i = 0; parts[i] != NULL; i++)
    if (!plait_name_is_valid (parts[i]))
      return FALSE;
  return parts[0] != NULL;
}

static const PlaitSettingSpecification any_text = { "file", PLAIT_SETTING_TEXT };

/* A file name as a value, relative to data.folder. FALSE after noting why it is none. */
static gboolean
read_file_name (const PlaitResolution *resolution, const char *key, PlaitDataFile *file)
{
  GStringChunk *texts = resolution->experiment->texts;
  g_autoptr (GError) fault = NULL;
  g_autofree char *name
      = plait_setting_parse (&any_text, plait_key_file_value (resolution->file, "data", key), NULL, &fault);

  if (name == NULL || *name == '\0')
    {
      plait_resolution_problem (resolution, "data", key, "%s", fault != NULL ? fault->message : "no file is named");
      return FALSE;
    }
  g_autofree char *path = g_canonicalize_filename (name, resolution->experiment->public.data.folder);
  file->key = g_string_chunk_insert (texts, key);
  file->written = g_string_chunk_insert (texts, name);
  file->path = g_string_chunk_insert (texts, path);
  if (!(resolution->flags & PLAIT_RESOLVE_CHECK_FILES))
    return TRUE;
  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    plait_resolution_problem (resolution, "data", key, "there is no file %s; name one relative to %s, or set folder",
                              path, resolution->experiment->public.data.folder);
  else if (!g_file_test (path, G_FILE_TEST_IS_REGULAR))
    plait_resolution_problem (resolution, "data", key, "%s is not a regular file; name one", path);
  else if (access (path, R_OK) != 0)
    plait_resolution_problem (resolution, "data", key, "%s may not be read; change its permissions", path);
  else
    return TRUE;
  return FALSE;
}

/* A key with a dot: "train.en", "vocabulary.cs", "generate.length". */
static gboolean
take_data_key (const PlaitResolution *resolution, const char *group, const char *key)
{
  PlaitExperimentPrivate *experiment = resolution->experiment;
  const char *dot = strchr (key, '.');
  PlaitDataFile file = { NULL };

  if (dot == NULL)
    return FALSE;
  if (g_str_has_prefix (key, GENERATE_PREFIX))
    {
      read_task_key (resolution, key);
      return TRUE;
    }
  if (g_str_has_prefix (key, VOCABULARY_PREFIX))
    {
      file.stream = g_string_chunk_insert (experiment->texts, key + strlen (VOCABULARY_PREFIX));
      if (read_file_name (resolution, key, &file))
        g_array_append_val (experiment->vocabulary_files, file);
      return TRUE;
    }

  g_autofree char *split = g_strndup (key, (gsize)(dot - key));
  if (!is_split (split))
    plait_resolution_problem (resolution, group, key,
                              "\"%s\" is no split; splits are train, validation, and names that begin with test",
                              split);
  else if (!is_stream (dot + 1))
    plait_resolution_problem (resolution, group, key,
                              "\"%s\" is no name of a stream; give SPLIT.STREAM, such as train.en", dot + 1);
  else
    {
      file.split = g_string_chunk_insert_const (experiment->texts, split);
      file.stream = g_string_chunk_insert (experiment->texts, dot + 1);
      if (read_file_name (resolution, key, &file))
        g_array_append_val (experiment->files, file);
      if (g_str_has_prefix (split, "test") && !g_ptr_array_find (experiment->test_splits, file.split, NULL))
        g_ptr_array_add (experiment->test_splits, (gpointer)file.split);
    }
  return TRUE;
}

/* data.folder, made absolute, before any file is read relative to it. */
static void
find_folder (const PlaitResolution *resolution)
{
  PlaitExperimentPrivate *experiment = resolution->experiment;
  const char *written = plait_key_file_value (resolution->file, "data", "folder");
  g_autofree char *folder = g_canonicalize_filename (written != NULL ? written : "", resolution->folder);
  g_autofree char *text = plait_setting_parse (&any_text, folder, NULL, NULL);

  /* Runs keep it as text. */
  if (text == NULL)
    plait_resolution_problem (resolution, "data", "folder",
                              "the folder's name is no plain UTF-8 text; rename it, or name another");
  experiment->public.data.folder = g_string_chunk_insert (experiment->texts, folder);
}

/* The rules that given trees are made binary by. A run keeps its own, so those of a file need not be there then. */
static void
find_head_rules (const PlaitResolution *resolution)
{
  PlaitExperimentPrivate *experiment = resolution->experiment;
  const PlaitDataSettings *data = &experiment->public.data;
  gboolean reads = FALSE;
  g_autoptr (GError) fault = NULL;

  for (guint i = 0; i < experiment->used->len; i++)
    reads |= g_array_index (experiment->used, PlaitExperimentSource, i).trees != NULL;
  if (!reads || data->trees != PLAIT_TREES_GIVEN || data->binarisation != PLAIT_BINARISE_HEAD)
    return;
  g_autofree char *path
      = plait_registry_find_text (resolution->registry, PLAIT_HEAD_RULES_FOLDER, data->head_rules, &fault);
  if (path != NULL)
    experiment->public.head_rules = g_string_chunk_insert (experiment->texts, path);
  else if (resolution->flags & PLAIT_RESOLVE_CHECK_FILES)
    plait_resolution_problem (resolution, "data", "head_rules", "%s", fault->message);
}

void
plait_resolution_read_data (const PlaitResolution *resolution)
{
  PlaitExperimentPrivate *experiment = resolution->experiment;
  PlaitExperiment *public = &experiment->public;
  const char *folder;

  find_folder (resolution);
  folder = public->data.folder;
  find_task (resolution);
  experiment->data = plait_settings_new_for_group (&plait_data_group);
  /* The task knows what there is to be predicted. */
  if (public->task != NULL)
    {
      const char *const *streams = public->task->streams;
      plait_settings_set (experiment->data, "target", streams[g_strv_length ((char **)streams) - 1], NULL);
    }
  plait_resolution_read_group (resolution, "data", experiment->data, take_data_key);
  plait_settings_fill_group (experiment->data, &plait_data_group, &public->data);
  public->data.folder = folder;
  fill_task_settings (resolution);
  find_head_rules (resolution);
  if (public->task != NULL)
    g_ptr_array_add (experiment->test_splits, (gpointer) "test");
  g_ptr_array_add (experiment->test_splits, NULL);
  public->test_splits = (const char *const *)experiment->test_splits->pdata;
}
