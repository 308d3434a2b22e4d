/* SPDX-License-Identifier: MIT */
#include "corpus/iterator.h"

#include <stdlib.h>
#include <string.h>

#include "text/error.h"
#include "data-files.h"
#include "harness.h"

/* Returns the sentences of the next batch in their order; "" at the end of the epoch. (transfer full) */
static char *
next_sentences (PlaitIterator *iterator)
{
  g_autoptr (PlaitBatch) batch = plait_iterator_next (iterator, NO_ERROR);
  GString *text = g_string_new (NULL);
  for (gint64 i = 0; batch && i < batch->n_sentences; i++)
    g_string_append_printf (text, "%d ", (int)batch->sentence[i]);
  return g_string_free (text, FALSE);
}

/* Returns the sentences of one epoch, with '|' between batches. (transfer full) */
static char *
epoch_sentences (PlaitIterator *iterator, gint64 epoch)
{
  CHECK (plait_iterator_seek (iterator, epoch, 0, NO_ERROR));
  GString *text = g_string_new (NULL);
  for (gint64 b = plait_iterator_batches (iterator); b > 0; b--)
    {
      g_autofree char *batch = next_sentences (iterator);
      g_string_append (text, batch);
      g_string_append (text, "| ");
    }
  return g_string_free (text, FALSE);
}

/* Checks that every tuple comes exactly once in the epoch, and that no batch exceeds its size. */
static void
check_epoch (PlaitIterator *iterator, const PlaitCorpus *corpus, PlaitIteratorSettings settings, gint64 epoch)
{
  CONTEXT ("order %d, unit %d, size %d, window %d, epoch %d", settings.order, settings.unit, (int)settings.size,
           (int)settings.window, (int)epoch);
  gint64 n = plait_corpus_size (corpus);
  g_autofree int *seen = g_new0 (int, n);
  g_autoptr (GError) error = NULL;
  CHECK (plait_iterator_seek (iterator, epoch, 0, &error));
  for (gint64 b = plait_iterator_batches (iterator); b > 0; b--)
    {
      g_autoptr (PlaitBatch) batch = plait_iterator_next (iterator, &error);
      REQUIRE (batch != NULL);
      gint64 tokens = plait_ragged_rows (batch->target_rows);
      for (gint64 s = 0; s < batch->n_sources; s++)
        tokens += plait_ragged_rows (batch->inputs[s].rows);
      gint64 size = settings.unit == PLAIT_BATCH_BY_TOKENS ? tokens : batch->n_sentences;
      CHECK (size > 0 && size <= settings.size);
      for (gint64 i = 0; i < batch->n_sentences; i++)
        seen[batch->sentence[i]]++;
    }
  for (gint64 i = 0; i < n; i++)
    CHECK_INT (seen[i], 1);
}

TEST_CASE (iterator, gives_every_tuple_once_an_epoch)
{
  g_autoptr (PlaitCorpus) corpus = data_corpus (203);
  const PlaitOrder orders[] = { PLAIT_ORDER_SHUFFLED, PLAIT_ORDER_CORPUS, PLAIT_ORDER_LENGTH };
  const gint64 sizes[] = { 20, 33, 1000 }, windows[] = { 1, 7, 50, 10000 };
  for (gsize o = 0; o < G_N_ELEMENTS (orders); o++)
    for (gsize s = 0; s < G_N_ELEMENTS (sizes); s++)
      for (gsize w = 0; w < G_N_ELEMENTS (windows); w++)
        for (int unit = 0; unit < 2; unit++)
          {
            PlaitIteratorSettings settings = { orders[o], (PlaitBatchUnit)unit, sizes[s], windows[w], 3 };
            g_autoptr (PlaitIterator) iterator = plait_iterator_new (corpus, &settings, NO_ERROR);
            REQUIRE (iterator != NULL);
            check_epoch (iterator, corpus, settings, 0);
            if (orders[o] == PLAIT_ORDER_SHUFFLED)
              check_epoch (iterator, corpus, settings, 5);
          }
}

