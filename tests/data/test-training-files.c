/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "data-files.h"
#include "corpus/iterator.h"
#include "files.h"
#include "harness.h"

/* Tests of corpora that consist of several files: their lines, their weights, and shares of their tuples. */

#define FIRST 7
#define SECOND 40

/* A source and a target in two files each. */
typedef struct
{
  PlaitVocabulary *vocabulary;
  const char *paths[2][3]; /* source, target; NULL-terminated */
  PlaitCorpusStream source, target;
  PlaitCorpusSettings settings;
} Files;

static const char *
write_lines (const char *name, gint64 lines, const char *word)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (gint64 i = 0; i < lines; i++)
    g_string_append_printf (text, "%s%s\n", word, i % 2 == 0 ? " a" : "");
  return plait_test_write (name, text->str);
}

static void
set_up (Files *files, gint64 first, gint64 second, gint64 second_of_target)
{
  files->vocabulary = data_words ("a a a a b b b c c d\n");
  files->source = data_tokens ("in", NULL, files->vocabulary);
  files->target = data_tokens ("out", NULL, files->vocabulary);
  files->paths[0][0] = write_lines ("1.in", first, "a");
  files->paths[0][1] = write_lines ("2.in", second, "c");
  files->paths[1][0] = write_lines ("1.out", first, "b");
  files->paths[1][1] = write_lines ("2.out", second_of_target, "d");
  files->source.paths = files->paths[0];
  files->target.paths = files->paths[1];
  files->settings = (PlaitCorpusSettings){ .split = "train", .sources = &files->source, .n_sources = 1 };
  files->settings.target = &files->target;
}

static void
files_clear (Files *files)
{
  plait_vocabulary_unref (files->vocabulary);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Files, files_clear)

TEST_CASE (training_files, are_read_one_after_the_other)
{
  g_auto (Files) files = { 0 };
  set_up (&files, 3, 2, 2);
  g_autoptr (PlaitCorpus) corpus = plait_corpus_open (&files.settings, NULL, NO_ERROR);
  const gint64 tuples[] = { 2, 3 };
  gint64 first, end;

  REQUIRE (corpus != NULL);
  CHECK_INT (plait_corpus_size (corpus), 5);
  CHECK_INT (plait_corpus_files (corpus), 2);
  g_autoptr (PlaitBatch) batch = plait_corpus_batch (corpus, tuples, 2, NO_ERROR);
  CHECK_INT (batch->inputs[0].tokens[0], 4); /* first word of "a a" */
  CHECK_INT (batch->inputs[0].tokens[2], 6); /* first word of "c a" */
  CHECK_INT (batch->target_outputs[0], 5);   /* first word of "b a" */
  CHECK_INT (batch->target_outputs[3], 7);   /* last word of "d a" */
  g_autofree char *place = plait_corpus_location (corpus, 0, 3);
  CHECK (g_str_has_suffix (place, "2.in:1"));
  g_autofree char *before = plait_corpus_location (corpus, 1, 2);
  CHECK (g_str_has_suffix (before, "1.out:3"));
  plait_corpus_file_tuples (corpus, 1, &first, &end);
  CHECK_INT (first, 3);
  CHECK_INT (end, 5);
  g_auto (GStrv) text = plait_corpus_text (corpus, 1, NO_ERROR);
  CHECK_STRING (text[3], "d a");
  CHECK_INT (g_strv_length (text), 5);
  CHECK (plait_corpus_check (corpus, NO_ERROR));
  write_lines ("2.out", 3, "d");
  g_autoptr (GError) error = NULL;
  CHECK (!plait_corpus_check (corpus, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "2.out");
}

TEST_CASE (training_files, must_have_equal_lines_in_pairs)
{
  g_auto (Files) files = { 0 };
  g_autofree char *first = NULL, *second = NULL;
  g_autoptr (GError) error = NULL;

  /* Source and target have seven lines each in total, but the two files of a pair differ. */
  set_up (&files, 3, 4, 4);
  write_lines ("1.in", 4, "a");
  write_lines ("2.in", 3, "c");
  CHECK (!plait_corpus_open (&files.settings, NULL, &error));
  first = g_strdup_printf ("%s:4: the file has 3 lines, but %s has 4;", files.paths[1][0], files.paths[0][0]);
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, first);

  write_lines ("1.in", 3, "a");
  CHECK (!plait_corpus_open (&files.settings, NULL, &error));
  second = g_strdup_printf ("%s:4: the file has 4 lines, but %s has 3;", files.paths[1][1], files.paths[0][1]);
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, second);

  files.paths[1][1] = NULL;
  CHECK (!plait_corpus_open (&files.settings, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "out has 1 files, but another stream has 2");
}

