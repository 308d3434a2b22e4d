/* SPDX-License-Identifier: MIT */
/*
 * Vocabularies of words (white-space tokens) and of labels, for which a whole line is one word.
 *
 * Serialised, a word vocabulary is text: the line "plait words 1", then one line "WORD COUNT" per id, from id 4 on. The
 * first line for labels is "plait labels 1". In a file the first line differs (vocabulary.h).
 */
#include <string.h>

#define XXH_INLINE_ALL /* inline the hash function: a call of it costs more than hashing one word */
#include <xxhash.h>

#include "text/error.h"
#include "text/words.h"
#include "vocabulary/id-map.h"
#include "lines/text-file.h"
#include "vocabulary/vocabulary-private.h"

#define WORDS_HEADER "plait words 1\n"
#define LABELS_HEADER "plait labels 1\n"
#define WORDS_LIMIT (1 << 24) /* maximum number of distinct words; ids stay far below 2^31 */

/* A word inside a longer text, not NUL-terminated. */
typedef struct
{
  const char *text;
  gsize length;
  gint64 count;
} Word;

/* Returns the next word of a text: plait_words_next, or next_label. */
typedef const char *(*NextWord) (const char *text, gsize text_length, gsize *position, gsize *length);

/* Slot of a hash table from words to their numbers. A word of at most eight bytes is its own key, so most lookups,
 * billions in a large corpus, read only one slot. */
typedef struct
{
  guint64 key;    /* the word's bytes if at most eight, else its hash */
  guint32 length; /* bytes of the word */
  guint32 number; /* number of the word + 1; 0: the slot is free. At least half of all slots are free. */
} Slot;

typedef struct
{
  Slot *slots;
  guint bits; /* the table has 2^bits slots */
  GArray *words;
} Table;

typedef struct
{
  NextWord next;
  char *text;                           /* all words, each terminated by NUL */
  char *specials[PLAIT_TOKEN_SPECIALS]; /* names of the special tokens, different from all words */
  Table table; /* entries of special tokens have count 0 and no slot, because text is never a special token */
} Words;

static Table
table_new (void)
{
  return (Table){ g_new0 (Slot, 1024), 10, g_array_new (FALSE, FALSE, sizeof (Word)) };
}

static void
table_clear (Table *table)
{
  g_free (table->slots);
  if (table->words)
    g_array_unref (table->words);
}

static Word *
table_word (const Table *table, gsize number)
{
  return &g_array_index (table->words, Word, number);
}

/* Returns the word's bytes as a number if there are at most eight (none is NUL), else its hash. */
static guint64
word_key (const char *text, gsize length)
{
  guint64 key = 0;
  guint32 first, last;

  if (length > 8)
    return XXH3_64bits (text, length);
  if (length >= 4)
    {
      memcpy (&first, text, 4);
      memcpy (&last, text + length - 4, 4);
      return first | (guint64)last << (8 * (length - 4));
    }
  for (gsize i = 0; i < length; i++)
    key |= (guint64)(guint8)text[i] << (8 * i);
  return key;
}

/* Returns the slot of the word, or the free slot where it would be put. */
static Slot *
table_find (const Table *table, const char *text, gsize length, guint64 key)
{
  gsize mask = ((gsize)1 << table->bits) - 1;

  for (gsize at = key * 0x9e3779b97f4a7c15u >> (64 - table->bits);; at = (at + 1) & mask)
    {
      Slot *slot = &table->slots[at];

      if (slot->number == 0
          || (slot->key == key && slot->length == length
              && (length <= 8 || memcmp (table_word (table, slot->number - 1)->text, text, length) == 0)))
        return slot;
    }
}

static gint64
table_number (const Table *table, const char *text, gsize length)
{
  return (gint64)table_find (table, text, length, word_key (text, length))->number - 1;
}

