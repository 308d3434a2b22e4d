/* SPDX-License-Identifier: MIT */
#include "data/words.h"

#include <string.h>

#include "base/error.h"
#include "data/input.h"
#include "data/text-file.h"
#include "data/vocabulary-private.h"

#define WORDS_HEADER "plait words 1\n"
#define LABELS_HEADER "plait labels 1\n"
#define WORDS_LIMIT (1 << 24) /* distinct words that training holds; ids stay far below 2^31 */

static const char *const specials[PLAIT_TOKEN_SPECIALS] = { "<pad>", "<s>", "</s>", "<unk>" };

/* A word inside some text. */
typedef struct
{
  const char *text;
  gsize length;
} Word;

/* What the words of a text are: plait_words_next, or a text has one, which is a label. */
typedef const char *(*NextWord) (const char *text, gsize text_length, gsize *position, gsize *length);

typedef struct
{
  NextWord next;
  gint32 size;
  char *text;          /* all words, each with its NUL */
  Word *words;         /* [size]; the specials point to constants */
  gint64 *counts;      /* [size]; 0 for the specials */
  GHashTable *by_text; /* Word -> id */
} Words;

static guint
word_hash (gconstpointer key)
{
  const Word *word = key;
  guint64 h = 0xcbf29ce484222325u;
  for (gsize i = 0; i < word->length; i++)
    h = (h ^ (guint8)word->text[i]) * 0x100000001b3u;
  return (guint)(h ^ (h >> 32));
}

static gboolean
word_equal (gconstpointer a, gconstpointer b)
{
  const Word *x = a, *y = b;
  return x->length == y->length && memcmp (x->text, y->text, x->length) == 0;
}

const char *
plait_words_next (const char *text, gsize text_length, gsize *position, gsize *length)
{
  gsize i = *position;
  while (i < text_length && plait_text_is_ascii_space (text[i]))
    i++;
  gsize first = i;
  while (i < text_length && !plait_text_is_ascii_space (text[i]))
    i++;
  *position = i;
  *length = i - first;
  return i > first ? text + first : NULL;
}

/* As plait_words_next, but all that is left is one word, less the white space around it. */
static const char *
next_label (const char *text, gsize text_length, gsize *position, gsize *length)
{
  gsize first = *position;
  gsize end = text_length;
  while (first < end && plait_text_is_ascii_space (text[first]))
    first++;
  while (end > first && plait_text_is_ascii_space (text[end - 1]))
    end--;
  *position = text_length;
  *length = end - first;
  return end > first ? text + first : NULL;
}

static gboolean
begins_with (GBytes *bytes, const char *header)
{
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);
  return size >= strlen (header) && memcmp (data, header, strlen (header)) == 0;
}

gboolean
plait_words_recognize (GBytes *bytes)
{
  return begins_with (bytes, WORDS_HEADER);
}

static void
words_free (gpointer model)
{
  Words *self = model;
  g_clear_pointer (&self->by_text, g_hash_table_unref);
  g_free (self->words);
  g_free (self->counts);
  g_free (self->text);
  g_free (self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Words, words_free)

/* Reads line @line of the vocabulary, "WORD COUNT", into entry @id. */
static gboolean
load_entry (Words *self, gint32 id, char *text, gsize length, const char *name, GError **error)
{
  gint64 line = (gint64)id - PLAIT_TOKEN_SPECIALS + 2;
  char *space = memrchr (text, ' ', length);
  gsize n = space ? (gsize)(space - text) : 0;
  text[length] = '\0';
  gsize position = 0, token_length = 0;
  if (n > 0)
    self->next (text, n, &position, &token_length);
  guint64 count;
  if (n == 0 || token_length != n || !g_utf8_validate_len (text, n, NULL)
      || !g_ascii_string_to_unsigned (space + 1, 10, 0, G_MAXINT64, &count, NULL))
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s:%" G_GINT64_FORMAT ": expected WORD COUNT with one space between them; make the vocabulary "
                       "again with plait vocabulary",
                       name, line);
  *space = '\0';
  self->words[id] = (Word){ text, n };
  self->counts[id] = (gint64)count;
  if (!g_hash_table_insert (self->by_text, &self->words[id], GINT_TO_POINTER (id)))
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s:%" G_GINT64_FORMAT ": the word \"%s\" stands in the vocabulary twice; make it again with "
                       "plait vocabulary",
                       name, line, text);
  return TRUE;
}

