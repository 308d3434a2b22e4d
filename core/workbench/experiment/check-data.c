/* SPDX-License-Identifier: MIT */
#include "experiment/resolution.h"

#include <string.h>

#include "trees/trees.h"
#include "vocabulary/vocabulary.h"

/* This file checks that the files and vocabularies of [data] suit the sources and the target. */

/* Returns the first used source that reads @stream, or NULL. (transfer none) */
static const PlaitExperimentSource *
reader_of (const PlaitExperiment *experiment, const char *stream)
{
  for (guint i = 0; i < experiment->n_sources; i++)
    if (g_str_equal (experiment->sources[i].stream, stream))
      return &experiment->sources[i];
  return NULL;
}

void
plait_resolution_check_kinds (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;

  for (guint i = 0; i < experiment->n_sources; i++)
    {
      const PlaitExperimentSource *source = &experiment->sources[i];
      const PlaitExperimentSource *first = reader_of (experiment, source->stream);

      if (plait_input_kind_is_text (source->kind) != plait_input_kind_is_text (first->kind))
        plait_resolution_problem (
            resolution, source->encoder->group, "encoder",
            "the encoder %s reads %s, but [source %s] reads the same stream %s as %s; use two streams",
            source->encoder->plugin->name, plait_input_kind_name (source->kind), first->name, source->stream,
            plait_input_kind_name (first->kind));
    }
}

/* Adds a problem if @file is a features file but its stream is read as tokens or is the target. */
static void
check_file_kind (const PlaitResolution *resolution, const PlaitDataFile *file)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  const PlaitExperimentSource *reader = reader_of (experiment, file->stream);
  gboolean hdf5 = g_str_has_suffix (file->paths[0], ".h5") || g_str_has_suffix (file->paths[0], ".hdf5");

  if (!hdf5 || (reader && reader->kind == PLAIT_INPUT_FEATURES))
    return;
  if (reader)
    plait_resolution_problem (resolution, "data", file->key,
                              "%s is an HDF5 file, but the encoder %s of [source %s] reads tokens; name a text file, "
                              "or choose an encoder of features",
                              file->written, reader->encoder->plugin->name, reader->name);
  else if (g_str_equal (file->stream, experiment->data.target))
    plait_resolution_problem (resolution, "data", file->key,
                              "%s is an HDF5 file, but %s is the target, which is text; name a text file",
                              file->written, file->stream);
}

const char **
plait_resolution_streams (const PlaitResolution *resolution)
{
  const PlaitExperimentPrivate *experiment = resolution->experiment;
  GPtrArray *streams = g_ptr_array_new_null_terminated (8, NULL, TRUE);

  g_ptr_array_add (streams, (gpointer)experiment->public.data.target);
  for (guint i = 0; i < experiment->sources->len; i++)
    {
      const PlaitParsedSource *source = experiment->sources->pdata[i];

      g_ptr_array_add (streams, (gpointer)source->settings.stream);
      for (guint f = 0; source->factors && f + 1 < source->factors->len; f++)
        g_ptr_array_add (streams, source->factors->pdata[f]);
    }
  return (const char **)g_ptr_array_free (streams, FALSE);
}

static gboolean
reads_trees (const PlaitSchema *schema, gconstpointer data)
{
  return schema->reads_trees;
}

/* TRUE if @file has the trees of a source. Adds a problem if neither the encoder of such a source nor an encoder among
 * the choices of the grid reads trees. */
static gboolean
check_trees_file (const PlaitResolution *resolution, const PlaitDataFile *file)
{
  const PlaitParsedSource *owner = NULL;

  for (guint i = 0; i < resolution->experiment->sources->len; i++)
    {
      const PlaitParsedSource *source = resolution->experiment->sources->pdata[i];

      if (!g_str_equal (file->stream, source->trees))
        continue;
      if (source->encoder->schema->reads_trees
          || plait_resolution_any_alternative (resolution, PLAIT_PLUGIN_ENCODER, reads_trees, NULL))
        return TRUE;
      owner = source;
    }
  if (owner)
    plait_resolution_problem (
        resolution, "data", file->key,
        "names trees, but the encoder %s of [%s] does not read trees; choose an encoder of trees, or drop the line",
        owner->encoder->plugin->name, owner->group);
  return owner != NULL;
}

