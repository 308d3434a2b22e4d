/* SPDX-License-Identifier: MIT */
#include "experiment/file.h"

#include <string.h>

#include "files/path.h"
#include "trees/trees.h"
#include "experiment/resolution.h"

/* This file loads experiment files, and writes a resolved experiment as text. */

gboolean
plait_experiment_split_key (const char *dotted, char **group, char **key)
{
  static const char source[] = "source.";
  const char *name = g_str_has_prefix (dotted, source) ? dotted + strlen (source) : NULL;
  const char *dot = strchr (name ? name : dotted, '.');

  if (!dot || dot == dotted || dot == name || dot[1] == '\0')
    return FALSE;
  if (name)
    *group = g_strdup_printf ("source %.*s", (int)(dot - name), name);
  else
    *group = g_strndup (dotted, (gsize)(dot - dotted));
  *key = g_strdup (dot + 1);
  return TRUE;
}

/* TRUE if @key in [@group] is a setting whose value is the path of a file or folder. */
static gboolean
is_path_setting (const char *group, const char *key)
{
  const PlaitSettingSpecification *specification = plait_experiment_setting (group, key);

  if (specification)
    return (specification->flags & PLAIT_SETTING_PATH) != 0;
  return g_str_equal (group, "data") && strchr (key, '.') && !g_str_has_prefix (key, "generate.");
}

/* Returns @text with backslashes escaped for a key-file. No other character of a value needs an escape. (transfer
 * full) */
static char *
escape_value (const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, "\\", -1);

  return g_strjoinv ("\\\\", parts);
}

/* Returns the absolute path of @written, which is relative to the current folder, escaped for a key-file. (transfer
 * full) */
static char *
path_from_here (const char *written, GError **error)
{
  g_autofree char *path = plait_path_expand (written, error);
  g_autofree char *absolute = path && *path != '\0' ? g_canonicalize_filename (path, NULL) : g_strdup (path);
  g_autofree char *literal = absolute ? plait_path_escape (absolute) : NULL;

  return literal ? escape_value (literal) : NULL;
}

/* Makes the paths of a key from the command line absolute. They are relative to the current folder, whereas paths in an
 * experiment file are relative to that file. */
static gboolean
set_from_here (PlaitKeyFile *file, const char *group, const char *key, GError **error)
{
  gboolean several = g_str_equal (group, "data") && g_str_has_prefix (key, "train.");
  g_auto (GStrv) paths = g_strsplit (plait_key_file_value (file, group, key), ";", several ? -1 : 1);
  g_autofree char *value = NULL;

  for (guint i = 0; paths[i]; i++)
    {
      char *path = path_from_here (g_strstrip (paths[i]), error);

      if (!path)
        return FALSE;
      g_free (paths[i]);
      paths[i] = path;
    }
  value = g_strjoinv (";", paths);
  return plait_key_file_set (file, group, key, value, NULL, error);
}

/* Removes the key @dotted, the value of --unset, from @file. */
static void
unset (PlaitKeyFile *file, const char *dotted, PlaitProblems *problems)
{
  g_autofree char *group = NULL, *key = NULL;

  if (!plait_experiment_split_key (dotted, &group, &key))
    plait_problems_add (problems, "--unset %s: is not GROUP.KEY; write it like train.initialise or source.en.layers",
                        dotted);
  else if (!plait_key_file_value (file, group, key))
    plait_problems_add (problems, "--unset %s: the file has no key %s in [%s]; leave the option out", dotted, key,
                        group);
  else
    plait_key_file_remove (file, group, key);
}

/* Applies an override to @file. @text is the value of --set, or PLAIT_EXPERIMENT_UNSET followed by the value of
 * --unset. */
