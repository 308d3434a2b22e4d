/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "data-files.h"
#include "corpus/iterator.h"
#include "files.h"
#include "harness.h"

/* Tests of masked tokens. */

enum
{
  SIZE = 104, /* size of the vocabulary */
  TOKENS = 20,
};

static const PlaitMasking usual = { .rate = .15, .mask = .8, .random = .1, .seed = 5 };

/* Writes a sentence of TOKENS different ids: two halves, each after a start token, and an end token. Returns its
 * length. */
static gint64
fill (gint32 *ids)
{
  gint64 rows = 0;

  for (gint32 i = 0; i < TOKENS; i++)
    {
      if (i % (TOKENS / 2) == 0)
        ids[rows++] = PLAIT_TOKEN_BOS;
      ids[rows++] = PLAIT_TOKEN_SPECIALS + i;
    }
  ids[rows++] = PLAIT_TOKEN_EOS;
  return rows;
}

/* The fractions of masked, random and unchanged tokens are those of the paper, within four standard deviations. */
TEST_CASE (masking, has_the_shares_that_are_asked_for)
{
  enum
  {
    TUPLES = 4000,
  };
  double predicted = 0, masked = 0, random = 0, same = 0;
  gint64 places[TOKENS + 3] = { 0 };

  for (gint64 tuple = 0; tuple < TUPLES; tuple++)
    {
      gint32 ids[TOKENS + 3], before[TOKENS + 3], at[TOKENS], outputs[TOKENS];
      gint64 rows = fill (ids), n = plait_masking_count (&usual, 0, tuple, TOKENS);

      fill (before);
      REQUIRE (n == 3 || n == 4);
      plait_masking_apply (&usual, 0, tuple, SIZE, ids, rows, TOKENS, at, outputs);
      for (gint64 i = 0; i < n; i++)
        {
          REQUIRE (at[i] >= 0 && at[i] < rows && (i == 0 || at[i] > at[i - 1]));
          CHECK_INT (outputs[i], before[at[i]]);
          CHECK (outputs[i] >= PLAIT_TOKEN_SPECIALS);
          CHECK (ids[at[i]] == PLAIT_TOKEN_MASK || (ids[at[i]] >= PLAIT_TOKEN_SPECIALS && ids[at[i]] < SIZE));
          places[at[i]]++;
          masked += ids[at[i]] == PLAIT_TOKEN_MASK;
          same += ids[at[i]] == outputs[i];
          random += ids[at[i]] != PLAIT_TOKEN_MASK && ids[at[i]] != outputs[i];
          before[at[i]] = ids[at[i]];
        }
      CHECK (memcmp (ids, before, (gsize)rows * sizeof *ids) == 0);
      predicted += (double)n;
    }
  CHECK_NEAR (predicted / TUPLES / TOKENS, .15, 4 * sqrt (.15 * .85 / TUPLES / TOKENS));
  CHECK_NEAR (masked / predicted, .8, 4 * sqrt (.8 * .2 / predicted));
  /* One random token in a hundred happens to be the original token. */
  CHECK_NEAR (random / predicted, .099, 4 * sqrt (.1 * .9 / predicted));
  CHECK_NEAR (same / predicted, .101, 4 * sqrt (.1 * .9 / predicted));
  for (gint64 row = 0; row < TOKENS + 3; row++)
    if (row == 0 || row == TOKENS / 2 + 1 || row == TOKENS + 2)
      CHECK_INT (places[row], 0);
    else
      CHECK_NEAR ((double)places[row] / TUPLES, .15, 4.5 * sqrt (.15 * .85 / TUPLES));
}

TEST_CASE (masking, takes_one_token_at_least)
{
  static const PlaitMasking rare = { .rate = 0, .mask = 1, .seed = 1 };

  CHECK_INT (plait_masking_count (&rare, 0, 0, TOKENS), 1);
  CHECK_INT (plait_masking_count (&rare, 0, 0, 1), 1);
  CHECK_INT (plait_masking_count (&rare, 0, 0, 0), 0);
}

