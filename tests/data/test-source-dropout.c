/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "data-files.h"
#include "corpus/batch.h"
#include "corpus/iterator.h"
#include "files.h"
#include "harness.h"
#include "foreign/feature.h"

/* Tests of source dropout. */

static PlaitBatch *
batch_in (const PlaitCorpus *corpus, gint64 epoch, gint64 first, gint64 n)
{
  g_autofree gint64 *tuples = g_new (gint64, n);
  PlaitBatch *batch;

  for (gint64 i = 0; i < n; i++)
    tuples[i] = first + i;
  batch = plait_corpus_batch_in (corpus, epoch, tuples, n, NO_ERROR);
  return batch;
}

/* Returns which sources each sentence of @batch has, as text such as "ab a b ..". (transfer full) */
static char *
show_present (const PlaitBatch *batch)
{
  GString *text = g_string_new (NULL);

  for (gint64 i = 0; i < batch->n_sentences; i++)
    {
      for (gint64 s = 0; s < batch->n_sources; s++)
        if (!plait_input_is_missing (&batch->inputs[s], i))
          g_string_append_c (text, (char)('a' + s));
      g_string_append_c (text, ' ');
    }
  return g_string_free (text, FALSE);
}

static char *
present_in (const PlaitCorpus *corpus, gint64 epoch)
{
  g_autoptr (PlaitBatch) batch = batch_in (corpus, epoch, 0, plait_corpus_size (corpus));

  return batch ? show_present (batch) : NULL;
}

#define TUPLES 3000
#define EPOCHS 4

/* In a third of the tuples the second source is missing anyway; dropout then keeps the first. In the other tuples each
 * source is missing with probability rate - rate^2 / 2, never both; both are present as often as with independent
 * draws. */
TEST_CASE (source_dropout, leaves_out_each_source_at_its_rate_and_never_all)
{
  static const double rates[] = { 0.1, 0.3, 0.7, 1 };
  g_autoptr (PlaitCorpus) corpus = data_corpus (TUPLES);

  for (guint r = 0; r < G_N_ELEMENTS (rates); r++)
    {
      double rate = rates[r];
      gint64 missing[2] = { 0, 0 }, both = 0, whole = 0;
      CONTEXT ("rate %g", rate);

      plait_corpus_set_source_dropout (corpus, rate, 5);
      for (gint64 epoch = 0; epoch < EPOCHS; epoch++)
        {
          g_autoptr (PlaitBatch) batch = batch_in (corpus, epoch, 0, TUPLES);

          for (gint64 i = 0; i < TUPLES; i++)
            {
              gboolean a = plait_input_is_missing (&batch->inputs[0], i);
              gboolean b = plait_input_is_missing (&batch->inputs[1], i);

              CHECK (!(a && b));
              if (i % 3 == 0)
                continue;
              whole++;
              missing[0] += a;
              missing[1] += b;
              both += !a && !b;
            }
        }
      /* The tolerance .022 is at least four standard deviations of 8,000 draws. */
      CHECK_NEAR ((double)missing[0] / (double)whole, rate - rate * rate / 2, 0.022);
      CHECK_NEAR ((double)missing[1] / (double)whole, rate - rate * rate / 2, 0.022);
      CHECK_NEAR ((double)both / (double)whole, (1 - rate) * (1 - rate), 0.022);
    }
}

TEST_CASE (source_dropout, is_a_function_of_seed_epoch_and_tuple)
{
  g_autoptr (PlaitCorpus) corpus = data_corpus (60), again = data_corpus (60);
  g_autoptr (GString) alone = g_string_new (NULL);

  g_autofree char *plain = present_in (corpus, 0);
  plait_corpus_set_source_dropout (corpus, 0.4, 5);
  plait_corpus_set_source_dropout (again, 0.4, 5);
  g_autofree char *first = present_in (corpus, 0), *second = present_in (corpus, 1), *same = present_in (again, 0);
  for (gint64 i = 0; i < 60; i++)
    {
      g_autoptr (PlaitBatch) one = batch_in (corpus, 0, i, 1);
      g_autofree char *shown = show_present (one);

      g_string_append (alone, shown);
    }
  CHECK_STRING (same, first);
  CHECK_STRING (alone->str, first);
  CHECK (strcmp (first, plain) != 0 && strcmp (second, plain) != 0 && strcmp (first, second) != 0);
  plait_corpus_set_source_dropout (again, 0.4, 6);
  g_autofree char *other = present_in (again, 0);
  CHECK (strcmp (other, first) != 0);
  plait_corpus_set_source_dropout (again, 0, 5);
  g_autofree char *none = present_in (again, 0);
  CHECK_STRING (none, plain);
}

/* Returns the sentences of each batch of two epochs, in order. (transfer full) */
static char *
show_order (const PlaitCorpus *corpus)
{
  PlaitIteratorSettings settings = plait_iterator_defaults ();
  g_autoptr (PlaitIterator) iterator = NULL;
  GString *text = g_string_new (NULL);

  settings.unit = PLAIT_BATCH_BY_TOKENS;
  settings.size = 40;
  iterator = plait_iterator_new (corpus, &settings, NULL);
  for (gint64 k = 0; k < 2 * plait_iterator_batches (iterator); k++)
    {
      g_autoptr (PlaitBatch) batch = plait_iterator_next (iterator, NULL);

      for (gint64 i = 0; i < batch->n_sentences; i++)
        g_string_append_printf (text, "%d ", (int)batch->sentence[i]);
      g_string_append_c (text, '|');
    }
  return g_string_free (text, FALSE);
}

