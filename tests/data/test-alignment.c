/* SPDX-License-Identifier: MIT */
#include "corpus/batch.h"

#include "data-files.h"
#include "files.h"
#include "harness.h"

/* Tests of word alignments of a corpus, as rows of its batches. */

/* Checks the links of @input. @expected has "source-target" for each link of a sentence; " | " separates sentences. */
static void
check_links (const PlaitInput *input, const char *expected)
{
  const PlaitAlignment *alignment = input->alignment;
  g_autoptr (GString) text = g_string_new (NULL);

  REQUIRE (alignment != NULL);
  for (gint64 s = 0; s < alignment->links.n; s++)
    {
      g_string_append (text, s > 0 ? " |" : "");
      for (gint64 i = alignment->links.offsets[s]; i < alignment->links.offsets[s + 1]; i++)
        g_string_append_printf (text, " %jd-%jd", alignment->source[i], alignment->target[i]);
    }
  CHECK_STRING (text->str, expected);
}

/* Opens the corpus of @text with @alignments of its first source. (transfer full) */
static PlaitCorpus *
open_aligned (const DataText *text, const char *alignments, GError **error)
{
  const char *paths[] = { plait_test_path ("one.alignment"), NULL };
  g_autoptr (PlaitCorpus) corpus = plait_corpus_open (&text->settings, NULL, error);

  plait_test_write (paths[0], alignments);
  return corpus && plait_corpus_align (corpus, 0, paths, error) ? g_steal_pointer (&corpus) : NULL;
}

/* Tuple 1 is dropped because its source is too long. Batches and slices have the links of the remaining tuples. */
TEST_CASE (corpus_alignment, follows_tuples)
{
  const gint64 tuples[] = { 2, 0, 1 };
  g_auto (DataText) text = { 0 };
  g_autoptr (PlaitCorpus) corpus = NULL;
  g_autoptr (PlaitBatch) batch = NULL, part = NULL;

  data_text_set_up (&text, "a b\na b c d\nc x\nd\n", "a\nb\nc\nd\n", "b a\nb\nd\na b c\n");
  text.sources[0].maximum_length = 3;
  corpus = open_aligned (&text, "0-1 1p0\n3-0\n\n0-2 0-0\n", NO_ERROR);
  REQUIRE (corpus != NULL);
  CHECK_INT (plait_corpus_size (corpus), 3);
  batch = plait_corpus_batch (corpus, tuples, 3, NO_ERROR);
  REQUIRE (batch != NULL);
  check_links (&batch->inputs[0], " 0-2 0-0 | 0-1 1-0 |");
  CHECK (!batch->inputs[1].alignment);
  part = plait_batch_slice (batch, 1, 2, NO_ERROR);
  REQUIRE (part != NULL);
  check_links (&part->inputs[0], " 0-1 1-0 |");
}

/* A link between words becomes links between all their pieces: the source "ab c" has the pieces _a b _c, the target "c
 * abb" has _c _a b b. */
TEST_CASE (corpus_alignment, links_all_pieces_of_a_word)
{
  const gint64 tuples[] = { 0 };
  const char *path = plait_test_path ("pieces.txt");
  const char *const paths[] = { path, NULL };
  PlaitVocabularySettings settings = PLAIT_VOCABULARY_DEFAULTS;
  g_autoptr (PlaitVocabulary) vocabulary = NULL;
  g_auto (DataText) text = { 0 };
  g_autoptr (PlaitCorpus) corpus = NULL;
  g_autoptr (PlaitBatch) batch = NULL;

  /* The vocabulary is so small that each piece is a character. */
  plait_test_write (path, "ab c\nc abb\n");
  settings.type = "bpe";
  settings.size = 9;
  vocabulary = plait_vocabulary_train (&settings, paths, NO_ERROR);
  REQUIRE (vocabulary != NULL);
  data_text_set_up (&text, "ab c\n", "a\n", "c abb\n");
  text.sources[0].vocabulary = text.target.vocabulary = vocabulary;
  text.sources[0].append_end = TRUE;
  corpus = open_aligned (&text, "0-1 1-0\n", NO_ERROR);
  REQUIRE (corpus != NULL);
  batch = plait_corpus_batch (corpus, tuples, 1, NO_ERROR);
  REQUIRE (batch != NULL);
  /* The source has the rows of "ab", "c" and EOS; the target has those of "c", "abb" and EOS. ab and c count the rows
   * of the first word. */
  gint64 source = plait_ragged_rows (batch->inputs[0].rows), target = plait_ragged_rows (batch->target_rows);
  gint64 words[16];
  g_autoptr (GString) expected = g_string_new (NULL);

  REQUIRE (source < 16 && target < 16);
  CHECK_INT (plait_vocabulary_count_words (vocabulary, batch->inputs[0].tokens, source, words), 2);
  gint64 ab = 0, c = 0;
  while (words[ab] == 0)
    ab++;
  REQUIRE (ab >= 2);
  CHECK_INT (plait_vocabulary_count_words (vocabulary, batch->target_outputs, target, words), 2);
  while (words[c] == 0)
    c++;
  REQUIRE (target - 1 - c >= 3);
  for (gint64 t = c; t < target - 1; t++)
    for (gint64 s = 0; s < ab; s++)
      g_string_append_printf (expected, " %jd-%jd", s, t);
  for (gint64 t = 0; t < c; t++)
    for (gint64 s = ab; s < source - 1; s++)
      g_string_append_printf (expected, " %jd-%jd", s, t);
  check_links (&batch->inputs[0], expected->str);
}

