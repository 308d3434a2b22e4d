/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "text/error.h"
#include "data-files.h"
#include "corpus/batch.h"
#include "corpus/feed.h"
#include "tasks/generate.h"
#include "documents/labels.h"
#include "files.h"
#include "harness.h"

/* Returns a vocabulary of labels, learnt from the lines of @text. */

static PlaitVocabulary *
labels_of (const char *text)
{
  PlaitVocabularySettings settings = { .type = "labels", .minimum_count = 1 };
  const char *path = plait_test_write ("labels", text);
  const char *paths[] = { path, NULL };
  return plait_vocabulary_train (&settings, paths, NO_ERROR);
}

TEST_CASE (labels, are_whole_lines_by_falling_frequency)
{
  static const char text[] = "next meeting\nred\n red\t\nnext  meeting\nnext meeting 2\nred\n\n";
  g_autoptr (PlaitVocabulary) learnt = labels_of (text);
  g_autoptr (PlaitVocabulary) stored = plait_vocabulary_load (plait_vocabulary_format (learnt),
                                                              plait_vocabulary_serialize (learnt), "stored", NO_ERROR);
  PlaitVocabulary *both[] = { learnt, stored };

  for (guint i = 0; i < 2; i++)
    {
      static const char *const expected[] = { "red", "next  meeting", "next meeting", "next meeting 2" };
      REQUIRE (both[i] != NULL);
      CHECK_STRING (plait_vocabulary_format (both[i]), "labels");
      CHECK_INT (plait_vocabulary_size (both[i]), PLAIT_TOKEN_SPECIALS + 4);
      CHECK_NEAR (plait_vocabulary_score (both[i], PLAIT_TOKEN_SPECIALS), 3, 0);
      for (gint32 k = 0; k < 4; k++)
        {
          gint32 id = PLAIT_TOKEN_SPECIALS + k;
          g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
          g_autofree char *line = g_strdup_printf (" %s\t", expected[k]);
          g_autofree char *decoded = plait_vocabulary_decode (both[i], &id, 1);

          CHECK_STRING (decoded, expected[k]);
          plait_vocabulary_encode (both[i], line, strlen (line), ids);
          REQUIRE (ids->len == 1);
          CHECK_INT (g_array_index (ids, gint32, 0), id);
        }
    }
}

/* In batches of a corpus and of a feed, a label is one row. Labels are numbered from 0. */
TEST_CASE (labels, are_one_row_each)
{
  g_auto (DataText) setup = { 0 };
  g_autoptr (PlaitVocabulary) labels = labels_of ("b c\nb c\na\n");
  g_autoptr (GError) error = NULL;
  static const gint64 tuples[] = { 2, 0 };

  data_text_set_up (&setup, "a b\nc\nd\n", "a\nb\n\n", "a\nb c\nb c\n");
  setup.target.vocabulary = labels;
  setup.target.target = PLAIT_TARGET_LABELS;
  g_autoptr (PlaitCorpus) corpus = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  g_autoptr (PlaitFeed) feed = plait_feed_open (setup.sources, 2, &setup.target, NULL, FALSE, NO_ERROR);
  REQUIRE (corpus && feed);
  CHECK_INT (plait_corpus_length (corpus, 2, 0), 1);
  CHECK_INT (plait_corpus_longest (corpus, 2), 1);
  g_autoptr (PlaitBatch) batch = plait_corpus_batch (corpus, tuples, 2, NO_ERROR);
  g_autoptr (PlaitBatch) read = plait_feed_next (feed, 10, NO_ERROR);
  REQUIRE (batch && read);
  CHECK_INT (plait_ragged_rows (batch->target_rows), 2);
  CHECK_INT (batch->target_outputs[0], 0);
  CHECK_INT (batch->target_outputs[1], 1);
  CHECK_INT (plait_ragged_rows (read->target_rows), 3);
  CHECK_INT (read->target_outputs[0], 1);
  CHECK_INT (read->target_outputs[2], 0);
  g_auto (GStrv) text = plait_corpus_text (corpus, 2, &error);
  CHECK_STRING (text[1], "b c");
}

static void
check_refused (DataText *setup, const char *message)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) read = NULL;
  CONTEXT ("expecting %s", message);

  CHECK (!plait_corpus_open (&setup->settings, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, message);
  g_autoptr (PlaitFeed) feed
      = plait_feed_open (setup->sources, setup->settings.n_sources, &setup->target, NULL, FALSE, &read);
  CHECK (feed && !plait_feed_next (feed, 10, &read));
  CHECK_ERROR (read, PLAIT_ERROR_INPUT, message);
}

TEST_CASE (labels, that_training_lacks_are_errors)
{
  g_auto (DataText) setup = { 0 };
  g_autoptr (PlaitVocabulary) labels = labels_of ("orange\nblue\n");

  data_text_set_up (&setup, "a\nb\nc\n", "a\nb\nc\n", "orange\norgane\nblue\n");
  setup.target.vocabulary = labels;
  setup.target.target = PLAIT_TARGET_LABELS;
  setup.settings.keep_all = TRUE;
  check_refused (&setup,
                 "target:2: the label \"organe\" does not occur in training; expected one of its 2 labels, such "
                 "as \"orange\"");
  plait_test_write ("target", "blue\nblue\n \n");
  check_refused (&setup, "target:3: the line is empty; expected a label, one of the 2 of training");
}

