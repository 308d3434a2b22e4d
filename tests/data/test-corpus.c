/* SPDX-License-Identifier: MIT */
#include "corpus/corpus.h"

#include <glib/gstdio.h>
#include <string.h>

#include "text/error.h"
#include "data-files.h"
#include "files.h"
#include "harness.h"

static void
check_ids (const gint32 *ids, gint64 n, const char *expected)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (gint64 i = 0; i < n; i++)
    g_string_append_printf (text, "%d ", ids[i]);
  CHECK_STRING (text->str, expected);
}

static void
check_offsets (PlaitRagged ragged, const char *expected)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (gint64 i = 0; i <= ragged.n; i++)
    g_string_append_printf (text, "%d ", (int)ragged.offsets[i]);
  CHECK_STRING (text->str, expected);
}

TEST_CASE (corpus, gives_ragged_batches)
{
  g_auto (DataText) setup = { 0 };
  data_text_set_up (&setup, "a b\nc\n\nd d d\n", "b\n \t\na a\nzzz", "c b a\nd\na\nb b\r\n");
  setup.sources[1].append_end = TRUE;
  g_autoptr (PlaitCorpus) corpus = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  REQUIRE (corpus != NULL);
  CHECK_INT (plait_corpus_size (corpus), 4);
  CHECK_INT (plait_corpus_lines (corpus), 4);
  CHECK_INT (plait_corpus_line (corpus, 3), 3);
  CHECK_INT (plait_corpus_length (corpus, 0, 2), 0);
  CHECK_INT (plait_corpus_length (corpus, 1, 1), 0);
  CHECK_INT (plait_corpus_length (corpus, 1, 2), 3);
  CHECK_INT (plait_corpus_length (corpus, 2, 0), 4);
  CHECK_INT (plait_corpus_tokens (corpus, 0), 2 + 2 + 4);

  const gint64 tuples[] = { 3, 1, 2, 0 };
  g_autoptr (PlaitBatch) batch = plait_corpus_batch (corpus, tuples, 4, NO_ERROR);
  REQUIRE (batch != NULL);
  CHECK_INT (batch->n_sentences, 4);
  CHECK_INT (batch->n_sources, 2);
  for (int i = 0; i < 4; i++)
    CHECK_INT (batch->sentence[i], tuples[i]);
  const PlaitInput *one = &batch->inputs[0], *two = &batch->inputs[1];
  CHECK_STRING (one->name, "one");
  CHECK (one->kind == PLAIT_INPUT_TOKENS && !one->features.data);
  check_offsets (one->rows, "0 3 4 4 6 ");
  check_ids (one->tokens, 6, "7 7 7 6 4 5 ");
  CHECK_INT (one->n_missing, 1);
  CHECK (plait_input_is_missing (one, 2) && !plait_input_is_missing (one, 1));
  check_offsets (two->rows, "0 2 2 5 7 ");
  check_ids (two->tokens, 7, "3 2 4 4 2 5 2 ");
  CHECK_INT (two->n_missing, 1);
  check_offsets (batch->target_rows, "0 3 5 7 11 ");
  check_ids (batch->target_inputs, 11, "1 5 5 1 7 1 4 1 6 5 4 ");
  check_ids (batch->target_outputs, 11, "5 5 2 7 2 4 2 6 5 4 2 ");

  const PlaitCorpusCounts *counts = plait_corpus_counts (corpus, 1);
  CHECK_INT (counts->tokens, 4);
  CHECK_INT (counts->unknown, 1);
  CHECK_INT (counts->missing, 1);
  CHECK_INT (counts->longest, 2);
}

TEST_CASE (corpus, has_no_target_where_none_is_given)
{
  g_auto (DataText) setup = { 0 };
  data_text_set_up (&setup, "a\nb\n", "a\nb\n", "");
  setup.settings.target = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitCorpus) corpus = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  REQUIRE (corpus != NULL);
  CHECK (!plait_corpus_has_target (corpus));
  const gint64 tuples[] = { 1 };
  g_autoptr (PlaitBatch) batch = plait_corpus_batch (corpus, tuples, 1, &error);
  REQUIRE (batch != NULL);
  CHECK (!batch->target_inputs && !batch->target_outputs && !batch->target_rows.offsets);
  check_ids (batch->inputs[1].tokens, 1, "5 ");
}