static void
override (PlaitKeyFile *file, const char *text, PlaitProblems *problems)
{
  if (*text == PLAIT_EXPERIMENT_UNSET)
    {
      unset (file, text + 1, problems);
      return;
    }

  const char *equals = strchr (text, '=');
  g_autofree char *origin = g_strdup_printf ("--set %s", text);
  g_autofree char *dotted = NULL, *group = NULL, *key = NULL;
  g_autoptr (GError) fault = NULL;

  if (equals)
    dotted = g_strstrip (g_strndup (text, (gsize)(equals - text)));
  if (!dotted || !plait_experiment_split_key (dotted, &group, &key))
    plait_problems_add (problems, "%s: is not GROUP.KEY=VALUE; write it like decoder.layers=4 or source.en.layers=4",
                        origin);
  else if (!plait_key_file_set (file, group, key, equals + 1, origin, &fault))
    plait_problems_add_error (problems, g_steal_pointer (&fault));
  else if (is_path_setting (group, key) && !set_from_here (file, group, key, &fault))
    plait_problems_add_key (problems, file, group, key, "%s", fault->message);
}

char *
plait_experiment_set_from_here (const char *set, GError **error)
{
  g_autoptr (PlaitProblems) problems = plait_problems_new ();
  g_autoptr (PlaitKeyFile) file = plait_key_file_new ("--set");
  g_autofree char *value = NULL;
  const char *group, *key;

  override (file, set, problems);
  if (!plait_problems_report (problems, PLAIT_ERROR_INPUT, error))
    return NULL;
  group = plait_key_file_groups (file)[0];
  key = plait_key_file_keys (file, group)[0];
  if (!is_path_setting (group, key))
    return g_strdup (set);
  value = escape_value (plait_key_file_value (file, group, key));
  return g_strdup_printf ("%s.%s=%s", group, key, value);
}

static gboolean
override_all (PlaitKeyFile *file, const char *const *overrides, GError **error)
{
  g_autoptr (PlaitProblems) problems = plait_problems_new ();

  for (guint i = 0; overrides && overrides[i]; i++)
    override (file, overrides[i], problems);
  return plait_problems_report (problems, PLAIT_ERROR_INPUT, error);
}

PlaitKeyFile *
plait_experiment_read (const char *path, const char *const *overrides, GError **error)
{
  g_autoptr (PlaitKeyFile) file = plait_key_file_load_pipe (path, error);

  return file && override_all (file, overrides, error) ? g_steal_pointer (&file) : NULL;
}

/* TRUE if @absolute names an open file of the process, such as /dev/stdin. */
static gboolean
is_open_file (const char *absolute)
{
  return g_str_equal (absolute, "/dev/stdin") || g_str_has_prefix (absolute, "/dev/fd/")
         || g_str_has_prefix (absolute, "/proc/");
}

char *
plait_experiment_folder (const char *path)
{
  g_autofree char *absolute = g_canonicalize_filename (path, NULL);

  return g_file_test (path, G_FILE_TEST_IS_REGULAR) && !is_open_file (absolute) ? g_path_get_dirname (absolute)
                                                                                : g_get_current_dir ();
}

PlaitExperiment *
plait_experiment_check (const char *path, const char *const *overrides, PlaitResolveFlags flags,
                        PlaitRegistry *registry, PlaitProblems *problems)
{
  GError *fault = NULL;
  g_autoptr (PlaitKeyFile) file = plait_experiment_read (path, overrides, &fault);

  if (!file)
    {
      plait_problems_add_error (problems, fault);
      return NULL;
    }
  g_autoptr (PlaitResolver) resolver = plait_resolver_new (file, path, flags, registry);
  return plait_resolver_resolve (resolver, file, problems);
}

PlaitExperiment *
plait_experiment_load (const char *path, const char *const *overrides, PlaitResolveFlags flags, PlaitRegistry *registry,
                       GError **error)
{
  g_autoptr (PlaitProblems) problems = plait_problems_new ();
  g_autoptr (PlaitExperiment) experiment = plait_experiment_check (path, overrides, flags, registry, problems);

  return plait_problems_report (problems, PLAIT_ERROR_INPUT, error) ? g_steal_pointer (&experiment) : NULL;
}

