/* SPDX-License-Identifier: MIT */
#include "vocabulary/published.h"

#include <string.h>

#include "text/error.h"
#include "byte-pair-cases.h"
#include "data-files.h"
#include "corpus/feed.h"
#include "files.h"
#include "harness.h"

/* Tests of vocabularies of published models: ids that the reference implementations give, and malformed files. */

static const char bart[] = "{\"model_type\": \"bart\", \"vocab_size\": 360, \"pad_token_id\": 1, \"bos_token_id\": 0, "
                           "\"eos_token_id\": 2, \"decoder_start_token_id\": 2}";

/* Writes the file @name into the folder "model". */
static void
put (const char *name, const char *bytes, gsize length)
{
  g_autofree char *place = g_build_filename ("model", name, NULL);

  plait_test_make_folder ("model");
  plait_test_write_bytes (place, bytes, (gssize)length);
}

static void
put_text (const char *name, const char *text)
{
  put (name, text, strlen (text));
}

static void
put_byte_pairs (const char *config)
{
  put_text ("config.json", config);
  put_text ("vocab.json", byte_pair_vocabulary);
  put_text ("merges.txt", byte_pair_merges);
}

/* Returns the vocabulary in the folder "model"; if @side is not NULL, the one of the file @side in it. */
static PlaitVocabulary *
open_model (const char *side, GError **error)
{
  const char *folder = plait_test_path ("model");
  g_autofree char *path = side ? g_build_filename (folder, side, NULL) : g_strdup (folder);

  return plait_vocabulary_from_published (path, error);
}

static PlaitVocabulary *
open_whole (const char *side)
{
  PlaitVocabulary *vocabulary = open_model (side, NO_ERROR);

  g_assert (vocabulary);
  return vocabulary;
}

/* Returns the ids of @text as a text such as "5 6 7". (transfer full) */
static char *
encode (const PlaitVocabulary *vocabulary, const char *text, gboolean as_text)
{
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  GString *shown = g_string_new (NULL);

  if (as_text)
    plait_vocabulary_encode_text (vocabulary, text, strlen (text), ids);
  else
    plait_vocabulary_encode (vocabulary, text, strlen (text), ids);
  for (guint i = 0; i < ids->len; i++)
    g_string_append_printf (shown, "%s%d", i > 0 ? " " : "", g_array_index (ids, gint32, i));
  return g_string_free (shown, FALSE);
}

static void
check_encoded (const PlaitVocabulary *vocabulary, const char *text, const char *expected)
{
  g_autofree char *shown = encode (vocabulary, text, FALSE);

  CHECK_STRING (shown, expected);
}

/* Returns plait's id for an id of BART. Only padding, which is 1 in BART, and BOS, which is 0, differ. */
static gint32
to_ours (int id)
{
  return id < 2 ? 1 - id : id;
}

TEST_CASE (published, byte_pairs_are_those_of_the_reference)
{
  put_byte_pairs (bart);
  g_autoptr (PlaitVocabulary) vocabulary = open_whole (NULL);

  CHECK_INT (plait_vocabulary_size (vocabulary), BYTE_PAIR_SIZE);
  for (gsize i = 0; i < G_N_ELEMENTS (byte_pair_cases); i++)
    {
      const char *text = byte_pair_cases[i].text;
      g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
      g_autofree char *back = NULL;
      CONTEXT ("case %zu, \"%s\"", i, text);

      plait_vocabulary_encode (vocabulary, text, strlen (text), ids);
      CHECK_INT (ids->len, byte_pair_cases[i].n);
      for (guint k = 0; k < MIN (ids->len, (guint)byte_pair_cases[i].n); k++)
        CHECK_INT (g_array_index (ids, gint32, k), to_ours (byte_pair_cases[i].ids[k]));
      back = plait_vocabulary_decode (vocabulary, (const gint32 *)(gpointer)ids->data, ids->len);
      CHECK_STRING (back, text);
    }
}

