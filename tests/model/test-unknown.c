/* SPDX-License-Identifier: MIT */
#include "search/translate.h"
#include "search/unknown.h"

#include "data-files.h"
#include "files.h"
#include "harness.h"
#include "search-fixture.h"

#include <string.h>

/* Tests of decode.unknown: what search does with unknown words. */

static const PlaitTextMemory one_memory = { .name = "x" };

/* Returns the texts of the unknown words of @found, separated by spaces. (transfer full) */
static char *
words_of (const PlaitHypothesis *found)
{
  GString *text = g_string_new (NULL);

  for (gint64 i = 0; i < found->length; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? " " : "", found->words && found->words[i] ? found->words[i] : "-");
  return g_string_free (text, FALSE);
}

static void
clear_words (PlaitHypothesis *found)
{
  for (gint64 i = 0; found->words && i < found->length; i++)
    g_free (found->words[i]);
  g_clear_pointer (&found->words, g_free);
}

/*
 * By hand. The sources are "a Ada b" with its end token, and "Eve c". Two layers attend to them, of which the last
 * counts. There, the mean over heads for the three unknown tokens is (.4 .5 0 .1), (.1 .1 .2 .6) and (0 .5 .5 0) for
 * the first source, and (.3 .7), (.1 .9) and (.5 .5) for the second. The end token of the first source never counts. Of
 * equal weights, the first source and word win.
 */
TEST_CASE (unknown, by_hand)
{
  g_autoptr (PlaitVocabulary) vocabulary = data_words ("a a a b b c\n");
  PlaitScalar away[24] = { 0 }, first[] = { .8f, .2f, 0, 0,   .2f, 0,   .2f, .6f, 0, 1, 0, 0, /* weights of head 0 */
                                            0,   .8f, 0, .2f, 0,   .2f, .2f, .6f, 0, 0, 1, 0 };
  PlaitScalar second[] = { .3f, .7f, .1f, .9f, .5f, .5f };
  PlaitRecordedLayer layers[] = { { 2, away }, { 2, first } }, other_layers[] = { { 1, away }, { 1, second } };
  PlaitRecordedAttention other = { .memory = 1, .layers = other_layers };
  PlaitRecordedAttention paid = { .layers = layers, .next = &other };
  PlaitRecordedItems contexts[2] = { { 0 } };
  const gint64 four[] = { 0, 4 }, two[] = { 0, 2 }, three[] = { 0, 3 }, places[] = { 0, 1, 2, 3 };
  const PlaitLinks links = { .token = places };
  const PlaitMemory memories[] = { { .rows = { 1, four }, .links = &links }, { .rows = { 1, two }, .links = &links } };
  PlaitAttentionRecord attention = {
    .n_layers = 2,
    .n_memories = 2,
    .queries = { 1, three },
    .memories = memories,
    .attentions = &paid,
    .contexts = contexts,
  };
  const gint32 tokens[] = { 4, 3, 5, PLAIT_TOKEN_EOS }, more[] = { 3, 6 };
  const char *const unknown[] = { NULL, "Ada", NULL, NULL }, *const more_unknown[] = { "Eve", NULL };
  PlaitInput inputs[] = { { .tokens = tokens, .unknown_words = unknown, .rows = { 1, four } },
                          { .tokens = more, .unknown_words = more_unknown, .rows = { 1, two } } };
  const PlaitBatch batch = { .n_sentences = 1, .n_sources = 2, .inputs = inputs };
  gint32 found[] = { 3, 3, 3 }, known[] = { 4, 3, 5 };
  PlaitHypothesis best = { .tokens = found, .length = 3, .ended = TRUE };
  const PlaitTextMemory text[] = { { "x", 0, 0, vocabulary }, { "y", 1, 1, vocabulary } };
  g_autoptr (PlaitUnknownReplacement) single = plait_unknown_replacement_new (text, 1, NULL, NO_ERROR);
  g_autoptr (PlaitUnknownReplacement) both = plait_unknown_replacement_new (text, 2, "", NO_ERROR);

  CHECK (plait_unknown_replace (single, &batch, 0, &attention, &best, NO_ERROR));
  g_autofree char *of_one = words_of (&best);
  CHECK_STRING (of_one, "Ada b Ada");
  clear_words (&best);

  CHECK (plait_unknown_replace (both, &batch, 0, &attention, &best, NO_ERROR));
  g_autofree char *of_both = words_of (&best);
  CHECK_STRING (of_both, "c c Ada");
  clear_words (&best);

  /* A word that has a piece keeps it. */
  best.tokens = known;
  CHECK (plait_unknown_replace (both, &batch, 0, &attention, &best, NO_ERROR));
  g_autofree char *of_middle = words_of (&best);
  CHECK_STRING (of_middle, "- c -");
  clear_words (&best);
  best.tokens = found;

  /* Attention over contexts multiplies the weights of the sources: .9 .5 against .1 .7, .2 .2 against .8 .9, .9 .5
   * against .1 .5. */
  PlaitScalar levels[] = { .9f, .1f, .2f, .8f, .9f, .1f };
  contexts[1] = (PlaitRecordedItems){ 1, levels };
  CHECK (plait_unknown_replace (both, &batch, 0, &attention, &best, NO_ERROR));
  g_autofree char *weighed = words_of (&best);
  CHECK_STRING (weighed, "Ada c Ada");
  clear_words (&best);

  /* A target row that attends only to the end token keeps <unk>. */
  memset (first, 0, sizeof first);
  first[3] = first[15] = 1;
  CHECK (plait_unknown_replace (single, &batch, 0, &attention, &best, NO_ERROR));
  CHECK (!best.words);
}