PlaitExperiment *
plait_experiment_parse (const char *text, const char *name, const char *const *overrides, PlaitRegistry *registry,
                        GError **error)
{
  g_autoptr (PlaitKeyFile) file = plait_key_file_load_data (text, -1, name, error);
  g_autoptr (PlaitResolver) resolver = plait_resolver_new (NULL, NULL, 0, registry);
  g_autoptr (PlaitProblems) problems = plait_problems_new ();
  g_autoptr (PlaitExperiment) experiment = NULL;

  if (!file || !override_all (file, overrides, error))
    return NULL;
  experiment = plait_resolver_resolve (resolver, file, problems);
  return plait_problems_report (problems, PLAIT_ERROR_INPUT, error) ? g_steal_pointer (&experiment) : NULL;
}

/* Returns the values of the core's group @group. (transfer none) */
static const PlaitSettings *
settings_of (const PlaitExperiment *experiment, const char *group)
{
  return g_hash_table_lookup (((const PlaitExperimentPrivate *)experiment)->settings, group);
}

const char *
plait_experiment_value (const PlaitExperiment *experiment, const char *group, const char *key)
{
  const PlaitSettings *settings = settings_of (experiment, group);

  if (g_str_equal (group, "decoder") && plait_settings_find (settings, key) < 0)
    settings = experiment->decoder_component->parameters;
  return plait_settings_find (settings, key) >= 0 ? plait_settings_text (settings, key) : NULL;
}

/*
 * Functions that write an experiment as text
 */

/* Version of the core's defaults, which is part of the fingerprint. Increase it when the default of a core key changes,
 * because the brief form leaves defaults out. */
#define DEFAULTS "1"

typedef struct
{
  const PlaitExperiment *experiment;
  GString *text;
  guint skipped;     /* flags (PLAIT_SETTING_...) of settings to leave out */
  gboolean untested; /* TRUE: leave test splits out */
  gboolean brief;    /* TRUE: leave settings with their default values out */
} Writer;

static void
write_value (Writer *writer, const char *key, const char *value)
{
  g_autofree char *escaped = escape_value (value);

  g_string_append_printf (writer->text, "%s=%s\n", key, escaped);
}

/* Writes @key with a path, escaped because "~" and variables in paths are replaced when they are read. */
static void
write_path (Writer *writer, const char *key, const char *path)
{
  g_autofree char *literal = plait_path_escape (path);

  write_value (writer, key, literal);
}

static void
write_setting (Writer *writer, const PlaitSettingSpecification *specification, const char *value)
{
  if (!value || (specification->flags & writer->skipped) != 0
      || (writer->brief && g_strcmp0 (value, specification->standard) == 0))
    return;
  if ((specification->flags & PLAIT_SETTING_PATH) == 0)
    write_value (writer, specification->name, value);
  else
    write_path (writer, specification->name, writer->skipped && *value != '\0' ? "given" : value);
}

static void
write_settings (Writer *writer, const PlaitSettings *settings)
{
  for (guint i = 0; i < plait_settings_n (settings); i++)
    write_setting (writer, plait_settings_specification (settings, i), plait_settings_text_at (settings, i));
}

static void
write_heading (Writer *writer, const char *group)
{
  g_string_append_printf (writer->text, "%s[%s]\n", writer->text->len > 0 ? "\n" : "", group);
}

/* Writes a group of the core. */
static void
write_group (Writer *writer, const char *group)
{
  write_heading (writer, group);
  write_settings (writer, settings_of (writer->experiment, group));
}

/* Writes the group of @component with its parameters; nothing if @component is NULL. */
static void
write_part (Writer *writer, const PlaitComponent *component)
{
  if (!component)
    return;
  write_heading (writer, component->group);
  write_settings (writer, component->parameters);
}