/* Leaves out links to rows that do not exist because a sentence is truncated, shuffled or missing. */
TEST_CASE (corpus_alignment, stays_within_the_sentences)
{
  const gint64 tuples[] = { 0, 1 };
  g_auto (DataText) text = { 0 };
  g_autoptr (PlaitCorpus) corpus = NULL;
  g_autoptr (PlaitBatch) cut = NULL, shuffled = NULL, missing = NULL;

  data_text_set_up (&text, "a b c\nd\n", "a\nb\n", "a\nb c d\n");
  corpus = open_aligned (&text, "0-0 2-0\n0-2\n", NO_ERROR);
  REQUIRE (corpus != NULL);
  plait_corpus_truncate (corpus, 0, 2);
  cut = plait_corpus_batch (corpus, tuples, 2, NO_ERROR);
  REQUIRE (cut != NULL);
  check_links (&cut->inputs[0], " 0-0 | 0-2");
  CHECK (plait_corpus_derange (corpus, 0, 1, NO_ERROR));
  shuffled = plait_corpus_batch (corpus, tuples, 2, NO_ERROR);
  REQUIRE (shuffled != NULL);
  check_links (&shuffled->inputs[0], " | 0-0");
  plait_corpus_remove_source (corpus, 0);
  missing = plait_corpus_batch (corpus, tuples, 2, NO_ERROR);
  REQUIRE (missing != NULL);
  check_links (&missing->inputs[0], " |");
}

/* If a text has two files, its alignments have two files. Messages count lines in each file. */
TEST_CASE (corpus_alignment, reads_several_files)
{
  const gint64 tuples[] = { 0, 1, 2 };
  g_auto (DataText) text = { 0 };
  g_autoptr (PlaitCorpus) corpus = NULL;
  g_autoptr (PlaitBatch) batch = NULL;
  g_autoptr (GError) error = NULL;

  data_text_set_up (&text, "a b\n", "a\n", "b a\n");

  const char *one[] = { text.paths[0], plait_test_write ("more.one", "c\nd a\n"), NULL };
  const char *two[] = { text.paths[1], plait_test_write ("more.two", "a\nb\n"), NULL };
  const char *target[] = { text.paths[2], plait_test_write ("more.target", "c\na\n"), NULL };
  const char *alignments[]
      = { plait_test_write ("one.alignment", "0-1\n"), plait_test_write ("more.alignment", "0-0\n1-0\n"), NULL };

  text.sources[0].paths = one;
  text.sources[1].paths = two;
  text.target.paths = target;
  corpus = plait_corpus_open (&text.settings, NULL, NO_ERROR);
  REQUIRE (corpus && plait_corpus_align (corpus, 0, alignments, NO_ERROR));
  batch = plait_corpus_batch (corpus, tuples, 3, NO_ERROR);
  REQUIRE (batch != NULL);
  check_links (&batch->inputs[0], " 0-1 | 0-0 | 1-0");
  CHECK (plait_corpus_check (corpus, NO_ERROR));
  plait_test_write (alignments[1], "0-0\n2-0\n");
  CHECK (!plait_corpus_check (corpus, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "more.alignment");
  CHECK (!plait_corpus_align (corpus, 0, alignments, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "more.alignment:2: a link names word 2 of one, but the sentence has 2 words");
}

TEST_CASE (corpus_alignment, refuses_what_does_not_belong_to_the_text)
{
  static const struct
  {
    const char *alignments, *message;
  } cases[] = {
    { "0-0\n", "one.alignment: the file has 1 alignments, but " },
    { "0-0\n0-0\n0-0\n", "one.alignment: the file has 3 alignments, but " },
    { "0-0\n2-0\n", "one.alignment:2: a link names word 2 of one, but the sentence has 2 words, counted from 0" },
    { "0-1\n0-0\n", "one.alignment:1: a link names word 1 of out, but the sentence has 1 words" },
    { "0-0 0\n0-0\n", "one.alignment:1: \"0\" is not a link" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (DataText) text = { 0 };
      g_autoptr (GError) error = NULL;

      data_text_set_up (&text, "a\nb c\n", "a\nb\n", "a\nb\n");
      CHECK (!open_aligned (&text, cases[i].alignments, &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, cases[i].message);
    }
}
