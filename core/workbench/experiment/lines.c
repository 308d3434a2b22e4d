/* SPDX-License-Identifier: MIT */
#include "experiment/resolution.h"

#include "corpus/corpus.h"
#include "foreign/feature.h"
#include "text/word-links.h"
#include "trees/tree.h"

/* This file checks that the files of each split have equal numbers of lines, by reading them once, and that trees, word
 * alignments and weights are well formed. */

/* TRUE if each tree of @file must be well formed. FALSE for training trees if reading can drop tuples, because a
 * malformed tree of a dropped tuple is no error. */
static gboolean
parses_trees (const PlaitExperiment *experiment, const PlaitDataFile *file)
{
  return !g_str_equal (file->split, "train") || !plait_experiment_drops_tuples (experiment);
}

/* Counts the lines of the file @path, one of those that @file names; with @trees, counts its trees. Refuses malformed
 * trees if @trees and parses_trees(). Refuses malformed word alignments if @alignments. Refuses empty lines of other
 * files if data.empty=error. */
static gboolean
count_text (const PlaitExperiment *experiment, const PlaitDataFile *file, const char *path, gboolean trees,
            gboolean alignments, gint64 *lines, GError **error)
{
  g_autoptr (PlaitTextReader) reader = plait_text_reader_open (path, error);
  g_autoptr (PlaitTree) tree = plait_tree_new ();
  g_autoptr (GArray) links = g_array_new (FALSE, FALSE, sizeof (PlaitWordLink));
  gboolean parses = trees && parses_trees (experiment, file);
  gboolean takes_empty = trees || alignments || experiment->data.empty != PLAIT_DATA_EMPTY_ERROR;
  GError *fault = NULL;
  const char *line;
  gint64 n = 0;
  gsize length;

  if (reader && trees)
    reader = plait_text_reader_join_trees (reader, TRUE);
  for (; reader && !fault && (line = plait_text_reader_next (reader, &length, &fault)); n++)
    {
      if (!takes_empty && plait_text_is_blank (line, length))
        return plait_corpus_fail_empty (path, plait_text_reader_line (reader), file->stream, FALSE,
                                        g_str_equal (file->stream, experiment->data.target), error);
      if ((parses && !plait_tree_read (tree, line, length, &fault))
          || (alignments && !plait_word_links_parse (line, links, &fault)))
        g_prefix_error (&fault, "%s:%jd: ", path, plait_text_reader_line (reader));
    }
  if (!reader || !plait_no_error (&fault, error))
    return FALSE;
  *lines = n;
  return TRUE;
}

/* Counts the weights in the file @path. */
static gboolean
count_weights (const char *path, gint64 *lines, GError **error)
{
  g_autoptr (GArray) weights = g_array_new (FALSE, FALSE, sizeof (double));
  gboolean read = plait_tuple_weights_read (path, weights, error);

  *lines = weights->len;
  return read;
}

static gboolean
count_features (const char *path, const char *dataset, gint64 *sentences, GError **error)
{
  g_autoptr (PlaitFeatures) features = plait_feature_file_open (path, dataset, error);

  if (features)
    *sentences = features->sentences;
  return features != NULL;
}

/* Returns the source that reads @file as its stream, a factor, tags, its trees or its word alignments; NULL if no
 * source reads @file. (transfer none) */
static const PlaitExperimentSource *
reader_of (const PlaitExperiment *experiment, const PlaitDataFile *file)
{
  for (guint i = 0; i < experiment->n_sources; i++)
    {
      const PlaitExperimentSource *source = &experiment->sources[i];
      gboolean trees = experiment->data.trees == PLAIT_TREES_GIVEN && g_strcmp0 (source->trees, file->stream) == 0;

      if (source->encoder
          && (trees || g_str_equal (source->stream, file->stream) || g_str_equal (source->alignment, file->stream)
              || (source->factors && g_strv_contains (source->factors, file->stream))))
        return source;
    }
  return NULL;
}

/* TRUE if @file has the trees of @source. */
static gboolean
is_trees (const PlaitExperimentSource *source, const PlaitDataFile *file)
{
  return source && g_strcmp0 (source->trees, file->stream) == 0;
}

