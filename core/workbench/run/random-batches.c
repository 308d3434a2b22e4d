/* SPDX-License-Identifier: MIT */
#include "run/random-batches.h"

#include <math.h>

#include "files/memory.h"
#include "types/input.h"
#include "corpus/iterator.h"
#include "trees/tree-binary.h"

#define N_RANDOM_BATCHES 16
#define MAX_RANDOM 1e8

PlaitTuples *
plait_tuples_new (const PlaitExperiment *experiment, GError **error)
{
  PlaitTuples *tuples;
  gint64 first = 0;

  if (experiment->data.vocabulary_size == 0)
    return plait_fail_null (error, PLAIT_ERROR_INPUT,
                            "%s: data.vocabulary_size=0 keeps all words of the text, but this command reads no text; "
                            "give a number, such as --set data.vocabulary_size=8000",
                            experiment->path);
  tuples = g_new0 (PlaitTuples, 1);
  tuples->experiment = experiment;
  tuples->documents = g_new0 (PlaitDocumentSettings, experiment->n_sources);
  tuples->streams = g_ptr_array_new_with_free_func (plait_stream_builder_free);
  tuples->batches = g_array_new (FALSE, FALSE, sizeof (gint64));
  g_array_append_val (tuples->batches, first);
  for (guint i = 0; i < experiment->n_sources; i++)
    {
      const PlaitExperimentSource *source = &experiment->sources[i];
      PlaitStreamBuilder *stream = plait_stream_builder_new (source->name, source->kind);

      g_ptr_array_add (tuples->streams, stream);
      if (!plait_input_kind_is_text (source->kind))
        continue;
      stream->linked = source->trees != NULL;
      for (guint f = 0; f < source->n_factors + source->n_tags; f++)
        g_ptr_array_add (stream->factors, g_array_new (FALSE, FALSE, sizeof (gint32)));
      tuples->documents[i] = plait_experiment_documents (experiment, source->stream);
      if (tuples->documents[i].layout != PLAIT_LAYOUT_SENTENCES)
        stream->documents = &tuples->documents[i];
    }
  g_ptr_array_add (tuples->streams, plait_stream_builder_new ("the target", PLAIT_INPUT_TOKENS));
  return tuples;
}

void
plait_tuples_free (PlaitTuples *tuples)
{
  if (!tuples)
    return;
  g_ptr_array_unref (tuples->streams);
  g_array_unref (tuples->batches);
  g_free (tuples->documents);
  g_free (tuples);
}

gint64
plait_tuples_words (const PlaitStreamBuilder *stream)
{
  return stream->ids->len - g_array_index (stream->offsets, gint64, stream->offsets->len - 1);
}

/* Cuts the current document into sentences of @length tokens each; the last sentence may be shorter. All sentences have
 * role 0. If documents have start tokens, overwrites the first token of each sentence. */
static void
cut_document (PlaitStreamBuilder *stream, gint64 length)
{
  gint64 n = plait_tuples_words (stream);
  gint32 *ids = (gint32 *)(gpointer)stream->ids->data + stream->ids->len - n;

  for (gint64 row = 0; row < n; row += length)
    {
      PlaitDocumentSentence sentence = { (gint32)MIN (length, n - row), 0 };

      if (stream->documents->start_tokens)
        ids[row] = PLAIT_TOKEN_BOS;
      g_array_append_val (stream->sentences, sentence);
    }
}

void
plait_tuples_end (PlaitTuples *tuples)
{
  const PlaitBenchSettings *bench = &tuples->experiment->bench;
  const gint32 any_factor = PLAIT_TOKEN_SPECIALS;

  for (guint i = 0; i < tuples->streams->len; i++)
    {
      PlaitStreamBuilder *stream = tuples->streams->pdata[i];

      if (stream->documents)
        cut_document (stream, bench->document_sentence);
      for (guint f = 0; f < stream->factors->len; f++)
        while (((GArray *)stream->factors->pdata[f])->len < stream->ids->len)
          g_array_append_val (stream->factors->pdata[f], any_factor);
      plait_stream_builder_end_sentence (stream, bench->feature_rows);
    }
}

