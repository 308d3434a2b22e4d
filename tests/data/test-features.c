/* SPDX-License-Identifier: MIT */
#include "text/error.h"
#include "data-files.h"
#include "corpus/feed.h"
#include "files.h"
#include "harness.h"
#include "foreign/feature.h"

static void
check_rows (const PlaitInput *input, gint64 sentence, gint64 entry)
{
  CHECK_INT (plait_ragged_length (input->rows, sentence), 2);
  for (gint64 p = 0; p < 2; p++)
    for (gint64 w = 0; w < 3; w++)
      CHECK_NEAR (plait_tensor_row (input->features, input->rows.offsets[sentence] + p)[w],
                  (double)(100 * entry + 10 * p + w), 0);
}

TEST_CASE (features, join_tokens_in_a_batch)
{
  g_autoptr (PlaitVocabulary) vocabulary = data_words ("a a b\n");
  const char *text = plait_test_write ("text", "a\na b a\nb\nb b\n");
  const char *images = data_features ("images.h5", 4, NULL);
  PlaitCorpusStream sources[] = { data_tokens ("text", text, vocabulary),
                                  { .name = "image",
                                    .kind = PLAIT_INPUT_FEATURES,
                                    .paths = data_paths (images),
                                    .dataset = "/images",
                                    .open_features = plait_feature_file_open } };
  sources[0].maximum_length = 2;
  PlaitCorpusStream target = data_tokens ("out", text, vocabulary);
  PlaitCorpusSettings settings = { .split = "train", .sources = sources, .n_sources = 2, .target = &target };
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitCorpus) corpus = plait_corpus_open (&settings, NULL, NO_ERROR);
  REQUIRE (corpus != NULL);
  CHECK_INT (plait_corpus_size (corpus), 3);
  CHECK_INT (plait_corpus_width (corpus, 1), 3);
  CHECK_INT (plait_corpus_length (corpus, 1, 2), 2);
  CHECK_INT (plait_corpus_tokens (corpus, 0), 1 + 2);

  const gint64 tuples[] = { 2, 0, 1 };
  g_autoptr (PlaitBatch) batch = plait_corpus_batch (corpus, tuples, 3, NO_ERROR);
  REQUIRE (batch != NULL);
  const PlaitInput *image = &batch->inputs[1];
  CHECK (image->kind == PLAIT_INPUT_FEATURES && !image->tokens);
  CHECK_INT (image->features.rows, 6);
  CHECK_INT (image->features.width, 3);
  /* Line 1 was dropped, so tuple 2 is line 3. */
  check_rows (image, 0, 3);
  check_rows (image, 1, 0);
  check_rows (image, 2, 2);

  g_autoptr (PlaitFeed) feed = plait_feed_open (sources, 2, NULL, NULL, FALSE, NO_ERROR);
  g_autoptr (PlaitBatch) first = plait_feed_next (feed, 3, &error);
  g_autoptr (PlaitBatch) second = plait_feed_next (feed, 3, &error);
  REQUIRE (first && second);
  CHECK_INT (first->n_sentences, 3);
  check_rows (&first->inputs[1], 1, 1);
  check_rows (&second->inputs[1], 0, 3);
}

