/* SPDX-License-Identifier: MIT */
#include "corpus/unknown-words.h"

#include <string.h>

#include "corpus/token-store.h"
#include "text/words.h"
#include "types/input.h"

struct PlaitUnknownWords
{
  GHashTable *numbers; /* text -> its number, plus one */
  GPtrArray *texts; /* (element-type utf8), by number; "" has the number 0 and stands for a word that was not found */
  PlaitTokenStore *of; /* texts of the unknown tokens of each sentence, as indices into @texts */
  GArray *scratch;     /* gint32, numbers of one sentence */
};

/* Returns the number of the text @word [@length bytes]. Adds the text if it is new. */
static gint32
number_of (PlaitUnknownWords *words, const char *word, gsize length)
{
  char *text = g_strndup (word, length);
  gint32 number = GPOINTER_TO_INT (g_hash_table_lookup (words->numbers, text)) - 1;

  if (number >= 0)
    {
      g_free (text);
      return number;
    }
  g_ptr_array_add (words->texts, text);
  g_hash_table_insert (words->numbers, text, GINT_TO_POINTER ((gint)words->texts->len));
  return (gint32)words->texts->len - 1;
}

PlaitUnknownWords *
plait_unknown_words_new (void)
{
  PlaitUnknownWords *words = g_new0 (PlaitUnknownWords, 1);

  words->numbers = g_hash_table_new (g_str_hash, g_str_equal);
  words->texts = g_ptr_array_new_with_free_func (g_free);
  words->of = plait_token_store_new (G_MAXINT32);
  words->scratch = g_array_new (FALSE, FALSE, sizeof (gint32));
  number_of (words, "", 0);
  return words;
}

void
plait_unknown_words_free (PlaitUnknownWords *words)
{
  if (!words)
    return;
  g_hash_table_unref (words->numbers);
  g_ptr_array_unref (words->texts);
  plait_token_store_free (words->of);
  g_array_unref (words->scratch);
  g_free (words);
}

static gboolean
has_unknown (const gint32 *ids, gsize n)
{
  for (gsize i = 0; i < n; i++)
    if (ids[i] == PLAIT_TOKEN_UNKNOWN)
      return TRUE;
  return FALSE;
}

/* Appends the number of the word of each unknown token of one sentence to words->scratch. */
static void
add_sentence (PlaitUnknownWords *words, const PlaitVocabulary *vocabulary, const char *text, gsize length,
              const gint32 *ids, gsize n)
{
  g_autofree gint64 *word_of = NULL;
  g_autoptr (GArray) begins = NULL; /* gint64, first byte of each word of the text */
  gsize position = 0, size;
  const char *word;
  gint64 count;

  if (!has_unknown (ids, n))
    return;
  word_of = g_new (gint64, n);
  count = plait_vocabulary_count_words (vocabulary, ids, (gint64)n, word_of);
  begins = g_array_new (FALSE, FALSE, sizeof (gint64));
  for (gint64 begin; (word = plait_words_next (text, length, &position, &size));)
    {
      begin = word - text;
      g_array_append_val (begins, begin);
    }
  for (gsize i = 0; i < n; i++)
    {
      gint32 number = 0;

      if (ids[i] != PLAIT_TOKEN_UNKNOWN)
        continue;
      /* A vocabulary that normalises text may merge or split words, so text and tokens can have different numbers of
       * words. */
      if (begins->len == count && word_of[i] >= 0)
        {
          position = (gsize)g_array_index (begins, gint64, word_of[i]);
          word = plait_words_next (text, length, &position, &size);
          number = number_of (words, word, size);
        }
      g_array_append_val (words->scratch, number);
    }
}

gboolean
plait_unknown_words_append (PlaitUnknownWords *words, const PlaitVocabulary *vocabulary, const char *text, gsize length,
                            const gint32 *ids, gsize n, const PlaitDocumentSentence *sentences, gint64 n_sentences,
                            gsize kept, GError **error)
{
  const char *end = text + length;

  g_array_set_size (words->scratch, 0);
  if (!sentences)
    add_sentence (words, vocabulary, text, length, ids, n);
  for (gint64 i = 0; sentences && i < n_sentences && words->scratch->len < kept; i++)
    {
      const char *next = memchr (text, '\n', (gsize)(end - text));

      next = next ? next : end;
      add_sentence (words, vocabulary, text, (gsize)(next - text), ids, (gsize)sentences[i].tokens);
      ids += sentences[i].tokens;
      text = next < end ? next + 1 : end;
    }
  g_assert (words->scratch->len >= kept);
  return plait_token_store_append (words->of, (const gint32 *)(gpointer)words->scratch->data, kept, error);
}

gboolean
plait_unknown_words_finish (PlaitUnknownWords *words, GError **error)
{
  return plait_token_store_finish (words->of, error);
}

gboolean
plait_unknown_words_read (const PlaitUnknownWords *words, gint64 sentence, GPtrArray *texts, GError **error)
{
  gint64 n = plait_token_store_length (words->of, sentence);
  g_autofree gint32 *numbers = g_new (gint32, n + 1);

  if (!plait_token_store_read (words->of, sentence, 0, n, numbers, error))
    return FALSE;
  for (gint64 i = 0; i < n; i++)
    {
      char *text = words->texts->pdata[numbers[i]];

      g_ptr_array_add (texts, *text == '\0' ? NULL : text);
    }
  return TRUE;
}
