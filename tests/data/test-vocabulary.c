/* SPDX-License-Identifier: MIT */
#include "vocabulary/vocabulary.h"

#include <stdlib.h>
#include <string.h>

#include "text/error.h"
#include "data-files.h"
#include "types/input.h"
#include "files.h"
#include "harness.h"

static const char sample[] = "the cat sees the dog\n"
                             "a dog sees the cat and the house\n"
                             "der Hund sieht die Katze und das Haus\n"
                             "der gro\xc3\x9f"
                             "e Hund schl\xc3\xa4"
                             "ft\n"
                             "\xc5\xbelu\xc5\xa5ou\xc4\x8dk\xc3\xbd k\xc5\xaf\xc5\x88 \xc3\xbap\xc4\x9bl "
                             "\xc4\x8f\xc3\xa1"
                             "belsk\xc3\xa9 \xc3\xb3"
                             "dy\n"
                             "\xe6\x9d\xb1\xe4\xba\xac\xe3\x81\xab\xe8\xa1\x8c\xe3\x81\x8d\xe3\x81\xbe\xe3\x81\x99\n"
                             "\xd0\xba\xd0\xbe\xd1\x82 \xd0\xb2\xd0\xb8\xd0\xb4\xd0\xb8\xd1\x82 "
                             "\xd1\x81\xd0\xbe\xd0\xb1\xd0\xb0\xd0\xba\xd1\x83 \xf0\x9f\x98\x80\n"
                             "  two  spaces \n"
                             "tab\there\n";

static PlaitVocabulary *
train (const PlaitVocabularySettings *settings, GError **error)
{
  const char *path = plait_test_write ("sample", sample);
  const char *const paths[] = { path, NULL };
  return plait_vocabulary_train (settings, paths, error);
}

static PlaitVocabularySettings
subword_settings (const char *type, gint64 size)
{
  PlaitVocabularySettings settings = PLAIT_VOCABULARY_DEFAULTS;
  settings.type = type;
  settings.size = size;
  return settings;
}

static char *
decode_encoded (const PlaitVocabulary *vocabulary, const char *text)
{
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  plait_vocabulary_encode (vocabulary, text, strlen (text), ids);
  return plait_vocabulary_decode (vocabulary, (const gint32 *)ids->data, ids->len);
}

TEST_CASE (words, are_ordered_by_count_then_bytes)
{
  g_autoptr (PlaitVocabulary) vocabulary = data_words ("b a\xc2\xa0"
                                                       "c \t b d\r\nd e b\n<s> d\n");
  const char *const expected[] = { "<pad>", "<<s>>", "</s>", "<unk>", "b", "d", "<s>", "a\u00a0c", "e" };
  const int counts[] = { 0, 0, 0, 0, 3, 3, 1, 1, 1 };
  REQUIRE (plait_vocabulary_size (vocabulary) == G_N_ELEMENTS (expected));
  for (gsize i = 0; i < G_N_ELEMENTS (expected); i++)
    {
      CHECK_STRING (plait_vocabulary_piece (vocabulary, (gint32)i), expected[i]);
      if (i < G_N_ELEMENTS (counts))
        CHECK_INT (plait_vocabulary_score (vocabulary, (gint32)i), counts[i]);
    }
  CHECK_STRING (plait_vocabulary_format (vocabulary), "words");

  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  const char *text = " b  z <s> </s>";
  plait_vocabulary_encode (vocabulary, text, strlen (text), ids);
  const gint32 expected_ids[] = { 4, PLAIT_TOKEN_UNKNOWN, 6, PLAIT_TOKEN_UNKNOWN };
  REQUIRE (ids->len == 4);
  for (guint i = 0; i < 4; i++)
    CHECK_INT (g_array_index (ids, gint32, i), expected_ids[i]);

  const gint32 out[] = { PLAIT_TOKEN_BOS, 5, PLAIT_TOKEN_UNKNOWN, 4, PLAIT_TOKEN_EOS, PLAIT_TOKEN_PAD };
  g_autofree char *back = plait_vocabulary_decode (vocabulary, out, G_N_ELEMENTS (out));
  CHECK_STRING (back, "d <unk> b");
}

