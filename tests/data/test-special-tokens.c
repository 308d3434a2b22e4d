/* SPDX-License-Identifier: MIT */
#include "vocabulary/vocabulary.h"

#include <string.h>

#include "text/error.h"
#include "data-files.h"
#include "types/input.h"
#include "vocabulary/sentencepiece.h"
#include "files.h"
#include "harness.h"

/* Tests of special tokens: text that is spelled like them, models with other ids for them, and errors of
 * SentencePiece. */

static const char spelt[] = "<s> a b <unk>\n"
                            "the <pad> cat</s> <<s>>\n"
                            "<s> </s> <s>x<unk>y <pad><pad>\n"
                            "a cat </s> b\n";

static PlaitVocabularySettings
settings_of (const char *type, gint64 size)
{
  PlaitVocabularySettings settings = PLAIT_VOCABULARY_DEFAULTS;

  settings.type = type;
  settings.size = size;
  return settings;
}

static PlaitVocabulary *
train (const PlaitVocabularySettings *settings, const char *text, GError **error)
{
  const char *path = plait_test_write ("sample", text);

  return plait_vocabulary_train (settings, (const char *[]){ path, NULL }, error);
}

/* Checks that all ids have different pieces. */
static void
check_pieces_differ (const PlaitVocabulary *vocabulary)
{
  g_autoptr (GHashTable) pieces = g_hash_table_new (g_str_hash, g_str_equal);

  for (gint32 id = 0; id < plait_vocabulary_size (vocabulary); id++)
    {
      CONTEXT ("%s", plait_vocabulary_piece (vocabulary, id));
      CHECK (g_hash_table_add (pieces, (gpointer)plait_vocabulary_piece (vocabulary, id)));
    }
}

TEST_CASE (special_tokens, are_not_what_text_spells)
{
  static const struct
  {
    const char *type;
    gint64 size;
  } cases[] = { { "words", 0 }, { "labels", 0 }, { "bpe", 40 }, { "unigram", 25 } };
  g_auto (GStrv) lines = g_strsplit (spelt, "\n", -1);

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      PlaitVocabularySettings settings = settings_of (cases[i].type, cases[i].size);
      CONTEXT ("%s", cases[i].type);

      g_autoptr (PlaitVocabulary) vocabulary = train (&settings, spelt, NO_ERROR);
      REQUIRE (vocabulary != NULL);
      check_pieces_differ (vocabulary);
      for (gsize k = 0; lines[k] && *lines[k]; k++)
        {
          g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
          g_autofree char *back = NULL;

          plait_vocabulary_encode (vocabulary, lines[k], strlen (lines[k]), ids);
          for (guint j = 0; j < ids->len; j++)
            CHECK (g_array_index (ids, gint32, j) >= PLAIT_TOKEN_SPECIALS);
          back = plait_vocabulary_decode (vocabulary, (const gint32 *)(gpointer)ids->data, ids->len);
          CHECK_STRING (back, lines[k]);
        }
    }
}

/* A special token whose name occurs in the text gets brackets around its name until the text does not contain it. Other
 * names stay. */
TEST_CASE (special_tokens, are_renamed_where_text_has_their_names)
{
  static const char *const expected[][PLAIT_TOKEN_SPECIALS] = {
    { "<<pad>>", "<<<s>>>", "<</s>>", "<<unk>>" },
    { "<pad>", "<s>", "<</s>>", "<unk>" },
  };
  static const char *const texts[] = { "<unk> <<s>> <s> </s> <pad>\nb c\n", "</s> b\nc d\n" };
  static const char *const types[] = { "words", "bpe" };

  for (gsize t = 0; t < G_N_ELEMENTS (texts); t++)
    for (gsize i = 0; i < G_N_ELEMENTS (types); i++)
      {
        PlaitVocabularySettings settings = settings_of (types[i], i == 0 ? 0 : t == 0 ? 20 : 12);
        g_autoptr (PlaitVocabulary) vocabulary = train (&settings, texts[t], NO_ERROR);
        CONTEXT ("%s, text %zu", types[i], t);

        REQUIRE (vocabulary != NULL);
        for (gint32 id = 0; id < PLAIT_TOKEN_SPECIALS; id++)
          CHECK_STRING (plait_vocabulary_piece (vocabulary, id), expected[t][id]);
      }
}

/* Distinguishes the unknown token from a word that is spelled like it. */
TEST_CASE (special_tokens, unknown_words_are_told_from_the_word)
{
  g_autoptr (PlaitVocabulary) vocabulary = data_words ("a <unk> b\n");
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  g_autofree char *back = NULL;

  plait_vocabulary_encode (vocabulary, "<unk> c", 7, ids);
  back = plait_vocabulary_decode (vocabulary, (const gint32 *)(gpointer)ids->data, ids->len);
  CHECK_STRING (back, "<unk> <<unk>>");
}