TEST_CASE (corpus, drops_what_is_too_long_and_says_so)
{
  g_auto (DataText) setup = { 0 };
  data_text_set_up (&setup, "a b\nc c c\nb\nd\na\n", "b\nb\na a a\na\na\n", "c\nd\na\n\nb b\n");
  setup.sources[0].maximum_length = 2;
  setup.sources[1].maximum_length = 2;
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitCorpus) corpus = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  REQUIRE (corpus != NULL);
  CHECK_INT (plait_corpus_size (corpus), 2);
  CHECK_INT (plait_corpus_lines (corpus), 5);
  CHECK_INT (plait_corpus_line (corpus, 0), 0);
  CHECK_INT (plait_corpus_line (corpus, 1), 4);
  g_auto (GStrv) report = plait_corpus_report (corpus);
  REQUIRE (g_strv_length (report) == 3);
  CHECK_STRING (report[0], "train: dropped 1 of 5 tuples where one is longer than 2 tokens");
  CHECK_STRING (report[1], "train: dropped 1 of 5 tuples where two is longer than 2 tokens");
  CHECK_STRING (report[2], "train: dropped 1 of 5 tuples where the target out is empty");
  g_auto (GStrv) text = plait_corpus_text (corpus, 2, NO_ERROR);
  REQUIRE (g_strv_length (text) == 2);
  CHECK_STRING (text[0], "c");
  CHECK_STRING (text[1], "b b");
  const gint64 tuples[] = { 1 };
  g_autoptr (PlaitBatch) batch = plait_corpus_batch (corpus, tuples, 1, NO_ERROR);
  check_ids (batch->target_outputs, 3, "5 5 2 ");

  setup.settings.keep_all = TRUE;
  g_autoptr (PlaitCorpus) whole = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  CHECK_INT (plait_corpus_size (whole), 5);
  CHECK_INT (plait_corpus_length (whole, 2, 3), 1);
  g_auto (GStrv) quiet = plait_corpus_report (whole);
  CHECK_INT (g_strv_length (quiet), 0);

  setup.settings.keep_all = FALSE;
  setup.target.maximum_length = 1;
  setup.sources[0].maximum_length = 1;
  plait_test_write ("one", "a a\na a\na a\na a\na a\n");
  CHECK (!plait_corpus_open (&setup.settings, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT,
               "no tuple of the train corpus is left (train: dropped 5 of 5 tuples where one is longer than 1 tokens)");
}

/* Drops a pair if its source or its target is longer than the limit, not counting EOS. Of pairs with (2, 2), (3, 1),
 * (1, 3), (3, 3) and (1, 1) tokens, the limit 2 keeps the first and the last. */
TEST_CASE (corpus, drops_pairs_either_side_of_which_is_too_long)
{
  g_auto (DataText) setup = { 0 };
  data_text_set_up (&setup, "a a\na a a\na\na a a\na\n", "b\nb\nb\nb\nb\n", "c c\nc\nc c c\nc c c\nc\n");
  setup.sources[0].append_end = TRUE;
  setup.sources[0].maximum_length = setup.target.maximum_length = 2;
  g_autoptr (PlaitCorpus) corpus = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  REQUIRE (corpus && plait_corpus_size (corpus) == 2);
  CHECK_INT (plait_corpus_line (corpus, 0), 0);
  CHECK_INT (plait_corpus_line (corpus, 1), 4);
  CHECK_INT (plait_corpus_length (corpus, 0, 0), 3); /* two tokens and EOS */
  CHECK_INT (plait_corpus_counts (corpus, 0)->dropped_long, 2);
  CHECK_INT (plait_corpus_counts (corpus, 2)->dropped_long, 1); /* a pair counts only once, for its source */
}