/* Writes [experiment] with the names of all used sources. */
static void
write_experiment (Writer *writer)
{
  const PlaitSettings *settings = settings_of (writer->experiment, "experiment");
  g_autoptr (GString) sources = g_string_new (NULL);

  for (guint i = 0; i < writer->experiment->n_sources; i++)
    g_string_append_printf (sources, "%s%s", i > 0 ? "+" : "", writer->experiment->sources[i].name);
  write_heading (writer, "experiment");
  for (guint i = 0; i < plait_settings_n (settings); i++)
    {
      const PlaitSettingSpecification *specification = plait_settings_specification (settings, i);
      gboolean is_sources = g_str_equal (specification->name, "sources");

      write_setting (writer, specification, is_sources ? sources->str : plait_settings_text_at (settings, i));
    }
}

/* TRUE if @stream is the target or is read by a used source. */
static gboolean
is_used (const PlaitExperiment *experiment, const char *stream)
{
  g_autofree const char **used = plait_experiment_all_streams (experiment);

  return g_strv_contains (used, stream);
}

/* Writes the keys of those @files that are used. A fingerprint has no paths, since it is combined with digests of the
 * files. */
static void
write_files (Writer *writer, const GArray *files)
{
  const PlaitExperiment *experiment = writer->experiment;

  for (guint i = 0; i < files->len; i++)
    {
      const PlaitDataFile *file = &g_array_index (files, PlaitDataFile, i);

      if (writer->untested && file->split && g_strv_contains (experiment->test_splits, file->split))
        continue;
      if (g_str_equal (file->stream, "shared") || is_used (experiment, file->stream))
        write_path (writer, file->key, (writer->skipped & PLAIT_SETTING_NEUTRAL) ? "" : file->written);
    }
}

/* Writes the parameters of the task. The training fingerprint leaves out generate.test, since the size of a test split
 * does not change training. */
static void
write_task_settings (Writer *writer, const PlaitSettings *settings)
{
  for (guint i = 0; i < plait_settings_n (settings); i++)
    {
      const PlaitSettingSpecification *specification = plait_settings_specification (settings, i);

      if (!writer->untested || !g_str_equal (specification->name, "generate.test"))
        write_setting (writer, specification, plait_settings_text_at (settings, i));
    }
}

/* Writes [data]. Leaves out the settings for trees and documents if the experiment reads none. */
static void
write_data (Writer *writer)
{
  static const char *const of_trees[] = { "trees", "binarisation", "head_rules", "no_tree", NULL };
  const PlaitExperiment *experiment = writer->experiment;
  const PlaitParsedData *data = ((const PlaitExperimentPrivate *)experiment)->data;
  const PlaitSettings *settings = data->settings;

  write_heading (writer, "data");
  for (guint i = 0; i < plait_settings_n (settings); i++)
    {
      const PlaitSettingSpecification *specification = plait_settings_specification (settings, i);
      gboolean is_folder = g_str_equal (specification->name, "folder");
      g_autofree char *used = NULL;

      if (g_strv_contains (of_trees, specification->name) && !plait_experiment_reads_trees (experiment))
        continue;
      if (g_str_has_prefix (specification->name, "document") && !plait_experiment_reads_documents (experiment))
        continue;
      if (g_str_has_prefix (specification->name, "documents"))
        used = plait_documents_used (experiment, plait_settings_text_at (settings, i));
      write_setting (writer, specification,
                     is_folder ? data->folder
                     : used    ? used
                               : plait_settings_text_at (settings, i));
    }
  if (data->task_settings)
    write_task_settings (writer, data->task_settings);
  write_files (writer, data->files);
  write_files (writer, data->vocabulary_files);
  write_files (writer, plait_vocabulary_texts_written (experiment));
}

