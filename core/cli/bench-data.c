/* SPDX-License-Identifier: MIT */
#include "cli/bench.h"

#include <string.h>

#include "base/memory.h"
#include "cli/bench-tokens.h"

/* The same tuples in the same order, @count a batch; the last batch may have fewer. */
static void
regroup (PlaitBenchTokens *tokens, gint64 count)
{
  gint64 n = plait_bench_tuples (tokens);

  g_array_set_size (tokens->batches, 1);
  for (gint64 end = count; end < n; end += count)
    g_array_append_val (tokens->batches, end);
  g_array_append_val (tokens->batches, n);
}

/* What the streams of a batch hold together. */
static gint64
rows_of (const PlaitBenchTokens *tokens, gint64 first, gint64 end, guint stream)
{
  gint64 rows = 0;

  for (gint64 tuple = first; tuple < end; tuple++)
    rows += plait_bench_length (tokens, tuple, stream);
  return rows;
}

static void
fill_tokens (const PlaitBenchTokens *tokens, gint64 first, guint stream, const PlaitInput *input)
{
  gint64 *offsets = plait_batch_fill (gint64, input->rows.offsets);
  gint32 *ids = plait_batch_fill (gint32, input->tokens);

  offsets[0] = 0;
  for (gint64 i = 0; i < input->rows.n; i++)
    {
      gint64 n = plait_bench_length (tokens, first + i, stream);

      memcpy (ids + offsets[i], &g_array_index (tokens->ids, gint32, plait_bench_offset (tokens, first + i, stream)),
              (gsize)n * sizeof *ids);
      offsets[i + 1] = offsets[i] + n;
    }
}

static void
fill_trees (const PlaitBenchTokens *tokens, gint64 first, guint stream, const PlaitTrees *trees)
{
  gint64 *offsets = plait_batch_fill (gint64, trees->nodes.offsets), *left = plait_batch_fill (gint64, trees->left),
         *right = plait_batch_fill (gint64, trees->right);
  const char **labels = plait_batch_fill (const char *, trees->labels);

  offsets[0] = 0;
  for (gint64 i = 0; i < trees->nodes.n; i++)
    {
      const gint32 *children = &g_array_index (tokens->ids, gint32, plait_bench_offset (tokens, first + i, stream));

      offsets[i + 1] = offsets[i] + plait_bench_length (tokens, first + i, stream) / 2;
      for (gint64 node = offsets[i]; node < offsets[i + 1]; node++, children += 2)
        {
          left[node] = children[0];
          right[node] = children[1];
          labels[node] = "";
        }
    }
}

/* What the documents of a source need, if it reads any: tuples @first .. @end - 1 of stream @stream. */
static void
add_documents (const PlaitBenchTokens *tokens, gint64 first, gint64 end, guint stream, PlaitBatchSource *source)
{
  const PlaitExperiment *experiment = tokens->experiment;
  gint64 length = experiment->bench.document_sentence;
  const char *name = experiment->sources[plait_bench_stream (tokens, stream)->source].stream;
  PlaitDocumentSettings settings = plait_experiment_documents (experiment, name);

  source->has_documents = settings.layout != PLAIT_LAYOUT_SENTENCES;
  source->starts = settings.starts;
  source->has_roles = settings.roles > 0;
  for (gint64 tuple = first; source->has_documents && tuple < end; tuple++)
    source->sentences += (plait_bench_length (tokens, tuple, stream) + length - 1) / length;
}

/* Sentences of as many tokens each, the last of a document of fewer perhaps, and all of one role. */
static void
fill_documents (gint64 length, const PlaitInput *input)
{
  g_autoptr (GArray) sentences = g_array_new (FALSE, FALSE, sizeof (PlaitDocumentSentence));
  g_autofree gint64 *bounds = g_new0 (gint64, input->rows.n + 1);
  gint32 *ids = plait_batch_fill (gint32, input->tokens);

  for (gint64 d = 0; d < input->rows.n; d++)
    {
      for (gint64 row = input->rows.offsets[d]; row < input->rows.offsets[d + 1]; row += length)
        {
          PlaitDocumentSentence sentence = { (gint32)MIN (length, input->rows.offsets[d + 1] - row), 0 };

          if (input->documents->starts)
            ids[row] = PLAIT_TOKEN_BOS;
          g_array_append_val (sentences, sentence);
        }
      bounds[d + 1] = sentences->len;
    }
  plait_batch_fill_documents (input, (const PlaitDocumentSentence *)(gpointer)sentences->data, bounds);
}

static void
fill_features (const PlaitBenchSettings *bench, PlaitTensor features, PlaitInput *input)
{
  gint64 *offsets = plait_batch_fill (gint64, input->rows.offsets);

  for (gint64 i = 0; i <= input->rows.n; i++)
    offsets[i] = i * bench->feature_rows;
  input->features = plait_tensor_rows (features, 0, input->rows.n * bench->feature_rows);
}

static void
fill_targets (const PlaitBenchTokens *tokens, gint64 first, guint stream, PlaitBatch *batch)
{
  gint64 *offsets = plait_batch_fill (gint64, batch->target_rows.offsets);

  offsets[0] = 0;
  for (gint64 i = 0; i < batch->n_sentences; i++)
    {
      gint64 n = plait_bench_length (tokens, first + i, stream);

      plait_batch_fill_target (batch, PLAIT_TARGET_TEXT, offsets[i],
                               &g_array_index (tokens->ids, gint32, plait_bench_offset (tokens, first + i, stream)),
                               n - 1);
      offsets[i + 1] = offsets[i] + n;
    }
}

