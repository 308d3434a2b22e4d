/* SPDX-License-Identifier: MIT */
/* Factors and tags of a source, from words to rows. */
#include "corpus/batch.h"
#include "corpus/corpus-private.h"

gboolean
plait_corpus_append_factors (const PlaitCorpusStreamState *stream, gint64 tuple, const gint32 *ids, gint64 n,
                             GPtrArray *factors, GError **error)
{
  if (stream->n_factors == 0)
    return TRUE;
  g_autofree gint64 *words = g_new (gint64, n);
  g_autoptr (GArray) tokens = g_array_new (FALSE, FALSE, sizeof (gint32));
  gint64 n_words = plait_vocabulary_count_words (stream->vocabulary, ids, n, words);

  for (guint f = 0; f < stream->n_factors; f++)
    {
      const PlaitTokenStore *store = stream->factors[f].tokens;
      gint64 n_tokens = plait_token_store_length (store, tuple);

      g_array_set_size (tokens, (guint)n_tokens);
      if (!plait_token_store_read (store, tuple, 0, n_tokens, (gint32 *)(gpointer)tokens->data, error))
        return FALSE;
      for (gint64 i = 0; i < n; i++)
        {
          /* The last piece has the word -1 if it is only a space. It gets the factor of the next word if truncation cut
           * that word off, else of the last word. */
          gint64 word = MIN (words[i] < 0 ? n_words : words[i], n_tokens - 1);
          gint32 id = ids[i] < PLAIT_TOKEN_UNKNOWN ? ids[i]
                      : word < 0                   ? PLAIT_TOKEN_UNKNOWN
                                                   : g_array_index (tokens, gint32, word);

          /* Only the first piece of a word predicts its tag (Devlin et al. 2019, 5.3). */
          if (stream->factors[f].predicted && (words[i] < 0 || (i > 0 && words[i] == words[i - 1])))
            id = PLAIT_TOKEN_PAD;
          g_array_append_val (factors->pdata[f], id);
        }
    }
  return TRUE;
}

/* Returns the array index of word @word of @n words. -1, a space after the last word, counts as the last word. */
static gint64
index_of (gint64 word, gint64 n)
{
  return MAX (word < 0 ? n - 1 : word, 0);
}

void
plait_corpus_mask_factors (const PlaitCorpusStreamState *stream, const gint32 *ids, gint64 n, const gint32 *positions,
                           gint64 n_masked, const PlaitInput *input, gint64 first)
{
  if (stream->n_factors == 0)
    return;
  g_autofree gint64 *words = g_new (gint64, n);
  gint64 n_words = plait_vocabulary_count_words (stream->vocabulary, ids, n, words);
  g_autofree gboolean *hidden = g_new0 (gboolean, n_words + 1);

  for (gint64 i = 0; i < n_masked; i++)
    hidden[index_of (words[positions[i]], n_words)] = TRUE;
  for (gint64 i = 0; i < n; i++)
    for (guint f = 0; f < stream->n_factors && plait_token_is_text (ids[i]); f++)
      if (hidden[index_of (words[i], n_words)] && !stream->factors[f].predicted)
        plait_batch_fill (gint32, input->factors[f])[first + i] = PLAIT_TOKEN_MASK;
}
