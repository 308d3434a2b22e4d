/* SPDX-License-Identifier: MIT */
/* Lengths of tuples, and batches of tuples. */
#include <string.h>

#include "corpus/corpus-private.h"
#include "corpus/batch-builder.h"

/* @stored_tuple of these functions is the index in the stream's store, or -1 if the tuple lacks the source
 * (plait_corpus_stored_tuple). */

gint64
plait_corpus_source_rows (const PlaitCorpus *corpus, const PlaitCorpusStreamState *stream, gint64 stored_tuple)
{
  if (stored_tuple < 0)
    return 0;
  if (stream->kind == PLAIT_INPUT_FEATURES)
    return plait_features_length (stream->features, plait_corpus_line (corpus, stored_tuple));
  gint64 n = plait_token_store_length (stream->tokens, stored_tuple);
  if (stream->most_tokens > 0)
    n = MIN (n, stream->most_tokens);
  return n > 0 ? n + stream->append_end : 0;
}

gint64
plait_corpus_length (const PlaitCorpus *corpus, gint64 stream, gint64 tuple)
{
  g_assert (stream >= 0 && stream < corpus->n_streams && tuple >= 0 && tuple < corpus->size);
  const PlaitCorpusStreamState *state = &corpus->streams[stream];
  gint64 stored_tuple = plait_corpus_stored_tuple (state, tuple);
  if (stream == corpus->n_sources)
    return plait_token_store_length (state->tokens, stored_tuple) + plait_target_has_end (state->target);
  return plait_corpus_source_rows (corpus, state, stored_tuple);
}

gint64
plait_corpus_longest (const PlaitCorpus *corpus, gint64 stream)
{
  g_assert (stream >= 0 && stream < corpus->n_streams);
  const PlaitCorpusStreamState *state = &corpus->streams[stream];
  gint64 n = state->counts.longest;
  if (stream == corpus->n_sources)
    return n + plait_target_has_end (state->target);
  return n > 0 && plait_input_kind_is_text (state->kind) ? n + state->append_end : n;
}

gint64
plait_corpus_tokens (const PlaitCorpus *corpus, gint64 tuple)
{
  gint64 tokens = 0;
  for (gint64 s = 0; s < corpus->n_streams; s++)
    if (plait_input_kind_is_text (corpus->streams[s].kind))
      tokens += plait_corpus_length (corpus, s, tuple);
  return tokens;
}

gint64
plait_corpus_width (const PlaitCorpus *corpus, gint64 source)
{
  const PlaitFeatures *features = corpus->streams[source].features;
  return features ? features->width : 0;
}

/* Appends sentence @sentence of @store to @items. Each element of @items consists of one or several gint32. */
static gboolean
add_stored (const PlaitTokenStore *store, gint64 sentence, GArray *items, GError **error)
{
  guint first = items->len, numbers = g_array_get_element_size (items) / (guint)sizeof (gint32);
  gint64 n = plait_token_store_length (store, sentence);

  if (n == 0)
    return TRUE;
  g_array_set_size (items, first + (guint)n / numbers);
  return plait_token_store_read (store, sentence, 0, n, (gint32 *)(gpointer)items->data + first * numbers, error);
}

/* Sets builder->unknown for the ids of the stored tuple @stored_tuple, which begin at index @first. */
static gboolean
add_unknown (const PlaitCorpusStreamState *stream, gint64 stored_tuple, guint first, PlaitStreamBuilder *builder,
             GError **error)
{
  g_autoptr (GPtrArray) texts = g_ptr_array_new ();
  guint used = 0;

  /* Noise will replace the tokens, and the text of unknown words in noise is not stored. */
  if (stream->noisy)
    return TRUE;
  if (!plait_unknown_words_read (stream->unknown, stored_tuple, texts, error))
    return FALSE;
  g_ptr_array_set_size (builder->unknown, (gint)builder->ids->len);
  for (guint i = first; i < builder->ids->len; i++)
    if (g_array_index (builder->ids, gint32, i) == PLAIT_TOKEN_UNKNOWN)
      builder->unknown->pdata[i] = texts->pdata[used++];
  return TRUE;
}

/* Appends the factors of the ids of the stored tuple @stored_tuple, which begin at index @first. */
static gboolean
add_factors (const PlaitCorpus *corpus, const PlaitCorpusStreamState *stream, gint64 stored_tuple, guint first,
             PlaitStreamBuilder *builder, GError **error)
{
  gint64 n = builder->ids->len - first;

  if (!plait_corpus_append_factors (stream, stored_tuple, &g_array_index (builder->ids, gint32, first), n,
                                    builder->factors, error))
    return FALSE;
  for (guint f = 0; f < stream->n_factors && stream->noisy; f++)
    if (!stream->factors[f].predicted
        && !plait_corpus_fill_noise (corpus, stream, &stream->factors[f], stored_tuple,
                                     &g_array_index ((GArray *)builder->factors->pdata[f], gint32, first), n, error))
      return FALSE;
  return TRUE;
}