static void
write_source (Writer *writer, const PlaitExperimentSource *source)
{
  write_heading (writer, source->encoder->group);
  write_value (writer, "encoder", source->encoder->plugin->name);
  write_value (writer, "stream", source->stream);
  if (source->kind == PLAIT_INPUT_FEATURES)
    write_value (writer, "dataset", source->dataset);
  if (source->encoder->leaves)
    write_value (writer, "leaves", source->encoder->leaves->plugin->name);
  write_settings (writer, source->encoder->parameters);
  write_part (writer, source->encoder->leaves);
}

/* Writes all groups that affect training. */
static void
write_training (Writer *writer)
{
  const PlaitExperiment *experiment = writer->experiment;

  write_experiment (writer);
  write_data (writer);
  for (guint i = 0; i < experiment->n_sources; i++)
    write_source (writer, &experiment->sources[i]);
  if (!plait_experiment_has_decoder (experiment))
    write_group (writer, "predict");
  write_group (writer, "decoder");
  write_settings (writer, experiment->decoder_component->parameters);
  write_part (writer, experiment->combiner);
  write_part (writer, experiment->coverage);
  write_part (writer, experiment->output);
  write_group (writer, "train");
}

static void
write_evaluation (Writer *writer)
{
  write_group (writer, "decode");
  write_group (writer, "evaluate");
  for (guint i = 0; i < writer->experiment->n_scores; i++)
    {
      g_autofree char *key = g_strconcat ("scores.", writer->experiment->scores[i].name, NULL);

      write_value (writer, key, writer->experiment->scores[i].command);
    }
}

static char *
write_text (const PlaitExperiment *experiment, guint skipped)
{
  Writer writer = { .experiment = experiment, .text = g_string_new (NULL), .skipped = skipped };

  write_training (&writer);
  write_evaluation (&writer);
  return g_string_free (writer.text, FALSE);
}

char *
plait_experiment_text (const PlaitExperiment *experiment)
{
  return write_text (experiment, 0);
}

char *
plait_experiment_fingerprint_text (const PlaitExperiment *experiment)
{
  return write_text (experiment, PLAIT_SETTING_NEUTRAL);
}

static Writer
begin_key (const PlaitExperiment *experiment, PlaitFingerprintForm form)
{
  gboolean brief = form == PLAIT_FINGERPRINT_BRIEF;
  GString *text = g_string_new (brief ? "defaults=" DEFAULTS "\n" : "");

  return (Writer){ experiment, text, PLAIT_SETTING_NEUTRAL, .untested = TRUE, .brief = brief };
}

char *
plait_experiment_training_fingerprint_text (const PlaitExperiment *experiment, PlaitFingerprintForm form)
{
  Writer writer = begin_key (experiment, form);

  write_training (&writer);
  /* If translations choose the best parameters, search affects training. If validation text is masked, so does the seed
   * that chooses the masked words. */
  if (experiment->train.best_by == PLAIT_TRAIN_BEST_BY_METRIC)
    write_group (&writer, "decode");
  if (experiment->train.best_by == PLAIT_TRAIN_BEST_BY_METRIC && experiment->evaluate.join != PLAIT_PIECES_NONE)
    g_string_append_printf (writer.text, "\n[evaluate]\njoin=%s\n",
                            plait_experiment_value (experiment, "evaluate", "join"));
  if (experiment->predict.kind == PLAIT_PREDICT_MASKED)
    g_string_append_printf (writer.text, "\n[evaluate]\nseed=%jd\n", experiment->evaluate.seed);
  return g_string_free (writer.text, FALSE);
}

char *
plait_experiment_evaluation_fingerprint_text (const PlaitExperiment *experiment, PlaitFingerprintForm form)
{
  Writer writer = begin_key (experiment, form);

  write_evaluation (&writer);
  /* Truncation changes translations. Skipping changes only training text. */
  if (experiment->data.too_long == PLAIT_DATA_TOO_LONG_TRUNCATE)
    g_string_append (writer.text, "\n[data]\ntoo_long=truncate\n");
  return g_string_free (writer.text, FALSE);
}