/* The batch of tuples @first .. @end - 1, with targets or without. (transfer full) */
static PlaitBatch *
make_batch (const PlaitBenchTokens *tokens, gint64 first, gint64 end, gboolean targets, PlaitTensor features,
            GError **error)
{
  const PlaitExperiment *experiment = tokens->experiment;
  guint n = experiment->n_sources, last = tokens->streams->len - 1;
  g_autofree PlaitBatchSource *sources = g_new0 (PlaitBatchSource, n);
  PlaitBatch *batch;

  for (guint i = 0; i < n; i++)
    sources[i] = (PlaitBatchSource){ experiment->sources[i].name, experiment->sources[i].kind,
                                     (end - first) * experiment->bench.feature_rows };
  for (guint i = 0; i < last; i++)
    {
      PlaitBatchSource *source = &sources[plait_bench_stream (tokens, i)->source];
      gint64 rows = rows_of (tokens, first, end, i);

      source->has_trees = plait_bench_stream (tokens, i)->trees;
      *(source->has_trees ? &source->nodes : &source->rows) = source->has_trees ? rows / 2 : rows;
      if (!source->has_trees)
        add_documents (tokens, first, end, i, source);
    }
  batch = plait_batch_new (end - first, sources, n, targets ? rows_of (tokens, first, end, last) : -1, error);
  if (!batch)
    return NULL;
  for (guint i = 0; i < n; i++)
    if (experiment->sources[i].kind == PLAIT_INPUT_FEATURES)
      fill_features (&experiment->bench, features, plait_batch_fill (PlaitInput, &batch->inputs[i]));
  for (guint i = 0; i < last; i++)
    {
      const PlaitInput *input = &batch->inputs[plait_bench_stream (tokens, i)->source];

      if (plait_bench_stream (tokens, i)->trees)
        fill_trees (tokens, first, i, input->trees);
      else
        fill_tokens (tokens, first, i, input);
      if (input->documents)
        fill_documents (experiment->bench.document_sentence, input);
    }
  if (targets)
    fill_targets (tokens, first, last, batch);
  for (gint64 i = 0; i < batch->n_sentences; i++)
    plait_batch_fill (gint64, batch->sentence)[i] = first + i;
  return batch;
}

/* The features that every batch has, for its most sentences; no data where no source reads any. */
static gboolean
draw_features (const PlaitBenchTokens *tokens, PlaitTensor *features, GError **error)
{
  const PlaitExperiment *experiment = tokens->experiment;
  PlaitRandomKey key = plait_random_key ((guint64)experiment->experiment.seed, "bench", "image", 0);
  gint64 sentences = 0, rows, n;
  gboolean wanted = FALSE;

  for (guint i = 0; i < experiment->n_sources; i++)
    wanted |= experiment->sources[i].kind == PLAIT_INPUT_FEATURES;
  if (!wanted)
    return TRUE;
  for (guint i = 0; i < plait_bench_batches (tokens); i++)
    sentences
        = MAX (sentences, g_array_index (tokens->batches, gint64, i + 1) - g_array_index (tokens->batches, gint64, i));
  rows = sentences * experiment->bench.feature_rows;
  n = rows * experiment->bench.feature_width;
  if (!plait_memory_has ((gsize)n * sizeof (PlaitScalar)))
    return plait_fail (error, PLAIT_ERROR_MEMORY,
                       "the features of %jd sentences need %.1f GiB of memory, more than there is: lower "
                       "bench.feature_rows, bench.feature_width or the batch",
                       sentences, (double)n * sizeof (PlaitScalar) / 1073741824);
  *features = plait_tensor (plait_try_allocate ((gsize)n, sizeof (PlaitScalar), "the features", error), rows,
                            experiment->bench.feature_width);
  for (gint64 i = 0; features->data && i < n; i++)
    features->data[i] = (PlaitScalar)plait_random_normal (key, (guint64)i);
  return features->data != NULL;
}

void
plait_bench_data_free (PlaitBenchData *data)
{
  if (!data)
    return;
  g_ptr_array_unref (data->batches);
  g_free (data->features.data);
  g_free (data);
}

PlaitBenchData *
plait_bench_data_new (const PlaitBenchOptions *options, gboolean search, guint most, GError **error)
{
  const PlaitExperiment *experiment = options->experiment;
  g_autoptr (PlaitBenchTokens) tokens = plait_bench_tokens_new (experiment);
  g_autoptr (PlaitBenchData) data = g_new0 (PlaitBenchData, 1);

  data->batches = g_ptr_array_new_with_free_func ((GDestroyNotify)plait_batch_free);
  if (experiment->data.vocabulary_size == 0)
    return plait_fail_null (error, PLAIT_ERROR_INPUT,
                            "%s: data.vocabulary_size=0 keeps all words of a text, but none is read here; say how many "
                            "there are, as with --set data.vocabulary_size=8000",
                            experiment->path);
  if (!(options->data ? plait_bench_tokens_read (tokens, options->data, error)
                      : plait_bench_tokens_draw (tokens, error)))
    return NULL;
  if (search)
    regroup (tokens, experiment->decode.batch);
  if (!draw_features (tokens, &data->features, error))
    return NULL;
  for (guint i = 0; i < MIN (plait_bench_batches (tokens), most); i++)
    {
      gint64 first = g_array_index (tokens->batches, gint64, i), end = g_array_index (tokens->batches, gint64, i + 1);
      PlaitBatch *batch = make_batch (tokens, first, end, !search, data->features, error);

      if (!batch)
        return NULL;
      g_ptr_array_add (data->batches, batch);
    }
  return g_steal_pointer (&data);
}
