/* SPDX-License-Identifier: MIT */
#include "vocabulary/vocabulary-private.h"

#include <string.h>

#include "files/digest.h"
#include "text/error.h"
#include "files/file.h"
#include "text/words.h"
#include "vocabulary/foreign-vocabulary.h"
#include "types/input.h"
#include "vocabulary/published.h"

/* Bytes that begin a file count as a damaged seal if at most this many of them differ from the seal. */
#define MAX_WRONG 2

struct PlaitVocabulary
{
  int references; /* counter, changed atomically */
  const PlaitVocabularyFormat *format;
  gpointer model;
  PlaitVocabularyFacts facts;
  GBytes *bytes;
  char *hash;
};

static PlaitVocabulary *
load (const PlaitVocabularyFormat *format, GBytes *bytes, const char *name, GError **error)
{
  PlaitVocabularyFacts facts = { 0 };
  gpointer model = format->load (format, bytes, name, &facts, error);
  if (!model)
    return NULL;
  PlaitVocabulary *vocabulary = g_new0 (PlaitVocabulary, 1);
  vocabulary->references = 1;
  vocabulary->format = format;
  vocabulary->model = model;
  vocabulary->facts = facts;
  vocabulary->bytes = g_bytes_ref (bytes);
  vocabulary->hash = plait_digest_bytes (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  return vocabulary;
}

static const PlaitVocabularyFormat *const formats[]
    = { &plait_words_format, &plait_labels_format, &plait_sentencepiece_format, &plait_published_format };

PlaitVocabulary *
plait_vocabulary_load (const char *format, GBytes *bytes, const char *name, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (strcmp (format, formats[i]->format) == 0)
      return load (formats[i], bytes, name, error);
  return plait_fail_null (error, PLAIT_ERROR_INPUT,
                          "%s: vocabulary format \"%s\" is unknown; expected words, labels, sentencepiece or published",
                          name, format);
}

gboolean
plait_vocabulary_begins_with (GBytes *bytes, const char *header)
{
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);

  return size >= strlen (header) && memcmp (data, header, strlen (header)) == 0;
}

/* Returns the file contents for @bytes of @format: a line with the seal and the digest takes the place of the format's
 * header line. Without a header, seal and digest precede @bytes. (transfer full) */
static GBytes *
seal (const PlaitVocabularyFormat *format, GBytes *bytes)
{
  gsize length, skipped = format->header ? strlen (format->header) : 0;
  const char *data = g_bytes_get_data (bytes, &length);
  g_autofree char *digest = plait_digest_bytes (data, length);
  GString *file = g_string_new (NULL);

  g_assert (format->seal && (!format->header || plait_vocabulary_begins_with (bytes, format->header)));
  g_string_append_printf (file, "%s%s%s", format->seal, digest, format->header ? "\n" : "");
  g_string_append_len (file, data + skipped, (gssize)(length - skipped));
  return g_string_free_to_bytes (file);
}

/* Returns the format whose seal, intact or damaged, begins the bytes at @data, or NULL. */
static const PlaitVocabularyFormat *
find_seal (const char *data, gsize length)
{
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    {
      const char *sealed = formats[i]->seal;
      gsize wrong = 0;

      for (gsize k = 0; sealed && sealed[k]; k++)
        wrong += k >= length || data[k] != sealed[k];
      if (sealed && wrong <= MAX_WRONG)
        return formats[i];
    }
  return NULL;
}

/* Returns the serialised vocabulary in @file, whose path is @name. Sets *@sealed to TRUE if @file has a seal. A damaged
 * seal or a wrong digest is an error. (transfer full) */
static GBytes *
unseal (GBytes *file, const char *name, gboolean *sealed, GError **error)
{
  gsize length, skipped;
  const char *data = g_bytes_get_data (file, &length);
  const PlaitVocabularyFormat *format = find_seal (data, length);

  *sealed = format != NULL;
  if (!format)
    return g_bytes_ref (file);
  skipped = strlen (format->seal) + PLAIT_DIGEST_LENGTH + (format->header ? 1 : 0);
  if (length >= skipped)
    {
      GString *bytes = g_string_new (format->header);
      g_autoptr (GBytes) held
          = g_string_free_to_bytes (g_string_append_len (bytes, data + skipped, (gssize)(length - skipped)));
      g_autoptr (GBytes) expected = seal (format, held);

      if (g_bytes_equal (expected, file))
        return g_steal_pointer (&held);
    }
  return plait_fail_null (error, PLAIT_ERROR_INPUT,
                          "%s: is damaged, or was changed: its SHA-256 differs from the one at its start; restore a "
                          "copy, or make it again with plait vocabulary",
                          name);
}

/* Returns the file format whose header begins @bytes, or NULL. */
static const PlaitVocabularyFormat *
find_header (GBytes *bytes)
{
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (formats[i]->seal && formats[i]->header && plait_vocabulary_begins_with (bytes, formats[i]->header))
      return formats[i];
  return NULL;
}

