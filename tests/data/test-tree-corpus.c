/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "text/error.h"
#include "data-files.h"
#include "corpus/feed.h"
#include "corpus/iterator.h"
#include "files.h"
#include "harness.h"

/* Tests of trees of the sentences of a corpus. */

static const char *const sentences = "the old dog barks .\n"
                                     "rain\n"
                                     "a very long sentence that is dropped\n"
                                     "it rains\n"
                                     "no tree here\n";
static const char *const trees = "(ROOT (S (NP (DT the) (JJ old) (NN dog)) (VP (VB barks)) (. .)))\n"
                                 "(NP (NN rain))\n"
                                 "this is not a tree, but its sentence is dropped\n"
                                 "[1,2,201]\n"
                                 "\n";

typedef struct
{
  PlaitVocabulary *vocabulary;
  const char *sentences, *trees;
  PlaitTreeSettings tree_settings;
  PlaitCorpusStream source;
  PlaitCorpusSettings settings;
} Setup;

static void
setup_clear (Setup *setup)
{
  plait_vocabulary_unref (setup->vocabulary);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Setup, setup_clear)

static void
set_up (Setup *setup)
{
  setup->vocabulary = data_words (sentences);
  setup->sentences = plait_test_write ("sentences", sentences);
  setup->trees = plait_test_write_gzip ("trees.gz", trees, -1);
  setup->tree_settings = (PlaitTreeSettings){ .binarisation = PLAIT_BINARISE_RIGHT };
  setup->source = data_tokens ("en", setup->sentences, setup->vocabulary);
  setup->source.append_end = TRUE;
  setup->source.maximum_length = 5;
  setup->source.trees = &setup->tree_settings;
  setup->source.trees_paths = data_paths (setup->trees);
  setup->settings = (PlaitCorpusSettings){ .split = "train", .sources = &setup->source, .n_sources = 1 };
}

/* Returns rows and tree nodes of all sentences as text such as "6 (1 2)@NP (0 6)NP ..| 2 |". (transfer full) */
static char *
describe (const PlaitBatch *batch)
{
  const PlaitInput *input = &batch->inputs[0];
  GString *text = g_string_new (NULL);
  for (gint64 s = 0; input->trees && s < batch->n_sentences; s++)
    {
      const PlaitTrees *all = input->trees;
      g_string_append_printf (text, "%d", (int)plait_ragged_length (input->rows, s));
      for (gint64 i = all->nodes.offsets[s]; i < all->nodes.offsets[s + 1]; i++)
        g_string_append_printf (text, " (%d %d)%s", (int)all->left[i], (int)all->right[i], all->labels[i]);
      g_string_append (text, "|");
    }
  return g_string_free (text, FALSE);
}

TEST_CASE (tree_corpus, batches_carry_trees)
{
  g_auto (Setup) setup = { 0 };
  set_up (&setup);
  g_autoptr (PlaitCorpus) corpus = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  REQUIRE (corpus != NULL);
  CHECK_INT (plait_corpus_size (corpus), 4);
  CHECK_INT (plait_corpus_counts (corpus, 0)->without_tree, 1);
  g_auto (GStrv) report = plait_corpus_report (corpus);
  REQUIRE (g_strv_length (report) == 2);
  CHECK_STRING (report[1], "train: 1 of 4 sentences of en have no tree");

  const gint64 tuples[] = { 2, 0, 3, 1 };
  g_autoptr (PlaitBatch) batch = plait_corpus_batch (corpus, tuples, 4, NO_ERROR);
  REQUIRE (batch != NULL);
  g_autofree char *text = describe (batch);
  CHECK_STRING (text, "3 (0 1)|6 (1 2)@NP (0 6)NP (3 4)@S (7 8)ROOT+S|4|2|");
  CHECK_INT (batch->inputs[0].trees->nodes.n, 4);

  setup.source.trees = NULL;
  g_autoptr (PlaitCorpus) plain = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  g_autoptr (PlaitBatch) without = plait_corpus_batch (plain, tuples, 4, NO_ERROR);
  CHECK (without && !without->inputs[0].trees);
}

TEST_CASE (tree_corpus, trees_go_with_their_sentence)
{
  g_auto (Setup) setup = { 0 };
  set_up (&setup);
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitCorpus) plain = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  g_autoptr (PlaitCorpus) deranged = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  CHECK (plait_corpus_derange (deranged, 0, 5, NO_ERROR));
  int moved = 0;
  for (gint64 i = 0; i < 4; i++)
    {
      g_autoptr (PlaitBatch) there = plait_corpus_batch (deranged, &i, 1, &error);
      g_autofree char *found = describe (there);
      for (gint64 k = 0; k < 4; k++)
        {
          g_autoptr (PlaitBatch) here = plait_corpus_batch (plain, &k, 1, &error);
          g_autofree char *expected = describe (here);
          const PlaitInput *a = &there->inputs[0], *b = &here->inputs[0];
          gint64 rows = plait_ragged_rows (a->rows);
          if (rows != plait_ragged_rows (b->rows) || memcmp (a->tokens, b->tokens, (gsize)rows * sizeof (gint32)) != 0)
            continue;
          CHECK_STRING (found, expected);
          moved += i != k;
        }
    }
  CHECK_INT (moved, 4);
}