/* Replaces the ids of tuple @tuple, which begin at index @first, by a random segmentation, unless that is too long. */
static void
sample_tokens (const PlaitCorpus *corpus, const PlaitCorpusStreamState *stream, gint64 epoch, gint64 tuple, guint first,
               GArray *ids)
{
  PlaitRandomKey key = plait_random_key (corpus->sampling_seed, "subwords", stream->name, (guint64)epoch);
  g_autoptr (GArray) sampled = g_array_new (FALSE, FALSE, sizeof (gint32));

  plait_subword_sample (stream->sampler, corpus->sampling,
                        plait_random_subkey (key, (guint64)plait_corpus_line (corpus, tuple)),
                        &g_array_index (ids, gint32, first), ids->len - first, sampled);
  if (sampled->len > stream->most_sampled)
    return;
  g_array_set_size (ids, first);
  g_array_append_vals (ids, sampled->data, sampled->len);
}

static gboolean
add_tokens (const PlaitCorpus *corpus, const PlaitCorpusStreamState *stream, gint64 epoch, gint64 tuple,
            gint64 stored_tuple, PlaitStreamBuilder *builder, GError **error)
{
  const gint32 eos = PLAIT_TOKEN_EOS;
  GArray *ids = builder->ids;
  guint first = ids->len;

  if (!add_stored (stream->tokens, stored_tuple, ids, error))
    return FALSE;
  if (stream->sampler && ids->len > first)
    sample_tokens (corpus, stream, epoch, tuple, first, ids);
  if (stream->most_tokens > 0 && ids->len - first > stream->most_tokens)
    g_array_set_size (ids, first + (guint)stream->most_tokens);
  if (builder->unknown && !add_unknown (stream, stored_tuple, first, builder, error))
    return FALSE;
  if (!add_factors (corpus, stream, stored_tuple, first, builder, error))
    return FALSE;
  if (stream->noisy
      && !plait_corpus_fill_noise (corpus, stream, stream, stored_tuple, &g_array_index (ids, gint32, first),
                                   ids->len - first, error))
    return FALSE;
  for (guint f = 0; f < stream->n_factors && stream->append_end && ids->len > first; f++)
    g_array_append_val (builder->factors->pdata[f], eos);
  if (stream->append_end && ids->len > first)
    g_array_append_val (ids, eos);
  return TRUE;
}

/* Appends to @builder the sentences that @tuples [n] have in @stream in @epoch. @stored [n]: their indices in the
 * stores of the stream; -1: the sentence is missing. */
static gboolean
append_tuples (const PlaitCorpus *corpus, const PlaitCorpusStreamState *stream, gint64 epoch, const gint64 *tuples,
               const gint64 *stored, gint64 n, PlaitStreamBuilder *builder, GError **error)
{
  for (gint64 i = 0; i < n; i++)
    {
      gint64 stored_tuple = stored[i];

      if (stored_tuple >= 0 && stream->features)
        {
          gint64 line = plait_corpus_line (corpus, stored_tuple);

          g_array_append_val (builder->lines, line);
        }
      else if (stored_tuple >= 0
               && (!add_tokens (corpus, stream, epoch, tuples[i], stored_tuple, builder, error)
                   || (stream->steps && !add_stored (stream->steps, stored_tuple, builder->steps, error))
                   || (stream->sentences && !add_stored (stream->sentences, stored_tuple, builder->sentences, error))
                   || (stream->links && !add_stored (stream->links, stored_tuple, builder->links, error))))
        return FALSE;
      plait_stream_builder_end_sentence (builder, plait_corpus_source_rows (corpus, stream, stored_tuple));
    }
  return TRUE;
}

static gboolean
perturb_features (const PlaitCorpus *corpus, const PlaitCorpusStreamState *stream, const PlaitInput *input,
                  const gint64 *stored, GError **error)
{
  for (gint64 i = 0; i < input->rows.n; i++)
    if (!plait_corpus_fill_feature_noise (
            corpus, stream, stored[i],
            plait_tensor_rows (input->features, input->rows.offsets[i], plait_ragged_length (input->rows, i)), error))
      return FALSE;
  return TRUE;
}

/* Returns the number of masked tokens of sentence @i of @source. Sets *@tokens to the number of its tokens that could
 * be masked. */