/* Returns the reason why @source cannot read the word alignments @file; NULL if it can. */
static const char *
refuse_alignment (const PlaitExperiment *experiment, const PlaitParsedSource *source, const PlaitDataFile *file)
{
  if (g_str_equal (file->split, "validation"))
    return "validation does not read word alignments; drop the line, and give alignments to a test split for AER";
  if (!plait_experiment_has_decoder (experiment))
    return "with this [predict] there is no decoder that attends to words; drop the line";
  if (plait_experiment_is_documents (experiment, source->settings.stream)
      || plait_experiment_is_documents (experiment, experiment->data.target))
    return "words of documents cannot be aligned; drop the line, or give sentences";
  if (source->encoder && source->encoder->schema->input != PLAIT_INPUT_TOKENS)
    return "the source has features, and only words can be aligned; drop the line";
  return NULL;
}

/* TRUE if @file has the word alignments of a source. Adds a problem if that source cannot read them. */
static gboolean
check_alignment_file (const PlaitResolution *resolution, const PlaitDataFile *file)
{
  for (guint i = 0; i < resolution->experiment->sources->len; i++)
    {
      const PlaitParsedSource *source = resolution->experiment->sources->pdata[i];
      const char *reason = g_str_equal (file->stream, source->alignment)
                               ? refuse_alignment (&resolution->experiment->public, source, file)
                               : NULL;

      if (reason)
        plait_resolution_problem (resolution, "data", file->key, "%s", reason);
      if (g_str_equal (file->stream, source->alignment))
        return TRUE;
    }
  return FALSE;
}

/* TRUE if @file has further references. Adds a problem if no score uses them: there is no decoder, or they are for
 * training. */
static gboolean
check_reference_file (const PlaitResolution *resolution, const PlaitDataFile *file)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;

  if (!plait_experiment_reference_name (experiment, file->stream))
    return FALSE;
  if (!plait_experiment_has_decoder (experiment))
    plait_resolution_problem (resolution, "data", file->key,
                              "only translations have several references, but there is no decoder; drop the line");
  else if (g_str_equal (file->split, "train"))
    plait_resolution_problem (resolution, "data", file->key,
                              "training does not use further references; set this key for validation or a test split "
                              "instead, or drop the line");
  return TRUE;
}

static void
check_file (const PlaitResolution *resolution, const PlaitDataFile *file)
{
  g_autofree const char **known = plait_resolution_streams (resolution);

  if (g_str_equal (file->stream, PLAIT_LOSS_WEIGHTS) && !g_strv_contains (known, PLAIT_LOSS_WEIGHTS))
    {
      if (!g_str_equal (file->split, "train"))
        plait_resolution_problem (resolution, "data", file->key,
                                  "names weights of tuples, which only training has; drop the line");
      return;
    }
  if (check_trees_file (resolution, file) || check_alignment_file (resolution, file)
      || check_reference_file (resolution, file) || plait_resolution_is_factor (resolution, file->stream))
    return;
  if (g_strv_contains (known, file->stream))
    {
      check_file_kind (resolution, file);
      return;
    }
  const PlaitParsedSource *source = plait_resolution_factor_source (resolution, file->stream);
  const char *name = source ? file->stream + strlen (source->settings.stream) + 1 : NULL;
  g_autofree char *otherwise
      = source ? g_strdup_printf ("add factors=%s or tags=%s to [%s], or drop the line", name, name, source->group)
               : g_strdup_printf ("add [source %s], or drop the line", file->stream);
  g_autofree char *remedy = plait_name_remedy (file->stream, known, otherwise);
  plait_resolution_problem (resolution, "data", file->key,
                            "no source reads the stream \"%s\", nor is it the target; %s", file->stream, remedy);
}