TEST_CASE (tree_corpus, a_feed_gives_the_same)
{
  g_auto (Setup) setup = { 0 };
  set_up (&setup);
  g_autofree char *sound = g_strdup (trees);
  char *bad = strstr (sound, "this is not a tree, but its sentence is dropped");
  memset (bad, ' ', strlen ("this is not a tree, but its sentence is dropped"));
  plait_test_write_gzip ("trees.gz", sound, -1);
  setup.settings.keep_all = TRUE;
  const PlaitTreeShape shapes[]
      = { PLAIT_TREES_GIVEN, PLAIT_TREES_RIGHT, PLAIT_TREES_BALANCED, PLAIT_TREES_RANDOM, PLAIT_TREES_LEFT };
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    {
      CONTEXT ("shape %u", i);
      setup.tree_settings.shape = shapes[i];
      setup.source.trees_paths = shapes[i] == PLAIT_TREES_GIVEN ? data_paths (setup.trees) : NULL;
      g_autoptr (PlaitCorpus) corpus = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
      REQUIRE (corpus != NULL);
      const gint64 tuples[] = { 0, 1, 2, 3, 4 };
      g_autoptr (PlaitBatch) whole = plait_corpus_batch (corpus, tuples, 5, NO_ERROR);
      g_autoptr (PlaitFeed) feed = plait_feed_open (&setup.source, 1, NULL, NULL, FALSE, NO_ERROR);
      REQUIRE (feed != NULL);
      g_autoptr (PlaitBatch) first = plait_feed_next (feed, 2, NO_ERROR);
      g_autoptr (PlaitBatch) second = plait_feed_next (feed, 9, NO_ERROR);
      REQUIRE (first && second);
      g_autofree char *expected = describe (whole), *one = describe (first), *two = describe (second),
                      *both = g_strconcat (one, two, NULL);
      CHECK_STRING (both, expected);
      CHECK (!plait_feed_next (feed, 9, NO_ERROR));
    }
}

/* A missing source has no rows and no nodes. */
TEST_CASE (tree_corpus, a_missing_source_has_no_trees)
{
  g_auto (Setup) setup = { 0 };
  set_up (&setup);
  const char *other = plait_test_write ("other", "it\nrains\n");
  PlaitCorpusStream sources[] = { setup.source, data_tokens ("de", other, setup.vocabulary) };
  sources[0].paths = NULL;
  sources[0].trees_paths = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitFeed) feed = plait_feed_open (sources, 2, NULL, NULL, FALSE, NO_ERROR);
  REQUIRE (feed != NULL);
  g_autoptr (PlaitBatch) batch = plait_feed_next (feed, 5, NO_ERROR);
  REQUIRE (batch != NULL);
  g_autofree char *text = describe (batch);
  CHECK_STRING (text, "0|0|");

  plait_test_write ("sentences", "it rains\n\nrain\n");
  plait_test_write_gzip ("trees.gz", "(S (A it) (B rains))\n\n(A rain)\n", -1);
  g_autoptr (PlaitCorpus) corpus = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  const gint64 tuples[] = { 1, 0, 2 };
  g_autoptr (PlaitBatch) gap = plait_corpus_batch (corpus, tuples, 3, &error);
  g_autofree char *described = describe (gap);
  CHECK_STRING (described, "0|3 (0 1)S|2|");
}

/* no_tree=drop drops tuples without a tree, except single words. Where tuples must not be dropped, a sentence without a
 * tree has only leaves. */
