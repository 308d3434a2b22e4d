/* SPDX-License-Identifier: MIT */
#include "vocabulary/vocabulary.h"

#include <stdio.h>
#include <string.h>

#include "text/error.h"
#include "data-files.h"
#include "vocabulary/sentencepiece.h"
#include "files.h"
#include "harness.h"

/* Tests of vocabulary files with and without digest. */

static PlaitVocabulary *
make (gboolean words)
{
  const char *path = plait_test_write_bytes ("sample",
                                             "the cat sees the dog\na dog sees the cat and the house\n"
                                             "der Hund sieht die Katze und das Haus\nder gro\xc3\x9f"
                                             "e Hund\n",
                                             -1);
  PlaitVocabularySettings settings = PLAIT_VOCABULARY_DEFAULTS;
  settings.type = words ? "words" : "bpe";
  settings.size = words ? 0 : 50;
  PlaitVocabulary *vocabulary = plait_vocabulary_train (&settings, (const char *[]){ path, NULL }, NO_ERROR);
  g_assert (vocabulary != NULL);
  return vocabulary;
}

static gboolean
is_refused (const char *bytes, gsize size)
{
  g_autoptr (GError) error = NULL;
  const char *path = plait_test_path ("spoilt");
  FILE *file = fopen (path, "we");
  fwrite (bytes, 1, size, file);
  fclose (file);
  g_autoptr (PlaitVocabulary) vocabulary = plait_vocabulary_read (path, NULL, &error);
  return !vocabulary && g_error_matches (error, PLAIT_ERROR, PLAIT_ERROR_INPUT)
         && g_str_has_prefix (error->message, path) && !strchr (error->message, '\n');
}

TEST_CASE (vocabulary, notices_every_flip_and_cut_of_its_file)
{
  for (guint words = 0; words < 2; words++)
    {
      CONTEXT ("%s", words ? "words" : "pieces");
      g_autoptr (PlaitVocabulary) vocabulary = make (words);
      g_autoptr (GBytes) file = plait_vocabulary_to_file (vocabulary);
      gsize size = g_bytes_get_size (file);
      g_autofree char *bytes = g_memdup2 (g_bytes_get_data (file, NULL), size);
      guint passed = 0;
      for (gsize i = 0; i < size; i += i < 100 ? 1 : 7)
        {
          bytes[i] ^= (char)(i % 3 == 0 ? 0xff : 1 << (i % 8));
          passed += !is_refused (bytes, size);
          bytes[i] ^= (char)(i % 3 == 0 ? 0xff : 1 << (i % 8));
        }
      CHECK_INT (passed, 0);
      for (gsize length = 0; length < size; length += length < 100 ? 1 : 7)
        passed += !is_refused (bytes, length);
      CHECK_INT (passed, 0);
      CHECK (is_refused (bytes, size - 1));
      CHECK (!is_refused (bytes, size));
    }
}

/* SentencePiece reads the model and ignores the digest. */
TEST_CASE (vocabulary, writes_models_that_sentencepiece_reads)
{
  g_autoptr (PlaitVocabulary) vocabulary = make (FALSE);
  g_autoptr (GBytes) file = plait_vocabulary_to_file (vocabulary);
  gsize size;
  gconstpointer bytes = g_bytes_get_data (file, &size);
  g_autofree char *message = NULL;
  PlaitSentencePiece *model = plait_sentencepiece_open (NULL)->load (bytes, size, &message);
  CHECK_STRING (message, NULL);
  REQUIRE (model != NULL);
  CHECK_INT (model->table->size (model), 50);
  model->table->free (model);
}

/* Reads the vocabulary at @path, and sets *@told to the text of the log. */
static PlaitVocabulary *
read_with_log (const char *path, char **told)
{
  gsize size = 0;
  FILE *stream = open_memstream (told, &size);
  PlaitLog *log = plait_log_new_with ((PlaitLogSettings){ .stream = stream, .now = g_get_monotonic_time });
  PlaitVocabulary *vocabulary = plait_vocabulary_read (path, log, NO_ERROR);
  plait_log_free (log);
  fclose (stream);
  return vocabulary;
}