/* Adds @word, whose text must stay valid. FALSE if @table has it already. */
static gboolean
table_add (Table *table, Word word)
{
  guint64 key = word_key (word.text, word.length);
  Slot *slot = table_find (table, word.text, word.length, key);
  gsize slots = (gsize)1 << table->bits;
  g_autofree Slot *old = NULL;

  if (slot->number != 0)
    return FALSE;
  g_array_append_val (table->words, word);
  *slot = (Slot){ key, (guint32)word.length, table->words->len };
  if (2 * (gsize)table->words->len < slots)
    return TRUE;
  old = table->slots;
  table->bits++;
  table->slots = g_new0 (Slot, 2 * slots);
  for (gsize i = 0; i < slots; i++)
    if (old[i].number != 0)
      *table_find (table, table_word (table, old[i].number - 1)->text, old[i].length, old[i].key) = old[i];
  return TRUE;
}

/* Returns the rest of the text, without white space around it, as one word. Like plait_words_next otherwise. */
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

static void
words_free (gpointer model)
{
  Words *self = model;
  table_clear (&self->table);
  for (gint32 id = 0; id < PLAIT_TOKEN_SPECIALS; id++)
    g_free (self->specials[id]);
  g_free (self->text);
  g_free (self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Words, words_free)

static gboolean
load_entry (Words *self, char *text, gsize length, const char *name, GError **error)
{
  gint64 line = (gint64)self->table.words->len - PLAIT_TOKEN_SPECIALS + 2;
  char *space = memrchr (text, ' ', length);
  gsize n = space ? (gsize)(space - text) : 0;
  text[length] = '\0';
  gsize position = 0, token_length = 0;
  if (n > 0)
    self->next (text, n, &position, &token_length);
  guint64 count;
  if (n == 0 || token_length != n || !g_utf8_validate_len (text, n, NULL)
      || !g_ascii_string_to_unsigned (space + 1, 10, 0, G_MAXINT64, &count, NULL))
    return plait_fail (
        error, PLAIT_ERROR_INPUT,
        "%s:%jd: expected WORD COUNT with one space between them; make the vocabulary again with plait vocabulary",
        name, line);
  *space = '\0';
  if (!table_add (&self->table, (Word){ text, n, (gint64)count }))
    return plait_fail (
        error, PLAIT_ERROR_INPUT,
        "%s:%jd: the word \"%s\" is in the vocabulary twice; make the vocabulary again with plait vocabulary", name,
        line, text);
  return TRUE;
}

/* Returns the function that splits text for @format. */
static NextWord
words_of (const PlaitVocabularyFormat *format)
{
  return format == &plait_labels_format ? next_label : plait_words_next;
}

static gboolean
has_word (gconstpointer model, const char *piece)
{
  return table_number (&((const Words *)model)->table, piece, strlen (piece)) >= 0;
}

static gpointer
words_load (const PlaitVocabularyFormat *format, GBytes *bytes, const char *name, PlaitVocabularyFacts *facts,
            GError **error)
{
  const char *header = format->header;
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);
  if (!plait_vocabulary_begins_with (bytes, header) || data[size - 1] != '\n')
    return plait_fail_null (error, PLAIT_ERROR_INPUT,
                            "%s: is not a complete word vocabulary; expected \"%.*s\" and then lines of WORD COUNT",
                            name, (int)strlen (header) - 1, header);
  gsize skipped = strlen (header);
  gint64 lines = 0;
  for (gsize i = skipped; i < size; i++)
    lines += data[i] == '\n';
  if (lines > WORDS_LIMIT)
    return plait_fail_null (error, PLAIT_ERROR_INPUT, "%s: has %jd words; expected at most %d", name, lines,
                            WORDS_LIMIT);

  g_autoptr (Words) self = g_new0 (Words, 1);
  self->next = words_of (format);
  self->text = g_memdup2 (data + skipped, MAX (size - skipped, 1));
  self->table = table_new ();
  g_array_set_size (self->table.words, PLAIT_TOKEN_SPECIALS);

  char *at = self->text;
  for (gint64 line = 0; line < lines; line++)
    {
      char *lf = memchr (at, '\n', (gsize)(self->text + size - skipped - at));
      if (!load_entry (self, at, (gsize)(lf - at), name, error))
        return NULL;
      at = lf + 1;
    }
  for (gint32 id = 0; id < PLAIT_TOKEN_SPECIALS; id++)
    {
      self->specials[id] = plait_special_unique_name (id, has_word, self);
      *table_word (&self->table, (gsize)id) = (Word){ self->specials[id], strlen (self->specials[id]), 0 };
    }
  facts->size = (gint32)self->table.words->len;
  return g_steal_pointer (&self);
}

