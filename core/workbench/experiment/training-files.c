/* SPDX-License-Identifier: MIT */
#include "experiment/resolution.h"

#include <math.h>

#include "text/number.h"

/* This file checks the files of training, data.weights, data.share and data.subword_sampling. */

/* Returns the number of files of the first stream of training; the other streams must have equally many. Sets *@first
 * to the first stream. Without files of training, returns 1 and sets *@first to NULL. */
static guint
count_files (const PlaitExperiment *experiment, const PlaitDataFile **first)
{
  const GArray *files = ((const PlaitExperimentPrivate *)experiment)->data->files;

  *first = NULL;
  for (guint i = 0; i < files->len && !*first; i++)
    if (g_str_equal (g_array_index (files, PlaitDataFile, i).split, "train"))
      *first = &g_array_index (files, PlaitDataFile, i);
  return *first ? g_strv_length ((*first)->paths) : 1;
}

/* Returns the numbers in @text [*@n], or NULL with an error if an item is not a positive finite number. (transfer
 * full) */
static double *
parse_weights (const char *text, guint *n, GError **error)
{
  g_auto (GStrv) items = g_strsplit_set (text, "; ", -1);
  g_autofree double *weights = g_new0 (double, g_strv_length (items));

  *n = 0;
  for (guint i = 0; items[i]; i++)
    {
      if (*items[i] == '\0')
        continue;
      if (!plait_parse_double (items[i], &weights[*n]) || !(weights[*n] > 0) || !isfinite (weights[*n]))
        return plait_fail_null (error, PLAIT_ERROR_INPUT,
                                "\"%s\" is not a positive number; give one positive number for each file", items[i]);
      ++*n;
    }
  return g_steal_pointer (&weights);
}

double *
plait_experiment_file_weights (const PlaitExperiment *experiment, guint *n)
{
  return *experiment->data.weights ? parse_weights (experiment->data.weights, n, NULL) : NULL;
}

static void
check_weights (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  const PlaitDataFile *first;
  guint n_files = count_files (experiment, &first), n;
  g_autoptr (GError) fault = NULL;
  g_autofree double *weights = parse_weights (experiment->data.weights, &n, &fault);

  if (!weights)
    plait_resolution_problem (resolution, "data", "weights", "%s", fault->message);
  else if (n_files == 1)
    plait_resolution_problem (resolution, "data", "weights",
                              "weighs several training files, but each stream has only one; name several files, such "
                              "as %s=a;b, or drop the key",
                              first ? first->key : "train.STREAM");
  else if (n != n_files)
    plait_resolution_problem (resolution, "data", "weights", "has %u numbers, but %s names %u files; give one for each",
                              n, first->key, n_files);
}

static void
check_share (const PlaitResolution *resolution)
{
  double share = resolution->experiment->public.data.share;

  if (share == 0 || (share > 1 && share != floor (share)))
    plait_resolution_problem (resolution, "data", "share",
                              "%g is neither a share (above 0, up to 1) nor a number of tuples (an integer above 1); "
                              "give a number such as .25 or 5000",
                              share);
}

static void
check_sampling (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  const char *fault = NULL;

  if (experiment->data.subword_sampling == 0)
    return;
  if (experiment->data.vocabulary_type == PLAIT_DATA_VOCABULARY_TYPE_WORDS)
    fault = "samples pieces of SentencePiece, but vocabulary_type=words; choose bpe or unigram";
  else if (plait_experiment_reads_trees (experiment))
    fault = "would change the tokens that are the leaves of trees; choose an encoder without trees";
  else if (plait_experiment_reads_documents (experiment))
    fault = "samples sentences, not documents; drop the key, or the documents";
  else if (experiment->predict.kind == PLAIT_PREDICT_SPAN || experiment->predict.kind == PLAIT_PREDICT_TAGS)
    fault = "would change the tokens that get tags or spans; drop the key, or choose another predict.kind";
  for (guint i = 0; i < experiment->n_sources; i++)
    if (plait_experiment_learns_alignment (experiment, &experiment->sources[i]))
      fault = "would change the tokens that word alignments link; drop the key, or the alignments";
  if (fault)
    plait_resolution_problem (resolution, "data", "subword_sampling", "%s", fault);
}

/* Adds a problem if @file names several files for a source of features. */
static void
check_features (const PlaitResolution *resolution, const PlaitDataFile *file)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;

  for (guint i = 0; file->paths[1] && i < experiment->n_sources; i++)
    if (experiment->sources[i].kind == PLAIT_INPUT_FEATURES
        && g_str_equal (experiment->sources[i].stream, file->stream))
      plait_resolution_problem (
          resolution, "data", file->key,
          "names several files, but the features of a split are one HDF5 file; join %s, %s and any others",
          file->paths[0], file->paths[1]);
}

void
plait_resolution_check_training_files (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  const GArray *files = resolution->experiment->data->files;
  const PlaitDataFile *first;
  guint n = count_files (experiment, &first);

  for (guint i = 0; i < files->len; i++)
    {
      const PlaitDataFile *file = &g_array_index (files, PlaitDataFile, i);
      guint its = g_strv_length (file->paths);

      check_features (resolution, file);
      if (g_str_equal (file->split, "train") && its != n)
        plait_resolution_problem (resolution, "data", file->key,
                                  "names %u files (%s), but %s names %u (%s); give equally many, because the first "
                                  "files of both keys belong together, and so on",
                                  its, file->written, first->key, n, first->written);
    }
  for (guint i = 0; i < experiment->n_sources; i++)
    if (g_str_equal (experiment->sources[i].stream, PLAIT_LOSS_WEIGHTS))
      plait_resolution_problem (resolution, experiment->sources[i].encoder->group, NULL,
                                "reads the stream " PLAIT_LOSS_WEIGHTS
                                ", the name of the stream of tuple weights; rename the stream");
  if (*experiment->data.weights)
    check_weights (resolution);
  check_share (resolution);
  check_sampling (resolution);
}