TEST_CASE (iterator, orders_by_seed_and_epoch_alone)
{
  g_autoptr (PlaitCorpus) corpus = data_corpus (300);
  PlaitIteratorSettings settings = plait_iterator_defaults ();
  settings.size = 16;
  settings.window = 64;
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitIterator) first = plait_iterator_new (corpus, &settings, &error);
  g_autoptr (PlaitIterator) second = plait_iterator_new (corpus, &settings, &error);
  settings.seed = 1;
  g_autoptr (PlaitIterator) other = plait_iterator_new (corpus, &settings, &error);
  g_autofree char *epoch0 = epoch_sentences (first, 0);
  g_autofree char *epoch1 = epoch_sentences (first, 1);
  g_autofree char *again1 = epoch_sentences (second, 1);
  g_autofree char *again0 = epoch_sentences (second, 0);
  g_autofree char *other0 = epoch_sentences (other, 0);
  CHECK_STRING (again0, epoch0);
  CHECK_STRING (again1, epoch1);
  CHECK (strcmp (epoch0, epoch1) != 0);
  CHECK (strcmp (epoch0, other0) != 0);
}

static int
compare_strings (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *)a, *(const char *const *)b);
}

/* Returns the batches of an epoch, sorted so that results in different order compare equal. (transfer full) */
static char *
epoch_batches (PlaitIterator *iterator, gint64 epoch)
{
  g_autofree char *sentences = epoch_sentences (iterator, epoch);
  g_auto (GStrv) batches = g_strsplit (sentences, "| ", -1);
  qsort (batches, g_strv_length (batches), sizeof *batches, compare_strings);
  return g_strjoinv ("| ", batches);
}

TEST_CASE (iterator, makes_other_batches_each_epoch)
{
  g_autoptr (PlaitCorpus) corpus = data_corpus (300);
  PlaitIteratorSettings settings = plait_iterator_defaults ();
  settings.size = 16;
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitIterator) iterator = plait_iterator_new (corpus, &settings, &error);
  g_autofree char *first = epoch_batches (iterator, 0);
  g_autofree char *second = epoch_batches (iterator, 1);
  CHECK (strcmp (first, second) != 0);
}

TEST_CASE (iterator, resumes_from_epoch_and_position)
{
  g_autoptr (PlaitCorpus) corpus = data_corpus (100);
  PlaitIteratorSettings settings = plait_iterator_defaults ();
  settings.unit = PLAIT_BATCH_BY_TOKENS;
  settings.size = 60;
  settings.window = 30;
  g_autoptr (PlaitIterator) straight = plait_iterator_new (corpus, &settings, NO_ERROR);
  for (int step = 0; step < 60; step++)
    {
      CONTEXT ("step %d", step);
      gint64 epoch, position;
      plait_iterator_tell (straight, &epoch, &position);
      g_autoptr (PlaitIterator) resumed = plait_iterator_new (corpus, &settings, NO_ERROR);
      CHECK (plait_iterator_seek (resumed, epoch, position, NO_ERROR));
      g_autofree char *expected = next_sentences (straight);
      g_autofree char *actual = next_sentences (resumed);
      CHECK_STRING (actual, expected);
      gint64 resumed_epoch, resumed_position;
      plait_iterator_tell (straight, &epoch, &position);
      plait_iterator_tell (resumed, &resumed_epoch, &resumed_position);
      CHECK_INT (resumed_epoch, epoch);
      CHECK_INT (resumed_position, position);
    }
  gint64 epoch, position;
  plait_iterator_tell (straight, &epoch, &position);
  CHECK (epoch > 0);
}

