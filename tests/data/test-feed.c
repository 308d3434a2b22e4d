/* SPDX-License-Identifier: MIT */
#include "corpus/feed.h"

#include "text/error.h"
#include "data-files.h"
#include "files.h"
#include "harness.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

TEST_CASE (feed, gives_batches_line_by_line)
{
  g_autoptr (PlaitVocabulary) vocabulary = data_words ("a a a b b c\n");
  const char *one = plait_test_write ("one", "a b\nb\nc\n");
  const char *two = plait_test_write_gzip ("two.gz", "c\n\nb a a a a a\n", -1);
  const char *out = plait_test_write ("out", "a\nb a\n\n");
  PlaitCorpusStream sources[] = { data_tokens ("one", one, vocabulary), data_tokens ("two", two, vocabulary) };
  PlaitCorpusStream target = data_tokens ("out", out, vocabulary);
  sources[1].append_end = TRUE;
  sources[1].maximum_length = 2;
  g_autoptr (PlaitFeed) feed = plait_feed_open (sources, 2, &target, NULL, FALSE, NO_ERROR);
  REQUIRE (feed != NULL);

  g_autoptr (PlaitBatch) first = plait_feed_next (feed, 2, NO_ERROR);
  REQUIRE (first != NULL);
  CHECK_INT (first->n_sentences, 2);
  CHECK_INT (first->sentence[1], 1);
  CHECK_INT (plait_ragged_length (first->inputs[0].rows, 0), 2);
  CHECK_INT (first->inputs[0].tokens[2], 5);
  CHECK_INT (plait_ragged_length (first->inputs[1].rows, 0), 2);
  CHECK_INT (first->inputs[1].tokens[1], PLAIT_TOKEN_EOS);
  CHECK_INT (first->inputs[1].n_missing, 1);
  CHECK (plait_input_is_missing (&first->inputs[1], 1));
  const gint32 inputs[] = { 1, 4, 1, 5, 4 }, outputs[] = { 4, 2, 5, 4, 2 };
  REQUIRE (plait_ragged_rows (first->target_rows) == 5);
  for (int i = 0; i < 5; i++)
    {
      CHECK_INT (first->target_inputs[i], inputs[i]);
      CHECK_INT (first->target_outputs[i], outputs[i]);
    }

  g_autoptr (PlaitBatch) second = plait_feed_next (feed, 2, NO_ERROR);
  REQUIRE (second != NULL);
  CHECK_INT (second->n_sentences, 1);
  CHECK_INT (second->sentence[0], 2);
  CHECK_INT (plait_ragged_rows (second->inputs[1].rows), 7);
  CHECK_INT (plait_ragged_rows (second->target_rows), 1);
  CHECK_INT (second->target_outputs[0], PLAIT_TOKEN_EOS);

  CHECK (!plait_feed_next (feed, 2, NO_ERROR));
  CHECK (!plait_feed_next (feed, 2, NO_ERROR));
}

TEST_CASE (feed, agrees_with_a_corpus)
{
  g_autoptr (PlaitCorpus) corpus = data_corpus (20);
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) words = g_string_new (NULL);
  for (int i = 0; i < 50; i++)
    g_string_append_printf (words, "w%02d\n", i);
  g_autoptr (PlaitVocabulary) vocabulary = data_words (words->str);
  PlaitCorpusStream source = data_tokens ("one", plait_test_path ("one"), vocabulary);
  g_autoptr (PlaitFeed) feed = plait_feed_open (&source, 1, NULL, NULL, FALSE, &error);
  for (gint64 i = 0; i < 20; i++)
    {
      g_autoptr (PlaitBatch) from_corpus = plait_corpus_batch (corpus, &i, 1, &error);
      g_autoptr (PlaitBatch) from_feed = plait_feed_next (feed, 1, &error);
      REQUIRE (from_feed != NULL);
      CHECK (!from_feed->target_outputs);
      gint64 n = plait_ragged_rows (from_feed->inputs[0].rows);
      REQUIRE (n == plait_ragged_rows (from_corpus->inputs[0].rows));
      for (gint64 j = 0; j < n; j++)
        CHECK_INT (from_feed->inputs[0].tokens[j], from_corpus->inputs[0].tokens[j]);
    }
}