static void
check_refused (DataText *setup, const char *message)
{
  CONTEXT ("expecting %s", message);
  g_autoptr (GError) error = NULL;
  CHECK (!plait_corpus_open (&setup->settings, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, message);
}

TEST_CASE (corpus, refuses_bad_input_by_file_and_line)
{
  g_auto (DataText) setup = { 0 };
  data_text_set_up (&setup, "a\nb\nc\n", "a\nb\nc\nd\na\n", "a\nb\nc\n");
  check_refused (&setup, "two.gz:4: the file has 5 lines, but ");
  check_refused (&setup, "one has 3; expected equal numbers");

  plait_test_write ("one", "a\nb\nc\nd\na\n");
  check_refused (&setup, "target:4: the file has 3 lines, but ");

  plait_test_write ("target", "a\nb\n\nd\na\n");
  setup.settings.empty_is_error = TRUE;
  check_refused (&setup, "target:3: the line is empty; expected a sentence of out, since empty=error (empty=missing "
                         "drops training tuples with an empty target)");
  plait_test_write ("target", "a\nb\n \t\v\f\r\r\nd\na\n");
  check_refused (&setup, "target:3: the line is empty");
  setup.settings.empty_is_error = FALSE;

  plait_test_write ("target", "a\nb\nc\n\xc3(\na\n");
  check_refused (&setup, "target:4: byte 1 of the line (0xc3) is not UTF-8");

  plait_test_write ("target", "");
  plait_test_write ("one", "");
  plait_test_write_gzip ("two.gz", "", 0);
  check_refused (&setup, "one: the file is empty; expected one sentence a line");

  g_remove (setup.paths[1]);
  check_refused (&setup, "two.gz: cannot be opened (");
  setup.sources[1].paths = data_paths (plait_test_folder ());
  check_refused (&setup, "is a folder; expected a text file");
}

TEST_CASE (corpus, notices_text_that_changes)
{
  g_auto (DataText) setup = { 0 };
  data_text_set_up (&setup, "a\nb\n", "a\nb\n", "a\nb\n");
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitCorpus) corpus = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  plait_test_write ("target", "a\n");
  CHECK (!plait_corpus_text (corpus, 2, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "target: the file has been changed while it was in use");
  /* Detects a change even if the numbers of lines and bytes stay the same. */
  plait_test_write ("target", "a\nb\n");
  g_autoptr (PlaitCorpus) again = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  REQUIRE (again != NULL);
  CHECK (plait_corpus_check (again, NO_ERROR));
  plait_test_write ("target", "a\nc\n");
  CHECK (!plait_corpus_text (again, 2, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "target: the file has been changed while it was in use");
  CHECK (!plait_corpus_check (again, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "target: the file has been changed while it was in use");
  g_remove (setup.paths[2]);
  CHECK (!plait_corpus_text (again, 2, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "target: the file was removed while it was in use");
}

TEST_CASE (corpus, is_the_same_for_any_threads)
{
  g_auto (DataText) setup = { 0 };
  g_autoptr (GString) text = g_string_new (NULL);
  for (int i = 0; i < 10000; i++)
    {
      for (int j = 0; j < i * 31 % 11; j++)
        g_string_append_printf (text, "%c ", 'a' + (i * 7 + j * j) % 5);
      g_string_append (text, "d\n");
    }
  data_text_set_up (&setup, text->str, text->str, text->str);
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitPool) pool = plait_pool_new (3, NULL);
  g_autoptr (PlaitCorpus) alone = plait_corpus_open (&setup.settings, NULL, NO_ERROR);
  g_autoptr (PlaitCorpus) shared = plait_corpus_open (&setup.settings, pool, NO_ERROR);
  REQUIRE (plait_corpus_size (alone) == 10000 && plait_corpus_size (shared) == 10000);
  g_autoptr (GArray) tuples = g_array_new (FALSE, FALSE, sizeof (gint64));
  for (gint64 i = 0; i < 10000; i++)
    g_array_append_val (tuples, i);
  g_autoptr (PlaitBatch) a = plait_corpus_batch (alone, (gint64 *)tuples->data, 10000, &error);
  g_autoptr (PlaitBatch) b = plait_corpus_batch (shared, (gint64 *)tuples->data, 10000, &error);
  REQUIRE (a && b);
  gint64 rows = plait_ragged_rows (a->target_rows);
  REQUIRE (rows == plait_ragged_rows (b->target_rows));
  CHECK (memcmp (a->target_outputs, b->target_outputs, (gsize)rows * sizeof (gint32)) == 0);
  CHECK (memcmp (a->inputs[1].tokens, b->inputs[1].tokens, (gsize)(rows - 10000) * sizeof (gint32)) == 0);
}

TEST_CASE (corpus, fills_one_source_with_noise)
{
  g_autoptr (PlaitCorpus) plain = data_corpus (40);
  g_autoptr (PlaitCorpus) noisy = data_corpus (40);
  g_autoptr (PlaitCorpus) again = data_corpus (40);
  g_autoptr (PlaitCorpus) other = data_corpus (40);
  g_autoptr (GError) error = NULL;
  guint64 known = 0, drawn = 0;
  guint changed = 0, apart = 0;
  plait_corpus_add_noise (noisy, 0, 5);
  plait_corpus_add_noise (again, 0, 5);
  plait_corpus_add_noise (other, 0, 6);
  for (gint64 i = 0; i < 40; i++)
    {
      g_autoptr (PlaitBatch) a = plait_corpus_batch (plain, &i, 1, &error);
      g_autoptr (PlaitBatch) b = plait_corpus_batch (noisy, &i, 1, &error);
      g_autoptr (PlaitBatch) c = plait_corpus_batch (again, &i, 1, &error);
      g_autoptr (PlaitBatch) d = plait_corpus_batch (other, &i, 1, &error);
      gint64 n = plait_ragged_rows (a->inputs[0].rows);
      CHECK_INT (plait_ragged_rows (b->inputs[0].rows), n);
      CHECK ((b->inputs[0].tokens[n - 1] == PLAIT_TOKEN_EOS) == (a->inputs[0].tokens[n - 1] == PLAIT_TOKEN_EOS));
      CHECK (memcmp (b->inputs[0].tokens, c->inputs[0].tokens, (gsize)n * sizeof (gint32)) == 0);
      CHECK_INT (b->target_outputs[0], a->target_outputs[0]);
      CHECK_INT (plait_ragged_rows (b->inputs[1].rows), plait_ragged_rows (a->inputs[1].rows));
      for (gint64 k = 0; k < n; k++)
        {
          known |= G_GUINT64_CONSTANT (1) << a->inputs[0].tokens[k];
          drawn |= G_GUINT64_CONSTANT (1) << b->inputs[0].tokens[k];
          changed += a->inputs[0].tokens[k] != b->inputs[0].tokens[k];
          apart += d->inputs[0].tokens[k] != b->inputs[0].tokens[k];
        }
    }
  CHECK (changed > 20 && apart > 20);
  CHECK ((drawn & ~known) == 0); /* the noise has only tokens that occur in the source */
}

TEST_CASE (corpus, leaves_one_source_out)
{
  g_autoptr (PlaitCorpus) plain = data_corpus (40);
  g_autoptr (PlaitCorpus) without = data_corpus (40);
  plait_corpus_remove_source (without, 0);
  const gint64 tuples[] = { 3, 7 };
  g_autoptr (PlaitBatch) a = plait_corpus_batch (plain, tuples, 2, NO_ERROR);
  g_autoptr (PlaitBatch) b = plait_corpus_batch (without, tuples, 2, NO_ERROR);
  REQUIRE (a && b);
  CHECK_INT (plait_ragged_rows (b->inputs[0].rows), 0);
  CHECK_INT (b->inputs[0].n_missing, 2);
  CHECK_INT (plait_corpus_length (without, 0, 3), 0);
  CHECK_INT (plait_ragged_rows (b->inputs[1].rows), plait_ragged_rows (a->inputs[1].rows));
  CHECK_INT (b->target_outputs[0], a->target_outputs[0]);
}

TEST_CASE (corpus, takes_one_source_from_other_tuples)
{
  g_autoptr (PlaitCorpus) plain = data_corpus (40);
  g_autoptr (PlaitCorpus) deranged = data_corpus (40);
  g_autoptr (PlaitCorpus) again = data_corpus (40);
  g_autoptr (GError) error = NULL;
  CHECK (plait_corpus_derange (deranged, 0, 5, &error));
  CHECK (plait_corpus_derange (again, 0, 5, &error));
  guint64 seen = 0;
  for (gint64 i = 0; i < 40; i++)
    {
      g_autoptr (PlaitBatch) a = plait_corpus_batch (plain, &i, 1, &error);
      g_autoptr (PlaitBatch) b = plait_corpus_batch (deranged, &i, 1, &error);
      g_autoptr (PlaitBatch) c = plait_corpus_batch (again, &i, 1, &error);
      gint32 from = b->inputs[0].tokens[0];
      CHECK (from != a->inputs[0].tokens[0]);
      CHECK_INT (from, c->inputs[0].tokens[0]);
      CHECK_INT (b->target_outputs[0], a->target_outputs[0]);
      CHECK_INT (b->inputs[1].n_missing, a->inputs[1].n_missing);
      seen |= G_GUINT64_CONSTANT (1) << (from - 4);
    }
  CHECK (seen == (G_GUINT64_CONSTANT (1) << 40) - 1);
  g_autoptr (PlaitCorpus) single = data_corpus (1);
  CHECK (!plait_corpus_derange (single, 0, 5, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "a single tuple cannot be shuffled");
}