TEST_CASE (iterator, refuses_a_place_that_is_not_there)
{
  g_autoptr (PlaitCorpus) corpus = data_corpus (10);
  PlaitIteratorSettings settings = plait_iterator_defaults ();
  settings.size = 4;
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitIterator) iterator = plait_iterator_new (corpus, &settings, &error);
  CHECK_INT (plait_iterator_batches (iterator), 3);
  CHECK (plait_iterator_seek (iterator, 2, 3, &error));
  CHECK (!plait_iterator_seek (iterator, 4, 4, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "There is no batch 4 in epoch 4 (an epoch has 3 batches)");
  CHECK (!plait_iterator_seek (iterator, -1, 0, &error));
  g_clear_error (&error);
  CHECK (!plait_iterator_seek (iterator, 0, -1, &error));
  g_clear_error (&error);
  gint64 epoch, position;
  plait_iterator_tell (iterator, &epoch, &position);
  CHECK_INT (epoch, 2);
  CHECK_INT (position, 3);
  settings.order = PLAIT_ORDER_CORPUS;
  g_autoptr (PlaitIterator) pass = plait_iterator_new (corpus, &settings, &error);
  CHECK (!plait_iterator_seek (pass, 1, 0, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "There is no batch 0 in epoch 1");
}

TEST_CASE (iterator, ends_a_single_pass)
{
  g_autoptr (PlaitCorpus) corpus = data_corpus (10);
  PlaitIteratorSettings settings = plait_iterator_defaults ();
  settings.order = PLAIT_ORDER_CORPUS;
  settings.size = 4;
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitIterator) iterator = plait_iterator_new (corpus, &settings, &error);
  const char *const expected[] = { "0 1 2 3 ", "4 5 6 7 ", "8 9 ", "", "" };
  for (gsize i = 0; i < G_N_ELEMENTS (expected); i++)
    {
      g_autofree char *batch = next_sentences (iterator);
      CHECK_STRING (batch, expected[i]);
    }
  CHECK (plait_iterator_seek (iterator, 0, 1, &error));
  g_autofree char *batch = next_sentences (iterator);
  CHECK_STRING (batch, expected[1]);
}

TEST_CASE (iterator, sorts_by_length)
{
  g_autoptr (PlaitCorpus) corpus = data_corpus (50);
  PlaitIteratorSettings settings = plait_iterator_defaults ();
  settings.order = PLAIT_ORDER_LENGTH;
  settings.size = 7;
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitIterator) iterator = plait_iterator_new (corpus, &settings, NO_ERROR);
  PlaitBatch *batch;
  gint64 last = G_MAXINT64;
  while ((batch = plait_iterator_next (iterator, NO_ERROR)))
    {
      for (gint64 i = 0; i < batch->n_sentences; i++)
        {
          gint64 length = plait_ragged_length (batch->target_rows, i);
          CHECK (length <= last);
          last = length;
        }
      plait_batch_free (batch);
    }
  CHECK_INT (last, 2);

  /* Batches that are shuffled within windows have sentences of similar length. */
  settings.order = PLAIT_ORDER_SHUFFLED;
  settings.window = 50;
  g_autoptr (PlaitIterator) shuffled = plait_iterator_new (corpus, &settings, &error);
  for (gint64 b = plait_iterator_batches (shuffled); b > 0; b--)
    {
      g_autoptr (PlaitBatch) one = plait_iterator_next (shuffled, &error);
      CHECK (plait_ragged_length (one->target_rows, 0) - plait_ragged_length (one->target_rows, one->n_sentences - 1)
             <= 1);
    }
}

TEST_CASE (iterator, refuses_a_tuple_larger_than_a_batch)
{
  g_autoptr (PlaitCorpus) corpus = data_corpus (30);
  PlaitIteratorSettings settings = plait_iterator_defaults ();
  settings.unit = PLAIT_BATCH_BY_TOKENS;
  settings.size = 9;
  g_autoptr (GError) error = NULL;
  CHECK (!plait_iterator_new (corpus, &settings, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "one:3: the tuple has 10 tokens; expected at most the batch size of 9");
}
