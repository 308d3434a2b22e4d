/* SPDX-License-Identifier: MIT */
#include "experiment/resolution.h"

#include <string.h>

#include "files/path.h"
#include "text/number.h"

/* This file writes a resolved experiment as text. */

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

/* Version of the core's defaults, which is part of brief fingerprints. Increase the version when the default of a core
 * key changes, because the brief form leaves out values that are defaults. */
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
  g_autofree char *escaped = plait_key_file_escape (value);

  g_string_append_printf (writer->text, "%s=%s\n", key, escaped);
}

/* Writes @key with a path, escaped because "~" and variables in paths are replaced when they are read. */
static void
write_path (Writer *writer, const char *key, const char *path)
{
  g_autofree char *literal = plait_path_escape (path);

  write_value (writer, key, literal);
}

/* Writes @key with a list of paths. In @paths, everything is escaped already except "~" and variables. */
static void
write_list (Writer *writer, const char *key, const char *paths)
{
  g_autofree char *literal = plait_path_escape (paths);

  g_string_append_printf (writer->text, "%s=%s\n", key, literal);
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

/* TRUE if plait_experiment_all_streams() has @stream. */
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
      if (!g_str_equal (file->stream, "shared") && !is_used (experiment, file->stream))
        continue;
      if ((writer->skipped & PLAIT_SETTING_NEUTRAL) || !plait_data_file_is_list (file))
        write_path (writer, file->key, (writer->skipped & PLAIT_SETTING_NEUTRAL) ? "" : file->written);
      else
        write_list (writer, file->key, file->written);
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

/* Writes @key with the names of @n items of source->factors, from index @first on, without the prefix "STREAM.". */
static void
write_streams (Writer *writer, const PlaitExperimentSource *source, const char *key, guint first, guint n)
{
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint i = first; i < first + n; i++)
    g_string_append_printf (names, "%s%s", i > first ? "+" : "", source->factors[i] + strlen (source->stream) + 1);
  write_value (writer, key, names->str);
}

static void
write_factors (Writer *writer, const PlaitExperimentSource *source)
{
  g_autoptr (GString) widths = g_string_new (NULL);
  gboolean concat = source->factor_widths[0] > 0;

  for (guint f = 0; f < source->n_factors; f++)
    g_string_append_printf (widths, "%s%jd", f > 0 ? "+" : "", source->factor_widths[f]);
  write_streams (writer, source, "factors", 0, source->n_factors);
  write_value (writer, "factor_join", concat ? "concat" : "sum");
  if (concat)
    write_value (writer, "factor_widths", widths->str);
}

static void
write_tags (Writer *writer, const PlaitExperimentSource *source)
{
  g_autoptr (GString) weights = g_string_new (NULL);
  char digits[PLAIT_NUMBER_LENGTH];

  for (guint t = 0; t < source->n_tags; t++)
    g_string_append_printf (weights, "%s%s", t > 0 ? "+" : "", plait_format_double (digits, source->tag_weights[t]));
  write_streams (writer, source, "tags", source->n_factors, source->n_tags);
  write_value (writer, "tag_weights", weights->str);
}

static void
write_source (Writer *writer, const PlaitExperimentSource *source)
{
  g_autofree char *size = g_strdup_printf ("%jd", source->factor_vocabulary_size);

  write_heading (writer, source->encoder->group);
  write_value (writer, "encoder", source->encoder->plugin->name);
  write_value (writer, "stream", source->stream);
  if (source->kind == PLAIT_INPUT_FEATURES)
    write_value (writer, "dataset", source->dataset);
  if (source->n_factors > 0)
    write_factors (writer, source);
  if (source->n_tags > 0)
    write_tags (writer, source);
  if (source->n_factors + source->n_tags > 0)
    write_value (writer, "factor_vocabulary_size", size);
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
  /* If translations choose the best parameters, search affects training. If validation text is masked, the seed that
   * chooses the masked words affects training. */
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
