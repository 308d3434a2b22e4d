/* SPDX-License-Identifier: MIT */
#include "bench/bench.h"

#include "files/memory.h"
#include "bench/bench-tokens.h"

/* The same tuples in the same order, @count a batch; the last batch may have fewer. */
static void
regroup (PlaitBenchTokens *tokens, gint64 count)
{
  gint64 n = plait_bench_first (tokens, plait_bench_batches (tokens));

  g_array_set_size (tokens->batches, 1);
  for (gint64 end = count; end < n; end += count)
    g_array_append_val (tokens->batches, end);
  g_array_append_val (tokens->batches, n);
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
    sentences = MAX (sentences, plait_bench_first (tokens, i + 1) - plait_bench_first (tokens, i));
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
  plait_batch_free (data->whole);
  g_free (data->features.data);
  g_free (data);
}

/* Tuples @first .. @end - 1 of @data->whole as a batch, which has the drawn features. */
static gboolean
add_batch (PlaitBenchData *data, gint64 first, gint64 end, GError **error)
{
  PlaitBatch *batch = plait_batch_part (data->whole, first, end - first, error);

  if (!batch)
    return FALSE;
  for (gint64 i = 0; i < batch->n_sources; i++)
    if (batch->inputs[i].kind == PLAIT_INPUT_FEATURES)
      plait_batch_fill (PlaitInput, batch->inputs)[i].features
          = plait_tensor_rows (data->features, 0, plait_ragged_rows (batch->inputs[i].rows));
  g_ptr_array_add (data->batches, batch);
  return TRUE;
}

PlaitBenchData *
plait_bench_data_new (const PlaitBenchOptions *options, gboolean search, guint most, GError **error)
{
  const PlaitExperiment *experiment = options->experiment;
  g_autoptr (PlaitBenchTokens) tokens = plait_bench_tokens_new (experiment);
  g_autoptr (PlaitBenchData) data = g_new0 (PlaitBenchData, 1);
  guint batches;

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
    {
      regroup (tokens, experiment->decode.batch);
      g_ptr_array_set_size (tokens->streams, (gint)experiment->n_sources); /* there is no target */
    }
  if (!draw_features (tokens, &data->features, error))
    return NULL;
  batches = MIN (plait_bench_batches (tokens), most);
  data->whole
      = plait_gathered_batch (tokens->streams, experiment->n_sources, plait_bench_first (tokens, batches), -1, error);
  if (!data->whole)
    return NULL;
  for (gint64 i = 0; i < data->whole->n_sentences; i++)
    plait_batch_fill (gint64, data->whole->sentence)[i] = i;
  for (guint i = 0; i < batches; i++)
    if (!add_batch (data, plait_bench_first (tokens, i), plait_bench_first (tokens, i + 1), error))
      return NULL;
  return g_steal_pointer (&data);
}