static gint64
count_masked (const PlaitCorpus *corpus, gint64 epoch, gint64 tuple, const PlaitStreamBuilder *source, gint64 i,
              gint64 *tokens)
{
  const gint64 *offsets = (const gint64 *)(gpointer)source->offsets->data;

  *tokens = 0;
  for (gint64 row = offsets[i]; row < offsets[i + 1]; row++)
    *tokens += plait_token_is_text (g_array_index (source->ids, gint32, row));
  return plait_masking_count (&corpus->masking, epoch, tuple, *tokens);
}

/* Masks the first source of @batch, built from @source. The target is the masked tokens. */
static void
fill_masked (const PlaitCorpus *corpus, gint64 epoch, PlaitBatch *batch, const PlaitStreamBuilder *source)
{
  const PlaitInput *input = &batch->inputs[0];
  gint64 size = plait_vocabulary_size (corpus->streams[0].vocabulary), tokens;
  gint64 *offsets = plait_batch_fill (gint64, batch->target_rows.offsets);

  offsets[0] = 0;
  for (gint64 i = 0; i < batch->n_sentences; i++)
    {
      gint64 target = offsets[i], tuple = batch->sentence[i], first = input->rows.offsets[i];
      gint64 rows = plait_ragged_length (input->rows, i);
      gint32 *positions = plait_batch_fill (gint32, batch->target_inputs) + target;

      offsets[i + 1] = target + count_masked (corpus, epoch, tuple, source, i, &tokens);
      plait_masking_apply (&corpus->masking, epoch, tuple, size, plait_batch_fill (gint32, input->tokens) + first, rows,
                           tokens, positions, plait_batch_fill (gint32, batch->target_outputs) + target);
      plait_corpus_mask_factors (&corpus->streams[0], &g_array_index (source->ids, gint32, first), rows, positions,
                                 offsets[i + 1] - target, input, first);
    }
}

PlaitBatch *
plait_corpus_batch (const PlaitCorpus *corpus, const gint64 *tuples, gint64 n, GError **error)
{
  return plait_corpus_batch_in (corpus, 0, tuples, n, error);
}

PlaitBatch *
plait_corpus_batch_in (const PlaitCorpus *corpus, gint64 epoch, const gint64 *tuples, gint64 n, GError **error)
{
  g_autoptr (GPtrArray) streams = g_ptr_array_new_with_free_func (plait_stream_builder_free);
  g_autofree gint64 *stored = plait_corpus_stored_tuples (corpus, epoch, tuples, n);
  g_autoptr (PlaitBatch) batch = NULL;
  gint64 masked = corpus->masked ? 0 : -1, tokens;

  for (gint64 s = 0; s < corpus->n_streams; s++)
    {
      const PlaitCorpusStreamState *stream = &corpus->streams[s];
      PlaitStreamBuilder *builder = plait_stream_builder_new (stream->name, stream->kind);

      g_ptr_array_add (streams, builder);
      builder->target = stream->target;
      builder->features = stream->features;
      builder->trees = stream->trees;
      builder->unknown = stream->unknown ? g_ptr_array_new () : NULL;
      if (stream->unknown_use == PLAIT_UNKNOWN_OWN)
        builder->first_own = plait_vocabulary_size (stream->vocabulary);
      builder->documents = stream->sentences ? &stream->documents : NULL;
      builder->aligned = stream->links != NULL;
      for (guint f = 0; f < stream->n_factors; f++)
        g_ptr_array_add (builder->factors, g_array_new (FALSE, FALSE, sizeof (gint32)));
      if (!append_tuples (corpus, stream, epoch, tuples, stored + s * n, n, builder, error))
        return NULL;
      if (builder->unknown)
        g_ptr_array_set_size (builder->unknown, (gint)builder->ids->len);
    }
  for (gint64 i = 0; i < n && corpus->masked; i++)
    masked += count_masked (corpus, epoch, tuples[i], streams->pdata[0], i, &tokens);
  batch = plait_batch_build (streams, corpus->n_sources, n, masked, error);
  if (!batch)
    return NULL;
  memcpy (plait_batch_fill (gint64, batch->sentence), tuples, (gsize)n * sizeof (gint64));
  for (gint64 i = 0; i < n && corpus->loss_weights; i++)
    plait_batch_fill (double, batch->weights)[i]
        = g_array_index (corpus->loss_weights, double, plait_corpus_line (corpus, tuples[i]));
  for (gint64 s = 0; s < corpus->n_sources; s++)
    if (corpus->streams[s].noisy && corpus->streams[s].features
        && !perturb_features (corpus, &corpus->streams[s], &batch->inputs[s], stored + s * n, error))
      return NULL;
  if (corpus->masked)
    fill_masked (corpus, epoch, batch, streams->pdata[0]);
  return g_steal_pointer (&batch);
}