TEST_CASE (feed, refuses_bad_input_where_it_comes)
{
  g_autoptr (PlaitVocabulary) vocabulary = data_words ("a a a b b c\n");
  const char *one = plait_test_write ("one", "a b\nb\nc\nc\n");
  const char *two = plait_test_write ("two", "c\n\nb\n");
  PlaitCorpusStream sources[] = { data_tokens ("one", one, vocabulary), data_tokens ("two", two, vocabulary) };
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitFeed) uneven = plait_feed_open (sources, 2, NULL, NULL, FALSE, &error);
  g_autoptr (PlaitBatch) good = plait_feed_next (uneven, 3, &error);
  CHECK (good != NULL);
  CHECK (!plait_feed_next (uneven, 3, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "two:4: ends here, but ");

  g_autoptr (PlaitFeed) strict = plait_feed_open (sources, 2, NULL, NULL, TRUE, &error);
  CHECK (!plait_feed_next (strict, 3, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "two:2: the line is empty; expected a sentence of two");

  plait_test_write ("two", "c\n\xfe\n");
  g_autoptr (PlaitFeed) bad = plait_feed_open (sources, 2, NULL, NULL, FALSE, &error);
  CHECK (!plait_feed_next (bad, 3, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "two:2: byte 1");

  const char *absent = plait_test_path ("absent");
  sources[1].paths = data_paths (absent);
  CHECK (!plait_feed_open (sources, 2, NULL, NULL, FALSE, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "absent: cannot be opened");
}

static gpointer
write_lines (gpointer path)
{
  static const char text[] = "a b\n\nb c a\n";
  int descriptor = open (path, O_WRONLY);

  CHECK (write (descriptor, text, sizeof text - 1) == sizeof text - 1);
  close (descriptor);
  return NULL;
}

/* Several sources may read one text, each with its own vocabulary, even from a pipe, which gives its lines only
 * once. */
TEST_CASE (feed, reads_a_pipe_for_several_sources)
{
  g_autoptr (PlaitVocabulary) first = data_words ("a a a b b c\n"), second = data_words ("c c c b b a\n");
  const char *path = plait_test_path ("pipe");
  PlaitCorpusStream sources[] = { data_tokens ("one", path, first), data_tokens ("two", path, second) };
  const gint32 ids[2][5] = { { 4, 5, 5, 6, 4 }, { 6, 5, 5, 4, 6 } };
  REQUIRE (mkfifo (path, 0600) == 0);
  GThread *writer = g_thread_new ("writer", write_lines, (gpointer)path);
  g_autoptr (PlaitFeed) feed = plait_feed_open (sources, 2, NULL, NULL, FALSE, NO_ERROR);
  g_autoptr (PlaitBatch) batch = feed ? plait_feed_next (feed, 9, NO_ERROR) : NULL;
  g_thread_join (writer);

  REQUIRE (batch && batch->n_sentences == 3);
  for (guint s = 0; s < 2; s++)
    {
      CHECK (plait_input_is_missing (&batch->inputs[s], 1));
      REQUIRE (plait_ragged_rows (batch->inputs[s].rows) == 5);
      for (guint i = 0; i < 5; i++)
        CHECK_INT (batch->inputs[s].tokens[i], ids[s][i]);
    }
  CHECK (!plait_feed_next (feed, 9, NO_ERROR));
}

TEST_CASE (feed, shares_columns_and_reports_their_faults)
{
  g_autoptr (PlaitVocabulary) vocabulary = data_words ("a a a b b c\n");
  const PlaitFeedTable table = { plait_test_write ("table", "a\tb\nb\tc\nbad\n"), 2 };
  PlaitCorpusStream sources[] = { data_tokens ("one", NULL, vocabulary), data_tokens ("two", NULL, vocabulary),
                                  data_tokens ("again", NULL, vocabulary) };
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 3; i++)
    {
      sources[i].paths = data_paths (table.path);
      sources[i].column = i == 1 ? 2 : 1;
    }
  g_autoptr (PlaitFeed) feed = plait_feed_open (sources, 3, NULL, &table, FALSE, NO_ERROR);
  g_autoptr (PlaitBatch) batch = feed ? plait_feed_next (feed, 2, NO_ERROR) : NULL;
  REQUIRE (batch && batch->n_sentences == 2);
  for (guint i = 0; i < 2; i++)
    {
      CHECK_INT (batch->inputs[0].tokens[i], 4 + (int)i);
      CHECK_INT (batch->inputs[1].tokens[i], 5 + (int)i);
      CHECK_INT (batch->inputs[2].tokens[i], 4 + (int)i);
    }
  CHECK (!plait_feed_next (feed, 2, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "table:3: the line has 1 fields; expected 2");
}
