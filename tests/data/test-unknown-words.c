/* SPDX-License-Identifier: MIT */
#include "corpus/batch.h"
#include "corpus/feed.h"

#include "data-files.h"
#include "files.h"
#include "harness.h"

/* Checks the texts of unknown tokens in @input. @expected has one word for each row, "-" for NULL. */
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
  setup.sources[0].unknown = PLAIT_UNKNOWN_TEXT;
  corpus = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  REQUIRE (corpus != NULL);
  batch = plait_corpus_batch (corpus, tuples, 4, NO_ERROR);
  REQUIRE (batch != NULL);
  check_words (&batch->inputs[0], "Ada Bob - - - Ada - - Bob Céc -");
  CHECK (!batch->inputs[1].unknown_words);
  /* A slice of a batch borrows the texts. */
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

/* The texts stay with their tokens if tuples are dropped, sentences truncated or a source is shuffled. Noise has no
 * texts. */
TEST_CASE (unknown_words, follow_what_happens_to_a_source)
{
  const gint64 tuples[] = { 0, 1 };
  g_auto (DataText) setup = { 0 };
  g_autoptr (PlaitCorpus) corpus = NULL, noisy = NULL;
  g_autoptr (PlaitBatch) batch = NULL, drawn = NULL;

  data_text_set_up (&setup, "Ada a Bob\nUda a a a a\na Eve Fay\n", "b\nb\nb\n", "a\na\na\n");
  setup.sources[0].unknown = PLAIT_UNKNOWN_TEXT;
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

/* Each chunk of a cut document has the words of its own sentences. */
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
  setup.sources[0].unknown = PLAIT_UNKNOWN_TEXT;
  corpus = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  REQUIRE (corpus != NULL);
  REQUIRE (plait_corpus_size (corpus) == 3);
  batch = plait_corpus_batch (corpus, tuples, 3, NO_ERROR);
  REQUIRE (batch != NULL);
  check_words (&batch->inputs[0], "- Ada - - Bob - - Cid Dot - Eve");
}

/* Each piece of an unknown word of a subword vocabulary has the whole word, between white space, as text. */
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
  source.unknown = PLAIT_UNKNOWN_TEXT;
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

/*
 * Tests of own words: unknown words that get ids within their sentence
 */

/* Checks the texts of the own words of each sentence; "|" separates sentences. */
static void
check_own_words (const PlaitBatch *batch, const char *expected)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (gint64 s = 0; s < batch->n_sentences; s++)
    for (gint64 i = batch->own_words.offsets[s]; i <= batch->own_words.offsets[s + 1]; i++)
      g_string_append (text, i < batch->own_words.offsets[s + 1] ? batch->own_texts[i] : "|");
  CHECK_STRING (text->str, expected);
}

static void
check_ids (const gint32 *ids, gint64 n, const char *expected)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (gint64 i = 0; i < n; i++)
    g_string_append_printf (text, "%d ", ids[i]);
  CHECK_STRING (text->str, expected);
}

static void
set_up_own_words (DataText *setup)
{
  data_text_set_up (setup, "Ada a Bob Ada\na b\nCid\nBob Dan\n", "Bob Eve\nUli\n\na Bob\n",
                    "Eve a Ada Fay\na\nCid Ada\nDan\n");
  setup->sources[0].unknown = setup->sources[1].unknown = setup->target.unknown = PLAIT_UNKNOWN_OWN;
  setup->sources[0].append_end = TRUE;
}

/* The vocabulary has 8 ids. A word that two sources share has one id. A target word that no source has stays unknown,
 * and so do all own words in target_inputs. */