/*
 * Functions that answer questions about an experiment
 */

/* Returns the paths of the entry for @stream in @files; an empty list if there is none. @split is NULL for files of
 * vocabularies. (transfer none) */
static const char *const *
find_paths (const GArray *files, const char *split, const char *stream)
{
  static const char *const none[] = { NULL };

  for (guint i = 0; i < files->len; i++)
    {
      const PlaitDataFile *file = &g_array_index (files, PlaitDataFile, i);

      if (g_strcmp0 (file->split, split) == 0 && g_str_equal (file->stream, stream))
        return (const char *const *)file->paths;
    }
  return none;
}

const char *const *
plait_experiment_data_files (const PlaitExperiment *experiment, const char *split, const char *stream)
{
  return find_paths (((const PlaitExperimentPrivate *)experiment)->data->files, split, stream);
}

const char *
plait_experiment_vocabulary_file (const PlaitExperiment *experiment, const char *name)
{
  return *find_paths (((const PlaitExperimentPrivate *)experiment)->data->vocabulary_files, NULL, name);
}

static void
add_once (GPtrArray *names, const char *name)
{
  if (name && !g_ptr_array_find_with_equal_func (names, name, g_str_equal, NULL))
    g_ptr_array_add (names, (gpointer)name);
}

/* TRUE if a split has a file of @stream. */
static gboolean
has_files (const PlaitExperiment *experiment, const char *stream)
{
  const GArray *files = ((const PlaitExperimentPrivate *)experiment)->data->files;

  for (guint i = 0; i < files->len; i++)
    if (g_strcmp0 (g_array_index (files, PlaitDataFile, i).stream, stream) == 0)
      return TRUE;
  return FALSE;
}

/* Adds the streams of further references in @split to @names; NULL: in all splits. */
static void
add_references (GPtrArray *names, const PlaitExperiment *experiment, const char *split)
{
  const GArray *files = ((const PlaitExperimentPrivate *)experiment)->data->files;

  for (guint i = 0; i < files->len; i++)
    {
      const PlaitDataFile *file = &g_array_index (files, PlaitDataFile, i);

      if ((!split || g_str_equal (file->split, split)) && plait_experiment_reference_name (experiment, file->stream))
        add_once (names, file->stream);
    }
}

/* Returns the used streams. With @trees, adds the streams of their trees. With @others, adds those of word alignments,
 * of further references and of loss weights. (transfer container) */
static const char **
list_streams (const PlaitExperiment *experiment, gboolean trees, gboolean others)
{
  GPtrArray *names = g_ptr_array_new ();

  for (guint i = 0; i < experiment->n_sources; i++)
    add_once (names, experiment->sources[i].stream);
  add_once (names, experiment->data.target);
  for (guint i = 0; i < experiment->n_sources && trees; i++)
    add_once (names, experiment->sources[i].trees);
  for (guint i = 0; i < experiment->n_sources && others; i++)
    if (has_files (experiment, experiment->sources[i].alignment))
      add_once (names, experiment->sources[i].alignment);
  if (others)
    add_references (names, experiment, NULL);
  if (others && *plait_experiment_data_files (experiment, "train", PLAIT_LOSS_WEIGHTS))
    add_once (names, PLAIT_LOSS_WEIGHTS);
  g_ptr_array_add (names, NULL);
  return (const char **)g_ptr_array_free (names, FALSE);
}

const char **
plait_experiment_streams (const PlaitExperiment *experiment)
{
  return list_streams (experiment, FALSE, FALSE);
}

const char *
plait_experiment_reference_name (const PlaitExperiment *experiment, const char *stream)
{
  g_autofree char *prefix = g_strconcat (experiment->data.target, PLAIT_REFERENCE, NULL);

  return g_str_has_prefix (stream, prefix) ? stream + strlen (prefix) : NULL;
}

