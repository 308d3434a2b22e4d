/* SPDX-License-Identifier: MIT */
#include "corpus/batch.h"
#include "corpus/feed.h"

#include "data-files.h"
#include "files.h"
#include "harness.h"

/* Checks the words of the unknown tokens of @input: one for each row, "-" for NULL. */
static void
check_words (const PlaitInput *input, const char *expected)
{
  g_autoptr (GString) text = g_string_new (NULL);

  REQUIRE (input->unknown_words != NULL);
  for (gint64 i = 0; i < plait_ragged_rows (input->rows); i++)
    g_string_append_printf (text, "%s%s", i > 0 ? " " : "", input->unknown_words[i] ? input->unknown_words[i] : "-");
  CHECK_STRING (text->str, expected);
}

TEST_CASE (unknown_words, keep_their_text_row_by_row)
{
  const gint64 tuples[] = { 3, 0, 1, 2 };
  g_auto (DataText) setup = { 0 };
  g_autoptr (PlaitCorpus) corpus = NULL;
  g_autoptr (PlaitBatch) batch = NULL, part = NULL;

  data_text_set_up (&setup, "a Ada b\n  Bob\tCéc  \n\nAda Bob d\n", "b\nx\na\nb\n", "a\nb\na\nb\n");
  setup.sources[0].append_end = TRUE;
  setup.sources[0].keep_unknown = TRUE;
  corpus = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  REQUIRE (corpus != NULL);
  batch = plait_corpus_batch (corpus, tuples, 4, NO_ERROR);
  REQUIRE (batch != NULL);
  check_words (&batch->inputs[0], "Ada Bob - - - Ada - - Bob Céc -");
  CHECK (!batch->inputs[1].unknown_words);
  /* A slice borrows them. */
  part = plait_batch_slice (batch, 1, 2, NO_ERROR);
  REQUIRE (part != NULL);
  check_words (&part->inputs[0], "- Ada - - Bob Céc -");
}

TEST_CASE (unknown_words, are_not_kept_unless_asked_for)
{
  const gint64 tuples[] = { 0 };
  g_auto (DataText) setup = { 0 };
  g_autoptr (PlaitCorpus) corpus = NULL;
  g_autoptr (PlaitBatch) batch = NULL;

  data_text_set_up (&setup, "a Ada b\n", "b\n", "a\n");
  corpus = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  REQUIRE (corpus != NULL);
  batch = plait_corpus_batch (corpus, tuples, 1, NO_ERROR);
  REQUIRE (batch != NULL);
  CHECK (!batch->inputs[0].unknown_words && !batch->inputs[1].unknown_words);
}

/* Dropped tuples, truncation and another order of a source do not disturb the words; drawn tokens have none. */
TEST_CASE (unknown_words, follow_what_happens_to_a_source)
{
  const gint64 tuples[] = { 0, 1 };
  g_auto (DataText) setup = { 0 };
  g_autoptr (PlaitCorpus) corpus = NULL, noisy = NULL;
  g_autoptr (PlaitBatch) batch = NULL, drawn = NULL;

  data_text_set_up (&setup, "Ada a Bob\nUda a a a a\na Eve Fay\n", "b\nb\nb\n", "a\na\na\n");
  setup.sources[0].keep_unknown = TRUE;
  setup.sources[0].maximum_length = 4;
  corpus = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  REQUIRE (corpus != NULL);
  CHECK_INT (plait_corpus_size (corpus), 2);
  plait_corpus_truncate (corpus, 0, 2);
  CHECK (plait_corpus_derange (corpus, 0, 1, NO_ERROR));
  batch = plait_corpus_batch (corpus, tuples, 2, NO_ERROR);
  REQUIRE (batch != NULL);
  check_words (&batch->inputs[0], "- Eve Ada -");

  noisy = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  REQUIRE (noisy != NULL);
  plait_corpus_add_noise (noisy, 0, 1);
  drawn = plait_corpus_batch (noisy, tuples, 2, NO_ERROR);
  REQUIRE (drawn != NULL);
  check_words (&drawn->inputs[0], "- - - - - -");
}