static gint64
first_of (const PlaitTuples *tuples, guint batch)
{
  return g_array_index (tuples->batches, gint64, batch);
}

void
plait_tuples_end_batch (PlaitTuples *tuples, gint64 left)
{
  gint64 end = plait_tuples_target (tuples)->offsets->len - 1 - left;

  if (end > first_of (tuples, plait_tuples_n_batches (tuples)))
    g_array_append_val (tuples->batches, end);
}

/*
 * Functions that draw the tuples
 */

/* Distributions of the random tuples. */
typedef struct
{
  double *shares; /* [words]: cumulative weights, the most frequent word first */
  PlaitRandomKey words;
  PlaitRandomKey lengths;
  guint64 seed;
  guint64 drawn; /* index of the next random number */
} Source;

/* Returns the cumulative weights of @words words, the most frequent first, by the law of Zipf and Mandelbrot. The
 * weights are not normalised. (transfer full) */
static double *
word_shares (gint64 words)
{
  double *shares = g_new (double, words);
  double sum = 0;

  for (gint64 rank = 0; rank < words; rank++)
    shares[rank] = sum += 1 / ((double)rank + 3.7);
  return shares;
}

static gint32
draw_word (const double *shares, gint64 words, double uniform)
{
  double wanted = uniform * shares[words - 1];
  gint64 low = 0, high = words - 1;

  while (low < high)
    {
      gint64 middle = (low + high) / 2;

      if (shares[middle] > wanted)
        high = middle;
      else
        low = middle + 1;
    }
  return (gint32)(PLAIT_TOKEN_SPECIALS + low);
}

/* Appends a tree over the @words tokens of the current tuple. */
static void
draw_tree (PlaitStreamBuilder *stream, Source *source, PlaitTreeShape shape, gint64 words, PlaitRandomKey key)
{
  g_autoptr (GArray) steps = g_array_new (FALSE, FALSE, sizeof (PlaitTreeStep));
  g_autofree gint64 *left = g_new (gint64, words), *right = g_new (gint64, words);

  plait_tree_control (shape == PLAIT_TREES_GIVEN ? PLAIT_TREES_RANDOM : shape, words, key, steps);
  plait_tree_link ((const PlaitTreeStep *)(gpointer)steps->data, steps->len, words, left, right);
  for (guint i = 0; i < steps->len; i++)
    {
      gint32 children[] = { (gint32)left[i], (gint32)right[i] };

      g_array_append_vals (stream->steps, children, 2);
    }
  source->drawn += 2 * steps->len;
}

/* Appends @n tokens, the end token included. The end token of a target is only counted here; a batch adds it. */
static void
draw_words (const PlaitTuples *tuples, PlaitStreamBuilder *stream, Source *source, gint64 n)
{
  gint64 words = tuples->experiment->data.vocabulary_size - PLAIT_TOKEN_SPECIALS;
  const gint32 end = PLAIT_TOKEN_EOS;
  gboolean is_target = stream == plait_tuples_target (tuples);
  /* All tokens of a source with trees are leaves, so such a source has no end token. */
  gboolean ends = is_target || (tuples->experiment->data.append_end && !stream->linked);

  for (gint64 i = ends; i < n; i++)
    {
      gint32 word = draw_word (source->shares, words, plait_random_uniform (source->words, source->drawn++));

      g_array_append_val (stream->ids, word);
    }
  source->drawn += ends;
  if (ends && !is_target)
    g_array_append_val (stream->ids, end);
}