const char **
plait_experiment_references (const PlaitExperiment *experiment, const char *split)
{
  GPtrArray *names = g_ptr_array_new ();

  add_references (names, experiment, split);
  g_ptr_array_add (names, NULL);
  return (const char **)g_ptr_array_free (names, FALSE);
}

const char **
plait_experiment_all_streams (const PlaitExperiment *experiment)
{
  return list_streams (experiment, experiment->data.trees == PLAIT_TREES_GIVEN, TRUE);
}

gboolean
plait_experiment_learns_alignment (const PlaitExperiment *experiment, const PlaitExperimentSource *source)
{
  return *plait_experiment_data_files (experiment, "train", source->alignment) != NULL;
}

gboolean
plait_experiment_reads_trees (const PlaitExperiment *experiment)
{
  for (guint i = 0; i < experiment->n_sources; i++)
    if (experiment->sources[i].trees)
      return TRUE;
  return FALSE;
}

gboolean
plait_experiment_has_decoder (const PlaitExperiment *experiment)
{
  return experiment->predict.kind == PLAIT_PREDICT_SEQUENCE;
}

gboolean
plait_experiment_check_sets (const PlaitExperiment *experiment, const char *const *sets, GError **error)
{
  static const char *const active[] = { "batch=", "precision=", "n_best=" };

  for (guint i = 0; sets && sets[i] && !plait_experiment_has_decoder (experiment); i++)
    {
      gboolean acts = !g_str_has_prefix (sets[i], "decode.");

      for (guint k = 0; k < G_N_ELEMENTS (active) && !acts; k++)
        acts = g_str_has_prefix (sets[i] + strlen ("decode."), active[k]);
      if (!acts)
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "--set %s: has no effect, since %s has no decoder that searches; leave it out", sets[i],
                           experiment->path);
    }
  return TRUE;
}

PlaitTargetKind
plait_experiment_target_kind (const PlaitExperiment *experiment, const char *stream)
{
  return g_str_equal (stream, experiment->data.target) ? plait_predictions[experiment->predict.kind].target
                                                       : PLAIT_TARGET_TEXT;
}

const char *
plait_experiment_vocabulary (const PlaitExperiment *experiment, const char *stream)
{
  return experiment->data.vocabulary == PLAIT_DATA_VOCABULARY_SHARED
                 && plait_experiment_target_kind (experiment, stream) == PLAIT_TARGET_TEXT
             ? "shared"
             : stream;
}

gboolean
plait_experiment_has_own_words (const PlaitExperiment *experiment, const char *stream)
{
  return experiment->output && experiment->output->schema->writes_own_words
         && g_str_equal (plait_experiment_vocabulary (experiment, stream),
                         plait_experiment_vocabulary (experiment, experiment->data.target));
}

gboolean
plait_experiment_each_plugin (const PlaitExperiment *experiment, PlaitEachPlugin call, gpointer data, GError **error)
{
  g_autoptr (GPtrArray) plugins = g_ptr_array_new ();

  for (guint i = 0; i < experiment->n_sources; i++)
    for (const PlaitComponent *component = experiment->sources[i].encoder; component; component = component->leaves)
      if (!g_ptr_array_find (plugins, component->plugin, NULL))
        g_ptr_array_add (plugins, component->plugin);
  if (plait_experiment_has_decoder (experiment))
    g_ptr_array_add (plugins, experiment->decoder_component->plugin);
  if (experiment->combiner)
    g_ptr_array_add (plugins, experiment->combiner->plugin);
  if (experiment->coverage)
    g_ptr_array_add (plugins, experiment->coverage->plugin);
  if (experiment->output)
    g_ptr_array_add (plugins, experiment->output->plugin);
  for (guint i = 0; i < plugins->len; i++)
    if (!call (plugins->pdata[i], data, error))
      return FALSE;
  return TRUE;
}
