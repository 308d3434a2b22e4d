/* SPDX-License-Identifier: MIT */
/* Sources that are not what they were: of other tuples, of rows drawn at random, or absent, always or now and then. */
#include "base/error.h"
#include "base/random.h"
#include "data/corpus-private.h"

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
                       "%s: one tuple cannot be shuffled; expected at least two to take source %s from another one",
                       stream->path, stream->name);
  stream->order = g_renew (guint32, stream->order, corpus->size);
  PlaitRandomKey key = plait_random_key (seed, "derange", stream->name, 0);
  plait_random_derangement (key, stream->order, (gsize)corpus->size);
  return TRUE;
}

void
plait_corpus_add_noise (PlaitCorpus *corpus, gint64 source, guint64 seed)
{
  PlaitCorpusStreamState *stream = source_of (corpus, source);
  stream->noisy = TRUE;
  stream->noise = plait_random_key (seed, "noise", stream->name, 0);
}

void
plait_corpus_leave_out (PlaitCorpus *corpus, gint64 source)
{
  source_of (corpus, source)->absent = TRUE;
}

void
plait_corpus_drop_sources (PlaitCorpus *corpus, double rate, guint64 seed)
{
  corpus->source_dropout = rate;
  corpus->source_dropout_seed = seed;
}

/* Leaves out sources of a tuple, whose origins stand @n apart: of those that are there each by its own draw of @key,
 * and where none would be left, all but one. */
static void
drop_sources (const PlaitCorpus *corpus, PlaitRandomKey key, gint64 *origins, gint64 n)
{
  gint64 present = 0, left = 0, spared = -1, place = 0;
  g_autofree gint64 *rows = g_new (gint64, corpus->n_sources);
  for (gint64 s = 0; s < corpus->n_sources; s++)
    {
      rows[s] = plait_corpus_source_rows (corpus, &corpus->streams[s], origins[s * n]);
      present += rows[s] > 0;
      left += rows[s] > 0 && plait_random_uniform (key, (guint64)s) >= corpus->source_dropout;
    }
  if (present > 0 && left == 0)
    spared = (gint64)plait_random_below (key, (guint64)corpus->n_sources, (guint64)present);
  for (gint64 s = 0; s < corpus->n_sources; s++)
    if (rows[s] > 0 && place++ != spared && plait_random_uniform (key, (guint64)s) < corpus->source_dropout)
      origins[s * n] = -1;
}

gint64 *
plait_corpus_origins (const PlaitCorpus *corpus, gint64 epoch, const gint64 *tuples, gint64 n)
{
  gint64 *origins = g_new (gint64, corpus->n_sources * n);
  PlaitRandomKey key = plait_random_key (corpus->source_dropout_seed, "source dropout", NULL, (guint64)epoch);
  for (gint64 s = 0; s < corpus->n_sources; s++)
    for (gint64 i = 0; i < n; i++)
      origins[s * n + i] = plait_corpus_origin (&corpus->streams[s], tuples[i]);
  for (gint64 i = 0; i < n && corpus->source_dropout > 0; i++)
    drop_sources (corpus, plait_random_subkey (key, (guint64)tuples[i]), origins + i, n);
  return origins;
}

gboolean
plait_corpus_fill_noise (const PlaitCorpus *corpus, const PlaitCorpusStreamState *stream, gint64 tuple, gint32 *row,
                         gint64 n, GError **error)
{
  PlaitRandomKey key = plait_random_subkey (stream->noise, (guint64)tuple);
  for (gint64 i = 0; i < n; i++)
    {
      gint64 from = (gint64)plait_random_below (key, (guint64)(2 * i), (guint64)corpus->size);
      gint64 length = plait_token_store_length (stream->tokens, from);
      if (length > 0 /* else the line has nothing to give: the token stays */
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
      gint64 line = plait_corpus_line (corpus, from), length = plait_feature_file_length (stream->features, line);
      if (length == 0) /* it has nothing to give: the row stays */
        continue;
      if (!plait_feature_file_read_row (stream->features, line,
                                        (gint64)plait_random_below (key, (guint64)(2 * i + 1), (guint64)length),
                                        plait_tensor_row (rows, i), error))
        return FALSE;
    }
  return TRUE;
}