TEST_CASE (features, must_be_as_many_as_lines)
{
  g_autoptr (PlaitVocabulary) vocabulary = data_words ("a a b\n");
  const char *text = plait_test_write ("text", "a\na b a\nb\nb b\n");
  const char *images = data_features ("images.h5", 5, NULL);
  PlaitCorpusStream sources[] = { data_tokens ("text", text, vocabulary),
                                  { .name = "image",
                                    .kind = PLAIT_INPUT_FEATURES,
                                    .paths = data_paths (images),
                                    .dataset = "/images",
                                    .open_features = plait_feature_file_open } };
  PlaitCorpusSettings settings = { .split = "train", .sources = sources, .n_sources = 2 };
  g_autoptr (GError) error = NULL;
  CHECK (!plait_corpus_open (&settings, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "images.h5: the features have 5 sentences, but ");
  sources[1].paths = data_paths (text);
  CHECK (!plait_corpus_open (&settings, NULL, &error));
  CHECK (error != NULL);
}

/* A sentence without positions counts as a missing image. */
TEST_CASE (features, may_be_missing)
{
  static const gint32 lengths[] = { 2, 1, 0, 2 };
  g_autoptr (PlaitVocabulary) vocabulary = data_words ("a a b\n");
  const char *text = plait_test_write ("text", "a\na b a\nb\nb b\n");
  const char *images = data_features ("images.h5", 4, lengths);
  PlaitCorpusStream sources[] = { data_tokens ("text", text, vocabulary),
                                  { .name = "image",
                                    .kind = PLAIT_INPUT_FEATURES,
                                    .paths = data_paths (images),
                                    .dataset = "/images",
                                    .open_features = plait_feature_file_open } };
  PlaitCorpusSettings settings = { .split = "train", .sources = sources, .n_sources = 2 };
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitCorpus) corpus = plait_corpus_open (&settings, NULL, NO_ERROR);
  REQUIRE (corpus != NULL);
  CHECK_INT (plait_corpus_counts (corpus, 1)->missing, 1);
  CHECK_INT (plait_corpus_longest (corpus, 1), 2);
  CHECK_INT (plait_corpus_length (corpus, 1, 1), 1);

  const gint64 tuples[] = { 3, 2, 1 };
  g_autoptr (PlaitBatch) batch = plait_corpus_batch (corpus, tuples, 3, NO_ERROR);
  REQUIRE (batch != NULL);
  const PlaitInput *image = &batch->inputs[1];
  CHECK_INT (image->features.rows, 3);
  CHECK_INT (image->n_missing, 1);
  check_rows (image, 0, 3);
  CHECK (plait_input_is_missing (image, 1));
  CHECK_INT (plait_ragged_length (image->rows, 2), 1);
  CHECK_NEAR (plait_tensor_row (image->features, 2)[2], 102, 0);

  g_autoptr (PlaitFeed) feed = plait_feed_open (sources, 2, NULL, NULL, FALSE, NO_ERROR);
  g_autoptr (PlaitBatch) fed = plait_feed_next (feed, 4, &error);
  REQUIRE (fed != NULL);
  CHECK_INT (fed->inputs[1].n_missing, 1);
  CHECK (plait_input_is_missing (&fed->inputs[1], 2));
  check_rows (&fed->inputs[1], 3, 3);

  settings.empty_is_error = TRUE;
  CHECK (!plait_corpus_open (&settings, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT,
               "images.h5: entry 2 of the features (counted from 0) has the length 0; expected");
}

/* Noise consists of rows drawn from all sentences that have rows. */
TEST_CASE (features, are_drawn_from_those_that_there_are)
{
  static const gint32 lengths[] = { 2, 1, 0, 2 };
  static const gint64 tuples[] = { 0, 1, 2, 3 };
  const char *images = data_features ("images.h5", 4, lengths);
  PlaitCorpusStream source = { .name = "image",
                               .kind = PLAIT_INPUT_FEATURES,
                               .paths = data_paths (images),
                               .dataset = "/images",
                               .open_features = plait_feature_file_open };
  PlaitCorpusSettings settings = { .split = "test", .sources = &source, .n_sources = 1 };
  g_autoptr (PlaitCorpus) corpus = plait_corpus_open (&settings, NULL, NO_ERROR);
  guint seen = 0;

  REQUIRE (corpus != NULL);
  for (guint64 seed = 0; seed < 8; seed++)
    {
      plait_corpus_add_noise (corpus, 0, seed);
      g_autoptr (PlaitBatch) batch = plait_corpus_batch (corpus, tuples, 4, NO_ERROR);
      REQUIRE (batch && batch->inputs[0].features.rows == 5);
      for (gint64 i = 0; i < 5; i++)
        {
          const PlaitScalar *row = plait_tensor_row (batch->inputs[0].features, i);
          gint entry = (gint)row[0] / 100, position = (gint)row[0] % 100 / 10;

          REQUIRE (entry >= 0 && entry < 4 && position < lengths[entry]);
          seen |= 1u << (2 * entry + position);
          for (guint w = 0; w < 3; w++)
            CHECK_NEAR (row[w], 100 * entry + 10 * position + (gint)w, 0);
        }
    }
  CHECK_INT (seen, 1 << 0 | 1 << 1 | 1 << 2 | 1 << 6 | 1 << 7);
}

/* A feed without text ends with its features. */
TEST_CASE (features, feed_batches_without_text)
{
  PlaitCorpusStream source = { .name = "image",
                               .kind = PLAIT_INPUT_FEATURES,
                               .paths = data_paths (data_features ("images.h5", 5, NULL)),
                               .dataset = "/images",
                               .open_features = plait_feature_file_open };
  g_autoptr (PlaitFeed) feed = plait_feed_open (&source, 1, NULL, NULL, FALSE, NO_ERROR);

  REQUIRE (feed != NULL);
  for (gint64 first = 0; first < 5; first += 2)
    {
      g_autoptr (PlaitBatch) batch = plait_feed_next (feed, 2, NO_ERROR);

      REQUIRE (batch != NULL);
      CHECK_INT (batch->n_sentences, MIN (2, 5 - first));
      CHECK_INT (batch->sentence[0], first);
      check_rows (&batch->inputs[0], 0, first);
    }
  CHECK (!plait_feed_next (feed, 2, NO_ERROR));
}
