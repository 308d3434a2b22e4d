/* SPDX-License-Identifier: MIT */
/* Lengths of tuples, and batches of them. */
#include "base/error.h"
#include "data/batch.h"
#include "data/corpus-private.h"
#include "data/labels.h"

/* The functions below take the @origin of a sentence (plait_corpus_origin): the kept tuple that it is of, or -1. */

gint64
plait_corpus_source_rows (const PlaitCorpus *corpus, const PlaitCorpusStreamState *stream, gint64 origin)
{
  if (origin < 0)
    return 0;
  if (stream->kind == PLAIT_INPUT_FEATURES)
    return plait_feature_file_length (stream->features, plait_corpus_line (corpus, origin));
  gint64 n = plait_token_store_length (stream->tokens, origin);
  return n > 0 ? n + stream->append_end : 0;
}

gint64
plait_corpus_length (const PlaitCorpus *corpus, gint64 stream, gint64 tuple)
{
  g_assert (stream >= 0 && stream < corpus->n_streams && tuple >= 0 && tuple < corpus->size);
  if (stream == corpus->n_sources)
    return plait_token_store_length (corpus->streams[stream].tokens, tuple)
           + plait_target_has_end (corpus->streams[stream].target);
  return plait_corpus_source_rows (corpus, &corpus->streams[stream],
                                   plait_corpus_origin (&corpus->streams[stream], tuple));
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
  const PlaitFeatureFile *features = corpus->streams[source].features;
  return features ? plait_feature_file_width (features) : 0;
}

static gboolean
fill_tokens (const PlaitCorpus *corpus, const PlaitCorpusStreamState *stream, PlaitInput *input, const gint64 *origins,
             GError **error)
{
  for (gint64 i = 0; i < input->rows.n; i++)
    {
      gint32 *row = plait_batch_fill (gint32, input->tokens) + input->rows.offsets[i];
      gint64 n = plait_ragged_length (input->rows, i);
      if (n == 0)
        continue;
      if (!plait_token_store_copy (stream->tokens, origins[i], row, error)
          || (stream->noisy
              && !plait_corpus_fill_noise (corpus, stream, origins[i], row, n - stream->append_end, error)))
        return FALSE;
      if (stream->append_end)
        row[n - 1] = PLAIT_TOKEN_EOS;
    }
  return TRUE;
}

static gboolean
fill_features (const PlaitCorpus *corpus, const PlaitCorpusStreamState *stream, PlaitInput *input,
               const gint64 *origins, GError **error)
{
  g_autofree gint64 *lines = g_new (gint64, input->rows.n);
  gint64 n = 0;
  for (gint64 i = 0; i < input->rows.n; i++)
    if (origins[i] >= 0)
      lines[n++] = plait_corpus_line (corpus, origins[i]);
  if (!plait_feature_file_read (stream->features, lines, n, input->features, error))
    return FALSE;
  for (gint64 i = 0; i < input->rows.n && stream->noisy; i++)
    {
      PlaitTensor rows = input->features;
      rows.data += input->rows.offsets[i] * rows.stride;
      rows.rows = plait_ragged_length (input->rows, i);
      if (!plait_corpus_fill_feature_noise (corpus, stream, origins[i], rows, error))
        return FALSE;
    }
  return TRUE;
}

/* The inner nodes of its tree. */
static gint64
source_nodes (const PlaitCorpusStreamState *stream, gint64 origin)
{
  return origin < 0 ? 0 : plait_token_store_length (stream->steps, origin) / 2;
}

static gboolean
fill_trees (const PlaitCorpusStreamState *stream, const PlaitInput *input, const gint64 *origins, GError **error)
{
  const PlaitTrees *trees = input->trees;
  gint64 *offsets = plait_batch_fill (gint64, trees->nodes.offsets);
  g_autoptr (GArray) steps = g_array_new (FALSE, FALSE, sizeof (gint32));
  offsets[0] = 0;
  for (gint64 i = 0; i < trees->nodes.n; i++)
    {
      gint64 n = source_nodes (stream, origins[i]), first = offsets[i];
      offsets[i + 1] = first + n;
      g_array_set_size (steps, (guint)(2 * n));
      if (origins[i] < 0)
        continue;
      if (!plait_token_store_copy (stream->steps, origins[i], (gint32 *)(gpointer)steps->data, error))
        return FALSE;
      plait_tree_maker_fill (stream->trees, (const gint32 *)(gpointer)steps->data, n,
                             plait_ragged_length (input->rows, i), plait_batch_fill (gint64, trees->left) + first,
                             plait_batch_fill (gint64, trees->right) + first,
                             plait_batch_fill (const char *, trees->labels) + first);
    }
  return TRUE;
}