TEST_CASE (words, are_limited_by_size_and_count)
{
  g_autoptr (GError) error = NULL;
  PlaitVocabularySettings settings = subword_settings ("words", 6);
  g_autoptr (PlaitVocabulary) small = train (&settings, NO_ERROR);
  CHECK_INT (plait_vocabulary_size (small), 6);
  CHECK_STRING (plait_vocabulary_piece (small, 4), "the");

  settings.size = 0;
  settings.minimum_count = 2;
  g_autoptr (PlaitVocabulary) frequent = train (&settings, NO_ERROR);
  CHECK_INT (plait_vocabulary_score (frequent, plait_vocabulary_size (frequent) - 1), 2);

  settings.minimum_count = 100;
  CHECK (!train (&settings, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "no word occurs at least 100 times");
  settings.size = 4;
  CHECK (!train (&settings, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "Vocabulary size 4 leaves no room");
}

/* Counts the words of three files, thousands of them, some in all files, on one thread and on three. */
TEST_CASE (words, are_counted_over_files)
{
  enum
  {
    FILES = 3,
    WORDS = 5000
  };
  g_autoptr (PlaitPool) pool = plait_pool_new (3, NULL);
  const char *paths[FILES + 1] = { NULL };
  PlaitVocabularySettings settings = subword_settings ("words", 0);
  for (int f = 0; f < FILES; f++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      g_autofree char *name = g_strdup_printf ("file-%d", f);
      for (int i = 0; i < WORDS; i++)
        g_string_append_printf (text, "w%d %s", i % (f + 2) == 0 ? i : 10 * WORDS + i, i % 20 == 19 ? "\n" : "");
      paths[f] = plait_test_write (name, text->str);
    }
  g_autoptr (PlaitVocabulary) alone = plait_vocabulary_train (&settings, paths, NO_ERROR);
  settings.pool = pool;
  g_autoptr (PlaitVocabulary) together = plait_vocabulary_train (&settings, paths, NO_ERROR);
  CHECK_STRING (plait_vocabulary_hash (together), plait_vocabulary_hash (alone));
  int counts[4] = { 0 };
  for (int i = 0; i < WORDS; i++)
    counts[(i % 2 == 0) + (i % 3 == 0) + (i % 4 == 0)]++;
  int once = 0;
  for (gint32 id = PLAIT_TOKEN_SPECIALS; id < plait_vocabulary_size (alone); id++)
    {
      g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
      const char *piece = plait_vocabulary_piece (alone, id);
      int number = atoi (piece + 1), i = number % (10 * WORDS);
      double n = (i % 2 == 0) + (i % 3 == 0) + (i % 4 == 0);
      CHECK_NEAR (plait_vocabulary_score (alone, id), number < WORDS ? n : FILES - n, 0);
      plait_vocabulary_encode (alone, piece, strlen (piece), ids);
      CHECK_INT (g_array_index (ids, gint32, 0), id);
      once += number < WORDS;
    }
  CHECK_INT (once, counts[1] + counts[2] + counts[3]);
}

/* Keeps only the two most frequent words, a (3 times) and b (2); c and d become unknown. */
TEST_CASE (words, shortlist_the_most_frequent)
{
  static const char text[] = "a b c d e a";
  static const gint32 expected[] = { 4, 5, PLAIT_TOKEN_UNKNOWN, PLAIT_TOKEN_UNKNOWN, PLAIT_TOKEN_UNKNOWN, 4 };
  PlaitVocabularySettings settings = subword_settings ("words", 6);
  const char *path = plait_test_write ("counted", "d b a\na c b\na\n");
  g_autoptr (PlaitVocabulary) vocabulary = plait_vocabulary_train (&settings, (const char *[]){ path, NULL }, NULL);
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));

  REQUIRE (vocabulary != NULL);
  CHECK_INT (plait_vocabulary_size (vocabulary), 6);
  plait_vocabulary_encode (vocabulary, text, strlen (text), ids);
  REQUIRE (ids->len == G_N_ELEMENTS (expected));
  for (guint i = 0; i < ids->len; i++)
    CHECK_INT (g_array_index (ids, gint32, i), expected[i]);
}

TEST_CASE (words, survive_being_stored)
{
  g_autoptr (PlaitVocabulary) vocabulary = data_words (sample);
  g_autoptr (PlaitVocabulary) again
      = plait_vocabulary_load ("words", plait_vocabulary_serialize (vocabulary), "stored", NO_ERROR);
  CHECK_STRING (plait_vocabulary_hash (again), plait_vocabulary_hash (vocabulary));
  REQUIRE (plait_vocabulary_size (again) == plait_vocabulary_size (vocabulary));
  for (gint32 id = 0; id < plait_vocabulary_size (again); id++)
    CHECK_STRING (plait_vocabulary_piece (again, id), plait_vocabulary_piece (vocabulary, id));
}