/* Counts how often each tuple comes in epoch @epoch. */
static void
count_epoch (PlaitIterator *iterator, gint64 epoch, gint64 *counts)
{
  CHECK (plait_iterator_seek (iterator, epoch, 0, NO_ERROR));
  for (gint64 b = plait_iterator_batches (iterator); b > 0; b--)
    {
      g_autoptr (PlaitBatch) batch = plait_iterator_next (iterator, NO_ERROR);

      for (gint64 i = 0; i < batch->n_sentences; i++)
        counts[batch->sentence[i]]++;
    }
}

/* An epoch of 47 tuples with weights 3 and 1 has 47 * 3 / 4 = 35.25 tuples of the first file and 11.75 of the second:
 * 35 and 12. In four epochs, the seven tuples of the first file come 140 times, each exactly 20 times, and the forty of
 * the second once or twice. */
TEST_CASE (training_files, are_drawn_by_weight)
{
  static const double weights[] = { 3, 1 };
  g_auto (Files) files = { 0 };
  set_up (&files, FIRST, SECOND, SECOND);
  g_autoptr (PlaitCorpus) corpus = plait_corpus_open (&files.settings, NULL, NO_ERROR);
  PlaitIteratorSettings settings = plait_iterator_defaults ();
  gint64 counts[FIRST + SECOND] = { 0 }, once[FIRST + SECOND] = { 0 };
  g_autofree gint64 *draws = NULL;

  settings.size = 5;
  plait_corpus_set_file_weights (corpus, weights);
  draws = plait_corpus_draws (corpus);
  CHECK_INT (draws[0], 35);
  CHECK_INT (draws[1], 12);
  g_autoptr (PlaitIterator) iterator = plait_iterator_new (corpus, &settings, NO_ERROR);
  for (gint64 epoch = 3; epoch >= 0; epoch--) /* reverse, since the order of an epoch does not depend on other epochs */
    count_epoch (iterator, epoch, counts);
  for (gint64 i = 0; i < FIRST + SECOND; i++)
    if (i < FIRST)
      CHECK_INT (counts[i], 20);
    else
      CHECK (counts[i] == 1 || counts[i] == 2);
  count_epoch (iterator, 3, once);
  for (gint64 i = 0; i < FIRST; i++)
    CHECK_INT (once[i], 5);
}

/* Returns the numbers of the lines that @corpus still has, as text. (transfer full) */
static char *
show_lines (const PlaitCorpus *corpus)
{
  GString *text = g_string_new (" ");

  for (gint64 i = 0; i < plait_corpus_size (corpus); i++)
    g_string_append_printf (text, "%jd ", plait_corpus_line (corpus, i));
  return g_string_free (text, FALSE);
}

/* Returns the lines that a share of @n tuples keeps. (transfer full) */
static char *
lines_of_share (Files *files, gint64 n, guint64 seed)
{
  g_autoptr (PlaitCorpus) corpus = plait_corpus_open (&files->settings, NULL, NO_ERROR);

  plait_corpus_keep (corpus, n, seed);
  CHECK_INT (plait_corpus_size (corpus), n);
  return show_lines (corpus);
}

