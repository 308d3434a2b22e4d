/* SPDX-License-Identifier: MIT */
#include "experiment/resolution.h"

#include <string.h>

/* This file answers questions about the data files, streams and plugins of an experiment. */

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

/* TRUE if any split has a file of @stream. */
static gboolean
has_files (const PlaitExperiment *experiment, const char *stream)
{
  const GArray *files = ((const PlaitExperimentPrivate *)experiment)->data->files;

  for (guint i = 0; i < files->len; i++)
    if (g_strcmp0 (g_array_index (files, PlaitDataFile, i).stream, stream) == 0)
      return TRUE;
  return FALSE;
}

/* Adds the streams of further references in @split (NULL: in all splits) to @names. */
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

/* Returns the used streams. If @trees, adds the streams of trees. If @others, adds the streams of word alignments,
 * further references and loss weights that have files. (transfer container) */
static const char **
list_streams (const PlaitExperiment *experiment, gboolean trees, gboolean others)
{
  GPtrArray *names = g_ptr_array_new_null_terminated (8, NULL, TRUE);

  for (guint i = 0; i < experiment->n_sources; i++)
    add_once (names, experiment->sources[i].stream);
  for (guint i = 0; i < experiment->n_sources; i++)
    for (guint f = 0; f < experiment->sources[i].n_factors + experiment->sources[i].n_tags; f++)
      add_once (names, experiment->sources[i].factors[f]);
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
  GPtrArray *names = g_ptr_array_new_null_terminated (8, NULL, TRUE);

  add_references (names, experiment, split);
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

const PlaitExperimentSource *
plait_experiment_factor_source (const PlaitExperiment *experiment, const char *stream)
{
  for (guint i = 0; i < experiment->n_sources; i++)
    if (experiment->sources[i].factors && g_strv_contains (experiment->sources[i].factors, stream))
      return &experiment->sources[i];
  return NULL;
}

gboolean
plait_experiment_has_tags (const PlaitExperiment *experiment, const char *split, const PlaitExperimentSource *source)
{
  return source->n_tags > 0 && *plait_experiment_data_files (experiment, split, source->factors[source->n_factors]);
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
plait_experiment_drops_tuples (const PlaitExperiment *experiment)
{
  const PlaitDataSettings *data = &experiment->data;

  return data->maximum_source_length > 0 || data->maximum_target_length > 0 || data->empty != PLAIT_DATA_EMPTY_ERROR
         || (plait_experiment_reads_trees (experiment) && data->no_tree == PLAIT_NO_TREE_DROP);
}

gboolean
plait_experiment_has_decoder (const PlaitExperiment *experiment)
{
  return experiment->predict.kind == PLAIT_PREDICT_SEQUENCE;
}

gboolean
plait_experiment_check_sets (const PlaitExperiment *experiment, const PlaitOverride *sets, GError **error)
{
  static const char *const active[] = { "decode.batch", "decode.precision", "decode.n_best", NULL };

  for (const PlaitOverride *set = sets; set && set->key && !plait_experiment_has_decoder (experiment); set++)
    if (g_str_has_prefix (set->key, "decode.") && !g_strv_contains (active, set->key))
      return plait_fail (error, PLAIT_ERROR_INPUT, "--set %s=%s: has no effect, since %s has no decoder; leave it out",
                         set->key, set->value, experiment->path);
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
                 && !plait_experiment_factor_source (experiment, stream)
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