TEST_CASE (published, byte_pairs_take_long_words_in_time)
{
  enum
  {
    LENGTH = 1 << 20,
  };
  g_autofree char *text = g_strnfill (LENGTH, 'e');
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  g_autofree char *back = NULL;

  put_byte_pairs (bart);
  g_autoptr (PlaitVocabulary) vocabulary = open_whole (NULL);
  for (gsize i = 0; i < LENGTH; i++)
    text[i] = "the"[i % 3];
  plait_vocabulary_encode (vocabulary, text, LENGTH, ids);
  CHECK (ids->len < LENGTH / 2);
  back = plait_vocabulary_decode (vocabulary, (const gint32 *)(gpointer)ids->data, ids->len);
  CHECK_STRING (back, text);
}

/* Any sequence of ids decodes to one line of valid UTF-8, without special tokens. */
TEST_CASE (published, byte_pairs_decode_to_a_line)
{
  put_byte_pairs (bart);
  g_autoptr (PlaitVocabulary) vocabulary = open_whole (NULL);
  const gint32 ids[] = { 1, 0, 202, 261, 127, 261, 2 }; /* <s>, <pad>, a line feed, "the", byte BF, "the", </s> */
  g_autofree char *line = plait_vocabulary_decode (vocabulary, ids, G_N_ELEMENTS (ids));

  CHECK_STRING (plait_vocabulary_piece (vocabulary, 202), "\u010a");
  CHECK_STRING (line, " the\ufffdthe");
}

TEST_CASE (published, special_tokens_stand_where_ours_do)
{
  put_byte_pairs (bart);
  g_autoptr (PlaitVocabulary) of_bart = open_whole (NULL);
  put_byte_pairs ("{\"model_type\": \"gpt2\", \"vocab_size\": 360, \"bos_token_id\": 359, \"eos_token_id\": 359}");
  g_autoptr (PlaitVocabulary) of_gpt2 = open_whole (NULL);
  g_autofree char *of_bart_text = encode (of_bart, "the", TRUE);
  g_autofree char *of_gpt2_text = encode (of_gpt2, "the", TRUE);
  static const char *const names[] = { "<pad>", "<s>", "</s>", "<unk>" };

  CHECK (plait_vocabulary_adds_bos (of_bart));
  CHECK (!plait_vocabulary_adds_bos (of_gpt2));
  for (gint32 id = 0; id < 4; id++)
    CHECK_STRING (plait_vocabulary_piece (of_bart, id), names[id]);
  CHECK_STRING (of_bart_text, "1 261");
  /* Ids 0, 1 and 2 of this model are ordinary pieces; 3 is the unknown token, and 359 ends texts. */
  CHECK_STRING (of_gpt2_text, "264");
  CHECK_INT (plait_vocabulary_size (of_gpt2), 4 + 358);
  CHECK_STRING (plait_vocabulary_piece (of_gpt2, 0), "<<pad>>");
  CHECK_STRING (plait_vocabulary_piece (of_gpt2, 4), "<s>");
}