/* Draws a tuple and returns the number of its tokens. */
static gint64
draw_tuple (PlaitTuples *tuples, Source *source, guint64 tuple)
{
  const PlaitBenchSettings *bench = &tuples->experiment->bench;
  PlaitRandomKey each = plait_random_subkey (source->lengths, tuple);
  /* The length of a sentence is the sum of a part that all streams of the tuple share and a part of its own. The
   * variances of the two parts add up to length_deviation squared. */
  double shared = .95 * bench->length_deviation, own = sqrt (1 - .95 * .95) * bench->length_deviation;
  double centre = bench->mean_length + shared * plait_random_normal (each, 0);
  gint64 all = 0;
  guint64 number = 0; /* number of texts and trees drawn for this tuple so far; selects random numbers */

  for (guint i = 0; i < tuples->streams->len; i++)
    {
      PlaitStreamBuilder *stream = tuples->streams->pdata[i];
      double drawn;
      gint64 n;

      if (!plait_input_kind_is_text (stream->kind))
        continue;
      drawn = round (centre + own * plait_random_normal (each, 1 + number));
      n = (gint64)CLAMP (drawn, (double)bench->shortest_length, (double)bench->longest_length);
      draw_words (tuples, stream, source, n);
      if (stream->linked)
        draw_tree (stream, source, (PlaitTreeShape)tuples->experiment->data.trees, n,
                   plait_random_subkey (plait_random_key (source->seed, "bench", "trees", number), tuple));
      number += 1 + stream->linked;
      all += n;
    }
  plait_tuples_end (tuples);
  return all;
}

/* Returns an estimate of the number of tokens and tree nodes that all batches will have. */
static double
wanted_tokens (const PlaitTuples *tuples)
{
  const PlaitTrainSettings *train = &tuples->experiment->train;
  const PlaitBenchSettings *bench = &tuples->experiment->bench;
  double length = CLAMP (bench->mean_length, (double)bench->shortest_length, (double)bench->longest_length);
  double texts = 0;

  for (guint i = 0; i < tuples->streams->len; i++)
    {
      const PlaitStreamBuilder *stream = tuples->streams->pdata[i];

      texts += (plait_input_kind_is_text (stream->kind) ? 1 : 0) + (stream->linked ? 1 : 0);
    }
  return (double)N_RANDOM_BATCHES * (double)train->batch
         * (train->batch_unit == PLAIT_BATCH_BY_SENTENCES ? texts * length : 1);
}

gboolean
plait_tuples_draw (PlaitTuples *tuples, GError **error)
{
  const PlaitExperiment *experiment = tuples->experiment;
  guint64 seed = (guint64)experiment->experiment.seed;
  Source source = {
    .words = plait_random_key (seed, "bench", "words", 0),
    .lengths = plait_random_key (seed, "bench", "lengths", 0),
    .seed = seed,
  };
  gint64 held = 0;

  if (wanted_tokens (tuples) > MAX_RANDOM)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: train.batch=%jd makes %d batches of about %.3g tokens in all, but at most %.0e can be "
                       "drawn; lower train.batch, for example --set train.batch=64",
                       experiment->path, experiment->train.batch, N_RANDOM_BATCHES, wanted_tokens (tuples), MAX_RANDOM);
  source.shares = word_shares (experiment->data.vocabulary_size - PLAIT_TOKEN_SPECIALS);
  /* A tuple that does not fit into a batch begins the next batch. The last tuple drawn is in no batch. */
  for (guint64 tuple = 0; plait_tuples_n_batches (tuples) < N_RANDOM_BATCHES; tuple++)
    {
      gint64 words = draw_tuple (tuples, &source, tuple);
      gint64 cost = experiment->train.batch_unit == PLAIT_BATCH_BY_SENTENCES ? 1 : words;

      if (held + cost > experiment->train.batch)
        {
          plait_tuples_end_batch (tuples, 1);
          held = 0;
        }
      held += cost;
    }
  g_free (source.shares);
  return TRUE;
}

/*
 * Functions that make batches of the tuples
 */

/* Cuts the tuples, in their order, into new batches of @count; the last batch may have fewer. */
static void
regroup (PlaitTuples *tuples, gint64 count)
{
  gint64 n = first_of (tuples, plait_tuples_n_batches (tuples));

  g_array_set_size (tuples->batches, 1);
  for (gint64 end = count; end < n; end += count)
    g_array_append_val (tuples->batches, end);
  g_array_append_val (tuples->batches, n);
}