/* SentencePiece looks for special tokens after normalising text, which turns "＜Ｓ＞" into "<s>". */
TEST_CASE (special_tokens, are_not_what_the_normal_form_of_text_spells)
{
  static const char text[] = "\uff1c\uff33\uff1e a b\na \uff1c\uff53\uff1e b a b\n";
  PlaitVocabularySettings settings = settings_of ("bpe", 11);
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));

  settings.normalization = "nfkc_cf";
  g_autoptr (PlaitVocabulary) vocabulary = train (&settings, text, NO_ERROR);
  REQUIRE (vocabulary != NULL);
  plait_vocabulary_encode (vocabulary, "\uff1c\uff53\uff1e", strlen ("\uff1c\uff53\uff1e"), ids);
  g_autofree char *back = plait_vocabulary_decode (vocabulary, (const gint32 *)(gpointer)ids->data, ids->len);
  CHECK_STRING (back, "<s>");
}

static const char *
next_of_four (gpointer data, gsize *length)
{
  static const char *const lines[] = { "abc abd <sep>", "bcd cab dab", "a b c d", "<s> abc </s> dd" };
  int *given = data;

  if (*given == G_N_ELEMENTS (lines))
    return NULL;
  *length = strlen (lines[*given]);
  return lines[(*given)++];
}

/* Returns a model that SentencePiece trains with @type and its own options @more [n]. (transfer full) */
static GBytes *
make_model (const char *type, const PlaitSentencePieceOption *more, gsize n)
{
  PlaitSentencePieceOption options[12]
      = { { "model_type", type }, { "vocab_size", "30" }, { "hard_vocab_limit", "false" }, { "minloglevel", "3" } };
  g_autofree char *message = NULL;
  GBytes *bytes;
  int given = 0;

  memcpy (options + 4, more, n * sizeof *more);
  bytes = plait_sentencepiece_open (NULL)->train (options, next_of_four, &given, &message);
  CHECK_STRING (message, NULL);
  return bytes;
}

/* Checks that @vocabulary has the library's pieces and scores, in another order, and gives the library's ids and
 * text. */
static void
check_as_the_library (const PlaitVocabulary *vocabulary, const PlaitSentencePiece *model)
{
  static const char *const texts[] = { "abc dab", "<s> a </s> <unk> <pad>", " zz a<sep>b", "" };
  int specials[PLAIT_TOKEN_SPECIALS], size = model->table->size (model);
  g_autofree gint32 *ours = g_new (gint32, size);
  gint32 next = PLAIT_TOKEN_SPECIALS;
  gsize length;

  model->table->specials (model, specials);
  for (int id = 0; id < size; id++)
    {
      ours[id] = id == specials[0] ? 0 : id == specials[1] ? 1 : id == specials[2] ? 2 : id == specials[3] ? 3 : next++;
      CHECK_STRING (plait_vocabulary_piece (vocabulary, ours[id]), model->table->piece (model, id, &length));
      CHECK_NEAR (plait_vocabulary_score (vocabulary, ours[id]), model->table->score (model, id), 0);
    }
  CHECK_INT (plait_vocabulary_size (vocabulary), next);
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
      g_autoptr (GArray) theirs = g_array_new (FALSE, FALSE, sizeof (gint32));
      g_autofree char *back = NULL;
      CONTEXT ("\"%s\"", texts[i]);

      REQUIRE (model->table->encode (model, texts[i], strlen (texts[i]), theirs));
      plait_vocabulary_encode (vocabulary, texts[i], strlen (texts[i]), ids);
      CHECK_INT (ids->len, theirs->len);
      for (guint k = 0; k < MIN (ids->len, theirs->len); k++)
        CHECK_INT (g_array_index (ids, gint32, k), ours[g_array_index (theirs, gint32, k)]);
      g_autoptr (GString) expected = model->table->decode (model, (const gint32 *)(gpointer)theirs->data, theirs->len);
      back = plait_vocabulary_decode (vocabulary, (const gint32 *)(gpointer)ids->data, ids->len);
      CHECK_STRING (back, expected->str);
    }
}

TEST_CASE (special_tokens, have_any_ids_in_models_made_elsewhere)
{
  static const PlaitSentencePieceOption cases[][6] = {
    { { NULL } }, /* unknown has id 0, BOS 1, EOS 2 */
    { { "unk_id", "2" }, { "bos_id", "-1" }, { "eos_id", "1" }, { "pad_id", "0" } },
    { { "unk_id", "0" }, { "bos_id", "-1" }, { "eos_id", "-1" } },
    { { "unk_id", "7" }, { "bos_id", "4" }, { "eos_id", "9" }, { "pad_id", "5" } },
    { { "user_defined_symbols", "<sep>" }, { "control_symbols", "<mask>" } },
    { { "bos_piece", "[CLS]" },
      { "eos_piece", "[SEP]" },
      { "unk_piece", "[UNK]" },
      { "pad_piece", "[PAD]" },
      { "pad_id", "3" } },
    { { "byte_fallback", "true" }, { "vocab_size", "280" } },
    { { "user_defined_symbols", "<s>,</s>" } },
  };
  static const char *const types[] = { "bpe", "unigram", "char", "word" };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    for (gsize t = 0; t < G_N_ELEMENTS (types); t++)
      {
        g_autoptr (GBytes) bytes = make_model (types[t], cases[i], G_N_ELEMENTS (cases[i]));
        CONTEXT ("%s, case %zu", types[t], i);

        REQUIRE (bytes != NULL);
        g_autoptr (PlaitVocabulary) vocabulary = plait_vocabulary_load ("sentencepiece", bytes, "foreign", NO_ERROR);
        REQUIRE (vocabulary != NULL);
        check_pieces_differ (vocabulary);
        PlaitSentencePiece *model
            = plait_sentencepiece_open (NULL)->load (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), NULL);
        check_as_the_library (vocabulary, model);
        model->table->free (model);
      }
}