TEST_CASE (vocabulary, takes_files_without_a_digest)
{
  for (guint words = 0; words < 2; words++)
    {
      CONTEXT ("%s", words ? "words" : "pieces");
      g_autoptr (GError) error = NULL;
      g_autoptr (PlaitVocabulary) made = make (words);
      gsize size;
      const char *bytes = g_bytes_get_data (plait_vocabulary_serialize (made), &size);
      const char *bare = plait_test_write_bytes ("bare", bytes, (gssize)size);
      g_autoptr (GBytes) file = plait_vocabulary_to_file (made);
      const char *sealed
          = plait_test_write_bytes ("sealed", g_bytes_get_data (file, NULL), (gssize)g_bytes_get_size (file));
      g_autofree char *told_of_bare = NULL, *told_of_sealed = NULL;
      g_autoptr (PlaitVocabulary) from_bare = read_with_log (bare, &told_of_bare);
      g_autoptr (PlaitVocabulary) from_sealed = read_with_log (sealed, &told_of_sealed);
      REQUIRE (from_bare && from_sealed);
      CHECK_STRING (plait_vocabulary_hash (from_bare), plait_vocabulary_hash (made));
      CHECK_STRING (plait_vocabulary_hash (from_sealed), plait_vocabulary_hash (made));
      CHECK_STRING (told_of_sealed, "");
      if (words)
        CHECK_CONTAINS (told_of_bare, "bare: carries no digest, so damage to it would go unnoticed");
      else
        CHECK_STRING (told_of_bare, "");
      CHECK (plait_vocabulary_verify (sealed, NO_ERROR));
      CHECK (!plait_vocabulary_verify (bare, &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, "bare: carries no digest, so plait cannot check that it is complete");
    }
}

TEST_CASE (vocabulary, names_what_a_file_looks_like)
{
  static const struct
  {
    const char *text;
    const char *part;
  } cases[] = {
    { "", "looks like an empty file;" },
    { "plait-store\nformat 2\n", "looks like a run, a dump or a grid of plait;" },
    { "\x89HDF\r\n\x1a\n", "looks like an HDF5 file;" },
    { "\x1f\x8b\x08", "looks like a gzip file;" },
    { "[data]\ntarget=x\n", "looks like a key-file, such as an experiment;" },
    { "<unk>\t0\nthe\t-3.2\n", "looks like the list of pieces that SentencePiece writes next to its model;" },
    { "the cat\nthe dog\n", "looks like text;" },
    { "\xff\xfe", "is not a vocabulary (" },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      const char *path = plait_test_write ("other", cases[i].text);
      CHECK (!plait_vocabulary_read (path, NULL, &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, cases[i].part);
    }
}

/* Returns the model of @vocabulary with @bytes [n] written @behind bytes after the first byte of the piece @piece. */
static GBytes *
patch (const PlaitVocabulary *vocabulary, const char *piece, gsize behind, const char *bytes, gsize n)
{
  gsize size;
  const char *model = g_bytes_get_data (plait_vocabulary_serialize (vocabulary), &size);
  char *patched = g_memdup2 (model, size);
  g_autofree char *field = g_strdup_printf ("\x0a%c%s\x15", (char)strlen (piece), piece);
  char *at = memmem (patched, size, field, strlen (field));
  g_assert (at != NULL);
  memcpy (at + 2 + behind, bytes, n);
  return g_bytes_new_take (patched, size);
}

TEST_CASE (subwords, refuse_models_that_contradict_themselves)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitVocabulary) vocabulary = make (FALSE);
  g_autoptr (GBytes) undefined = patch (vocabulary, "h", 2, "\0\0\xc0\x7f", 4);
  g_autoptr (GBytes) infinite = patch (vocabulary, "h", 2, "\0\0\x80\xff", 4);
  g_autoptr (GBytes) twice = patch (vocabulary, "h", 0, "u", 1);
  CHECK (!plait_vocabulary_load ("sentencepiece", undefined, "model", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "model: the score of piece ");
  CHECK (!plait_vocabulary_load ("sentencepiece", infinite, "model", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "\"h\", is infinite or not a number");
  CHECK (!plait_vocabulary_load ("sentencepiece", twice, "model", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "model: ");
}