static void
need_file (const PlaitResolution *resolution, const char *split, const char *stream)
{
  if (!*plait_experiment_data_files (&resolution->experiment->public, split, stream))
    plait_resolution_problem (resolution, "data", NULL, "there is no file for %s.%s; add %s.%s=FILE", split, stream,
                              split, stream);
}

static void
need_trees (const PlaitResolution *resolution, const char *split, const PlaitExperimentSource *source)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;

  if (source->trees && experiment->data.trees == PLAIT_TREES_GIVEN
      && !*plait_experiment_data_files (experiment, split, source->trees))
    plait_resolution_problem (resolution, "data", NULL,
                              "there is no file for %s.%s, but the encoder %s of [source %s] reads trees; add "
                              "%s.%s=FILE, set trees=right for trees without a file, or choose another encoder",
                              split, source->trees, source->encoder->plugin->name, source->name, split, source->trees);
}

/* Checks that @split has files with all tags of @source. A validation or test split may also lack all of these
 * files. */
static void
need_tags (const PlaitResolution *resolution, const char *split, const PlaitExperimentSource *source)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  const char *const *tags = source->factors + source->n_factors;
  gboolean needed = g_str_equal (split, "train");

  for (guint t = 0; t < source->n_tags; t++)
    needed |= *plait_experiment_data_files (experiment, split, tags[t]) != NULL;
  for (guint t = 0; t < source->n_tags && needed; t++)
    need_file (resolution, split, tags[t]);
}

static void
need_split (const PlaitResolution *resolution, const char *split)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;

  for (guint i = 0; i < experiment->n_sources; i++)
    if (reader_of (experiment, experiment->sources[i].stream) == &experiment->sources[i])
      need_file (resolution, split, experiment->sources[i].stream);
  for (guint i = 0; i < experiment->n_sources; i++)
    {
      need_trees (resolution, split, &experiment->sources[i]);
      for (guint f = 0; f < experiment->sources[i].n_factors; f++)
        need_file (resolution, split, experiment->sources[i].factors[f]);
      need_tags (resolution, split, &experiment->sources[i]);
    }
  if (!reader_of (experiment, experiment->data.target))
    need_file (resolution, split, experiment->data.target);
}

static gboolean
has_split (const PlaitResolution *resolution, const char *split)
{
  const GArray *files = resolution->experiment->data->files;

  for (guint i = 0; i < files->len; i++)
    if (g_str_equal (g_array_index (files, PlaitDataFile, i).split, split))
      return TRUE;
  return FALSE;
}

/* Adds a problem if a test split is called SPLIT-forced, since a run stores the attention of forced decoding of SPLIT
 * under this name. */
static void
check_name_of_split (const PlaitResolution *resolution, const char *split)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  g_autofree char *forced = g_strconcat (split, "-forced", NULL);

  if (g_strv_contains (experiment->test_splits, forced))
    plait_resolution_problem (resolution, "data", NULL,
                              "\"%s\" is the name under which a run stores forced decoding of %s; rename the split",
                              forced, split);
}

/* Checks each file. Training, and each other split with any file, must have a file for each used stream; only streams
 * of tags may lack files outside training. */
static void
check_files (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  const GArray *files = resolution->experiment->data->files;

  for (guint i = 0; i < files->len; i++)
    check_file (resolution, &g_array_index (files, PlaitDataFile, i));
  need_split (resolution, "train");
  if (has_split (resolution, "validation"))
    need_split (resolution, "validation");
  for (guint i = 0; experiment->test_splits[i]; i++)
    {
      need_split (resolution, experiment->test_splits[i]);
      check_name_of_split (resolution, experiment->test_splits[i]);
    }
}

static void
check_generated_stream (const PlaitResolution *resolution, const char *group, const char *key, const char *stream)
{
  const PlaitTask *task = resolution->experiment->public.task;

  if (g_strv_contains (task->streams, stream))
    return;
  g_autofree char *remedy = plait_name_remedy (stream, task->streams, NULL);
  plait_resolution_problem (resolution, group, key, "the task %s makes no stream \"%s\"; %s", task->name, stream,
                            remedy);
}