TEST_CASE (unknown, needs_rows_that_are_tokens)
{
  g_autoptr (PlaitVocabulary) vocabulary = data_words ("a\n");
  const gint64 one[] = { 0, 1 }, nowhere[] = { -1 };
  const PlaitLinks links = { .token = nowhere };
  const PlaitMemory memory = { .rows = { 1, one }, .links = &links };
  const PlaitAttentionRecord attention = { .n_memories = 1, .queries = { 1, one }, .memories = &memory };
  const gint32 tokens[] = { 4 };
  gint32 found[] = { 3 };
  const PlaitInput input = { .tokens = tokens, .rows = { 1, one } };
  const PlaitBatch batch = { .n_sentences = 1, .n_sources = 1, .inputs = &input };
  PlaitHypothesis best = { .tokens = found, .length = 1, .ended = TRUE };
  const PlaitTextMemory text = { "x", 0, 0, vocabulary };
  g_autoptr (PlaitUnknownReplacement) replacement = plait_unknown_replacement_new (&text, 1, NULL, NO_ERROR);
  g_autoptr (GError) error = NULL;

  CHECK (!plait_unknown_replace (replacement, &batch, 0, &attention, &best, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "the encoder of x makes rows that are not tokens");
}

TEST_CASE (unknown, reads_a_dictionary_or_names_its_line)
{
  static const struct
  {
    const char *text, *expected;
  } bad[] = {
    { "Haus\thouse\nBaum\n", "dictionary:2: expected an entry of a dictionary: a source word, a tab and its" },
    { "Haus\t\n", "dictionary:1: expected an entry" },
    { "\thouse\n", "dictionary:1: expected an entry" },
    { "Haus\thouse\thome\n", "dictionary:1: expected an entry" },
    { "Haus\thouse\n\nBaum\ttree\n", "dictionary:2: expected an entry" },
    { "Haus\thouse\nBaum\ttree\nHaus\thome\n", "dictionary:3: the word \"Haus\" has an entry already" },
    { "Haus\thouse\ndas Haus\tmansion\n", "dictionary:2: \"das Haus\" is not one word" },
    { "Haus\tho\xffuse\n", "dictionary:1: " },
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (GError) error = NULL;
      CONTEXT ("%s", bad[i].text);

      CHECK (!plait_unknown_replacement_new (&one_memory, 1, plait_test_write ("dictionary", bad[i].text), &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, bad[i].expected);
    }
}

/* If the dictionary has an entry for the source word, the entry is taken. */
TEST_CASE (unknown, takes_entries_of_the_dictionary)
{
  g_autoptr (PlaitVocabulary) vocabulary = data_words ("a\n");
  PlaitScalar weights[] = { 1, 0, 0, 1 };
  PlaitRecordedLayer layer = { 1, weights };
  PlaitRecordedAttention paid = { .layers = &layer };
  PlaitRecordedItems contexts = { 0 };
  const gint64 two[] = { 0, 2 }, places[] = { 0, 1 };
  const PlaitLinks links = { .token = places };
  const PlaitMemory memory = { .rows = { 1, two }, .links = &links };
  const PlaitAttentionRecord attention = { .n_layers = 1,
                                           .n_memories = 1,
                                           .queries = { 1, two },
                                           .memories = &memory,
                                           .attentions = &paid,
                                           .contexts = &contexts };
  const gint32 tokens[] = { 3, 4 };
  const char *const unknown[] = { "München", NULL };
  gint32 found[] = { 3, 3 };
  const PlaitInput input = { .tokens = tokens, .unknown_words = unknown, .rows = { 1, two } };
  const PlaitBatch batch = { .n_sentences = 1, .n_sources = 1, .inputs = &input };
  PlaitHypothesis best = { .tokens = found, .length = 2, .ended = TRUE };
  const PlaitTextMemory text = { "x", 0, 0, vocabulary };
  const char *path = plait_test_write ("dictionary", "München\tMunich city\r\nb\tc\n");
  g_autoptr (PlaitUnknownReplacement) replacement = plait_unknown_replacement_new (&text, 1, path, NO_ERROR);

  REQUIRE (replacement != NULL);
  CHECK (plait_unknown_replace (replacement, &batch, 0, &attention, &best, NO_ERROR));
  g_autofree char *words = words_of (&best);
  CHECK_STRING (words, "Munich city a");
  clear_words (&best);
}

/* Returns the number of unknown tokens in all hypotheses. Sets *@without to the number of those that got no word. */
static gint64
count_unknown (const PlaitHypotheses *found, gint64 *without)
{
  gint64 n = 0;

  *without = 0;
  for (gint64 s = 0; s < 3; s++)
    for (guint i = 0; i < found[s].n; i++)
      for (gint64 t = 0; t < found[s].hypotheses[i].length; t++)
        if (found[s].hypotheses[i].tokens[t] == PLAIT_TOKEN_UNKNOWN)
          {
            n++;
            *without += !found[s].hypotheses[i].words || !found[s].hypotheses[i].words[t];
          }
  return n;
}

#define BEAM 6

/* Searches with a model that prefers <unk>, with each value of decode.unknown. forbid writes no <unk>. replace finds
 * the hypotheses of keep, each <unk> with a word, whether or not the caller asks for attention. */
TEST_CASE (unknown, in_search)
{
  gint64 all = 0;

  for (guint decoder = 0; decoder < 3; decoder++)
    for (guint c = 0; c < SEARCH_FIXTURE_COVERED; c++)
      {
        const char *combiner = search_fixture_combiners[c];
        g_auto (SearchFixture) fixture = search_fixture_new (combiner, decoder, NULL, FALSE);
        g_autoptr (PlaitBatch) batch = search_fixture_batch (&fixture);
        PlaitDecodeSettings settings = search_fixture_settings (BEAM);
        g_autoptr (PlaitVocabulary) vocabulary = data_words ("a b c d e f g h i j k l m n o p q r s t u v w x y z\n");
        const PlaitTextMemory text[] = { { "one", 0, 0, vocabulary }, { "two", 1, 1, vocabulary } };
        g_autoptr (PlaitSearch) search
            = plait_search_new (fixture.model->model, fixture.pool, PLAIT_PRECISION_FLOAT, 0, NO_ERROR);
        g_autoptr (PlaitAttentionRecords) attention = NULL;
        PlaitHypotheses *kept, *replaced, *forbidden;
        gint64 n, without;
        CONTEXT ("%s, decoder %u", combiner, decoder);

        REQUIRE (search != NULL);
        plait_search_set_replacement (search, plait_unknown_replacement_new (text, 2, NULL, NO_ERROR));
        kept = plait_search_batch (search, batch, &settings, NO_ERROR);
        settings.unknown = PLAIT_DECODE_UNKNOWN_FORBID;
        forbidden = plait_search_batch (search, batch, &settings, NO_ERROR);
        settings.unknown = PLAIT_DECODE_UNKNOWN_REPLACE;
        replaced = decoder == 1 ? plait_search_batch_with_attention (search, batch, &settings, NULL, &attention, 1,
                                                                     FALSE, NO_ERROR)
                                : plait_search_batch (search, batch, &settings, NO_ERROR);
        REQUIRE (kept && forbidden && replaced);
        n = count_unknown (kept, &without);
        CHECK_INT (without, n);
        all += n;
        CHECK_INT (count_unknown (forbidden, &without), 0);
        CHECK_INT (count_unknown (replaced, &without), n);
        CHECK_INT (without, 0);
        for (gint64 s = 0; s < 3; s++)
          for (guint i = 0; i < kept[s].n && i < replaced[s].n; i++)
            CHECK_NEAR (kept[s].hypotheses[i].log_probability, replaced[s].hypotheses[i].log_probability, 1e-4);
        plait_hypotheses_free (kept, 3);
        plait_hypotheses_free (forbidden, 3);
        plait_hypotheses_free (replaced, 3);
      }
  CHECK (all > 0);
}

/*
 * Tests of own words: unknown words that get ids within their sentence
 */

/* Makes a batch of two sentences: the first has the own words Ada and Bob, the second Cid. The vocabulary has 7 ids. */
#define OWN_BATCH(target_outputs_)                                                                                     \
  {                                                                                                                    \
    .n_sentences = 2, .target_rows = { 2, targets }, .target_outputs = target_outputs_, .first_own = 7,                \
    .own_words = { 2, owned }, .own_texts = texts,                                                                     \
  }

TEST_CASE (unknown, own_words_are_text_after_search)
{
  g_autoptr (PlaitVocabulary) vocabulary = data_words ("a a a b b c\n");
  const gint64 targets[] = { 0, 4, 6 }, owned[] = { 0, 2, 3 };
  const char *const texts[] = { "Ada", "Bob", "Cid" };
  const gint32 outputs[] = { 8, 4, 3, 2, 7, 2 };
  const PlaitBatch batch = OWN_BATCH (outputs);
  g_auto (PlaitHypothesis) first = plait_hypothesis_of_target (&batch, 0);
  g_auto (PlaitHypothesis) second = plait_hypothesis_of_target (&batch, 1);
  g_autoptr (GString) text = g_string_new (NULL);

  CHECK_INT (first.length, 3);
  CHECK (first.ended);
  CHECK_INT (first.tokens[0], PLAIT_TOKEN_UNKNOWN);
  CHECK_INT (first.tokens[1], 4);
  CHECK_INT (second.tokens[0], PLAIT_TOKEN_UNKNOWN);
  plait_translation_append (vocabulary, &first, text);
  plait_translation_append (vocabulary, &second, text);
  CHECK_STRING (text->str, "Bob a <unk>\nCid");
}

/* A word that the output has copied stays. decode.unknown=replace finds only the other words through attention. */
TEST_CASE (unknown, own_words_are_not_replaced)
{
  g_autoptr (PlaitVocabulary) vocabulary = data_words ("a a a b b c\n");
  const gint64 targets[] = { 0, 3, 3 }, owned[] = { 0, 2, 3 }, two[] = { 0, 2, 2 }, places[] = { 0, 1 };
  const char *const texts[] = { "Ada", "Bob", "Cid" }, *const unknown[] = { "Ada", "Bob" };
  const gint32 outputs[] = { 8, 3, 2 }, tokens[] = { 3, 3 };
  PlaitScalar weights[] = { 1, 0, 1, 0 };
  PlaitRecordedLayer layer = { 1, weights };
  PlaitRecordedAttention paid = { .layers = &layer };
  PlaitRecordedItems contexts = { 0 };
  const PlaitLinks links = { .token = places };
  const PlaitMemory memory = { .rows = { 1, two }, .links = &links };
  const PlaitAttentionRecord attention = { .n_layers = 1,
                                           .n_memories = 1,
                                           .queries = { 1, two },
                                           .memories = &memory,
                                           .attentions = &paid,
                                           .contexts = &contexts };
  const PlaitInput input = { .tokens = tokens, .unknown_words = unknown, .rows = { 2, two } };
  PlaitBatch batch = OWN_BATCH (outputs);
  const PlaitTextMemory memories = { "x", 0, 0, vocabulary };
  g_autoptr (PlaitUnknownReplacement) replacement = plait_unknown_replacement_new (&memories, 1, NULL, NO_ERROR);
  g_auto (PlaitHypothesis) found = { 0 };

  batch.n_sources = 1;
  batch.inputs = &input;
  found = plait_hypothesis_of_target (&batch, 0);
  CHECK (plait_unknown_replace (replacement, &batch, 0, &attention, &found, NO_ERROR));
  g_autofree char *words = words_of (&found);
  CHECK_STRING (words, "Bob Ada");
}

/* Targets may have own words of their sentence, but not those of another sentence. */
TEST_CASE (unknown, own_words_are_checked_by_sentence)
{
  g_auto (SearchFixture) fixture = search_fixture_new ("serial", 0, NULL, FALSE);
  g_autoptr (PlaitBatch) batch = search_fixture_batch (&fixture);
  const gint64 owned[] = { 0, 2, 3, 3 };
  const char *const texts[] = { "Ada", "Bob", "Cid" };
  gint32 *outputs = (gint32 *)batch->target_outputs;
  g_autoptr (GError) error = NULL;

  batch->first_own = PLAIT_FIXTURE_WORDS;
  batch->own_words = (PlaitRagged){ 3, owned };
  batch->own_texts = texts;
  outputs[0] = PLAIT_FIXTURE_WORDS + 1;
  outputs[batch->target_rows.offsets[1]] = PLAIT_FIXTURE_WORDS;
  CHECK (plait_model_check_batch (fixture.model->model, batch, NO_ERROR));
  outputs[batch->target_rows.offsets[1]] = PLAIT_FIXTURE_WORDS + 1;
  CHECK (!plait_model_check_batch (fixture.model->model, batch, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "the target, sentence 2: token id 12 is outside the vocabulary");
}
