/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "corpus/batch.h"
#include "corpus/feed.h"
#include "data-files.h"
#include "files.h"
#include "harness.h"
#include "text/error.h"

/* Factors of a source: one token for each word, repeated for each piece of the word. */

static const char *const words = "the old dogs bark\nrain\n\nthe dogs rain barks\n";
static const char *const tags = "D J N V\nN\n\nD N V V\n";
static const char *const cases = "u l l l\nl\n\nl l l u\n";

typedef struct
{
  PlaitVocabulary *vocabulary, *tags, *cases;
  PlaitCorpusStream factors[2];
  PlaitCorpusStream source;
  PlaitCorpusSettings settings;
} Setup;

static void
setup_clear (Setup *setup)
{
  plait_vocabulary_unref (setup->vocabulary);
  plait_vocabulary_unref (setup->tags);
  plait_vocabulary_unref (setup->cases);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Setup, setup_clear)

/* Sets up a source of pieces of words with two factors. */
static void
set_up (Setup *setup)
{
  PlaitVocabularySettings settings = PLAIT_VOCABULARY_DEFAULTS;
  const char *const paths[] = { plait_test_write ("words", words), NULL };

  settings.type = "bpe";
  settings.size = 24;
  setup->vocabulary = plait_vocabulary_train (&settings, paths, NO_ERROR);
  REQUIRE (setup->vocabulary != NULL);
  setup->tags = data_words (tags);
  setup->cases = data_words ("l u\n");
  setup->factors[0] = data_tokens ("en.tag", plait_test_write ("tags", tags), setup->tags);
  setup->factors[1] = data_tokens ("en.case", plait_test_write ("cases", cases), setup->cases);
  setup->source = data_tokens ("en", paths[0], setup->vocabulary);
  setup->source.append_end = TRUE;
  setup->source.factors = setup->factors;
  setup->source.n_factors = 2;
  setup->settings = (PlaitCorpusSettings){ .split = "train", .sources = &setup->source, .n_sources = 1 };
}

/* Returns "dog/N/l s/N/l </s>/</s>/</s> |" for each sentence of @input. (transfer full) */
static char *
show (const Setup *setup, const PlaitInput *input)
{
  GString *text = g_string_new (NULL);

  g_assert (input->n_factors == 2);
  for (gint64 s = 0; s < input->rows.n; s++)
    {
      for (gint64 row = input->rows.offsets[s]; row < input->rows.offsets[s + 1]; row++)
        g_string_append_printf (text, "%s/%s/%s ", plait_vocabulary_piece (setup->vocabulary, input->tokens[row]),
                                plait_vocabulary_piece (setup->tags, input->factors[0][row]),
                                plait_vocabulary_piece (setup->cases, input->factors[1][row]));
      g_string_append (text, "| ");
    }
  return g_string_free (text, FALSE);
}

/* Returns what @input must show: the factors of the word of each piece, where a piece that begins with U+2581 begins a
 * word. @lines [n]: number of the line of each sentence. (transfer full) */
static char *
expect (const Setup *setup, const PlaitInput *input, const gint64 *lines)
{
  g_auto (GStrv) tag_lines = g_strsplit (tags, "\n", -1), case_lines = g_strsplit (cases, "\n", -1);
  GString *text = g_string_new (NULL);

  for (gint64 s = 0; s < input->rows.n; s++)
    {
      g_auto (GStrv) its_tags = g_strsplit (tag_lines[lines[s]], " ", -1);
      g_auto (GStrv) its_cases = g_strsplit (case_lines[lines[s]], " ", -1);
      gint64 word = -1;

      for (gint64 row = input->rows.offsets[s]; row < input->rows.offsets[s + 1]; row++)
        {
          const char *piece = plait_vocabulary_piece (setup->vocabulary, input->tokens[row]);
          gboolean end = input->tokens[row] == PLAIT_TOKEN_EOS;

          word += g_str_has_prefix (piece, "\u2581");
          g_string_append_printf (text, "%s/%s/%s ", piece, end ? "</s>" : its_tags[word],
                                  end ? "</s>" : its_cases[word]);
        }
      g_string_append (text, "| ");
    }
  return g_string_free (text, FALSE);
}

static void
check_shown (const Setup *setup, const PlaitBatch *batch, const gint64 *lines)
{
  g_autofree char *found = show (setup, &batch->inputs[0]);
  g_autofree char *expected = expect (setup, &batch->inputs[0], lines);

  CHECK_STRING (found, expected);
}