static gpointer
load (GBytes *bytes, const char *header, NextWord next, const char *name, GError **error)
{
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);
  if (!begins_with (bytes, header) || data[size - 1] != '\n')
    {
      plait_fail (error, PLAIT_ERROR_INPUT,
                  "%s: is no complete word vocabulary; expected \"%.*s\" and then lines of WORD COUNT", name,
                  (int)strlen (header) - 1, header);
      return NULL;
    }
  gsize skipped = strlen (header);
  gint64 lines = 0;
  for (gsize i = skipped; i < size; i++)
    lines += data[i] == '\n';
  if (lines > WORDS_LIMIT)
    {
      plait_fail (error, PLAIT_ERROR_INPUT, "%s: has %" G_GINT64_FORMAT " words; expected at most %d", name, lines,
                  WORDS_LIMIT);
      return NULL;
    }

  g_autoptr (Words) self = g_new0 (Words, 1);
  self->next = next;
  self->size = (gint32)lines + PLAIT_TOKEN_SPECIALS;
  self->text = g_memdup2 (data + skipped, MAX (size - skipped, 1));
  self->words = g_new0 (Word, self->size);
  self->counts = g_new0 (gint64, self->size);
  self->by_text = g_hash_table_new (word_hash, word_equal);
  for (gint32 id = 0; id < PLAIT_TOKEN_SPECIALS; id++)
    self->words[id] = (Word){ specials[id], strlen (specials[id]) };

  char *at = self->text;
  for (gint32 id = PLAIT_TOKEN_SPECIALS; id < self->size; id++)
    {
      char *lf = memchr (at, '\n', (gsize)(self->text + size - skipped - at));
      if (!load_entry (self, id, at, (gsize)(lf - at), name, error))
        return NULL;
      at = lf + 1;
    }
  return g_steal_pointer (&self);
}

static gpointer
words_load (GBytes *bytes, const char *name, GError **error)
{
  return load (bytes, WORDS_HEADER, plait_words_next, name, error);
}

static gpointer
labels_load (GBytes *bytes, const char *name, GError **error)
{
  return load (bytes, LABELS_HEADER, next_label, name, error);
}

static gint32
words_size (gconstpointer model)
{
  return ((const Words *)model)->size;
}

static const char *
words_piece (gconstpointer model, gint32 id)
{
  return ((const Words *)model)->words[id].text;
}

static double
words_score (gconstpointer model, gint32 id)
{
  return (double)((const Words *)model)->counts[id];
}

static void
words_encode (gconstpointer model, const char *text, gsize length, GArray *ids)
{
  const Words *self = model;
  gsize position = 0;
  Word word;
  while ((word.text = self->next (text, length, &position, &word.length)))
    {
      gpointer found = g_hash_table_lookup (self->by_text, &word);
      gint32 id = found ? GPOINTER_TO_INT (found) : PLAIT_TOKEN_UNKNOWN;
      g_array_append_val (ids, id);
    }
}

static char *
words_decode (gconstpointer model, const gint32 *ids, gsize n)
{
  const Words *self = model;
  GString *text = g_string_new (NULL);
  for (gsize i = 0; i < n; i++)
    {
      g_assert (ids[i] >= 0 && ids[i] < self->size);
      if (ids[i] < PLAIT_TOKEN_UNKNOWN)
        continue;
      if (text->len > 0)
        g_string_append_c (text, ' ');
      g_string_append_len (text, self->words[ids[i]].text, (gssize)self->words[ids[i]].length);
    }
  return g_string_free (text, FALSE);
}

/* Training counts words. */
typedef struct
{
  Word word;
  gint64 count;
} Counted;

static int
by_falling_count (gconstpointer a, gconstpointer b)
{
  const Counted *x = *(const Counted *const *)a, *y = *(const Counted *const *)b;
  if (x->count != y->count)
    return x->count > y->count ? -1 : 1;
  return strcmp (x->word.text, y->word.text);
}