static void
check_generated (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  const GArray *files = resolution->experiment->data->files;

  for (guint i = 0; i < files->len; i++)
    plait_resolution_problem (resolution, "data", g_array_index (files, PlaitDataFile, i).key,
                              "names a file, but generate=%s makes the corpus; keep one of the two",
                              experiment->task->name);
  check_generated_stream (resolution, "data", "target", experiment->data.target);
  for (guint i = 0; i < experiment->n_sources; i++)
    {
      const PlaitExperimentSource *source = &experiment->sources[i];
      const char *group = source->encoder->group;

      check_generated_stream (resolution, group, NULL, source->stream);
      if (source->trees && experiment->data.trees == PLAIT_TREES_GIVEN)
        check_generated_stream (resolution, group, "encoder", source->trees);
      for (guint f = 0; f < source->n_factors + source->n_tags; f++)
        check_generated_stream (resolution, group, f < source->n_factors ? "factors" : "tags", source->factors[f]);
      if (!plait_input_kind_is_text (source->kind))
        plait_resolution_problem (
            resolution, group, "encoder",
            "the encoder %s reads %s, but a generated corpus is text; choose an encoder of tokens",
            source->encoder->plugin->name, plait_input_kind_name (source->kind));
    }
}

/* Adds a problem for each of @files whose key, vocabulary.NAME or vocabulary_text.NAME.NUMBER, names no vocabulary of
 * the experiment. */
static void
check_vocabulary_files (const PlaitResolution *resolution, const GArray *files)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  g_autofree const char **known = plait_resolution_streams (resolution);

  for (guint i = 0; i < files->len; i++)
    {
      const PlaitDataFile *file = &g_array_index (files, PlaitDataFile, i);

      if (plait_resolution_is_factor (resolution, file->stream))
        continue;
      if (experiment->data.vocabulary == PLAIT_DATA_VOCABULARY_SHARED && !g_str_equal (file->stream, "shared"))
        plait_resolution_problem (
            resolution, "data", file->key,
            "there is one vocabulary for all streams, called shared; name that one, or set vocabulary=separate");
      else if (experiment->data.vocabulary == PLAIT_DATA_VOCABULARY_SEPARATE && !g_strv_contains (known, file->stream))
        plait_resolution_problem (resolution, "data", file->key,
                                  "no source reads a stream \"%s\", nor is it the target; name a stream", file->stream);
    }
}

static void
check_vocabulary_size (const PlaitResolution *resolution)
{
  const PlaitDataSettings *data = &resolution->experiment->public.data;
  gint64 size = data->vocabulary_size;

  if (data->vocabulary_type == PLAIT_DATA_VOCABULARY_TYPE_WORDS && size > 0 && size <= PLAIT_TOKEN_SPECIALS)
    plait_resolution_problem (
        resolution, "data", "vocabulary_size",
        "%jd entries leave no room for words after the %d special ones; give more, or 0 for all words", size,
        PLAIT_TOKEN_SPECIALS);
  else if (data->vocabulary_type != PLAIT_DATA_VOCABULARY_TYPE_WORDS && (size < 8 || size > PLAIT_VOCABULARY_MAX_SIZE))
    plait_resolution_problem (resolution, "data", "vocabulary_size",
                              "%jd entries are too %s for SentencePiece; give from 8 to %d, or vocabulary_type=words",
                              size, size < 8 ? "few" : "many", PLAIT_VOCABULARY_MAX_SIZE);
}

void
plait_resolution_check_data (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;

  if (experiment->task)
    check_generated (resolution);
  else if (!(resolution->resolver->flags & PLAIT_RESOLVE_WITHOUT_DATA))
    check_files (resolution);
  check_vocabulary_files (resolution, resolution->experiment->data->vocabulary_files);
  check_vocabulary_files (resolution, resolution->experiment->data->vocabulary_texts);
  check_vocabulary_size (resolution);
}
