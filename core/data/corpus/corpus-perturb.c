/* SPDX-License-Identifier: MIT */
/* Changes to an open corpus. For tests: sources taken from other tuples, replaced by rows of random tuples, or
 * removed. For training: dropped tuples, source dropout and sampled subwords. For all splits: truncated sources. */
#include "text/error.h"
#include "process/random.h"
#include "corpus/batch.h"
#include "corpus/corpus-private.h"

static PlaitCorpusStreamState *
source_of (PlaitCorpus *corpus, gint64 source)
{
  g_assert (source >= 0 && source < corpus->n_sources);
  return &corpus->streams[source];
}

gboolean
plait_corpus_derange (PlaitCorpus *corpus, gint64 source, guint64 seed, GError **error)
{
  PlaitCorpusStreamState *stream = source_of (corpus, source);
  if (corpus->size < 2)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: a single tuple cannot be shuffled; expected at least two tuples, so that each tuple gets "
                       "source %s of another tuple",
                       stream->files->path, stream->name);
  stream->order = g_renew (guint32, stream->order, corpus->size);
  PlaitRandomKey key = plait_random_key (seed, "derange", stream->name, 0);
  plait_random_derangement (key, stream->order, (gsize)corpus->size);
  return TRUE;
}

/* Sets the length of the longest sentence of @stream among the tuples that are left. */
static void
find_longest (PlaitCorpus *corpus, gint64 stream)
{
  PlaitCorpusStreamState *state = &corpus->streams[stream];

  state->counts.longest = 0;
  for (gint64 tuple = 0; tuple < corpus->size; tuple++)
    {
      gint64 rows = plait_corpus_length (corpus, stream, tuple);
      gint64 end = stream == corpus->n_sources ? plait_target_has_end (state->target)
                                               : rows > 0 && state->tokens && state->append_end;

      state->counts.longest = MAX (state->counts.longest, rows - end);
    }
}

void
plait_corpus_drop (PlaitCorpus *corpus, const gboolean *dropped)
{
  GArray *lines = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autofree guint32 *kept = g_new (guint32, corpus->size);

  for (gint64 tuple = 0; tuple < corpus->size; tuple++)
    {
      guint32 line = (guint32)plait_corpus_line (corpus, tuple);

      if (dropped[tuple])
        continue;
      kept[lines->len] = (guint32)tuple;
      g_array_append_val (lines, line);
    }
  g_assert (lines->len > 0);
  g_clear_pointer (&corpus->line_of, g_array_unref);
  corpus->line_of = lines;
  corpus->size = lines->len;
  for (gint64 s = 0; s < corpus->n_streams; s++)
    {
      PlaitCorpusStreamState *stream = &corpus->streams[s];

      guint32 *order;

      if (!stream->tokens) /* features need no order, because they are looked up by line */
        g_assert (!stream->order);
      else
        {
          order = g_new (guint32, corpus->size);
          for (gint64 i = 0; i < corpus->size; i++)
            order[i] = stream->order ? stream->order[kept[i]] : kept[i];
          g_free (stream->order);
          stream->order = order;
        }
      find_longest (corpus, s);
    }
}

gboolean
plait_corpus_can_truncate (const PlaitCorpus *corpus, gint64 source)
{
  const PlaitCorpusStreamState *stream = &corpus->streams[source];
  gboolean tagged = source == 0 && plait_corpus_has_target (corpus)
                    && corpus->streams[corpus->n_sources].target == PLAIT_TARGET_TAGS;

  return source < corpus->n_sources && stream->kind == PLAIT_INPUT_TOKENS && !stream->trees && !stream->sentences
         && !tagged;
}

void
plait_corpus_truncate (PlaitCorpus *corpus, gint64 source, gint64 rows)
{
  PlaitCorpusStreamState *stream = source_of (corpus, source);

  g_assert (plait_corpus_can_truncate (corpus, source) && rows > stream->append_end);
  stream->most_tokens = rows - stream->append_end;
  stream->counts.longest = MIN (stream->counts.longest, stream->most_tokens);
}

void
plait_corpus_add_noise (PlaitCorpus *corpus, gint64 source, guint64 seed)
{
  PlaitCorpusStreamState *stream = source_of (corpus, source);
  stream->noisy = TRUE;
  stream->noise = plait_random_key (seed, "noise", stream->name, 0);
  for (guint f = 0; f < stream->n_factors; f++)
    stream->factors[f].noise = plait_random_key (seed, "noise", stream->factors[f].name, 0);
}

void
plait_corpus_remove_source (PlaitCorpus *corpus, gint64 source)
{
  source_of (corpus, source)->absent = TRUE;
}

void
plait_corpus_set_source_dropout (PlaitCorpus *corpus, double rate, guint64 seed)
{
  corpus->source_dropout = rate;
  corpus->source_dropout_seed = seed;
}