TEST_CASE (words, refuse_bad_bytes)
{
  const struct
  {
    const char *text;
    const char *message;
  } cases[] = {
    { "", "bad: is not a complete word vocabulary" },
    { "plait words 1", "bad: is not a complete word vocabulary" },
    { "plait words 1\na 3", "bad: is not a complete word vocabulary" },
    { "plait words 1\na 3\nb\n", "bad:3: expected WORD COUNT" },
    { "plait words 1\n 3\n", "bad:2: expected WORD COUNT" },
    { "plait words 1\na x\n", "bad:2: expected WORD COUNT" },
    { "plait words 1\na -1\n", "bad:2: expected WORD COUNT" },
    { "plait words 1\na\tb 1\n", "bad:2: expected WORD COUNT" },
    { "plait words 1\n\xff 1\n", "bad:2: expected WORD COUNT" },
    { "plait words 1\na 1\nb 1\na 2\n", "bad:4: the word \"a\" is in the vocabulary twice" },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("case %d", (int)i);
      g_autoptr (GError) error = NULL;
      g_autoptr (GBytes) bytes = g_bytes_new_static (cases[i].text, strlen (cases[i].text));
      CHECK (!plait_vocabulary_load ("words", bytes, "bad", &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, cases[i].message);
    }
}

TEST_CASE (subwords, give_back_what_they_encoded)
{
  const char *const types[] = { "bpe", "unigram" };
  g_auto (GStrv) lines = g_strsplit (sample, "\n", -1);
  for (gsize i = 0; i < G_N_ELEMENTS (types); i++)
    {
      CONTEXT ("%s", types[i]);
      PlaitVocabularySettings settings = subword_settings (types[i], 72);
      g_autoptr (PlaitVocabulary) vocabulary = train (&settings, NO_ERROR);
      REQUIRE (vocabulary != NULL);
      CHECK_INT (plait_vocabulary_size (vocabulary), 72);
      CHECK_STRING (plait_vocabulary_format (vocabulary), "sentencepiece");
      for (gsize j = 0; lines[j]; j++)
        {
          if (strchr (lines[j], '\t'))
            continue;
          g_autofree char *back = decode_encoded (vocabulary, lines[j]);
          CHECK_STRING (back, lines[j]);
        }
    }
}

TEST_CASE (subwords, keep_the_special_ids)
{
  PlaitVocabularySettings settings = subword_settings ("bpe", 90);
  g_autoptr (PlaitVocabulary) vocabulary = train (&settings, NO_ERROR);
  const char *const specials[] = { "<pad>", "<s>", "</s>", "<unk>" };
  for (gint32 id = 0; id < PLAIT_TOKEN_SPECIALS; id++)
    CHECK_STRING (plait_vocabulary_piece (vocabulary, id), specials[id]);

  /* Text that is spelled like a special token is read as ordinary text. */
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  const char *text = "the <s> cat </s> <pad> \xe0\xa4\x95";
  plait_vocabulary_encode (vocabulary, text, strlen (text), ids);
  gboolean unknown = FALSE;
  for (guint i = 0; i < ids->len; i++)
    {
      CHECK (g_array_index (ids, gint32, i) >= PLAIT_TOKEN_UNKNOWN);
      unknown |= g_array_index (ids, gint32, i) == PLAIT_TOKEN_UNKNOWN;
    }
  CHECK (unknown);
}

TEST_CASE (subwords, know_every_text_by_its_bytes)
{
  PlaitVocabularySettings settings = subword_settings ("bpe", 400);
  settings.byte_fallback = TRUE;
  g_autoptr (PlaitVocabulary) vocabulary = train (&settings, NO_ERROR);
  REQUIRE (vocabulary != NULL);
  const char *text = "\xe0\xa4\x95\xe0\xa4\xbe \xf0\x9f\xa6\x95 \xe2\x96\x85!";
  g_autofree char *back = decode_encoded (vocabulary, text);
  CHECK_STRING (back, text);

  /* A model may return bytes that would break a line. They become spaces, and the text stays valid UTF-8. */
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  for (gint32 id = 0; id < plait_vocabulary_size (vocabulary); id++)
    g_array_append_val (ids, id);
  g_autofree char *all = plait_vocabulary_decode (vocabulary, (const gint32 *)ids->data, ids->len);
  CHECK (!strpbrk (all, "\r\n"));
  CHECK (strlen (all) > 200);
  CHECK (g_utf8_validate (all, -1, NULL));
}

static PlaitVocabulary *
learn (const char *type, gboolean byte_fallback, const char *text)
{
  const char *path = plait_test_write ("learnt", text);
  PlaitVocabularySettings settings = subword_settings (type, byte_fallback                   ? 280
                                                             : strcmp (type, "unigram") == 0 ? 18
                                                                                             : 24);
  settings.byte_fallback = byte_fallback;
  PlaitVocabulary *vocabulary = plait_vocabulary_train (&settings, (const char *[]){ path, NULL }, NO_ERROR);
  return vocabulary;
}

/* Checks that @character, between "one two" and "five", is treated as a space when learning and reading. */
static void
check_reads_as_space (const char *character)
{
  static const char plain[] = "one two two\nfive six ten\nfive two one\n";
  g_auto (GStrv) parts = g_strsplit ("one two|two\nfive|six|ten\nfive|two|one\n", "|", -1);
  g_autofree char *text = g_strjoinv (character, parts);
  g_autofree char *sentence = g_strconcat ("five", character, "two", NULL);
  const char *const types[] = { "bpe", "unigram", "bpe" };

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    {
      CONTEXT ("%s %u", types[i], i);
      g_autoptr (PlaitVocabulary) expected = learn (types[i], i == 2, plain);
      g_autoptr (PlaitVocabulary) learnt = learn (types[i], i == 2, text);
      REQUIRE (expected && learnt);
      CHECK_STRING (plait_vocabulary_hash (learnt), plait_vocabulary_hash (expected));
      g_autofree char *back = decode_encoded (learnt, sentence);
      CHECK_STRING (back, "five two");
    }
}

TEST_CASE (subwords, read_a_tab_as_a_space)
{
  check_reads_as_space ("\t");
}

/* SentencePiece uses U+2581 for a space, so text with U+2581 is read as a space. */
TEST_CASE (subwords, read_u2581_as_a_space)
{
  check_reads_as_space ("\xe2\x96\x81");
}

/* SentencePiece reserves U+2585 for unknown text, and would ignore lines that contain it. */
TEST_CASE (subwords, learn_from_lines_with_u2585)
{
  g_autoptr (PlaitVocabulary) vocabulary
      = learn ("bpe", FALSE, "five six one\nzebra \xe2\x96\x85\xe2\x96\x85 one\nzebra one\xe2\x96\x85two\n");
  REQUIRE (vocabulary != NULL);
  g_autofree char *back = decode_encoded (vocabulary, "zebra two");
  CHECK_STRING (back, "zebra two");
  g_autofree char *unknown = decode_encoded (vocabulary, "one\xe2\x96\x85");
  CHECK_CONTAINS (unknown, "one \xe2\x81\x87");
}

/* A byte order mark at the beginning of a file is dropped. Elsewhere it is an ordinary character, even inside words. */
TEST_CASE (vocabulary, drops_a_byte_order_mark)
{
  const char *const types[] = { "bpe", "words" };
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    {
      CONTEXT ("%s", types[i]);
      g_autoptr (PlaitVocabulary) expected = learn (types[i], FALSE, "one two\n\xef\xbb\xbfthree\n");
      g_autoptr (PlaitVocabulary) learnt = learn (types[i], FALSE, "\xef\xbb\xbfone two\n\xef\xbb\xbfthree\n");
      REQUIRE (expected && learnt);
      CHECK_STRING (plait_vocabulary_hash (learnt), plait_vocabulary_hash (expected));
      g_autofree char *back = decode_encoded (learnt, "two \xef\xbb\xbfthree one");
      CHECK_STRING (back, "two \xef\xbb\xbfthree one");
    }
}

/* Tabs separate words; U+2581 does not. */
TEST_CASE (words, are_parted_by_tabs)
{
  g_autoptr (PlaitVocabulary) vocabulary = data_words ("one\ttwo a\xe2\x96\x81"
                                                       "b\n");
  g_autofree char *back = decode_encoded (vocabulary, "a\xe2\x96\x81"
                                                      "b\ttwo");
  CHECK_STRING (back, "a\xe2\x96\x81"
                      "b two");
}

TEST_CASE (subwords, are_the_same_for_the_same_text)
{
  const char *const types[] = { "bpe", "unigram" };
  for (gsize i = 0; i < G_N_ELEMENTS (types); i++)
    {
      PlaitVocabularySettings settings = subword_settings (types[i], 72);
      g_autoptr (PlaitVocabulary) first = train (&settings, NO_ERROR);
      g_autoptr (PlaitVocabulary) second = train (&settings, NO_ERROR);
      REQUIRE (first && second);
      CHECK_STRING (plait_vocabulary_hash (first), plait_vocabulary_hash (second));

      g_autoptr (PlaitVocabulary) again
          = plait_vocabulary_load ("sentencepiece", plait_vocabulary_serialize (first), "stored", NO_ERROR);
      for (gint32 id = 0; id < plait_vocabulary_size (first); id++)
        {
          CHECK_STRING (plait_vocabulary_piece (again, id), plait_vocabulary_piece (first, id));
          CHECK_NEAR (plait_vocabulary_score (again, id), plait_vocabulary_score (first, id), 0);
        }
    }
}

TEST_CASE (subwords, normalize_where_asked)
{
  PlaitVocabularySettings settings = subword_settings ("bpe", 80);
  settings.normalization = "nmt_nfkc_cf";
  g_autoptr (PlaitVocabulary) vocabulary = train (&settings, NO_ERROR);
  g_autofree char *back = decode_encoded (vocabulary, "  THE   \xef\xbd\x83\xef\xbd\x81\xef\xbd\x94 ");
  CHECK_STRING (back, "the cat");
}

TEST_CASE (subwords, learn_from_lines_spread_evenly)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (int i = 0; i < 100; i++)
    g_string_append_printf (text, "%s\n", i % 10 == 9 ? "zebra zebra" : "ordinary words");
  const char *path = plait_test_write ("many", text->str);
  const char *const paths[] = { path, NULL };
  PlaitVocabularySettings settings = subword_settings ("bpe", 12);
  settings.sentence_limit = 10;
  g_autoptr (PlaitVocabulary) vocabulary = plait_vocabulary_train (&settings, paths, NO_ERROR);
  REQUIRE (vocabulary != NULL);
  g_autofree char *seen = decode_encoded (vocabulary, "zebra");
  CHECK_STRING (seen, "zebra");
  g_autofree char *unseen = decode_encoded (vocabulary, "w");
  CHECK_CONTAINS (unseen, "\xe2\x81\x87");
}