/* TRUE if @file has the word alignments of @source. */
static gboolean
is_alignments (const PlaitExperimentSource *source, const PlaitDataFile *file)
{
  return source && g_str_equal (source->alignment, file->stream);
}

/* Returns the word by which messages call the entries of @file, which @source reads: "lines", "trees", ... */
static const char *
entries_of (const PlaitExperimentSource *source, const PlaitDataFile *file)
{
  return is_trees (source, file)                          ? "trees"
         : is_alignments (source, file)                   ? "alignments"
         : source && source->kind == PLAIT_INPUT_FEATURES ? "sentences"
                                                          : "lines";
}

/* Returns the number of lines, trees or feature sentences of @path, one of the files that @file names. Returns -1 after
 * adding a problem, and for a file that is not counted, such as a file with documents of several lines. */
static gint64
count (const PlaitResolution *resolution, const PlaitDataFile *file, const char *path)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  const PlaitExperimentSource *source = reader_of (experiment, file);
  const char *stream = source ? source->stream : file->stream;
  /* The key includes all that changes the number, since cells of a grid may read a file in different ways. */
  g_autofree char *key = g_strdup_printf (
      "%d %d %s %s\n%s", experiment->data.empty, is_trees (source, file) && parses_trees (experiment, file),
      entries_of (source, file), source && source->kind == PLAIT_INPUT_FEATURES ? source->dataset : "", path);
  const gint64 *known = g_hash_table_lookup (resolution->resolver->lines, key);
  g_autoptr (GError) fault = NULL;
  gint64 lines = -1;

  gboolean weights = !source && g_str_equal (stream, PLAIT_LOSS_WEIGHTS);

  if ((!source && !weights && !g_str_equal (stream, experiment->data.target))
      || plait_experiment_documents (experiment, stream).layout == PLAIT_LAYOUT_DOCUMENTS)
    return -1;
  if (known)
    return *known;
  if (weights ? count_weights (path, &lines, &fault)
      : source && source->kind == PLAIT_INPUT_FEATURES && !is_alignments (source, file)
          ? count_features (path, source->dataset, &lines, &fault)
          : count_text (experiment, file, path, is_trees (source, file), is_alignments (source, file), &lines, &fault))
    g_hash_table_insert (resolution->resolver->lines, g_steal_pointer (&key), g_memdup2 (&lines, sizeof lines));
  else
    plait_resolution_problem (resolution, "data", file->key, "%s", fault->message);
  return lines;
}

/* Adds a problem for each file N of @file whose number of lines differs from that of file N of the leading stream, the
 * first counted stream of the split. @firsts maps a split to its leading stream (PlaitDataFile), and is filled here. */
static void
compare_lines (const PlaitResolution *resolution, const PlaitDataFile *file, GHashTable *firsts)
{
  const PlaitDataFile *first = g_hash_table_lookup (firsts, file->split);
  const char *path, *other;

  for (guint place = 0; (path = file->paths[place]); place++)
    {
      gint64 lines = count (resolution, file, path), expected;

      if (lines < 0)
        return;
      if (!first)
        g_hash_table_insert (firsts, (gpointer)file->split, (gpointer)file);
      else if (!(other = first->paths[place]))
        return; /* another function reports unequal numbers of files */
      else if ((expected = count (resolution, first, other)) >= 0 && lines != expected)
        plait_resolution_problem (
            resolution, "data", file->key,
            "%s has %jd %s, but %s%s%s has %jd; give files of equal length: lines N of all files belong together", path,
            lines, entries_of (reader_of (&resolution->experiment->public, file), file), first->key,
            first->paths[1] ? ", " : "", first->paths[1] ? other : "", expected);
    }
}

void
plait_resolution_check_lines (const PlaitResolution *resolution)
{
  const GArray *files = resolution->experiment->data->files;
  g_autoptr (GHashTable) firsts = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < files->len; i++)
    compare_lines (resolution, &g_array_index (files, PlaitDataFile, i), firsts);
}