gboolean
plait_corpus_sample_subwords (PlaitCorpus *corpus, double strength, guint64 seed, const gint64 *most, GError **error)
{
  corpus->sampling = strength;
  corpus->sampling_seed = seed;
  for (gint64 s = 0; s < corpus->n_streams; s++)
    {
      PlaitCorpusStreamState *stream = &corpus->streams[s];
      gboolean ends = s == corpus->n_sources || stream->append_end;

      if (!stream->vocabulary || stream->target != PLAIT_TARGET_TEXT)
        continue;
      g_assert (!stream->trees && stream->documents.layout == PLAIT_LAYOUT_SENTENCES);
      stream->sampler = plait_subword_sampler_new (stream->vocabulary, error);
      if (!stream->sampler)
        {
          g_prefix_error (error, "the vocabulary of %s: ", stream->name);
          return FALSE;
        }
      stream->most_sampled = most[s] - ends;
    }
  return TRUE;
}

/* Drops sources of one tuple: sets stored[s * n] to -1 for each dropped source s. If all would be dropped, a random one
 * stays. */
static void
drop_sources (const PlaitCorpus *corpus, PlaitRandomKey key, gint64 *stored, gint64 n)
{
  gint64 present = 0, left = 0, spared = -1, place = 0;
  g_autofree gint64 *rows = g_new (gint64, corpus->n_sources);
  for (gint64 s = 0; s < corpus->n_sources; s++)
    {
      rows[s] = plait_corpus_source_rows (corpus, &corpus->streams[s], stored[s * n]);
      present += rows[s] > 0;
      left += rows[s] > 0 && plait_random_uniform (key, (guint64)s) >= corpus->source_dropout;
    }
  if (present > 0 && left == 0)
    spared = (gint64)plait_random_below (key, (guint64)corpus->n_sources, (guint64)present);
  for (gint64 s = 0; s < corpus->n_sources; s++)
    if (rows[s] > 0 && place++ != spared && plait_random_uniform (key, (guint64)s) < corpus->source_dropout)
      stored[s * n] = -1;
}

gint64 *
plait_corpus_stored_tuples (const PlaitCorpus *corpus, gint64 epoch, const gint64 *tuples, gint64 n)
{
  gint64 *stored = g_new (gint64, corpus->n_streams * n);
  PlaitRandomKey key = plait_random_key (corpus->source_dropout_seed, "source dropout", NULL, (guint64)epoch);
  for (gint64 s = 0; s < corpus->n_streams; s++)
    for (gint64 i = 0; i < n; i++)
      stored[s * n + i] = plait_corpus_stored_tuple (&corpus->streams[s], tuples[i]);
  for (gint64 i = 0; i < n && corpus->source_dropout > 0; i++)
    drop_sources (corpus, plait_random_subkey (key, (guint64)tuples[i]), stored + i, n);
  return stored;
}

gboolean
plait_corpus_fill_noise (const PlaitCorpus *corpus, const PlaitCorpusStreamState *source,
                         const PlaitCorpusStreamState *stream, gint64 tuple, gint32 *row, gint64 n, GError **error)
{
  PlaitRandomKey key = plait_random_subkey (stream->noise, (guint64)tuple);
  for (gint64 i = 0; i < n; i++)
    {
      gint64 drawn = (gint64)plait_random_below (key, (guint64)(2 * i), (guint64)corpus->size);
      gint64 from = plait_corpus_stored_tuple (source, drawn), length = plait_token_store_length (stream->tokens, from);
      if (length > 0 /* keep the token if the drawn sentence has no tokens */
          && !plait_token_store_read (stream->tokens, from,
                                      (gint64)plait_random_below (key, (guint64)(2 * i + 1), (guint64)length), 1,
                                      row + i, error))
        return FALSE;
    }
  return TRUE;
}

gboolean
plait_corpus_fill_feature_noise (const PlaitCorpus *corpus, const PlaitCorpusStreamState *stream, gint64 tuple,
                                 PlaitTensor rows, GError **error)
{
  PlaitRandomKey key = plait_random_subkey (stream->noise, (guint64)tuple);
  for (gint64 i = 0; i < rows.rows; i++)
    {
      gint64 from = (gint64)plait_random_below (key, (guint64)(2 * i), (guint64)corpus->size);
      gint64 line = plait_corpus_line (corpus, from), length = plait_features_length (stream->features, line);
      if (length == 0) /* keep the row if the drawn sentence has no rows */
        continue;
      if (!stream->features->read_row (stream->features, line,
                                       (gint64)plait_random_below (key, (guint64)(2 * i + 1), (guint64)length),
                                       plait_tensor_row (rows, i), error))
        return FALSE;
    }
  return TRUE;
}