/* Reads the vocabulary at @path. Sets *@sealed to TRUE if it carries a digest. */
static PlaitVocabulary *
read_vocabulary (const char *path, gboolean *sealed, GError **error)
{
  g_autoptr (GBytes) file
      = plait_file_read (path, PLAIT_FILE_REGULAR, PLAIT_VOCABULARY_MAX_FILE, "a vocabulary", error);
  g_autoptr (GBytes) bytes = file ? unseal (file, path, sealed, error) : NULL;
  if (!bytes)
    return NULL;
  const PlaitVocabularyFormat *format = find_header (bytes);
  if (!format)
    format = &plait_sentencepiece_format;
  g_autofree char *remedy = NULL;
  const char *kind = format != &plait_sentencepiece_format || *sealed
                         ? NULL
                         : plait_foreign_vocabulary_describe (bytes, path, &remedy);
  if (kind)
    return plait_fail_null (error, PLAIT_ERROR_INPUT,
                            "%s: looks like %s; expected a vocabulary, which is a SentencePiece model or a file that "
                            "plait vocabulary made%s%s",
                            path, kind, remedy ? ": " : "", remedy ? remedy : "");
  return load (format, bytes, path, error);
}

PlaitVocabulary *
plait_vocabulary_read (const char *path, PlaitLog *log, GError **error)
{
  gboolean sealed;
  PlaitVocabulary *vocabulary = read_vocabulary (path, &sealed, error);
  if (vocabulary && !sealed && vocabulary->format != &plait_sentencepiece_format)
    plait_log_warning (
        log, "%s: carries no digest, so damage to it would go unnoticed; make it again with plait vocabulary", path);
  return vocabulary;
}

gboolean
plait_vocabulary_verify (const char *path, GError **error)
{
  gboolean sealed;
  g_autoptr (PlaitVocabulary) vocabulary = read_vocabulary (path, &sealed, error);
  if (!vocabulary || sealed)
    return vocabulary != NULL;
  return plait_fail (
      error, PLAIT_ERROR_INPUT,
      "%s: carries no digest, so plait cannot check that it is complete; make it again with plait vocabulary", path);
}

gboolean
plait_vocabulary_is_ours (gconstpointer beginning, gsize length)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static (beginning, length);
  return find_seal (beginning, length) || find_header (bytes);
}

GBytes *
plait_vocabulary_to_file (const PlaitVocabulary *vocabulary)
{
  return seal (vocabulary->format, vocabulary->bytes);
}

PlaitVocabulary *
plait_vocabulary_train (const PlaitVocabularySettings *settings, const char *const *paths, GError **error)
{
  const PlaitVocabularyFormat *format = strcmp (settings->type, "words") == 0    ? &plait_words_format
                                        : strcmp (settings->type, "labels") == 0 ? &plait_labels_format
                                                                                 : &plait_sentencepiece_format;
  g_autoptr (GBytes) bytes = format->train (format, settings, paths, error);
  return !bytes ? NULL : load (format, bytes, "the vocabulary just made", error);
}

PlaitVocabulary *
plait_vocabulary_from_published (const char *path, GError **error)
{
  g_autoptr (GBytes) bytes = plait_published_import (path, error);

  return bytes ? load (&plait_published_format, bytes, path, error) : NULL;
}

PlaitVocabulary *
plait_vocabulary_from_list (const char *path, guint *left_out, GError **error)
{
  g_autoptr (GBytes) bytes = plait_foreign_vocabulary_read_list (path, left_out, error);

  return bytes ? load (&plait_words_format, bytes, path, error) : NULL;
}

PlaitVocabulary *
plait_vocabulary_ref (PlaitVocabulary *vocabulary)
{
  g_atomic_int_inc (&vocabulary->references);
  return vocabulary;
}

void
plait_vocabulary_unref (PlaitVocabulary *vocabulary)
{
  if (!vocabulary || !g_atomic_int_dec_and_test (&vocabulary->references))
    return;
  vocabulary->format->free (vocabulary->model);
  g_bytes_unref (vocabulary->bytes);
  g_free (vocabulary->hash);
  g_free (vocabulary);
}

const char *
plait_vocabulary_format (const PlaitVocabulary *vocabulary)
{
  return vocabulary->format->format;
}

GBytes *
plait_vocabulary_serialize (const PlaitVocabulary *vocabulary)
{
  return vocabulary->bytes;
}

const char *
plait_vocabulary_hash (const PlaitVocabulary *vocabulary)
{
  return vocabulary->hash;
}

gint32
plait_vocabulary_size (const PlaitVocabulary *vocabulary)
{
  return vocabulary->facts.size;
}

const char *
plait_vocabulary_piece (const PlaitVocabulary *vocabulary, gint32 id)
{
  g_assert (id >= 0 && id < plait_vocabulary_size (vocabulary));
  return vocabulary->format->piece (vocabulary->model, id);
}