/* A span cannot contain the start token that the vocabulary puts before a document. */
TEST_CASE (published, a_start_token_is_no_token_of_a_span)
{
  PlaitDocumentSettings settings = { .layout = PLAIT_LAYOUT_DOCUMENTS };
  PlaitDocumentSentence sentence = { .tokens = 3 };
  static const gint32 tokens[] = { PLAIT_TOKEN_BOS, 261, 264 };
  PlaitDocument document = { .ids = tokens, .sentences = &sentence, .n = 1, .settings = &settings };
  PlaitTargetLine line = { .file = "target", .line = 3, .text = "1 2", .length = 3 };
  static const gint32 inside[] = { 1, 2 }, outside[] = { 2, 3 };
  GError *error = NULL;

  CHECK (plait_target_check (PLAIT_TARGET_SPAN, NULL, &document, inside, 2, &line, &error));
  CHECK (!plait_target_check (PLAIT_TARGET_SPAN, NULL, &document, outside, 2, &line, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "target:3: \"1 2\" is not a span of the 2 tokens of the document");
  g_clear_error (&error);
}

TEST_CASE (published, a_space_goes_in_front_where_asked)
{
  g_autofree char *back = NULL;
  const gint32 ids[] = { 263, 263 };

  put_byte_pairs (bart);
  put_text ("tokenizer_config.json", "{\"add_prefix_space\": true}");
  g_autoptr (PlaitVocabulary) vocabulary = open_whole (NULL);
  check_encoded (vocabulary, "the the", "263 263");
  check_encoded (vocabulary, " the the", "263 263");
  back = plait_vocabulary_decode (vocabulary, ids, 2);
  CHECK_STRING (back, "the the");
}

/* Streams with this vocabulary begin with BOS in a corpus and in a feed, targets included. */
TEST_CASE (published, texts_begin_as_the_model_has_them)
{
  g_auto (DataText) setup = { 0 };
  g_autoptr (GError) error = NULL;
  const gint64 tuples[] = { 0, 1 };

  put_byte_pairs (bart);
  g_autoptr (PlaitVocabulary) vocabulary = open_whole (NULL);
  data_text_set_up (&setup, "the\nthe the\n", "a\nb\n", "the\nthe\n");
  setup.sources[0].vocabulary = setup.target.vocabulary = vocabulary;
  setup.sources[0].append_end = TRUE;
  g_autoptr (PlaitCorpus) corpus = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  REQUIRE (corpus != NULL);
  g_autoptr (PlaitBatch) of_corpus = plait_corpus_batch (corpus, tuples, 2, &error);
  g_autoptr (PlaitFeed) feed = plait_feed_open (setup.sources, 2, &setup.target, NULL, FALSE, &error);
  REQUIRE (of_corpus && feed);
  g_autoptr (PlaitBatch) of_feed = plait_feed_next (feed, 2, &error);
  REQUIRE (of_feed != NULL);
  for (const PlaitBatch *batch = of_corpus; batch; batch = batch == of_corpus ? of_feed : NULL)
    {
      static const gint32 source[] = { 1, 261, 2, 1, 261, 263, 2 }, inputs[] = { 1, 1, 261 }, outputs[] = { 1, 261, 2 };

      CHECK_INT (plait_ragged_rows (batch->inputs[0].rows), 7);
      for (guint i = 0; i < 7; i++)
        CHECK_INT (batch->inputs[0].tokens[i], source[i]);
      for (guint i = 0; i < 3; i++)
        {
          CHECK_INT (batch->target_inputs[i], inputs[i]);
          CHECK_INT (batch->target_outputs[i], outputs[i]);
        }
    }
}

TEST_CASE (published, documents_begin_as_the_model_has_them)
{
  static const struct
  {
    gboolean start_tokens;
    const char *source, *target;
  } cases[] = { { FALSE, "1 261 263 2", "1 261 263 2" }, { TRUE, "1 261 1 263 2", "1 261 1 263 2" } };
  const gint64 tuple = 0;

  put_byte_pairs (bart);
  g_autoptr (PlaitVocabulary) vocabulary = open_whole (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (DataText) setup = { 0 };
      g_autoptr (GError) error = NULL;
      g_autoptr (GString) source = g_string_new (NULL);
      g_autoptr (GString) target = g_string_new (NULL);
      const PlaitDocumentSettings documents
          = { .layout = PLAIT_LAYOUT_DOCUMENTS, .start_tokens = cases[i].start_tokens };
      CONTEXT ("case %u", i);

      data_text_set_up (&setup, "the\n the\n", "a\nb\n", "the\n the\n");
      setup.sources[0].vocabulary = setup.target.vocabulary = vocabulary;
      setup.sources[0].append_end = TRUE;
      setup.sources[0].documents = setup.sources[1].documents = setup.target.documents = documents;
      g_autoptr (PlaitCorpus) corpus = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
      REQUIRE (corpus != NULL);
      g_autoptr (PlaitBatch) batch = plait_corpus_batch (corpus, &tuple, 1, &error);
      REQUIRE (batch != NULL);
      for (gint64 row = 0; row < plait_ragged_rows (batch->inputs[0].rows); row++)
        g_string_append_printf (source, "%s%d", row > 0 ? " " : "", batch->inputs[0].tokens[row]);
      for (gint64 row = 0; row < plait_ragged_rows (batch->target_rows); row++)
        g_string_append_printf (target, "%s%d", row > 0 ? " " : "", batch->target_outputs[row]);
      CHECK_STRING (source->str, cases[i].source);
      CHECK_STRING (target->str, cases[i].target);
    }
}

static const char *
next_line (gpointer data, gsize *length)
{
  static const char *const lines[] = { "the cat sat", "the cat", "a cat sat" };
  guint *given = data;
  const char *line = *given < G_N_ELEMENTS (lines) ? lines[(*given)++] : NULL;

  *length = line ? strlen (line) : 0;
  return line;
}

/* Writes a model whose first pieces are <unk>, <s> and </s>, followed by @symbol, if that is not NULL, and learnt
 * ones. */
static void
put_model_with (const char *name, const char *symbol)
{
  const PlaitSentencePieceOption options[] = { { "model_type", "word" },
                                               { "vocab_size", symbol ? "8" : "7" },
                                               { "hard_vocab_limit", "false" },
                                               { "minloglevel", "3" },
                                               { symbol ? "user_defined_symbols" : NULL, symbol },
                                               { NULL } };
  guint given = 0;
  g_autofree char *message = NULL;
  g_autoptr (GBytes) bytes = plait_sentencepiece_open (NULL)->train (options, next_line, &given, &message);

  CHECK_STRING (message, NULL);
  put (name, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
}

static void
put_model (const char *name)
{
  put_model_with (name, NULL);
}

static const char marian[]
    = "{\"model_type\": \"marian\", \"vocab_size\": 9, \"pad_token_id\": 8, \"bos_token_id\": 0, "
      "\"eos_token_id\": 0, \"decoder_start_token_id\": 8}";
static const char marian_ids[] = "{\"</s>\": 0, \"<unk>\": 1, \"\u2581Katze\": 2, \"\u2581the\": 3, \"\u2581cat\": 4, "
                                 "\"\u2581\": 5, \"\u2581sat\": 6, \">>fra<<\": 7, \"<pad>\": 8}";

/* Plait's id 4 is id 2 of the json file, and so on. */
TEST_CASE (published, marian_has_the_ids_of_its_json)
{
  g_autofree char *back = NULL;
  const gint32 ids[] = { 4, 6, 2 };

  put_text ("config.json", marian);
  put_text ("vocab.json", marian_ids);
  put_model ("source.spm");
  g_autoptr (PlaitVocabulary) vocabulary = open_whole ("source.spm");
  CHECK_INT (plait_vocabulary_size (vocabulary), 4 + 9 - 3);
  CHECK_STRING (plait_vocabulary_piece (vocabulary, 0), "<pad>");
  CHECK_STRING (plait_vocabulary_piece (vocabulary, 1), "<s>");
  CHECK_STRING (plait_vocabulary_piece (vocabulary, 2), "</s>");
  CHECK_STRING (plait_vocabulary_piece (vocabulary, 5), "\u2581the");
  check_encoded (vocabulary, "the cat", "5 6");
  check_encoded (vocabulary, "the a cat </s> <pad>", "5 3 6 3");
  check_encoded (vocabulary, ">>fra<< the cat", "9 5 6");
  check_encoded (vocabulary, ">>deu<< the", "3 5");
  /* A piece that only the model of the other side has is printed unchanged. */
  back = plait_vocabulary_decode (vocabulary, ids, G_N_ELEMENTS (ids));
  CHECK_STRING (g_strchug (back), "Katze cat");
}

/* Only Marian's models take ">>fra<<" from the text before SentencePiece reads the text. */
TEST_CASE (published, language_tokens_are_those_of_marian)
{
  put_model_with ("spiece.model", ">>fra<<");
  put_text ("config.json", "{\"model_type\": \"t5\", \"vocab_size\": 10, \"pad_token_id\": 9, \"eos_token_id\": 2}");
  g_autoptr (PlaitVocabulary) vocabulary = open_whole (NULL);

  CHECK_STRING (plait_vocabulary_piece (vocabulary, 5), ">>fra<<");
  check_encoded (vocabulary, "the cat", "8 6");
  check_encoded (vocabulary, ">>fra<< the cat", "3 8 6");
}

/* Ids in the model file are <unk> 0, <s> 1, </s> 2, and pieces 3 to 6. If the model adds an offset, <unk> is 3 and the
 * pieces are 4 to 7. */
TEST_CASE (published, ids_are_offset_where_the_model_has_them_so)
{
  put_model ("spiece.model");
  put_text ("config.json", "{\"model_type\": \"t5\", \"vocab_size\": 10, \"pad_token_id\": 9, \"eos_token_id\": 2}");
  g_autoptr (PlaitVocabulary) plain = open_whole (NULL);
  put_model ("sentencepiece.bpe.model");
  put_text ("config.json",
            "{\"model_type\": \"xlm-roberta\", \"vocab_size\": 9, \"pad_token_id\": 1, \"bos_token_id\": "
            "0, \"eos_token_id\": 2}");
  g_autoptr (PlaitVocabulary) offset = open_whole (NULL);
  g_autofree char *text = encode (offset, "cat", TRUE);

  /* Id 1 (<s>) is an ordinary piece here, and ids 7 and 8 have no piece. */
  CHECK_INT (plait_vocabulary_size (plain), 4 + 10 - 3);
  CHECK_STRING (plait_vocabulary_piece (plain, 4), "<s>");
  CHECK_STRING (plait_vocabulary_piece (plain, 5), "\u2581cat");
  CHECK_STRING (plait_vocabulary_piece (plain, 9), "<unused 7>");
  check_encoded (plain, "cat dog", "5 3");
  CHECK_INT (plait_vocabulary_size (offset), 9);
  CHECK_STRING (plait_vocabulary_piece (offset, 1), "<s>");
  CHECK_STRING (plait_vocabulary_piece (offset, 4), "\u2581cat");
  CHECK_STRING (plait_vocabulary_piece (offset, 8), "<unused 8>");
  CHECK_STRING (text, "1 4");
}

TEST_CASE (published, refuses_folders_that_are_not_as_published)
{
  static const struct
  {
    const char *file, *from, *to, *said;
  } cases[] = {
    { "config.json", "\"bart\"", "\"bert\"", "model/config.json: model_type is \"bert\"; expected bart, gpt2" },
    { "config.json", "\"bart\"", "3", "model/config.json: model_type is \"\"; expected bart" },
    { "config.json", "\"vocab_size\": 360, ", "", "model/config.json: has no vocab_size" },
    { "config.json", "360", "-1", "model/config.json: vocab_size is not an integer from 0 to" },
    { "config.json", "360", "1e3", "model/config.json: vocab_size is not an integer from 0 to" },
    { "config.json", "\"eos_token_id\": 2", "\"eos_token_id\": 360",
      "config.json: eos_token_id is not an integer from 0 to 359" },
    { "config.json", "\"eos_token_id\": 2", "\"eos_token_id\": null", "config.json: has no eos_token_id" },
    { "config.json", "}", "", "model/config.json:1: is not valid JSON" },
    { "config.json", "360", "300",
      "merges.txt:42: expected two pieces with one space between them; vocab.json must have both" },
    { "vocab.json", "\"<s>\": 0", "\"<s>\": 1", "vocab.json: \"<s>\" and \"<pad>\" both have the id 1" },
    { "vocab.json", "\"<s>\": 0", "\"<s>\": \"0\"", "vocab.json: the id of \"<s>\" is not an integer from 0 to " },
    { "vocab.json", "\"<s>\": 0", "\"<pad>\": 0", "vocab.json:1: is not valid JSON (duplicate object key" },
    { "vocab.json", "\"!\": 4", "\"no\": 4",
      "vocab.json: the piece \"!\" for byte 33 is missing, or its id is not below vocab_size" },
    { "merges.txt", "#version: 0.2", "version 2 of", "merges.txt:1: expected two pieces with one space between them" },
    { "merges.txt", "t h", "t  h", "expected two pieces with one space between them; vocab.json must have both" },
    { "merges.txt", "t h", "h h", "expected two pieces with one space between them" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      const char *whole = cases[i].file[0] == 'c'   ? bart
                          : cases[i].file[0] == 'v' ? byte_pair_vocabulary
                                                    : byte_pair_merges;
      g_autoptr (GString) text = g_string_new (whole);
      CONTEXT ("case %zu", i);

      CHECK_INT (g_string_replace (text, cases[i].from, cases[i].to, 1), 1);
      put_byte_pairs (bart);
      put_text (cases[i].file, text->str);
      CHECK (!open_model (NULL, &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, cases[i].said);
    }
}

TEST_CASE (published, refuses_merges_that_stand_there_twice)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *twice = g_strconcat (byte_pair_merges, "t h\n", NULL);

  put_byte_pairs (bart);
  put_text ("merges.txt", twice);
  CHECK (!open_model (NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "the file merges these two pieces twice");
}

TEST_CASE (published, asks_for_the_side_where_there_are_two)
{
  g_autoptr (GError) error = NULL;

  put_text ("config.json", marian);
  put_text ("vocab.json", marian_ids);
  CHECK (!open_model (NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "name source.spm or target.spm");
  CHECK (!open_model ("vocab.json", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "name source.spm or target.spm");
  CHECK (!open_model ("target.spm", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "target.spm: cannot be opened (");
  put_model ("source.spm");
  put_text ("vocab.json", "{\"</s>\": 0, \"x\": 9}");
  CHECK (!open_model ("source.spm", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "vocab.json: the id of \"x\" is not an integer from 0 to 8");
  put_text ("vocab.json", "{\"</s>\": 0}");
  CHECK (!open_model ("source.spm", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "vocab.json: has no piece \"<unk>\"");
  put_byte_pairs (bart);
  CHECK (!open_model ("vocab.json", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "vocab.json: is only one of the files");
  CHECK (!plait_vocabulary_read (plait_test_path ("model/vocab.json"), NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "vocab.json: looks like a file of a published model");
}

/* The stored bytes, and the file made of them, can be loaded again; truncated ones are refused. */
TEST_CASE (published, is_one_file_that_comes_back_whole_or_not)
{
  g_autoptr (GError) error = NULL;
  gsize size;

  put_byte_pairs (bart);
  g_autoptr (PlaitVocabulary) made = open_whole (NULL);
  g_autoptr (GBytes) file = plait_vocabulary_to_file (made);
  const char *path
      = plait_test_write_bytes ("vocabulary", g_bytes_get_data (file, NULL), (gssize)g_bytes_get_size (file));
  g_autoptr (PlaitVocabulary) read = plait_vocabulary_read (path, NULL, NO_ERROR);
  const char *kept = g_bytes_get_data (plait_vocabulary_serialize (made), &size);
  REQUIRE (read != NULL);
  CHECK_STRING (plait_vocabulary_format (read), "published");
  CHECK_STRING (plait_vocabulary_hash (read), plait_vocabulary_hash (made));
  CHECK (plait_vocabulary_verify (path, &error));
  check_encoded (read, "the the", "261 263");
  for (gsize n = 0; n < size; n += n < 200 ? 1 : 97)
    {
      g_autoptr (GBytes) part = g_bytes_new_static (kept, n);
      CONTEXT ("%zu bytes", n);

      CHECK (!plait_vocabulary_load ("published", part, "part", &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, "part: is not a complete vocabulary of a published model");
    }
}

/* Refuses stored bytes whose first numbers, which describe the files, are wrong. */
TEST_CASE (published, refuses_what_is_kept_with_numbers_that_lie)
{
  static const char *const cases[][2] = {
    { "size 360", "size 0" },
    { "size 360", "size 99999999999" },
    { "size 360", "size 2" },
    { "padding 1", "padding 360" },
    { "padding 1", "padding -2" },
    { "end 2", "end -1" },
    { "end 2", "end 02x" },
    { "begins 1", "begin 1" },
    { "file vocab.json ", "file vocab.json 9" },
    { "file vocab.json ", "file vocab.json -" },
    { "file merges.txt ", "file merges " },
    { "file merges.txt ", "file spiece.model " },
  };

  put_byte_pairs (bart);
  g_autoptr (PlaitVocabulary) made = open_whole (NULL);
  gsize size;
  const char *kept = g_bytes_get_data (plait_vocabulary_serialize (made), &size);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GString) text = g_string_new_len (kept, (gssize)size);
      g_autoptr (GBytes) bytes = NULL;
      CONTEXT ("case %zu", i);

      CHECK_INT (g_string_replace (text, cases[i][0], cases[i][1], 1), 1);
      bytes = g_bytes_new (text->str, text->len);
      CHECK (!plait_vocabulary_load ("published", bytes, "kept", &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, "kept: ");
    }
}