/* Draws features for the largest batch; all batches use these features. Draws nothing if no source reads features. */
static gboolean
draw_features (const PlaitTuples *tuples, PlaitTensor *features, GError **error)
{
  const PlaitExperiment *experiment = tuples->experiment;
  PlaitRandomKey key = plait_random_key ((guint64)experiment->experiment.seed, "bench", "image", 0);
  gint64 sentences = 0, rows, n;
  gboolean wanted = FALSE;

  for (guint i = 0; i < experiment->n_sources; i++)
    wanted |= experiment->sources[i].kind == PLAIT_INPUT_FEATURES;
  if (!wanted)
    return TRUE;
  for (guint i = 0; i < plait_tuples_n_batches (tuples); i++)
    sentences = MAX (sentences, first_of (tuples, i + 1) - first_of (tuples, i));
  rows = sentences * experiment->bench.feature_rows;
  n = rows * experiment->bench.feature_width;
  if (!plait_memory_is_available ((gsize)n * sizeof (PlaitScalar)))
    return plait_fail (error, PLAIT_ERROR_MEMORY,
                       "the features of %jd sentences need %.1f GiB of memory, more than this machine has free: lower "
                       "bench.feature_rows, bench.feature_width or train.batch",
                       sentences, (double)n * sizeof (PlaitScalar) / 1073741824);
  *features = plait_tensor (plait_try_allocate ((gsize)n, sizeof (PlaitScalar), "the features", error), rows,
                            experiment->bench.feature_width);
  for (gint64 i = 0; features->data && i < n; i++)
    features->data[i] = (PlaitScalar)plait_random_normal (key, (guint64)i);
  return features->data != NULL;
}

void
plait_random_batches_free (PlaitRandomBatches *drawn)
{
  if (!drawn)
    return;
  g_ptr_array_unref (drawn->batches);
  plait_batch_free (drawn->whole);
  g_free (drawn->features.data);
  g_free (drawn);
}

/* Makes a batch of the tuples @first .. @end - 1 of @drawn->whole, with the random features. */
static gboolean
add_batch (PlaitRandomBatches *drawn, gint64 first, gint64 end, GError **error)
{
  PlaitBatch *batch = plait_batch_slice (drawn->whole, first, end - first, error);

  if (!batch)
    return FALSE;
  for (gint64 i = 0; i < batch->n_sources; i++)
    if (batch->inputs[i].kind == PLAIT_INPUT_FEATURES)
      plait_batch_fill (PlaitInput, batch->inputs)[i].features
          = plait_tensor_rows (drawn->features, 0, plait_ragged_rows (batch->inputs[i].rows));
  g_ptr_array_add (drawn->batches, batch);
  return TRUE;
}

PlaitRandomBatches *
plait_tuples_batch (PlaitTuples *tuples, gboolean search, gint64 max, GError **error)
{
  const PlaitExperiment *experiment = tuples->experiment;
  g_autoptr (PlaitRandomBatches) drawn = g_new0 (PlaitRandomBatches, 1);
  guint batches;

  drawn->batches = g_ptr_array_new_with_free_func ((GDestroyNotify)plait_batch_free);
  if (search)
    {
      regroup (tuples, experiment->decode.batch);
      g_ptr_array_set_size (tuples->streams, (gint)experiment->n_sources); /* remove the target */
    }
  if (!draw_features (tuples, &drawn->features, error))
    return NULL;
  batches = (guint)MIN (plait_tuples_n_batches (tuples), max);
  drawn->whole = plait_batch_build (tuples->streams, experiment->n_sources, first_of (tuples, batches), -1, error);
  if (!drawn->whole)
    return NULL;
  for (gint64 i = 0; i < drawn->whole->n_sentences; i++)
    plait_batch_fill (gint64, drawn->whole->sentence)[i] = i;
  for (guint i = 0; i < batches; i++)
    if (!add_batch (drawn, first_of (tuples, i), first_of (tuples, i + 1), error))
      return NULL;
  return g_steal_pointer (&drawn);
}

PlaitExperimentModel *
plait_random_batches_model (const PlaitExperiment *experiment, GError **error)
{
  g_autofree gint64 *widths = g_new0 (gint64, experiment->n_sources);

  for (guint i = 0; i < experiment->n_sources; i++)
    if (experiment->sources[i].kind == PLAIT_INPUT_FEATURES)
      widths[i] = experiment->bench.feature_width;
  return plait_experiment_model_new (experiment, NULL, widths, error);
}