TEST_CASE (source_dropout, leaves_the_order_of_batches_alone)
{
  g_autoptr (PlaitCorpus) corpus = data_corpus (60);
  g_autofree char *before = show_order (corpus);

  plait_corpus_set_source_dropout (corpus, 0.5, 5);
  g_autofree char *after = show_order (corpus);
  CHECK_STRING (after, before);
}

static void
check_trees (const PlaitTrees *found, const PlaitTrees *expected)
{
  gsize nodes = (gsize)plait_ragged_rows (expected->nodes);

  CHECK_INT (plait_ragged_rows (found->nodes), nodes);
  CHECK (memcmp (found->left, expected->left, nodes * sizeof (gint64)) == 0);
  CHECK (memcmp (found->right, expected->right, nodes * sizeof (gint64)) == 0);
}

static void
check_documents (const PlaitDocuments *found, const PlaitDocuments *expected)
{
  gint64 n = plait_ragged_rows (expected->sentences);

  CHECK_INT (plait_ragged_rows (found->sentences), n);
  CHECK (memcmp (found->rows, expected->rows, (gsize)(n + 1) * sizeof (gint64)) == 0);
}

/* Checks that source @found equals source @expected, for one sentence. */
static void
check_input (const PlaitInput *found, const PlaitInput *expected)
{
  gint64 rows = plait_ragged_rows (expected->rows);

  CHECK_INT (found->n_missing, expected->n_missing);
  CHECK_INT (plait_ragged_rows (found->rows), rows);
  if (expected->tokens)
    CHECK (memcmp (found->tokens, expected->tokens, (gsize)rows * sizeof (gint32)) == 0);
  CHECK_INT (found->features.width, expected->features.width);
  for (gint64 i = 0; i < rows * expected->features.width; i++)
    CHECK_NEAR (found->features.data[i], expected->features.data[i], 0);
  if (expected->trees)
    check_trees (found->trees, expected->trees);
  if (expected->documents)
    check_documents (found->documents, expected->documents);
}

#define SENTENCES 40

/* Sources with trees, documents and images: in batches of any size, each source is either complete or like the source
 * of a corpus that lacks it. */
TEST_CASE (source_dropout, leaves_out_what_adversarial_absence_does)
{
  g_autoptr (GString) lines = g_string_new (NULL), documents = g_string_new (NULL);
  const PlaitTreeSettings trees = { .shape = PLAIT_TREES_BALANCED };
  g_autoptr (PlaitVocabulary) vocabulary = data_words ("a a a b b c\n");
  gint64 counts[3] = { 0 };

  for (gint64 i = 0; i < SENTENCES; i++)
    {
      for (gint64 k = 0; k <= i % 5; k++)
        g_string_append_printf (lines, "%c ", (char)('a' + (i + k) % 3));
      g_string_append (lines, "c\n");
      g_string_append_printf (documents, "a b%s\nc\n\n", i % 2 ? "\nb b c" : "");
    }
  const char *text = plait_test_write ("text", lines->str), *talks = plait_test_write ("talks", documents->str);
  const char *images = data_features ("images.h5", SENTENCES, NULL);
  PlaitCorpusStream sources[] = {
    data_tokens ("text", text, vocabulary),
    data_tokens ("talk", talks, vocabulary),
    { .name = "image",
      .kind = PLAIT_INPUT_FEATURES,
      .paths = data_paths (images),
      .dataset = "/images",
      .open_features = plait_feature_file_open },
  };
  PlaitCorpusStream target = data_tokens ("out", text, vocabulary);
  PlaitCorpusSettings settings = { .split = "train", .sources = sources, .n_sources = 3, .target = &target };
  sources[0].trees = &trees;
  sources[0].append_end = TRUE;
  sources[1].documents = (PlaitDocumentSettings){ .layout = PLAIT_LAYOUT_DOCUMENTS, .start_tokens = TRUE };
  g_autoptr (PlaitCorpus) corpus = plait_corpus_open (&settings, NULL, NO_ERROR);
  g_autoptr (PlaitCorpus) whole = plait_corpus_open (&settings, NULL, NO_ERROR);
  g_autoptr (PlaitCorpus) without = plait_corpus_open (&settings, NULL, NO_ERROR);
  REQUIRE (corpus && whole && without);
  plait_corpus_set_source_dropout (corpus, 0.5, 2);
  for (gint64 s = 0; s < 3; s++)
    plait_corpus_remove_source (without, s);

  g_autoptr (PlaitBatch) batch = batch_in (corpus, 1, 0, SENTENCES);
  REQUIRE (batch != NULL);
  for (gint64 i = 0; i < SENTENCES; i++)
    {
      g_autoptr (PlaitBatch) part = plait_batch_slice (batch, i, 1, NULL), alone = batch_in (corpus, 1, i, 1);
      g_autoptr (PlaitBatch) all = batch_in (whole, 1, i, 1), none = batch_in (without, 1, i, 1);
      CONTEXT ("sentence %d", (int)i);

      for (gint64 s = 0; s < 3; s++)
        {
          gboolean missing = plait_input_is_missing (&batch->inputs[s], i);

          counts[s] += missing;
          check_input (&part->inputs[s], missing ? &none->inputs[s] : &all->inputs[s]);
          check_input (&alone->inputs[s], &part->inputs[s]);
        }
      CHECK_INT (plait_ragged_rows (part->target_rows), plait_ragged_rows (all->target_rows));
      CHECK (memcmp (part->target_outputs, all->target_outputs,
                     (gsize)plait_ragged_rows (all->target_rows) * sizeof (gint32))
             == 0);
    }
  for (gint64 s = 0; s < 3; s++)
    CHECK (counts[s] > SENTENCES / 5 && counts[s] < SENTENCES * 4 / 5);
}
