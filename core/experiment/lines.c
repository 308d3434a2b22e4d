/* SPDX-License-Identifier: MIT */
#include "experiment/resolution.h"

#include "store/feature.h"

/* Whether the files of each split go together line by line, told by reading them through once. */

/* What is compared of a file. */
typedef struct
{
  const PlaitDataFile *file;
  gint64 lines;
} Counted;

static gboolean
count_text (const char *path, gint64 *lines, GError **error)
{
  g_autoptr (PlaitTextReader) reader = plait_text_reader_open (path, error);
  g_autoptr (GError) fault = NULL;

  while (reader && plait_text_reader_next (reader, NULL, &fault))
    ;
  if (fault)
    g_propagate_error (error, g_steal_pointer (&fault));
  else if (reader)
    {
      *lines = plait_text_reader_line (reader);
      return TRUE;
    }
  return FALSE;
}

static gboolean
count_features (const char *path, const char *dataset, gint64 *sentences, GError **error)
{
  g_autoptr (PlaitFeatureFile) features = plait_feature_file_open (path, *dataset != '\0' ? dataset : NULL, error);

  if (features)
    *sentences = plait_feature_file_sentences (features);
  return features != NULL;
}

/* The source that @file is read for, as itself or as its trees; NULL: the target, or nobody. */
static const PlaitExperimentSource *
reader_of (const PlaitExperiment *experiment, const PlaitDataFile *file)
{
  for (guint i = 0; i < experiment->n_sources; i++)
    {
      const PlaitExperimentSource *source = &experiment->sources[i];
      gboolean trees = experiment->data.trees == PLAIT_TREES_GIVEN && g_strcmp0 (source->trees, file->stream) == 0;

      if (source->encoder && (trees || g_str_equal (source->stream, file->stream)))
        return source;
    }
  return NULL;
}

/* Whether an item of @file, as @source (NULL: the target) reads it, is a line. */
static gboolean
is_of_lines (const PlaitExperiment *experiment, const PlaitExperimentSource *source, const PlaitDataFile *file)
{
  const char *stream = source ? source->stream : file->stream;

  return plait_experiment_documents (experiment, stream).layout != PLAIT_LAYOUT_DOCUMENTS;
}

/* The lines of @file into *@lines. FALSE if it is not read, has none, or cannot be read, which is told. */
static gboolean
count (const PlaitResolution *resolution, const PlaitDataFile *file, gint64 *lines)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  const PlaitExperimentSource *source = reader_of (experiment, file);
  const gint64 *known = g_hash_table_lookup (resolution->read->lines, file->path);
  g_autoptr (GError) fault = NULL;
  gboolean counted;

  if ((!source && g_strcmp0 (file->stream, experiment->data.target) != 0) || !is_of_lines (experiment, source, file))
    return FALSE;
  if (known)
    {
      *lines = *known;
      return TRUE;
    }
  counted = source && source->kind == PLAIT_INPUT_FEATURES ? count_features (file->path, source->dataset, lines, &fault)
                                                           : count_text (file->path, lines, &fault);
  if (counted)
    g_hash_table_insert (resolution->read->lines, g_strdup (file->path), g_memdup2 (lines, sizeof *lines));
  else
    plait_resolution_problem (resolution, "data", file->key, "%s", fault->message);
  return counted;
}

/* Compares @file with the first of its split, which it is where there is none among @firsts. */
static void
compare (const PlaitResolution *resolution, const PlaitDataFile *file, GArray *firsts)
{
  Counted now = { file, 0 };

  if (!count (resolution, file, &now.lines))
    return;
  for (guint i = 0; i < firsts->len; i++)
    {
      const Counted *first = &g_array_index (firsts, Counted, i);

      if (!g_str_equal (first->file->split, file->split))
        continue;
      if (first->lines != now.lines)
        plait_resolution_problem (resolution, "data", file->key,
                                  "%s has %" G_GINT64_FORMAT " lines, but %s has %" G_GINT64_FORMAT
                                  "; line i of each belongs together: give files of one length",
                                  file->path, now.lines, first->file->key, first->lines);
      return;
    }
  g_array_append_val (firsts, now);
}

void
plait_resolution_check_lines (const PlaitResolution *resolution)
{
  const GArray *files = resolution->experiment->data->files;
  g_autoptr (GArray) firsts = g_array_new (FALSE, FALSE, sizeof (Counted));

  for (guint i = 0; i < files->len; i++)
    compare (resolution, &g_array_index (files, PlaitDataFile, i), firsts);
}