TEST_CASE (tree_corpus, drops_tuples_without_trees)
{
  g_auto (Setup) setup = { 0 };
  set_up (&setup);
  plait_test_write ("sentences", "no tree\nrain\nit rains\nno tree here\na b c d e f g\nno tree\nit rains\n");
  plait_test_write_gzip ("trees.gz", "\n\n(S (A it) (B rains))\nnull\n\n[1,1,201]\n(S it rains)\n", -1);
  setup.tree_settings.no_tree = PLAIT_NO_TREE_DROP;
  g_autoptr (PlaitCorpus) corpus = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  REQUIRE (corpus != NULL);
  CHECK_INT (plait_corpus_size (corpus), 3);
  CHECK_INT (plait_corpus_line (corpus, 0), 1);
  CHECK_INT (plait_corpus_line (corpus, 1), 2);
  CHECK_INT (plait_corpus_line (corpus, 2), 6);
  CHECK_INT (plait_corpus_counts (corpus, 0)->dropped_treeless, 3);
  CHECK_INT (plait_corpus_counts (corpus, 0)->without_tree, 0);
  g_auto (GStrv) report = plait_corpus_report (corpus);
  REQUIRE (g_strv_length (report) == 2);
  CHECK_STRING (report[0], "train: dropped 1 of 7 tuples where en is longer than 5 tokens");
  CHECK_STRING (report[1], "train: dropped 3 of 7 tuples where en has no tree");

  setup.settings.keep_all = TRUE;
  g_autoptr (PlaitCorpus) whole = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  REQUIRE (whole != NULL);
  CHECK_INT (plait_corpus_size (whole), 7);
  g_auto (GStrv) kept = plait_corpus_report (whole);
  REQUIRE (g_strv_length (kept) == 1);
  CHECK_STRING (kept[0], "train: 4 of 7 sentences of en have no tree, but only leaves here, since no tuple may be "
                         "dropped");
  const gint64 tuples[] = { 0, 2 };
  g_autoptr (PlaitBatch) batch = plait_corpus_batch (whole, tuples, 2, NO_ERROR);
  g_autofree char *text = describe (batch);
  CHECK_STRING (text, "3|3 (0 1)S|");

  /* Generated trees, such as right-branching ones, need no file. */
  setup.tree_settings.shape = PLAIT_TREES_RIGHT;
  setup.source.trees_paths = NULL;
  setup.settings.keep_all = FALSE;
  g_autoptr (PlaitCorpus) control = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  CHECK_INT (plait_corpus_size (control), 6);
}