/* Returns a corpus with the lines "w0 w1 .. w99" and masks by @masking. (transfer full) */
static PlaitCorpus *
masked_corpus (const PlaitMasking *masking)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (int line = 0; line < 40; line++)
    for (int i = 0; i < 10; i++)
      g_string_append_printf (text, "w%d%s", (7 * line + i) % 100, i < 9 ? " " : "\n");
  const char *path = plait_test_write ("masked", text->str);
  g_autoptr (PlaitVocabulary) words = data_words (text->str);
  PlaitCorpusStream source = data_tokens ("text", path, words);
  PlaitCorpusSettings settings = { .split = "train", .sources = &source, .n_sources = 1, .masking = masking };
  return plait_corpus_open (&settings, NULL, NO_ERROR);
}

/* The masks of a tuple do not depend on its batch, but on epoch and seed. Positions and outputs give back the text. */
TEST_CASE (masking, is_dynamic_and_keyed_by_tuple_and_epoch)
{
  PlaitMasking other_seed = usual;
  g_autoptr (GError) error = NULL;
  gint64 all[40], changed = 0, reseeded = 0;

  other_seed.seed++;
  g_autoptr (PlaitCorpus) corpus = masked_corpus (&usual);
  g_autoptr (PlaitCorpus) plain = masked_corpus (NULL);
  g_autoptr (PlaitCorpus) other = masked_corpus (&other_seed);
  REQUIRE (corpus && plain && other);
  for (gint64 i = 0; i < 40; i++)
    all[i] = 39 - i;
  g_autoptr (PlaitBatch) together = plait_corpus_batch_in (corpus, 3, all, 40, &error);
  for (gint64 i = 0; i < 40; i++)
    {
      g_autoptr (PlaitBatch) alone = plait_corpus_batch_in (corpus, 3, &all[i], 1, &error);
      g_autoptr (PlaitBatch) later = plait_corpus_batch_in (corpus, 4, &all[i], 1, &error);
      g_autoptr (PlaitBatch) seeded = plait_corpus_batch_in (other, 3, &all[i], 1, &error);
      g_autoptr (PlaitBatch) whole = plait_corpus_batch (plain, &all[i], 1, &error);
      gint64 n = plait_ragged_rows (alone->inputs[0].rows), first = together->inputs[0].rows.offsets[i];
      gint64 m = plait_ragged_rows (alone->target_rows), target = together->target_rows.offsets[i];
      g_autofree gint32 *restored = g_memdup2 (alone->inputs[0].tokens, (gsize)n * sizeof (gint32));

      CHECK (!whole->target_rows.offsets);
      CHECK (memcmp (alone->inputs[0].tokens, together->inputs[0].tokens + first, (gsize)n * sizeof (gint32)) == 0);
      CHECK_INT (plait_ragged_length (together->target_rows, i), m);
      CHECK (memcmp (alone->target_outputs, together->target_outputs + target, (gsize)m * sizeof (gint32)) == 0);
      for (gint64 k = 0; k < m; k++)
        restored[alone->target_inputs[k]] = alone->target_outputs[k];
      CHECK (memcmp (restored, whole->inputs[0].tokens, (gsize)n * sizeof (gint32)) == 0);
      changed += memcmp (alone->inputs[0].tokens, later->inputs[0].tokens, (gsize)n * sizeof (gint32)) != 0;
      reseeded += memcmp (alone->inputs[0].tokens, seeded->inputs[0].tokens, (gsize)n * sizeof (gint32)) != 0;
    }
  CHECK (changed > 30);
  CHECK (reseeded > 30);
}

/* A shuffled batch has the masks of its epoch. Batches in fixed order have the masks of epoch 0. */
TEST_CASE (masking, goes_on_with_the_epochs_of_an_iterator)
{
  g_autoptr (PlaitCorpus) corpus = masked_corpus (&usual);
  PlaitIteratorSettings settings = plait_iterator_defaults ();
  g_autoptr (GError) error = NULL;

  settings.size = 40;
  g_autoptr (PlaitIterator) shuffled = plait_iterator_new (corpus, &settings, &error);
  for (gint64 epoch = 0; epoch < 3; epoch++)
    {
      g_autoptr (PlaitBatch) batch = plait_iterator_next (shuffled, &error);
      g_autoptr (PlaitBatch) expected = plait_corpus_batch_in (corpus, epoch, batch->sentence, 40, &error);

      CHECK (memcmp (batch->inputs[0].tokens, expected->inputs[0].tokens,
                     (gsize)plait_ragged_rows (batch->inputs[0].rows) * sizeof (gint32))
             == 0);
    }
}