TEST_CASE (corpus_factors, are_those_of_the_word_of_each_piece)
{
  const gint64 tuples[] = { 3, 0, 2, 1 };
  g_auto (Setup) setup = { 0 };
  g_autoptr (PlaitCorpus) corpus = NULL;
  g_autoptr (PlaitBatch) batch = NULL, part = NULL;

  set_up (&setup);
  corpus = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  REQUIRE (corpus != NULL);
  batch = plait_corpus_batch (corpus, tuples, 4, NO_ERROR);
  REQUIRE (batch != NULL);
  CHECK (plait_ragged_rows (batch->inputs[0].rows) > 9 + 3); /* some words have several pieces */
  CHECK_INT (batch->inputs[0].n_missing, 1);
  check_shown (&setup, batch, tuples);
  part = plait_batch_slice (batch, 1, 3, NO_ERROR);
  REQUIRE (part != NULL);
  check_shown (&setup, part, tuples + 1);
  CHECK (plait_corpus_check (corpus, NO_ERROR));
  g_autoptr (GError) error = NULL;
  plait_test_write ("tags", "D\n");
  CHECK (!plait_corpus_check (corpus, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "tags");
}

/* Each piece has the factors of its word, also in sampled segmentations and in truncated sentences. */
TEST_CASE (corpus_factors, follow_what_changes_the_rows)
{
  const gint64 tuples[] = { 0, 1, 2, 3 }, most[] = { 100 };
  g_auto (Setup) setup = { 0 };
  g_autoptr (PlaitCorpus) corpus = NULL;
  GHashTable *seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  set_up (&setup);
  corpus = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  REQUIRE (corpus != NULL);
  CHECK (plait_corpus_sample_subwords (corpus, .5, 3, most, NO_ERROR));
  for (gint64 epoch = 0; epoch < 12; epoch++)
    {
      g_autoptr (PlaitBatch) batch = plait_corpus_batch_in (corpus, epoch, tuples, 4, NO_ERROR);

      REQUIRE (batch != NULL);
      check_shown (&setup, batch, tuples);
      g_hash_table_add (seen, show (&setup, &batch->inputs[0]));
    }
  CHECK (g_hash_table_size (seen) > 3);
  g_hash_table_unref (seen);

  for (gint64 rows = 2; rows < 8; rows++)
    {
      g_autoptr (PlaitCorpus) cut = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
      g_autoptr (PlaitBatch) batch = NULL;

      plait_corpus_truncate (cut, 0, rows);
      batch = plait_corpus_batch (cut, tuples, 4, NO_ERROR);
      REQUIRE (batch != NULL);
      CHECK_INT (plait_ragged_length (batch->inputs[0].rows, 0), rows);
      check_shown (&setup, batch, tuples);
    }
}

/* Checks that a deranged corpus has, in each tuple, the words and factors of another tuple. */
static void
check_deranged (const Setup *setup)
{
  g_autoptr (PlaitCorpus) plain = plait_corpus_open (&setup->settings, NULL, NO_ERROR);
  g_autoptr (PlaitCorpus) deranged = plait_corpus_open (&setup->settings, NULL, NO_ERROR);

  REQUIRE (plain && deranged);
  CHECK (plait_corpus_derange (deranged, 0, 5, NO_ERROR));
  for (gint64 i = 0; i < 4; i++)
    {
      g_autoptr (PlaitBatch) there = plait_corpus_batch (deranged, &i, 1, NO_ERROR);
      g_autofree char *a = show (setup, &there->inputs[0]);
      guint matches = 0;
      CONTEXT ("tuple %d: %s", (int)i, a);

      for (gint64 k = 0; k < 4; k++)
        {
          g_autoptr (PlaitBatch) here = plait_corpus_batch (plain, &k, 1, NO_ERROR);
          g_autofree char *b = show (setup, &here->inputs[0]);

          CHECK (i != k || !g_str_equal (a, b));
          matches += g_str_equal (a, b);
        }
      CHECK_INT (matches, 1);
    }
}

/* A source from another tuple has the factors and tags of that tuple. Noise keeps the lengths, and draws only tokens of
 * the factor. */
TEST_CASE (corpus_factors, are_perturbed_with_their_source)
{
  const gint64 tuples[] = { 0, 1, 2, 3 };
  g_auto (Setup) setup = { 0 };
  g_autoptr (PlaitCorpus) plain = NULL, noisy = NULL;
  g_autoptr (PlaitBatch) before = NULL, after = NULL;
  gboolean changed = FALSE;

  set_up (&setup);
  plain = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  noisy = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  REQUIRE (plain && noisy);
  check_deranged (&setup);
  setup.factors[0].predicted = TRUE;
  check_deranged (&setup);

  plait_corpus_add_noise (noisy, 0, 5);
  before = plait_corpus_batch (plain, tuples, 4, NO_ERROR);
  after = plait_corpus_batch (noisy, tuples, 4, NO_ERROR);
  CHECK_INT (plait_ragged_rows (after->inputs[0].rows), plait_ragged_rows (before->inputs[0].rows));
  for (gint64 row = 0; row < plait_ragged_rows (before->inputs[0].rows); row++)
    {
      gint32 was = before->inputs[0].factors[0][row], is = after->inputs[0].factors[0][row];

      CHECK ((was == PLAIT_TOKEN_EOS) == (is == PLAIT_TOKEN_EOS));
      CHECK (is == PLAIT_TOKEN_EOS || (is >= PLAIT_TOKEN_SPECIALS && is < plait_vocabulary_size (setup.tags)));
      changed |= was != is;
    }
  CHECK (changed);
}

/* Noise is drawn from the kept tuples only, and from all of them: here from the word "rain". */
TEST_CASE (corpus_factors, take_noise_from_kept_tuples)
{
  const gint64 tuple = 0;
  const gboolean dropped[] = { TRUE, FALSE, TRUE, TRUE };
  g_auto (Setup) setup = { 0 };
  g_autoptr (PlaitCorpus) plain = NULL, noisy = NULL;

  set_up (&setup);
  plain = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  noisy = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  REQUIRE (plain && noisy);
  plait_corpus_drop (plain, dropped);
  plait_corpus_drop (noisy, dropped);
  plait_corpus_add_noise (noisy, 0, 5);
  g_autoptr (PlaitBatch) before = plait_corpus_batch (plain, &tuple, 1, NO_ERROR);
  g_autoptr (PlaitBatch) after = plait_corpus_batch (noisy, &tuple, 1, NO_ERROR);
  REQUIRE (before && after);
  for (gint64 row = 0; row < plait_ragged_rows (after->inputs[0].rows); row++)
    {
      gboolean found = FALSE;

      for (gint64 i = 0; i < plait_ragged_rows (before->inputs[0].rows); i++)
        found |= after->inputs[0].tokens[row] == before->inputs[0].tokens[i];
      CHECK (found);
      for (guint f = 0; f < 2; f++)
        CHECK_INT (after->inputs[0].factors[f][row], before->inputs[0].factors[f][row]);
    }
}

/* Compares the factors of the masked @batch with those of the unmasked @plain. The first factor names the word of each
 * row, and no sentence has a word twice. Exactly the rows of words with a predicted piece are hidden. In a
 * truncated sentence (@truncated) a space at the end may be hidden with the word before it. Returns the number of
 * hidden rows. */
static gint64
check_hidden (const PlaitBatch *batch, const PlaitBatch *plain, gboolean truncated)
{
  const PlaitInput *input = &batch->inputs[0], *before = &plain->inputs[0];
  gint64 n_hidden = 0;

  for (gint64 s = 0; s < input->rows.n; s++)
    for (gint64 first = input->rows.offsets[s], row = first; row < input->rows.offsets[s + 1]; row++)
      {
        gboolean hidden = FALSE;

        for (gint64 k = batch->target_rows.offsets[s]; k < batch->target_rows.offsets[s + 1]; k++)
          hidden |= before->factors[0][first + batch->target_inputs[k]] == before->factors[0][row];
        for (guint f = 0; f < input->n_factors; f++)
          if (hidden || !truncated)
            CHECK_INT (input->factors[f][row], hidden ? PLAIT_TOKEN_MASK : before->factors[f][row]);
        n_hidden += hidden;
      }
  return n_hidden;
}

/* If a piece of a word is predicted, the factors of all pieces of the word are hidden, whether the input has a mask, a
 * random token or the original token. */
TEST_CASE (corpus_factors, are_hidden_with_masked_tokens)
{
  enum
  {
    USUAL,
    SAMPLED,
    TRUNCATED, /* truncated to 3 rows; the next numbers: to 4, 5, ... */
    END = 10,
  };
  static const PlaitMasking ways[]
      = { { .rate = .2, .mask = 1, .seed = 5 }, { .rate = .2, .random = 1, .seed = 5 }, { .rate = .2, .seed = 5 } };
  const gint64 tuples[] = { 3, 0, 2, 1 }, most[] = { 100 };
  g_auto (Setup) setup = { 0 };
  g_autoptr (PlaitVocabulary) names = data_words (words);

  set_up (&setup);
  setup.factors[0] = data_tokens ("en.word", plait_test_path ("words"), names);
  for (guint way = 0; way < G_N_ELEMENTS (ways); way++)
    for (guint text = USUAL; text < END; text++)
      {
        PlaitCorpus *corpora[2];
        gint64 n_hidden = 0, n_predicted = 0;

        CONTEXT ("way %u, text %u", way, text);
        for (guint i = 0; i < 2; i++)
          {
            setup.settings.masking = i > 0 ? &ways[way] : NULL;
            corpora[i] = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
            REQUIRE (corpora[i] != NULL);
            if (text == SAMPLED)
              CHECK (plait_corpus_sample_subwords (corpora[i], .5, 3, most, NO_ERROR));
            if (text >= TRUNCATED)
              plait_corpus_truncate (corpora[i], 0, text - TRUNCATED + 3);
          }
        for (gint64 epoch = 0; epoch < 20; epoch++)
          {
            g_autoptr (PlaitBatch) before = plait_corpus_batch_in (corpora[0], epoch, tuples, 4, NO_ERROR);
            g_autoptr (PlaitBatch) batch = plait_corpus_batch_in (corpora[1], epoch, tuples, 4, NO_ERROR);

            REQUIRE (before && batch);
            n_hidden += check_hidden (batch, before, text >= TRUNCATED);
            n_predicted += plait_ragged_rows (batch->target_rows);
          }
        CHECK (n_hidden > n_predicted && n_predicted > 0); /* words have several pieces */
        plait_corpus_free (corpora[0]);
        plait_corpus_free (corpora[1]);
      }
}

/* Returns show() of all tuples of the corpus that @setup opens. (transfer full) */
static char *
open_and_show (const Setup *setup)
{
  const gint64 tuples[] = { 0, 1, 2, 3 };
  g_autoptr (PlaitCorpus) corpus = plait_corpus_open (&setup->settings, NULL, NO_ERROR);
  g_autoptr (PlaitBatch) batch = corpus ? plait_corpus_batch (corpus, tuples, 4, NO_ERROR) : NULL;

  return batch ? show (setup, &batch->inputs[0]) : g_strdup ("");
}

/* Returns what open_and_show() returns without the cache. (transfer full) */
static char *
read_and_show (Setup *setup)
{
  const PlaitTextCache *text_cache = g_steal_pointer (&setup->settings.text_cache);
  char *shown = open_and_show (setup);

  setup->settings.text_cache = text_cache;
  return shown;
}

/* The cache keeps factors with their corpus. Other files, vocabularies or orders of factors make another corpus. */
TEST_CASE (corpus_factors, are_cached)
{
  const PlaitTextCache text_cache = { plait_test_path ("index"), 1, 0, NULL };
  g_autoptr (PlaitVocabulary) others = data_words ("N D N J V J\n");
  g_auto (Setup) setup = { 0 };
  PlaitKnownText known[3];
  const PlaitKnownText *lists[] = { &known[0], &known[1], &known[2] };
  PlaitCorpusStream *streams[] = { &setup.factors[0], &setup.factors[1], &setup.source };

  set_up (&setup);
  setup.settings.text_cache = &text_cache;
  for (guint i = 0; i < 3; i++)
    {
      CHECK (plait_text_cache_digest (&text_cache, streams[i]->paths[0], &known[i], NO_ERROR));
      streams[i]->known = &lists[i];
    }
  g_autofree char *expected = read_and_show (&setup);
  g_autofree char *first = open_and_show (&setup);
  plait_test_write ("tags", "N N N N\nD\n\nN N N N\n");
  known[0].stamp
      = plait_file_stamp (setup.factors[0].paths[0]); /* keep the old digest: only the cache has the old factors */
  g_autofree char *second = open_and_show (&setup);
  CHECK_STRING (first, expected);
  CHECK_STRING (second, expected);

  CHECK (plait_text_cache_digest (&text_cache, setup.factors[0].paths[0], &known[0], NO_ERROR));
  for (guint way = 0; way < 3; way++)
    {
      PlaitVocabulary *own = setup.tags;

      CONTEXT ("way %u", way);
      setup.factors[0].vocabulary = setup.tags = way == 1 ? others : own;
      if (way == 2)
        {
          const PlaitCorpusStream tag = setup.factors[0];

          setup.factors[0] = setup.factors[1];
          setup.factors[1] = tag;
          setup.tags = setup.cases;
          setup.cases = own;
        }
      g_autofree char *read = read_and_show (&setup);
      g_autofree char *opened = open_and_show (&setup);
      g_autofree char *again = open_and_show (&setup);
      CHECK (!g_str_equal (read, expected));
      CHECK_STRING (opened, read);
      CHECK_STRING (again, read);
      if (way == 1)
        setup.tags = own;
    }
}

/* A feed gives the batches of a corpus; one of its factors is a column of a table. */
TEST_CASE (corpus_factors, are_read_from_feeds)
{
  const gint64 tuples[] = { 0, 1, 2, 3 };
  g_auto (Setup) setup = { 0 };
  g_autoptr (PlaitFeed) feed = NULL;
  g_autoptr (PlaitBatch) batch = NULL;
  PlaitFeedTable table;

  set_up (&setup);
  table = (PlaitFeedTable){ plait_test_write ("table", "u l l l\tx\nl\tx\n\tx\nl l l u\tx\n"), 2 };
  setup.factors[1].paths = data_paths (table.path);
  setup.factors[1].column = 1;
  feed = plait_feed_open (&setup.source, 1, NULL, &table, FALSE, NO_ERROR);
  REQUIRE (feed != NULL);
  batch = plait_feed_next (feed, 4, NO_ERROR);
  REQUIRE (batch != NULL);
  check_shown (&setup, batch, tuples);
}

/* A kept tuple must have as many factors as words. A dropped tuple is not checked. */
TEST_CASE (corpus_factors, are_as_many_as_words)
{
  g_auto (Setup) setup = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitCorpus) corpus = NULL;

  set_up (&setup);
  plait_test_write ("cases", "u l l l\nl\n\nl l l\n");
  CHECK (!plait_corpus_open (&setup.settings, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "cases:4: the line has 3 tokens, but line 4 of ");
  CHECK (!plait_corpus_open (&setup.settings, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "words has 4 words");
  plait_test_write ("cases", "u l l l\nl\nl\nl l l u\n");
  CHECK (!plait_corpus_open (&setup.settings, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "cases:3: the line has 1 tokens, but line ");
  plait_test_write ("cases", "u l l l\nl\n\n");
  CHECK (!plait_corpus_open (&setup.settings, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "the file has 3 lines, but ");
  setup.settings.empty_is_error = TRUE;
  plait_test_write ("words", "the dogs\nrain\n");
  plait_test_write ("tags", "D N\n\n");
  plait_test_write ("cases", "l l\nl\n");
  CHECK (!plait_corpus_open (&setup.settings, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "tags:2: the line is empty; expected a sentence of en.tag");
  plait_test_write ("tags", "D N V\nN\n");
  setup.source.maximum_length = 5;
  corpus = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  REQUIRE (corpus != NULL);
  CHECK_INT (plait_corpus_size (corpus), 1);
}

/* The first piece of a word has the predicted tag of the word; its other pieces have padding. Masks and noise change no
 * tags. */
TEST_CASE (corpus_factors, are_in_the_first_pieces_of_words_if_they_are_predicted)
{
  static const PlaitMasking masking = { .rate = .5, .mask = 1, .seed = 5 };
  const gint64 tuples[] = { 0, 1, 2, 3 }, most[] = { 100 };
  g_auto (Setup) setup = { 0 };

  set_up (&setup);
  for (guint way = 0; way < 4; way++)
    {
      g_autoptr (PlaitCorpus) plain = NULL, corpus = NULL;
      gint64 n = 0;
      CONTEXT ("way %u", way);

      setup.factors[0].predicted = FALSE;
      setup.settings.masking = NULL;
      plain = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
      setup.factors[0].predicted = TRUE;
      setup.settings.masking = way == 1 ? &masking : NULL;
      corpus = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
      REQUIRE (plain && corpus);
      if (way == 2)
        plait_corpus_add_noise (corpus, 0, 5);
      if (way == 3)
        CHECK (plait_corpus_sample_subwords (plain, .5, 3, most, NO_ERROR)
               && plait_corpus_sample_subwords (corpus, .5, 3, most, NO_ERROR));
      g_autoptr (PlaitBatch) all = plait_corpus_batch_in (plain, 2, tuples, 4, NO_ERROR);
      g_autoptr (PlaitBatch) batch = plait_corpus_batch_in (corpus, 2, tuples, 4, NO_ERROR);
      REQUIRE (all && batch);
      for (gint64 row = 0; row < plait_ragged_rows (all->inputs[0].rows); row++)
        {
          gint32 token = all->inputs[0].tokens[row], tag = all->inputs[0].factors[0][row];
          gboolean begins = g_str_has_prefix (plait_vocabulary_piece (setup.vocabulary, token), "\u2581");

          CHECK_INT (batch->inputs[0].factors[0][row], begins || token == PLAIT_TOKEN_EOS ? tag : PLAIT_TOKEN_PAD);
          n += begins;
        }
      CHECK_INT (n, 9);
    }
}