static gboolean
count_line (GHashTable *counts, GStringChunk *chunk, NextWord next, const char *line, gsize length,
            PlaitTextReader *reader, GError **error)
{
  gsize position = 0;
  Word word;
  while ((word.text = next (line, length, &position, &word.length)))
    {
      Counted *counted = g_hash_table_lookup (counts, &word);
      if (!counted)
        {
          if (g_hash_table_size (counts) == WORDS_LIMIT)
            return plait_fail (error, PLAIT_ERROR_INPUT,
                               "%s:%" G_GINT64_FORMAT ": the text has more than %d different words; expected text for "
                               "which a word vocabulary makes sense, so use type bpe or unigram",
                               plait_text_reader_name (reader), plait_text_reader_line (reader), WORDS_LIMIT);
          counted = g_new (Counted, 1);
          word.text = g_string_chunk_insert_len (chunk, word.text, (gssize)word.length);
          *counted = (Counted){ word, 0 };
          g_hash_table_insert (counts, &counted->word, counted);
        }
      counted->count++;
    }
  return TRUE;
}

static gboolean
count_file (GHashTable *counts, GStringChunk *chunk, NextWord next, const char *path, GError **error)
{
  g_autoptr (PlaitTextReader) reader = plait_text_reader_open (path, error);
  if (!reader)
    return FALSE;
  g_autoptr (GError) cause = NULL;
  const char *line;
  gsize length;
  while ((line = plait_text_reader_next (reader, &length, &cause)))
    if (!count_line (counts, chunk, next, line, length, reader, error))
      return FALSE;
  if (!cause)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&cause));
  return FALSE;
}

static GBytes *
train (const PlaitVocabularySettings *settings, const char *header, NextWord next, const char *const *paths,
       GError **error)
{
  if (settings->size != 0 && settings->size <= PLAIT_TOKEN_SPECIALS)
    {
      plait_fail (error, PLAIT_ERROR_INPUT,
                  "Vocabulary size %" G_GINT64_FORMAT " leaves no room for words beside the %d special ids; expected 0 "
                  "(all words) or more than %d",
                  settings->size, PLAIT_TOKEN_SPECIALS, PLAIT_TOKEN_SPECIALS);
      return NULL;
    }
  g_autoptr (GStringChunk) chunk = g_string_chunk_new (64 * 1024);
  g_autoptr (GHashTable) counts = g_hash_table_new_full (word_hash, word_equal, NULL, g_free);
  for (gsize i = 0; paths[i]; i++)
    if (!count_file (counts, chunk, next, paths[i], error))
      return NULL;

  g_autoptr (GPtrArray) sorted = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init (&iter, counts);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    g_ptr_array_add (sorted, value);
  g_ptr_array_sort (sorted, by_falling_count);
  gsize n = sorted->len;
  if (settings->size != 0)
    n = MIN (n, (gsize)(settings->size - PLAIT_TOKEN_SPECIALS));
  g_autoptr (GString) text = g_string_new (header);
  gsize kept = 0;
  for (; kept < n; kept++)
    {
      const Counted *counted = sorted->pdata[kept];
      if (counted->count < settings->minimum_count)
        break;
      g_string_append_len (text, counted->word.text, (gssize)counted->word.length);
      g_string_append_printf (text, " %" G_GINT64_FORMAT "\n", counted->count);
    }
  if (kept == 0)
    {
      plait_fail (error, PLAIT_ERROR_INPUT,
                  "%s: no word occurs at least %" G_GINT64_FORMAT " times; expected text to make a vocabulary from",
                  paths[0] ? paths[0] : "vocabulary", settings->minimum_count);
      return NULL;
    }
  return g_string_free_to_bytes (g_steal_pointer (&text));
}

static GBytes *
words_train (const PlaitVocabularySettings *settings, const char *const *paths, GError **error)
{
  return train (settings, WORDS_HEADER, plait_words_next, paths, error);
}

static GBytes *
labels_train (const PlaitVocabularySettings *settings, const char *const *paths, GError **error)
{
  return train (settings, LABELS_HEADER, next_label, paths, error);
}

const PlaitVocabularyFormat plait_words_format = {
  .format = "words",
  .size = words_size,
  .piece = words_piece,
  .score = words_score,
  .encode = words_encode,
  .decode = words_decode,
  .free = words_free,
  .load = words_load,
  .train = words_train,
};

const PlaitVocabularyFormat plait_labels_format = {
  .format = "labels",
  .size = words_size,
  .piece = words_piece,
  .score = words_score,
  .encode = words_encode,
  .decode = words_decode,
  .free = words_free,
  .load = labels_load,
  .train = labels_train,
};