static void
check_refused (Setup *setup, const char *message)
{
  CONTEXT ("expecting %s", message);
  g_autoptr (GError) error = NULL;
  CHECK (!plait_corpus_open (&setup->settings, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, message);
}

TEST_CASE (tree_corpus, refuses_by_file_and_line)
{
  g_auto (Setup) setup = { 0 };
  set_up (&setup);
  g_autoptr (GError) error = NULL;
  setup.settings.keep_all = TRUE;
  check_refused (&setup, "trees.gz:3: byte 1 of the tree is outside of all brackets");
  setup.settings.keep_all = FALSE;
  setup.tree_settings.no_tree = PLAIT_NO_TREE_ERROR;
  check_refused (&setup, "trees.gz:5: the line has no tree");
  setup.settings.empty_is_error = TRUE;
  check_refused (&setup, "trees.gz:5: the line has no tree");

  setup.tree_settings.no_tree = PLAIT_NO_TREE_DROP;
  plait_test_write_gzip ("trees.gz", "\n[1,1,201]\n\n(S it (A rains)\n\n", -1);
  check_refused (&setup, "trees.gz:4: 1 brackets are still open");
  plait_test_write_gzip ("trees.gz", "(A a)\n", -1);
  check_refused (&setup, "trees.gz:2: the file has 1 trees, but ");
  g_autoptr (PlaitFeed) feed = plait_feed_open (&setup.source, 1, NULL, NULL, FALSE, NO_ERROR);
  plait_test_write_gzip ("trees.gz", "[1,1,201]\n(S (A a) (B b))\n", -1);
  setup.tree_settings.no_tree = PLAIT_NO_TREE_LEAVES;
  g_autoptr (PlaitFeed) late = plait_feed_open (&setup.source, 1, NULL, NULL, FALSE, NO_ERROR);
  CHECK (!plait_feed_next (feed, 1, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT,
               "trees.gz:1: word 1 of the tree is \"a\", but token 1 of the sentence is \"the\"");
  CHECK (!plait_feed_next (late, 2, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT,
               "trees.gz:2: word 1 of the tree is \"a\", but token 1 of the sentence is \"rain\"");
  plait_test_write_gzip ("trees.gz", "\n", -1);
  g_autoptr (PlaitFeed) early = plait_feed_open (&setup.source, 1, NULL, NULL, FALSE, &error);
  CHECK (!plait_feed_next (early, 2, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "trees.gz:2: ends here, but ");
  plait_test_write ("sentences", "a b\n");
  plait_test_write_gzip ("trees.gz", "\n\n", -1);
  g_autoptr (PlaitFeed) more = plait_feed_open (&setup.source, 1, NULL, NULL, FALSE, &error);
  CHECK (!plait_feed_next (more, 2, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "sentences:2: ends here, but ");
}

/* Reads trees in the format of the Penn Treebank from files and from pipes. */
TEST_CASE (tree_corpus, reads_trees_over_several_lines)
{
  static const char spread[]
      = "\n( (S\n    (NP (DT the) (JJ old) (NN dog))\n    (VP (VB barks))\n    (. .)))\n(NP (NN rain))\n\n()\n"
        "[1,2,201]\n\n(S\n  (A no)\n  (B tree)\n  (C %s))\n";
  g_autofree char *right = g_strdup_printf (spread, "here"), *wrong = g_strdup_printf (spread, "there");
  g_auto (Setup) setup = { 0 };
  set_up (&setup);
  g_autoptr (GError) error = NULL;
  plait_test_write_gzip ("trees.gz", right, -1);
  g_autoptr (PlaitCorpus) corpus = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  g_autoptr (PlaitFeed) feed = plait_feed_open (&setup.source, 1, NULL, NULL, FALSE, NO_ERROR);
  REQUIRE (corpus && feed);
  const gint64 tuples[] = { 0, 1, 2, 3 };
  g_autoptr (PlaitBatch) read = plait_corpus_batch (corpus, tuples, 4, NO_ERROR);
  g_autoptr (PlaitBatch) come = plait_feed_next (feed, 5, NO_ERROR);
  REQUIRE (read && come);
  g_autofree char *of_files = describe (read), *of_feed = describe (come);
  CHECK_STRING (of_files, "6 (1 2)@NP (0 6)NP (3 4)@S (7 8)S|2|3 (0 1)|4 (1 2)@S (0 4)S|");
  CHECK_STRING (of_feed, "6 (1 2)@NP (0 6)NP (3 4)@S (7 8)S|2|8|3 (0 1)|4 (1 2)@S (0 4)S|");

  plait_test_write_gzip ("trees.gz", wrong, -1);
  check_refused (&setup, "trees.gz:11: word 3 of the tree is \"there\", but token 3 of the sentence is \"here\"");
  g_autoptr (PlaitFeed) late = plait_feed_open (&setup.source, 1, NULL, NULL, FALSE, &error);
  CHECK (!plait_feed_next (late, 5, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "trees.gz:11: word 3 of the tree is \"there\"");
}

/* A source with trees has the same tokens as without. */
TEST_CASE (tree_corpus, words_are_encoded_as_their_line_is)
{
  static const char *const types[] = { "bpe", "unigram", "words" };
  g_autoptr (GString) text = g_string_new (NULL);
  for (int i = 0; i < 300; i++)
    g_string_append_printf (text, "%s the dogs' barking-%d got (really) l%sud %s .\n", i % 2 ? "if" : "when",
                            i * i % 101, i % 3 ? "oooo" : "o",
                            i % 5 ? "za\xc5\xbe\xc3\xadval" : "\xe6\x9d\xb1\xe4\xba\xac");
  const char *path = plait_test_write ("text", text->str);
  const char *const paths[] = { path, NULL };
  const char *unseen = "the quick\xc2\xa0"
                       "brown f\xc3\xb8x \xf0\x9f\x98\x80x\xf0\x9f\x98\x80 barks 77-77 dogs .";
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    {
      CONTEXT ("%s", types[i]);
      PlaitVocabularySettings settings = PLAIT_VOCABULARY_DEFAULTS;
      settings.type = types[i];
      settings.size = strcmp (types[i], "unigram") == 0 ? 50 : 90;
      g_autoptr (PlaitVocabulary) vocabulary = plait_vocabulary_train (&settings, paths, NO_ERROR);
      REQUIRE (vocabulary != NULL);
      g_auto (GStrv) lines = g_strsplit (text->str, "\n", -1);
      for (guint k = 0; k <= 20; k++)
        {
          const char *line = k < 20 ? lines[k] : unseen;
          g_autoptr (GArray) whole = g_array_new (FALSE, FALSE, sizeof (gint32)),
                             parts = g_array_new (FALSE, FALSE, sizeof (gint32)),
                             pieces = g_array_new (FALSE, FALSE, sizeof (gint32));
          plait_vocabulary_encode (vocabulary, line, strlen (line), whole);
          plait_vocabulary_encode_words (vocabulary, line, strlen (line), parts, pieces);
          guint sum = 0;
          for (guint w = 0; w < pieces->len; w++)
            sum += (guint)g_array_index (pieces, gint32, w);
          CHECK_INT (pieces->len, k < 20 ? 9 : 8);
          CHECK_INT (sum, parts->len);
          CHECK_INT (parts->len, whole->len);
          CHECK (parts->len == whole->len && memcmp (parts->data, whole->data, 4 * whole->len) == 0);
        }
    }
}