static const char *
words_piece (gconstpointer model, gint32 id)
{
  return table_word (&((const Words *)model)->table, id)->text;
}

static double
words_score (gconstpointer model, gint32 id)
{
  return (double)table_word (&((const Words *)model)->table, id)->count;
}

static void
words_encode (gconstpointer model, const char *text, gsize length, GArray *ids)
{
  const Words *self = model;
  gsize position = 0, n;
  guint used = ids->len;
  const char *word;

  /* Reserves room for the maximum number of words in the text; appending one by one would double the time. */
  g_array_set_size (ids, used + (guint)(length / 2 + 1));
  while ((word = self->next (text, length, &position, &n)))
    {
      gint64 found = table_number (&self->table, word, n);

      g_array_index (ids, gint32, used) = found < 0 ? PLAIT_TOKEN_UNKNOWN : (gint32)found;
      used++;
    }
  g_array_set_size (ids, used);
}

static char *
words_decode (gconstpointer model, const gint32 *ids, gsize n)
{
  const Words *self = model;
  GString *text = g_string_new (NULL);
  for (gsize i = 0; i < n; i++)
    {
      const Word *word;
      g_assert (ids[i] >= 0 && (guint)ids[i] < self->table.words->len);
      word = table_word (&self->table, ids[i]);
      if (ids[i] < PLAIT_TOKEN_UNKNOWN)
        continue;
      if (text->len > 0)
        g_string_append_c (text, ' ');
      g_string_append_len (text, word->text, (gssize)word->length);
    }
  return g_string_free (text, FALSE);
}

/* Word counts of one file. Threads count several files in parallel; then the counts are added up. */
typedef struct
{
  const char *path;
  NextWord next;
  Table table;
  GStringChunk *text;
  GError *error;
} Count;

static void
count_clear (gpointer data)
{
  Count *count = data;

  table_clear (&count->table);
  g_string_chunk_free (count->text);
  g_clear_error (&count->error);
}

static int
by_falling_count (gconstpointer a, gconstpointer b)
{
  const Word *x = a, *y = b;
  if (x->count != y->count)
    return x->count > y->count ? -1 : 1;
  return strcmp (x->text, y->text);
}

/* Adds the count of @word to @table. Copies the text of a new word to @text, unless @text is NULL. @path and @line are
 * for messages; @line is 0 while the counts of files are added up. */
static gboolean
add_word (Table *table, GStringChunk *text, Word word, const char *path, gint64 line, GError **error)
{
  gint64 found = table_number (table, word.text, word.length);

  if (found >= 0)
    {
      table_word (table, (gsize)found)->count += word.count;
      return TRUE;
    }
  if (table->words->len == WORDS_LIMIT)
    {
      g_autofree char *place
          = line > 0 ? g_strdup_printf ("%s:%jd", path, line) : g_strdup_printf ("%s and the files before it", path);

      return plait_fail (error, PLAIT_ERROR_INPUT,
                         "%s: the text has more than %d different words, too many for a vocabulary of words; use "
                         "data.vocabulary_type=bpe or unigram",
                         place, WORDS_LIMIT);
    }
  if (text)
    word.text = g_string_chunk_insert_len (text, word.text, (gssize)word.length);
  return table_add (table, word);
}