/* If a model uses an ordinary token of its text as BOS or EOS, that token stays an ordinary piece, and plait's special
 * tokens get other names. */
TEST_CASE (special_tokens, are_absent_where_a_model_has_them_as_text)
{
  const PlaitSentencePieceOption options[] = { { "user_defined_symbols", "<s>,</s>" }, { NULL } };
  g_autoptr (GBytes) bytes = make_model ("bpe", options, G_N_ELEMENTS (options));
  g_autoptr (PlaitVocabulary) vocabulary = plait_vocabulary_load ("sentencepiece", bytes, "foreign", NULL);
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  static const gint32 absent[] = { PLAIT_TOKEN_BOS, PLAIT_TOKEN_PAD, PLAIT_TOKEN_EOS };

  REQUIRE (vocabulary != NULL);
  CHECK_STRING (plait_vocabulary_piece (vocabulary, PLAIT_TOKEN_BOS), "<<s>>");
  CHECK_STRING (plait_vocabulary_piece (vocabulary, PLAIT_TOKEN_EOS), "<</s>>");
  CHECK_NEAR (plait_vocabulary_score (vocabulary, PLAIT_TOKEN_BOS), 0, 0);
  plait_vocabulary_encode (vocabulary, "a</s>", 5, ids);
  for (guint i = 0; i < ids->len; i++)
    CHECK (g_array_index (ids, gint32, i) >= PLAIT_TOKEN_SPECIALS);
  g_autofree char *nothing = plait_vocabulary_decode (vocabulary, absent, G_N_ELEMENTS (absent));
  CHECK_STRING (nothing, "");
}

/* Reports errors of SentencePiece in plait's words and with plait's keys. */

static const char few[] = "the cat sees the dog\na dog sees the cat\n";

TEST_CASE (subwords, say_what_to_do_where_none_can_be_learnt)
{
  g_autofree char *long_word = g_strnfill (70000, 'x');
  const struct
  {
    const char *type, *text, *normalization;
    gint64 size;
    gboolean byte_fallback;
    const char *message;
  } cases[] = {
    { "unigram", few, "identity", 5, FALSE,
      "sample: no unigram vocabulary of 5 pieces can be made from this text: the characters of the text and the "
      "special tokens need 14 pieces; raise data.vocabulary_size (plait vocabulary --size), or lower "
      "data.vocabulary_character_coverage (--coverage) below 1, so that rare characters get no piece" },
    { "bpe", few, "identity", 5, FALSE, "no bpe vocabulary of 5 pieces" },
    { "bpe", few, "identity", 100, TRUE, "special tokens need 270 pieces, including the bytes; raise" },
    { "bpe", few, "identity", 100000, FALSE,
      "sample: no bpe vocabulary of 100000 pieces can be made from this text: the text gives 39 pieces at most; lower "
      "data.vocabulary_size (plait vocabulary --size) to that or less, or learn from more text" },
    { "unigram", few, "nfkc", 100000, FALSE, "the text gives 16 pieces at most; lower" },
    { "unigram", "\u00a0\u2003\n\u2581\u200b\n", "nfkc", 20, FALSE, "sample: has no text; give text" },
    { "unigram", "\u2585\n", "nmt_nfkc_cf", 20, FALSE, "sample: has no text; give text" },
    { "bpe", long_word, "identity", 20, FALSE,
      "sample:1: more than 65535 characters without a space, more than type bpe can handle; separate them by spaces, "
      "or use data.vocabulary_type=unigram (plait vocabulary --type)" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      PlaitVocabularySettings settings = settings_of (cases[i].type, cases[i].size);
      g_autoptr (GError) error = NULL;
      CONTEXT ("case %zu", i);

      settings.normalization = cases[i].normalization;
      settings.byte_fallback = cases[i].byte_fallback;
      CHECK (!train (&settings, cases[i].text, &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, cases[i].message);
    }
}

/* Training succeeds with the sizes that the error messages suggest. */
TEST_CASE (subwords, are_learnt_in_the_sizes_that_messages_name)
{
  static const gint64 sizes[] = { 14, 39 };

  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      PlaitVocabularySettings settings = settings_of ("bpe", sizes[i]);
      g_autoptr (PlaitVocabulary) vocabulary = train (&settings, few, NO_ERROR);

      CHECK_INT (vocabulary ? plait_vocabulary_size (vocabulary) : 0, sizes[i]);
    }
}