/* The sentences of its document. */
static gint64
source_sentences (const PlaitCorpusStreamState *stream, gint64 origin)
{
  return origin < 0 ? 0 : plait_token_store_length (stream->sentences, origin) / 2;
}

static gboolean
fill_documents (const PlaitCorpusStreamState *stream, const PlaitInput *input, const gint64 *origins, GError **error)
{
  gint64 n = input->rows.n;
  g_autofree gint64 *bounds = g_new (gint64, n + 1);
  g_autofree PlaitDocumentSentence *sentences = NULL;

  bounds[0] = 0;
  for (gint64 i = 0; i < n; i++)
    bounds[i + 1] = bounds[i] + source_sentences (stream, origins[i]);
  sentences = g_new (PlaitDocumentSentence, bounds[n]);
  for (gint64 i = 0; i < n; i++)
    if (origins[i] >= 0
        && !plait_token_store_copy (stream->sentences, origins[i], (gint32 *)(gpointer)(sentences + bounds[i]), error))
      return FALSE;
  plait_batch_fill_documents (input, sentences, bounds);
  return TRUE;
}

static gboolean
fill_source (const PlaitCorpus *corpus, gint64 source, PlaitBatch *batch, const gint64 *origins, GError **error)
{
  const PlaitCorpusStreamState *stream = &corpus->streams[source];
  PlaitInput *input = &plait_batch_fill (PlaitInput, batch->inputs)[source];
  gint64 *offsets = plait_batch_fill (gint64, input->rows.offsets);
  offsets[0] = 0;
  for (gint64 i = 0; i < batch->n_sentences; i++)
    {
      gint64 rows = plait_corpus_source_rows (corpus, stream, origins[i]);
      offsets[i + 1] = offsets[i] + rows;
      input->n_missing += rows == 0;
    }
  if (input->kind == PLAIT_INPUT_FEATURES)
    return fill_features (corpus, stream, input, origins, error);
  return fill_tokens (corpus, stream, input, origins, error)
         && (!input->trees || fill_trees (stream, input, origins, error))
         && (!input->documents || fill_documents (stream, input, origins, error));
}

static gboolean
fill_target (const PlaitCorpus *corpus, PlaitBatch *batch, const gint64 *tuples, GError **error)
{
  const PlaitCorpusStreamState *stream = &corpus->streams[corpus->n_sources];
  gint64 *offsets = plait_batch_fill (gint64, batch->target_rows.offsets);
  offsets[0] = 0;
  for (gint64 i = 0; i < batch->n_sentences; i++)
    {
      gint64 n = plait_token_store_length (stream->tokens, tuples[i]);
      gint32 *ids = plait_batch_fill (gint32, batch->target_outputs) + offsets[i];
      offsets[i + 1] = offsets[i] + n + plait_target_has_end (stream->target);
      if (!plait_token_store_copy (stream->tokens, tuples[i], ids, error))
        return FALSE;
      plait_batch_fill_target (batch, stream->target, offsets[i], ids, n);
      if (stream->target == PLAIT_TARGET_SPAN)
        plait_span_to_rows (&batch->inputs[0], i, ids);
    }
  return TRUE;
}

/* Tokens of @tuple in the first source that may be masked; -1 on failure. */
static gint64
masked_tokens (const PlaitCorpus *corpus, gint64 tuple, GError **error)
{
  const PlaitCorpusStreamState *stream = &corpus->streams[0];
  gint64 rows = plait_token_store_length (stream->tokens, tuple), n = 0;
  g_autofree gint32 *ids = g_new (gint32, rows + 1);
  if (!plait_token_store_copy (stream->tokens, tuple, ids, error))
    return -1;
  for (gint64 i = 0; i < rows; i++)
    n += plait_masking_takes (ids[i]);
  return n;
}