static void
count_file (gpointer data, gint64 piece, guint thread)
{
  Count *count = &((Count *)data)[piece];
  g_autoptr (PlaitTextReader) reader = plait_text_reader_open (count->path, &count->error);
  const char *line;
  gsize length;

  while (reader && !count->error && (line = plait_text_reader_next (reader, &length, &count->error)))
    {
      gsize position = 0;
      Word word = { .count = 1 };

      while (!count->error && (word.text = count->next (line, length, &position, &word.length)))
        add_word (&count->table, count->text, word, count->path, plait_text_reader_line (reader), &count->error);
    }
}

/* Counts the words of all @paths. Returns them by falling frequency, with texts that are valid as long as @counts; NULL
 * on failure. */
static GArray *
count_words (GArray *counts, NextWord next, const char *const *paths, PlaitPool *pool, GError **error)
{
  g_assert (paths[0]);
  for (gsize i = 0; paths[i]; i++)
    {
      Count count = { paths[i], next, table_new (), g_string_chunk_new (64 * 1024), NULL };
      g_array_append_val (counts, count);
    }
  plait_pool_run (pool, counts->len, count_file, counts->data);
  Count *all = &g_array_index (counts, Count, 0);
  for (guint i = 0; i < counts->len; i++)
    {
      Count *count = &g_array_index (counts, Count, i);

      if (!plait_no_error (&count->error, error))
        return NULL;
      for (guint w = 0; i > 0 && w < count->table.words->len; w++)
        if (!add_word (&all->table, NULL, *table_word (&count->table, w), count->path, 0, error))
          return NULL;
    }
  g_array_sort (all->table.words, by_falling_count);
  return all->table.words;
}

static GBytes *
words_train (const PlaitVocabularyFormat *format, const PlaitVocabularySettings *settings, const char *const *paths,
             GError **error)
{
  if (settings->size != 0 && settings->size <= PLAIT_TOKEN_SPECIALS)
    return plait_fail_null (error, PLAIT_ERROR_INPUT,
                            "Vocabulary size %jd leaves no room for words beside the %d special ids; expected 0 (all "
                            "words) or more than %d",
                            settings->size, PLAIT_TOKEN_SPECIALS, PLAIT_TOKEN_SPECIALS);
  g_autoptr (GArray) counts = g_array_new (FALSE, FALSE, sizeof (Count));
  g_array_set_clear_func (counts, count_clear);
  const GArray *sorted = count_words (counts, words_of (format), paths, settings->pool, error);
  if (!sorted)
    return NULL;
  gsize n = sorted->len;
  if (settings->size != 0)
    n = MIN (n, (gsize)(settings->size - PLAIT_TOKEN_SPECIALS));
  g_autoptr (GString) text = g_string_new (format->header);
  gsize kept = 0;
  for (; kept < n; kept++)
    {
      const Word *word = &g_array_index (sorted, Word, kept);
      if (word->count < settings->minimum_count)
        break;
      g_string_append_len (text, word->text, (gssize)word->length);
      g_string_append_printf (text, " %jd\n", word->count);
    }
  if (kept == 0)
    return plait_fail_null (error, PLAIT_ERROR_INPUT,
                            "%s: no word occurs at least %jd times; give more text, or lower "
                            "data.vocabulary_minimum_count (plait vocabulary --minimum-count)",
                            paths[0], settings->minimum_count);
  return g_string_free_to_bytes (g_steal_pointer (&text));
}

#define WORDS_FORMAT(format_, header_, seal_)                                                                          \
  {                                                                                                                    \
    .format = format_, .header = header_, .seal = seal_, .piece = words_piece, .score = words_score,                   \
    .encode = words_encode, .decode = words_decode, .free = words_free, .load = words_load, .train = words_train,      \
  }

const PlaitVocabularyFormat plait_words_format = WORDS_FORMAT ("words", WORDS_HEADER, "plait words 2 sha256 ");
const PlaitVocabularyFormat plait_labels_format = WORDS_FORMAT ("labels", LABELS_HEADER, NULL);