/* A split that is scored may have labels that training lacks: such a target has no row, and the corpus counts it.
 * Training text may not have such labels. */
TEST_CASE (labels, that_training_lacks_may_have_no_row)
{
  g_auto (DataText) setup = { 0 };
  g_autoptr (PlaitVocabulary) labels = labels_of ("orange\nblue\n");
  g_autoptr (GError) error = NULL;
  static const gint64 tuples[] = { 1, 0, 2 };

  data_text_set_up (&setup, "a\nb\nc\n", "a\nb\nc\n", "orange\norgane\nblue\n");
  setup.target.vocabulary = labels;
  setup.target.target = PLAIT_TARGET_LABELS;
  setup.target.allow_unknown = TRUE;
  CHECK (!plait_corpus_open (&setup.settings, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "target:2: the label \"organe\" does not occur in training");
  g_clear_error (&error);
  setup.settings.keep_all = TRUE;
  g_autoptr (PlaitCorpus) corpus = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  REQUIRE (corpus != NULL);
  CHECK_INT (plait_corpus_size (corpus), 3);
  CHECK_INT (plait_corpus_counts (corpus, 2)->unknown_labels, 1);
  g_autoptr (PlaitBatch) batch = plait_corpus_batch (corpus, tuples, 3, NO_ERROR);
  g_autoptr (PlaitBatch) alone = plait_corpus_batch (corpus, tuples, 1, NO_ERROR);
  REQUIRE (batch && alone);
  CHECK_INT (plait_ragged_length (batch->target_rows, 0), 0);
  CHECK_INT (plait_ragged_length (batch->target_rows, 1), 1);
  CHECK_INT (batch->target_outputs[0], 1);
  CHECK_INT (batch->target_outputs[1], 0);
  /* The batch has a target, but without rows. */
  CHECK (alone->target_rows.offsets != NULL);
  CHECK_INT (plait_ragged_rows (alone->target_rows), 0);
  g_autoptr (PlaitFeed) feed = plait_feed_open (setup.sources, 2, &setup.target, NULL, FALSE, NO_ERROR);
  g_autoptr (PlaitBatch) fed = feed ? plait_feed_next (feed, 3, NO_ERROR) : NULL;
  REQUIRE (fed != NULL);
  CHECK_INT (plait_ragged_length (fed->target_rows, 1), 0);
  CHECK_INT (plait_ragged_rows (fed->target_rows), 2);
  g_autoptr (PlaitBatch) part = plait_batch_slice (batch, 0, 1, &error);
  REQUIRE (part != NULL);
  CHECK (part->target_rows.offsets != NULL);
  CHECK_INT (plait_ragged_rows (part->target_rows), 0);
}

typedef struct
{
  const char *target;
  const char *message;
} Refusal;

/* Checks that a validation corpus and a feed fail with the same message. */
static void
check_all_refused (DataText *setup, const Refusal *refusals, guint n)
{
  setup->settings.keep_all = TRUE;
  for (guint i = 0; i < n; i++)
    {
      plait_test_write ("target", refusals[i].target);
      check_refused (setup, refusals[i].message);
    }
}

/* Sets up documents @source, one sentence on each line, whose targets of @kind are @targets. */
static void
set_up_documents (DataText *setup, const char *source, const char *targets, PlaitTargetKind kind)
{
  data_text_set_up (setup, source, "", targets);
  setup->sources[0].documents = (PlaitDocumentSettings){ .layout = PLAIT_LAYOUT_DOCUMENTS, .start_tokens = TRUE };
  setup->settings.n_sources = 1;
  setup->target.vocabulary = NULL;
  setup->target.target = kind;
}

/* Reads both tuples: from a corpus into @batch, the second tuple first; from a feed into @read, in order. */
static void
read_both (DataText *setup, PlaitBatch **batch, PlaitBatch **read)
{
  static const gint64 tuples[] = { 1, 0 };
  g_autoptr (PlaitCorpus) corpus = plait_corpus_open (&setup->settings, NULL, NO_ERROR);
  g_autoptr (PlaitFeed) feed = plait_feed_open (setup->sources, 1, &setup->target, NULL, FALSE, NO_ERROR);

  REQUIRE (corpus && feed);
  *batch = plait_corpus_batch (corpus, tuples, 2, NO_ERROR);
  *read = plait_feed_next (feed, 10, NO_ERROR);
  REQUIRE (*batch && *read);
  CHECK_INT (plait_corpus_counts (corpus, 1)->unknown, 0);
}

/* The target is the number of a sentence in the document of the first source. */
TEST_CASE (choices, are_numbers_of_sentences)
{
  g_auto (DataText) setup = { 0 };
  g_autoptr (PlaitBatch) batch = NULL;
  g_autoptr (PlaitBatch) read = NULL;

  set_up_documents (&setup, "a b\nc\n\na\nb\nc\nd\n", " 1\n3\t\n", PLAIT_TARGET_CHOICE);
  read_both (&setup, &batch, &read);
  CHECK_INT (plait_ragged_rows (batch->target_rows), 2);
  CHECK_INT (batch->target_outputs[0], 3);
  CHECK_INT (batch->target_outputs[1], 1);
  CHECK_INT (read->target_outputs[0], 1);
  CHECK_INT (read->target_outputs[1], 3);

  static const Refusal bad[] = {
    { "1\n4\n", "target:2: \"4\" is not the number of one of the 4 sentences of the document; expected the number of "
                "the correct sentence, from 0 to 3" },
    { "2\n0\n", "target:1: \"2\" is not the number of one of the 2 sentences" },
    { "-1\n0\n", "target:1: \"-1\" is not the number of one of the 2 sentences" },
    { "0 1\n0\n", "target:1: \"0 1\" is not the number of one of the 2 sentences" },
    { "0\nb\n", "target:2: \"b\" is not the number of one of the 4 sentences" },
    { "0\n\n", "target:2: \"\" is not the number of one of the 4 sentences" },
  };
  check_all_refused (&setup, bad, G_N_ELEMENTS (bad));
}

/* The target is a range of tokens in the document of the first source. Start tokens have rows but no number. */
TEST_CASE (spans, are_rows_of_documents)
{
  g_auto (DataText) setup = { 0 };
  g_autoptr (PlaitBatch) batch = NULL;
  g_autoptr (PlaitBatch) read = NULL;

  set_up_documents (&setup, "a b\nc\n\na\nb\nc d\n", "1 2\n-1\n", PLAIT_TARGET_SPAN);
  setup.sources[0].append_end = TRUE;
  read_both (&setup, &batch, &read);
  CHECK_INT (plait_ragged_rows (batch->target_rows), 4);
  /* The rows of the first document are start, a, b, start, c, end. */
  static const gint32 expected[] = { 0, 0, 2, 4 };
  for (guint i = 0; i < 4; i++)
    {
      CHECK_INT (batch->target_outputs[i], expected[i]);
      CHECK_INT (read->target_outputs[(i + 2) % 4], expected[i]);
    }
  CHECK_INT (plait_span_token (&batch->inputs[0], 1, 4), 2);
  CHECK_INT (plait_span_token (&batch->inputs[0], 1, 2), 1);
  CHECK_INT (plait_span_token (&batch->inputs[0], 1, 3), -1);
  CHECK_INT (plait_span_token (&batch->inputs[0], 1, 0), -1);

  static const Refusal bad[] = {
    { "0 1\n0 4\n", "target:2: \"0 4\" is not a span of the 4 tokens of the document; expected START END" },
    { "2 1\n-1\n", "target:1: \"2 1\" is not a span of the 3 tokens" },
    { "1\n-1\n", "target:1: \"1\" is not a span" },
    { "0 1 2\n-1\n", "target:1: \"0 1 2\" is not a span" },
    { "-1 2\n-1\n", "target:1: \"-1 2\" is not a span" },
    { "0 2\n\n", "target:2: \"\" is not a span" },
  };
  check_all_refused (&setup, bad, G_N_ELEMENTS (bad));
}

/* The topic is the one that most words of the sentence belong to. */
TEST_CASE (topic, is_what_most_words_are_of)
{
  g_auto (PlaitTaskSettings) settings = plait_task_defaults (&plait_task_topic);
  g_autoptr (GHashTable) topics = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GString *lines[] = { g_string_new (NULL), g_string_new (NULL) };
  enum
  {
    COMMON = 40,
    OWN = 8,
    TOPICS = 6,
  };

  for (gint64 i = 0; i < 200; i++)
    {
      int count[TOPICS] = { 0 }, most = 0;

      plait_task_tuple (&plait_task_topic, &settings, 0, i, lines);
      g_auto (GStrv) words = g_strsplit (lines[0]->str, " ", -1);
      CHECK_INT (g_strv_length (words), 12);
      for (gint64 word = COMMON; word < COMMON + TOPICS * OWN; word++)
        {
          g_autoptr (GString) stem = g_string_new (NULL);

          plait_task_append_stem (stem, word, 97);
          for (guint k = 0; words[k]; k++)
            count[(word - COMMON) / OWN] += strcmp (words[k], stem->str) == 0;
        }
      for (int t = 1; t < TOPICS; t++)
        most = count[t] > count[most] ? t : most;
      CHECK_INT (count[most], 3);
      if (!g_hash_table_contains (topics, lines[1]->str))
        g_hash_table_insert (topics, g_strdup (lines[1]->str), GINT_TO_POINTER (most));
      CHECK_INT (GPOINTER_TO_INT (g_hash_table_lookup (topics, lines[1]->str)), most);
    }
  CHECK_INT (g_hash_table_size (topics), TOPICS);
  g_string_free (lines[0], TRUE);
  g_string_free (lines[1], TRUE);
}