double
plait_vocabulary_score (const PlaitVocabulary *vocabulary, gint32 id)
{
  g_assert (id >= 0 && id < plait_vocabulary_size (vocabulary));
  return vocabulary->format->score ? vocabulary->format->score (vocabulary->model, id) : 0;
}

void
plait_vocabulary_encode (const PlaitVocabulary *vocabulary, const char *text, gsize length, GArray *ids)
{
  vocabulary->format->encode (vocabulary->model, text, length, ids);
}

gboolean
plait_vocabulary_adds_bos (const PlaitVocabulary *vocabulary)
{
  return vocabulary->facts.adds_bos;
}

void
plait_vocabulary_encode_text (const PlaitVocabulary *vocabulary, const char *text, gsize length, GArray *ids)
{
  const gint32 beginning = PLAIT_TOKEN_BOS;

  if (plait_vocabulary_adds_bos (vocabulary))
    g_array_append_val (ids, beginning);
  plait_vocabulary_encode (vocabulary, text, length, ids);
}

void
plait_vocabulary_encode_words (const PlaitVocabulary *vocabulary, const char *text, gsize length, GArray *ids,
                               GArray *pieces)
{
  gsize position = 0, word_length;
  const char *word;
  while ((word = plait_words_next (text, length, &position, &word_length)))
    {
      guint before = ids->len;
      plait_vocabulary_encode (vocabulary, word, word_length, ids);
      gint32 n = (gint32)(ids->len - before);
      g_array_append_val (pieces, n);
    }
}

char *
plait_vocabulary_make_line (GString *bytes)
{
  char *valid;

  if (!bytes)
    return g_strdup ("");
  for (gsize i = 0; i < bytes->len; i++)
    if (bytes->str[i] == '\0' || bytes->str[i] == '\n' || bytes->str[i] == '\r')
      bytes->str[i] = ' ';
  valid = g_utf8_make_valid (bytes->str, (gssize)bytes->len);
  g_string_free (bytes, TRUE);
  return valid;
}

char *
plait_vocabulary_decode (const PlaitVocabulary *vocabulary, const gint32 *ids, gsize n)
{
  return vocabulary->format->decode (vocabulary->model, ids, n);
}

/* Appends @word to @text as a separate word. */
static void
append_word (GString *text, const char *word)
{
  if (text->len > 0 && *word != '\0')
    g_string_append_c (text, ' ');
  g_string_append (text, word);
}

char *
plait_vocabulary_decode_words (const PlaitVocabulary *vocabulary, const gint32 *ids, const char *const *words, gsize n)
{
  g_autoptr (GString) text = g_string_new (NULL);

  if (!words)
    return plait_vocabulary_decode (vocabulary, ids, n);
  for (gsize first = 0, end; first < n; first = end + 1)
    {
      for (end = first; end < n && !words[end];)
        end++;
      if (end > first)
        {
          g_autofree char *between = plait_vocabulary_decode (vocabulary, ids + first, end - first);

          append_word (text, g_strstrip (between));
        }
      if (end < n)
        append_word (text, words[end]);
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* Sets *@spaces to TRUE if the piece of @id begins with spaces. Returns TRUE if the piece has other characters, too.
 * Byte-level BPE writes a space as U+0120, which is a letter in other vocabularies, so the decoded text decides. */
static gboolean
skip_spaces (const PlaitVocabulary *vocabulary, gint32 id, gboolean *spaces)
{
  const char *piece = plait_vocabulary_piece (vocabulary, id);
  gboolean bytes = FALSE;

  if (g_str_has_prefix (piece, "\u0120") && g_str_equal (plait_vocabulary_format (vocabulary), "published"))
    {
      g_autofree char *text = plait_vocabulary_decode (vocabulary, &id, 1);

      bytes = *text == '\0' || *text == ' ';
    }
  *spaces = FALSE;
  while (g_str_has_prefix (piece, "\u2581") || (bytes && g_str_has_prefix (piece, "\u0120")))
    {
      piece = g_utf8_next_char (piece);
      *spaces = TRUE;
    }
  return *piece != '\0';
}

gint64
plait_vocabulary_count_words (const PlaitVocabulary *vocabulary, const gint32 *ids, gint64 n, gint64 *words)
{
  const char *format = plait_vocabulary_format (vocabulary);
  gboolean whole = g_str_equal (format, "words") || g_str_equal (format, "labels");
  gboolean inside = FALSE;
  gint64 count = 0;

  for (gint64 i = 0; i < n; i++)
    {
      gboolean spaces = whole, letters = TRUE;

      words[i] = -1;
      if (ids[i] < PLAIT_TOKEN_UNKNOWN)
        {
          inside = FALSE;
          continue;
        }
      if (!whole)
        letters = skip_spaces (vocabulary, ids[i], &spaces);
      inside = inside && !spaces;
      if (letters && !inside)
        {
          inside = TRUE;
          count++;
        }
      words[i] = inside ? count - 1 : count;
    }
  for (gint64 i = n - 1; i >= 0 && (words[i] < 0 || words[i] == count); i--)
    words[i] = -1;
  return count;
}