TEST_CASE (training_files, shares_are_nested_and_seeded)
{
  g_auto (Files) files = { 0 };
  set_up (&files, FIRST, SECOND, SECOND);
  g_autofree char *smaller = lines_of_share (&files, 1, 5);

  for (gint64 n = 2; n <= FIRST + SECOND; n++)
    {
      g_autofree char *share = lines_of_share (&files, n, 5);
      g_auto (GStrv) lines = g_strsplit (smaller, " ", -1);

      for (guint i = 0; lines[i]; i++)
        {
          g_autofree char *line = g_strdup_printf (" %s ", lines[i]);

          CHECK (*lines[i] == '\0' || strstr (share, line));
        }
      g_free (smaller);
      smaller = g_steal_pointer (&share);
    }
  g_autofree char *one = lines_of_share (&files, 20, 5);
  g_autofree char *again = lines_of_share (&files, 20, 5);
  g_autofree char *other = lines_of_share (&files, 20, 6);
  CHECK_STRING (again, one);
  CHECK (strcmp (other, one) != 0);
}

/* Tuples keep the right text if some are dropped before or after a share is taken. */
TEST_CASE (training_files, shares_combine_with_dropped_tuples)
{
  g_auto (Files) files = { 0 };
  set_up (&files, FIRST, SECOND, SECOND);
  files.source.maximum_length = 1; /* this limit keeps the odd lines of each file */
  g_autoptr (PlaitCorpus) corpus = plait_corpus_open (&files.settings, NULL, NO_ERROR);
  gboolean dropped[12] = { TRUE, FALSE, TRUE };

  CHECK_INT (plait_corpus_size (corpus), 3 + SECOND / 2);
  plait_corpus_keep (corpus, 12, 3);
  plait_corpus_drop (corpus, dropped);
  CHECK_INT (plait_corpus_size (corpus), 10);
  for (gint64 i = 0; i < 10; i++)
    {
      g_autoptr (PlaitBatch) batch = plait_corpus_batch (corpus, &i, 1, NO_ERROR);
      gboolean first = plait_corpus_line (corpus, i) < FIRST;

      CHECK_INT (batch->inputs[0].rows.offsets[1], 1);
      CHECK_INT (batch->inputs[0].tokens[0], first ? 4 : 6);
      CHECK_INT (batch->target_outputs[0], first ? 5 : 7);
    }
}

TEST_CASE (training_files, have_weights_of_their_tuples)
{
  g_auto (Files) files = { 0 };
  set_up (&files, 3, 2, 2);
  files.source.maximum_length = 1; /* this limit keeps the second line of each file */
  const char *paths[] = { plait_test_write ("1.w", "1\n.5\n2\n"), plait_test_write_gzip ("2.w.gz", "3\n4e-1\n", -1) };
  g_autoptr (PlaitCorpus) corpus = plait_corpus_open (&files.settings, NULL, NO_ERROR);
  const gint64 tuples[] = { 1, 0 };
  g_autoptr (GError) error = NULL;
  g_autofree char *unequal = NULL;

  g_autoptr (PlaitBatch) plain = plait_corpus_batch (corpus, tuples, 2, NO_ERROR);
  CHECK (plain->weights[0] == 1 && plain->weights[1] == 1);
  REQUIRE (plait_corpus_read_weights (corpus, paths, NO_ERROR));
  g_autoptr (PlaitBatch) batch = plait_corpus_batch (corpus, tuples, 2, NO_ERROR);
  CHECK (batch->weights[0] == 0.4 && batch->weights[1] == 0.5);
  CHECK (plait_corpus_check (corpus, NO_ERROR));
  plait_test_write ("1.w", "1\n");
  CHECK (!plait_corpus_check (corpus, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "1.w");

  static const char *const bad[] = { "1\n0\n2\n", "1\n-1\n2\n", "1\ninf\n1\n", "1\n1 1\n1\n", "1\n\n1\n" };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (PlaitCorpus) other = plait_corpus_open (&files.settings, NULL, NO_ERROR);
      CONTEXT ("%s", bad[i]);

      plait_test_write ("1.w", bad[i]);
      CHECK (!plait_corpus_read_weights (other, paths, &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, "1.w:2: \"");
    }
  g_autoptr (PlaitCorpus) other = plait_corpus_open (&files.settings, NULL, NO_ERROR);
  plait_test_write ("1.w", "1\n1\n");
  CHECK (!plait_corpus_read_weights (other, paths, &error));
  unequal = g_strdup_printf ("1.w: the file has 2 weights, but %s has 3 sentences", files.paths[0][0]);
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, unequal);
}