TEST_CASE (subwords, say_why_they_cannot_be_trained)
{
  g_autoptr (GError) error = NULL;
  PlaitVocabularySettings settings = subword_settings ("bpee", 90);
  CHECK (!train (&settings, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "Vocabulary type \"bpee\" is unknown; expected words, unigram or bpe");
  settings = subword_settings ("bpe", 3);
  CHECK (!train (&settings, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "Vocabulary size 3 is not allowed");
  settings = subword_settings ("bpe", 90);
  settings.normalization = "nfk";
  CHECK (!train (&settings, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "Normalization \"nfk\" is unknown");
  settings = subword_settings ("bpe", 90);
  settings.character_coverage = .5;
  CHECK (!train (&settings, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "Character coverage 0.5 is not allowed");
  settings = subword_settings ("bpe", 90);
  const char *empty = plait_test_write ("empty", "\n  \n");
  const char *const paths[] = { empty, NULL };
  CHECK (!plait_vocabulary_train (&settings, paths, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "empty: has no text");
  const char *bad = plait_test_write ("bad", "fine\nb\xff\n");
  const char *const bad_paths[] = { bad, NULL };
  CHECK (!plait_vocabulary_train (&settings, bad_paths, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "bad:2: byte 2");
}

TEST_CASE (subwords, refuse_damaged_models)
{
  g_autoptr (GError) error = NULL;
  PlaitVocabularySettings settings = subword_settings ("unigram", 72);
  g_autoptr (PlaitVocabulary) vocabulary = train (&settings, &error);
  REQUIRE (vocabulary != NULL);
  gsize size;
  const char *bytes = g_bytes_get_data (plait_vocabulary_serialize (vocabulary), &size);

  g_autoptr (GBytes) empty = g_bytes_new_static ("", 0);
  CHECK (!plait_vocabulary_load ("sentencepiece", empty, "stored", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "stored: is not a vocabulary (it is empty)");
  g_autoptr (GBytes) half = g_bytes_new_static (bytes, size / 2);
  CHECK (!plait_vocabulary_load ("sentencepiece", half, "stored", &error));
  CHECK (error && strstr (error->message, "stored: ") == error->message);
  g_clear_error (&error);
  CHECK (!plait_vocabulary_load ("other", half, "stored", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "stored: vocabulary format \"other\" is unknown");

  /* Damage any byte: the model is either refused or can be used without a crash. */
  for (gsize at = 0; at < size; at += size / 40)
    {
      CONTEXT ("byte %d", (int)at);
      char *hurt = g_memdup2 (bytes, size);
      hurt[at] ^= (char)0xff;
      g_autoptr (GBytes) hurt_bytes = g_bytes_new_take (hurt, size);
      g_autoptr (PlaitVocabulary) loaded = plait_vocabulary_load ("sentencepiece", hurt_bytes, "hurt", &error);
      CHECK (!loaded == (error != NULL));
      if (loaded)
        {
          g_autofree char *back = decode_encoded (loaded, "the cat");
          CHECK (back != NULL);
        }
      g_clear_error (&error);
    }
}

TEST_CASE (vocabulary, is_read_from_a_file_of_either_format)
{
  g_autoptr (GError) error = NULL;
  PlaitVocabularySettings settings = subword_settings ("bpe", 90);
  g_autoptr (PlaitVocabulary) words = data_words (sample);
  g_autoptr (PlaitVocabulary) subwords = train (&settings, NO_ERROR);
  PlaitVocabulary *made[] = { words, subwords };
  for (gsize i = 0; i < 2; i++)
    {
      gsize size;
      const char *bytes = g_bytes_get_data (plait_vocabulary_serialize (made[i]), &size);
      const char *path = plait_test_write_bytes ("vocabulary", bytes, (gssize)size);
      g_autoptr (PlaitVocabulary) read = plait_vocabulary_read (path, NULL, NO_ERROR);
      REQUIRE (read != NULL);
      CHECK_STRING (plait_vocabulary_format (read), plait_vocabulary_format (made[i]));
      CHECK_STRING (plait_vocabulary_hash (read), plait_vocabulary_hash (made[i]));
    }
  CHECK (!plait_vocabulary_read (plait_test_path ("absent"), NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "absent: cannot be opened (");
  CHECK (!plait_vocabulary_read (plait_test_folder (), NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, ": is a folder");
  const char *text = plait_test_write ("text", "just text\n");
  CHECK (!plait_vocabulary_read (text, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "text: looks like text; expected a vocabulary");
}

/* Checks that each piece is counted to its white-space word, and special tokens to no word. */
static void
check_words (const PlaitVocabulary *vocabulary, const char *text)
{
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  g_autofree char *squeezed = g_strdup (text);
  g_auto (GStrv) expected = g_regex_split_simple (" +", g_strstrip (squeezed), 0, 0);
  const gint32 eos = PLAIT_TOKEN_EOS;

  plait_vocabulary_encode (vocabulary, text, strlen (text), ids);
  g_array_append_val (ids, eos);

  const gint32 *id = (const gint32 *)(gpointer)ids->data;
  g_autofree gint64 *words = g_new (gint64, ids->len);
  gint64 n = plait_vocabulary_count_words (vocabulary, id, ids->len, words);

  CHECK_INT (n, g_strv_length (expected));
  CHECK_INT (words[ids->len - 1], -1);
  for (guint begin = 0, end; begin < ids->len; begin = end)
    {
      for (end = begin + 1; end < ids->len && words[end] == words[begin]; end++)
        ;
      if (words[begin] < 0)
        continue;
      REQUIRE (words[begin] < n);
      g_autofree char *word = plait_vocabulary_decode (vocabulary, id + begin, end - begin);
      CHECK_STRING (g_strstrip (word), expected[words[begin]]);
    }
}

TEST_CASE (vocabulary, counts_the_words_of_pieces)
{
  PlaitVocabularySettings subwords = subword_settings ("bpe", 120), words = PLAIT_VOCABULARY_DEFAULTS;
  words.type = "words";
  words.size = 0;
  g_autoptr (PlaitVocabulary) of_pieces = train (&subwords, NULL);
  g_autoptr (PlaitVocabulary) of_words = train (&words, NULL);
  REQUIRE (of_pieces && of_words);
  check_words (of_pieces, "the cat sees the dog");
  check_words (of_pieces, "  the   house  dog ");
  check_words (of_words, "the cat sees");
  check_words (of_words, " the  house ");
  check_words (of_pieces, "cat");
}