TEST_CASE (unknown_words, become_own_words_of_their_sentence)
{
  const gint64 tuples[] = { 0, 1, 2, 3 };
  g_auto (DataText) setup = { 0 };
  g_autoptr (PlaitCorpus) corpus = NULL;
  g_autoptr (PlaitBatch) batch = NULL, part = NULL;

  set_up_own_words (&setup);
  corpus = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  REQUIRE (corpus != NULL);
  batch = plait_corpus_batch (corpus, tuples, 4, NO_ERROR);
  REQUIRE (batch != NULL);
  CHECK_INT (batch->first_own, 8);
  CHECK_INT (batch->own_words.n, 4);
  check_own_words (batch, "AdaBobEve|Uli|Cid|BobDan|");
  check_ids (batch->inputs[0].tokens, 13, "3 4 3 3 2 4 5 2 3 2 3 3 2 ");
  check_ids (batch->inputs[0].own_ids, 13, "8 4 9 8 2 4 5 2 8 2 8 9 2 ");
  check_ids (batch->inputs[1].own_ids, 5, "9 10 8 4 8 ");
  check_ids (batch->target_inputs, 12, "1 3 4 3 3 1 4 1 3 3 1 3 ");
  check_ids (batch->target_outputs, 12, "10 4 8 3 2 4 2 8 3 2 9 2 ");
  CHECK_STRING (plait_batch_own_word (batch, 0, 10), "Eve");
  CHECK_STRING (plait_batch_own_word (batch, 3, 9), "Dan");
  CHECK (!plait_batch_own_word (batch, 0, 7));
  CHECK_INT (plait_batch_known_id (batch, 9), PLAIT_TOKEN_UNKNOWN);
  CHECK_INT (plait_batch_known_id (batch, 7), 7);
  /* A slice has the ids and own words of its sentences. */
  part = plait_batch_slice (batch, 2, 2, NO_ERROR);
  REQUIRE (part != NULL);
  check_own_words (part, "Cid|BobDan|");
  check_ids (part->inputs[0].own_ids, 5, "8 2 8 9 2 ");
  check_ids (part->target_outputs, 5, "8 3 2 9 2 ");
  CHECK_STRING (plait_batch_own_word (part, 1, 9), "Dan");
}

/* A source that asks only for texts has no own words. If no stream asks for own words, there are none. */
TEST_CASE (unknown_words, are_own_words_only_of_streams_that_ask)
{
  const gint64 tuples[] = { 0, 3 };
  g_auto (DataText) setup = { 0 };
  g_autoptr (PlaitCorpus) some = NULL, none = NULL;
  g_autoptr (PlaitBatch) batch = NULL, plain = NULL;

  set_up_own_words (&setup);
  setup.sources[0].unknown = PLAIT_UNKNOWN_TEXT;
  some = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  REQUIRE (some != NULL);
  batch = plait_corpus_batch (some, tuples, 2, NO_ERROR);
  REQUIRE (batch != NULL);
  check_own_words (batch, "BobEve|Bob|");
  CHECK (!batch->inputs[0].own_ids && batch->inputs[0].unknown_words);
  check_ids (batch->target_outputs, 7, "9 4 3 3 2 3 2 ");

  setup.sources[0].unknown = setup.sources[1].unknown = setup.target.unknown = PLAIT_UNKNOWN_ID;
  none = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  REQUIRE (none != NULL);
  plain = plait_corpus_batch (none, tuples, 2, NO_ERROR);
  REQUIRE (plain != NULL);
  CHECK (plain->first_own == 0 && !plain->own_words.offsets && !plain->own_texts);
  CHECK (!plain->inputs[0].own_ids && !plain->inputs[1].own_ids);
  CHECK (!plait_batch_own_word (plain, 0, 5));
  CHECK_INT (plait_batch_known_id (plain, 5), 5);
}

/* A source that is missing in a sentence gives no own words. */
TEST_CASE (unknown_words, of_absent_sources_are_not_own_words)
{
  const gint64 tuples[] = { 0, 3 };
  g_auto (DataText) setup = { 0 };
  g_autoptr (PlaitCorpus) corpus = NULL;
  g_autoptr (PlaitBatch) batch = NULL;

  set_up_own_words (&setup);
  corpus = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  REQUIRE (corpus != NULL);
  plait_corpus_remove_source (corpus, 0);
  batch = plait_corpus_batch (corpus, tuples, 2, NO_ERROR);
  REQUIRE (batch != NULL);
  check_own_words (batch, "BobEve|Bob|");
  check_ids (batch->target_outputs, 7, "9 4 3 3 2 3 2 ");
}

/* A feed has no target, but own words of its sources. */
TEST_CASE (unknown_words, are_own_words_in_a_feed)
{
  g_autoptr (PlaitVocabulary) vocabulary = data_words ("a a a b b c\n");
  PlaitCorpusStream source = data_tokens ("one", plait_test_write ("one", "a Ada\nBob Ada a\n"), vocabulary);
  g_autoptr (PlaitFeed) feed = NULL;
  g_autoptr (PlaitBatch) batch = NULL;

  source.unknown = PLAIT_UNKNOWN_OWN;
  feed = plait_feed_open (&source, 1, NULL, NULL, FALSE, NO_ERROR);
  batch = feed ? plait_feed_next (feed, 2, NO_ERROR) : NULL;
  REQUIRE (batch != NULL);
  CHECK_INT (batch->first_own, 7);
  check_own_words (batch, "Ada|BobAda|");
  check_ids (batch->inputs[0].own_ids, 5, "4 7 7 8 4 ");
}