/* A cut document shares its words among its chunks; start tokens and empty sentences have none. */
TEST_CASE (unknown_words, are_those_of_the_chunk_of_a_document)
{
  const gint64 tuples[] = { 0, 1, 2 };
  PlaitDocumentSettings documents = { .layout = PLAIT_LAYOUT_DOCUMENTS, .start_tokens = TRUE, .maximum = 6 };
  g_auto (DataText) setup = { 0 };
  g_autoptr (PlaitCorpus) corpus = NULL;
  g_autoptr (PlaitBatch) batch = NULL;

  data_text_set_up (&setup, "Ada a\nBob\nb Cid Dot\n\nEve\n", "b\nb\nb\n\nb\n", "a\na\na\n\na\n");
  for (int i = 0; i < 2; i++)
    setup.sources[i].documents = documents;
  setup.target.documents = documents;
  setup.sources[0].keep_unknown = TRUE;
  corpus = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  REQUIRE (corpus != NULL);
  REQUIRE (plait_corpus_size (corpus) == 3);
  batch = plait_corpus_batch (corpus, tuples, 3, NO_ERROR);
  REQUIRE (batch != NULL);
  check_words (&batch->inputs[0], "- Ada - - Bob - - Cid Dot - Eve");
}

/* All pieces of an unknown word of subwords have the white-space word as text. */
TEST_CASE (unknown_words, of_subwords_are_white_space_words)
{
  const char *text = plait_test_write ("subwords", "abc abd bcd acd abcd dcba\nab cd abc dcb\nabcd abcd bcda cdab\n");
  const char *paths[] = { text, NULL }, *files[] = { plait_test_write ("in", "ab cdé\nx\xe2\x82\xac"
                                                                             "b ab\n") };
  PlaitVocabularySettings settings = PLAIT_VOCABULARY_DEFAULTS;
  g_autoptr (PlaitVocabulary) vocabulary = NULL;
  g_autoptr (PlaitFeed) feed = NULL;
  g_autoptr (PlaitBatch) batch = NULL;
  const PlaitInput *input;
  gint64 first = 0, second = 0;

  settings.size = 16;
  vocabulary = plait_vocabulary_train (&settings, paths, NO_ERROR);
  REQUIRE (vocabulary != NULL);
  PlaitCorpusStream source = data_tokens ("one", files[0], vocabulary);
  source.keep_unknown = TRUE;
  feed = plait_feed_open (&source, 1, NULL, NULL, FALSE, NO_ERROR);
  batch = feed ? plait_feed_next (feed, 2, NO_ERROR) : NULL;
  REQUIRE (batch != NULL);
  input = &batch->inputs[0];
  REQUIRE (input->unknown_words != NULL);
  for (gint64 i = 0; i < plait_ragged_rows (input->rows); i++)
    if (input->tokens[i] != PLAIT_TOKEN_UNKNOWN)
      CHECK (!input->unknown_words[i]);
    else if (i < input->rows.offsets[1])
      {
        CHECK_STRING (input->unknown_words[i], "cdé");
        first++;
      }
    else
      {
        CHECK_STRING (input->unknown_words[i], "x€b");
        second++;
      }
  CHECK (first > 0 && second > 0);
}

TEST_CASE (unknown_words, are_written_where_a_translation_has_them)
{
  g_autoptr (PlaitVocabulary) vocabulary = data_words ("a a a b b c\n");
  const gint32 ids[] = { 3, 4, 3, 3, 2 };
  const char *const words[] = { "Ada", NULL, NULL, "von Bob", NULL };
  g_autofree char *text = plait_vocabulary_decode_words (vocabulary, ids, words, 5);
  g_autofree char *plain = plait_vocabulary_decode_words (vocabulary, ids, NULL, 5);
  const gint32 document[] = { 3, 4, PLAIT_TOKEN_BOS, 5, 3 };
  const char *const in_document[] = { "Ada", NULL, NULL, NULL, "Bob" };
  g_autoptr (GString) lines = g_string_new (NULL);

  CHECK_STRING (text, "Ada a <unk> von Bob");
  CHECK_STRING (plain, "<unk> a <unk> <unk>");
  plait_document_decode (vocabulary, document, in_document, 5, lines);
  CHECK_STRING (lines->str, "Ada a\nb Bob");
}