/* Masks the first source of @batch, whose target becomes what was there. */
static gboolean
fill_masked (const PlaitCorpus *corpus, gint64 epoch, PlaitBatch *batch, const gint64 *tuples, GError **error)
{
  const PlaitInput *input = &batch->inputs[0];
  gint64 size = plait_vocabulary_size (corpus->streams[0].vocabulary);
  gint64 *offsets = plait_batch_fill (gint64, batch->target_rows.offsets);
  offsets[0] = 0;
  for (gint64 i = 0; i < batch->n_sentences; i++)
    {
      gint64 tokens = masked_tokens (corpus, tuples[i], error), row = offsets[i];
      if (tokens < 0)
        return FALSE;
      offsets[i + 1] = row + plait_masking_count (&corpus->masking, epoch, tuples[i], tokens);
      plait_masking_apply (
          &corpus->masking, epoch, tuples[i], size, plait_batch_fill (gint32, input->tokens) + input->rows.offsets[i],
          plait_ragged_length (input->rows, i), tokens, plait_batch_fill (gint32, batch->target_inputs) + row,
          plait_batch_fill (gint32, batch->target_outputs) + row);
    }
  return TRUE;
}

/* *@rows becomes those of the target of @tuples, or -1 where there is none. */
static gboolean
count_target (const PlaitCorpus *corpus, gint64 epoch, const gint64 *tuples, gint64 n, gint64 *rows, GError **error)
{
  gboolean none = !corpus->masked && !plait_corpus_has_target (corpus);

  *rows = none ? -1 : 0;
  for (gint64 i = 0; i < n && !none; i++)
    {
      gint64 tokens = corpus->masked ? masked_tokens (corpus, tuples[i], error) : 0;

      if (tokens < 0)
        return FALSE;
      *rows += corpus->masked ? plait_masking_count (&corpus->masking, epoch, tuples[i], tokens)
                              : plait_corpus_length (corpus, corpus->n_sources, tuples[i]);
    }
  return TRUE;
}

PlaitBatch *
plait_corpus_batch (const PlaitCorpus *corpus, const gint64 *tuples, gint64 n, GError **error)
{
  return plait_corpus_batch_in (corpus, 0, tuples, n, error);
}

PlaitBatch *
plait_corpus_batch_in (const PlaitCorpus *corpus, gint64 epoch, const gint64 *tuples, gint64 n, GError **error)
{
  g_autofree PlaitBatchSource *sources = g_new0 (PlaitBatchSource, corpus->n_sources);
  g_autofree gint64 *origins = plait_corpus_origins (corpus, epoch, tuples, n);
  for (gint64 s = 0; s < corpus->n_sources; s++)
    {
      const PlaitCorpusStreamState *stream = &corpus->streams[s];
      sources[s] = (PlaitBatchSource){ .name = stream->name, .kind = stream->kind };
      if (stream->kind == PLAIT_INPUT_FEATURES)
        sources[s].width = plait_feature_file_width (stream->features);
      sources[s].has_trees = stream->trees != NULL;
      sources[s].has_documents = stream->sentences != NULL;
      sources[s].starts = stream->documents.starts;
      sources[s].has_roles = stream->documents.roles > 0;
      for (gint64 i = 0; i < n; i++)
        {
          gint64 origin = origins[s * n + i];
          sources[s].rows += plait_corpus_source_rows (corpus, stream, origin);
          sources[s].nodes += stream->trees ? source_nodes (stream, origin) : 0;
          sources[s].sentences += stream->sentences ? source_sentences (stream, origin) : 0;
        }
    }
  gint64 target_rows;
  if (!count_target (corpus, epoch, tuples, n, &target_rows, error))
    return NULL;
  g_autoptr (PlaitBatch) batch = plait_batch_new (n, sources, corpus->n_sources, target_rows, error);
  if (!batch)
    return NULL;
  for (gint64 i = 0; i < n; i++)
    plait_batch_fill (gint64, batch->sentence)[i] = tuples[i];
  for (gint64 s = 0; s < corpus->n_sources; s++)
    if (!fill_source (corpus, s, batch, origins + s * n, error))
      return NULL;
  if (corpus->masked ? !fill_masked (corpus, epoch, batch, tuples, error)
                     : plait_corpus_has_target (corpus) && !fill_target (corpus, batch, tuples, error))
    return NULL;
  return g_steal_pointer (&batch);
}
