/* SPDX-License-Identifier: MIT */
#include "cli/bench.h"

#include "base/memory.h"
#include "cli/bench-tokens.h"
#include "data/gather.h"

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

/* What batches are gathered in: the sources, and with @targets the target behind them. @documents [sources], which are
 * filled, must outlive it. (transfer full) */
static GPtrArray *
new_streams (const PlaitBenchTokens *tokens, gboolean targets, PlaitDocumentSettings *documents)
{
  const PlaitExperiment *experiment = tokens->experiment;
  GPtrArray *streams = g_ptr_array_new_with_free_func (plait_gathered_free);

  for (guint i = 0; i < experiment->n_sources; i++)
    {
      const PlaitExperimentSource *source = &experiment->sources[i];
      PlaitGathered *gathered = plait_gathered_new (source->name, source->kind);

      g_ptr_array_add (streams, gathered);
      if (!plait_input_kind_is_text (source->kind))
        continue;
      gathered->linked = source->trees != NULL;
      documents[i] = plait_experiment_documents (experiment, source->stream);
      gathered->documents = documents[i].layout != PLAIT_LAYOUT_SENTENCES ? &documents[i] : NULL;
    }
  if (targets)
    g_ptr_array_add (streams, plait_gathered_new (experiment->data.target, PLAIT_INPUT_TOKENS));
  return streams;
}

/* Cuts the last @n tokens, a document, into sentences of @length each, the last of fewer perhaps, and all of one
 * role. */
static void
cut_document (PlaitGathered *gathered, gint64 n, gint64 length)
{
  gint32 *ids = (gint32 *)(gpointer)gathered->ids->data + gathered->ids->len - n;

  for (gint64 row = 0; row < n; row += length)
    {
      PlaitDocumentSentence sentence = { (gint32)MIN (length, n - row), 0 };

      if (gathered->documents->starts)
        ids[row] = PLAIT_TOKEN_BOS;
      g_array_append_val (gathered->sentences, sentence);
    }
}

static void
gather_tuple (const PlaitBenchTokens *tokens, gint64 tuple, GPtrArray *streams)
{
  const PlaitExperiment *experiment = tokens->experiment;

  for (guint i = 0; i < tokens->streams->len; i++)
    {
      const PlaitBenchStream *stream = plait_bench_stream (tokens, i);
      gboolean is_target = stream->source < 0;
      guint place = is_target ? experiment->n_sources : (guint)stream->source;
      const gint32 *numbers = &g_array_index (tokens->ids, gint32, plait_bench_offset (tokens, tuple, i));
      gint64 n = plait_bench_length (tokens, tuple, i) - is_target; /* a batch ends targets itself */
      PlaitGathered *gathered;

      if (place == streams->len) /* batches without targets */
        continue;
      gathered = streams->pdata[place];
      g_array_append_vals (stream->trees ? gathered->steps : gathered->ids, numbers, (guint)n);
      if (gathered->documents && !stream->trees)
        cut_document (gathered, n, experiment->bench.document_sentence);
    }
  for (guint i = 0; i < streams->len; i++)
    plait_gathered_end (streams->pdata[i], experiment->bench.feature_rows);
}

/* The batch of tuples @first .. @end - 1. (transfer full) */
static PlaitBatch *
make_batch (const PlaitBenchTokens *tokens, gint64 first, gint64 end, GPtrArray *streams, PlaitTensor features,
            GError **error)
{
  PlaitBatch *batch;

  for (guint i = 0; i < streams->len; i++)
    plait_gathered_restart (streams->pdata[i]);
  for (gint64 tuple = first; tuple < end; tuple++)
    gather_tuple (tokens, tuple, streams);
  batch = plait_gathered_batch (streams, tokens->experiment->n_sources, end - first, -1, error);
  if (!batch)
    return NULL;
  for (gint64 i = 0; i < batch->n_sources; i++)
    if (batch->inputs[i].kind == PLAIT_INPUT_FEATURES)
      plait_batch_fill (PlaitInput, batch->inputs)[i].features
          = plait_tensor_rows (features, 0, plait_ragged_rows (batch->inputs[i].rows));
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
  g_autofree PlaitDocumentSettings *documents = g_new0 (PlaitDocumentSettings, experiment->n_sources);
  g_autoptr (GPtrArray) streams = new_streams (tokens, !search, documents);
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
      PlaitBatch *batch = make_batch (tokens, first, end, streams, data->features, error);

      if (!batch)
        return NULL;
      g_ptr_array_add (data->batches, batch);
    }
  return g_steal_pointer (&data);
}
