/* SPDX-License-Identifier: MIT */
#include "tasks/generate.h"

#include <math.h>
#include <string.h>

#include "text/error.h"
#include "data-files.h"
#include "files.h"
#include "harness.h"

/* Lines of one tuple of the task agreement. */
typedef struct
{
  GString *lines[4];
} Tuple;

static void
tuple_clear (Tuple *tuple)
{
  for (int s = 0; s < 4; s++)
    if (tuple->lines[s])
      g_string_free (tuple->lines[s], TRUE);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Tuple, tuple_clear)

static void
make_tuple (Tuple *tuple, const PlaitTaskSettings *settings, gint64 split, gint64 index)
{
  for (int s = 0; s < 4; s++)
    if (!tuple->lines[s])
      tuple->lines[s] = g_string_new (NULL);
  plait_task_tuple (&plait_task_agreement, settings, split, index, tuple->lines);
}

/* Returns the texts of those sources of @tuple that are in the bit mask @mask. (transfer full) */
static char *
known_sources (const Tuple *tuple, int mask)
{
  GString *known = g_string_new (NULL);
  for (int s = 0; s < 3; s++)
    g_string_append_printf (known, "%s|", mask & 1 << s ? tuple->lines[s]->str : "");
  return g_string_free (known, FALSE);
}

/* Returns the fraction of @tuples tuples that the best predictor from the sources in @mask gets right. For each tuple
 * it predicts the target that occurs most often with these sources in as many other tuples. If all possible targets are
 * equally likely, this is an unbiased estimate of the bound. */
static double
best_accuracy (const PlaitTaskSettings *settings, int mask, gint64 tuples)
{
  g_autoptr (GHashTable) counts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) best = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_autoptr (GHashTable) best_counts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_auto (Tuple) tuple = { 0 };
  for (gint64 i = 0; i < tuples; i++)
    {
      make_tuple (&tuple, settings, 0, i);
      char *known = known_sources (&tuple, mask);
      char *both = g_strconcat (known, tuple.lines[3]->str, NULL);
      int count = GPOINTER_TO_INT (g_hash_table_lookup (counts, both)) + 1;
      g_hash_table_insert (counts, both, GINT_TO_POINTER (count));
      if (count > GPOINTER_TO_INT (g_hash_table_lookup (best_counts, known)))
        {
          g_hash_table_insert (best_counts, g_strdup (known), GINT_TO_POINTER (count));
          g_hash_table_insert (best, g_strdup (known), g_strdup (tuple.lines[3]->str));
        }
      g_free (known);
    }
  gint64 right = 0;
  for (gint64 i = 0; i < tuples; i++)
    {
      make_tuple (&tuple, settings, 1, i);
      g_autofree char *known = known_sources (&tuple, mask);
      right += g_strcmp0 (g_hash_table_lookup (best, known), tuple.lines[3]->str) == 0;
    }
  return (double)right / (double)tuples;
}

TEST_CASE (agreement, needs_every_source)
{
  /* Only the facts of the grammar are unknown, because each class has one word. Each fact has two or three values. */
  g_auto (PlaitTaskSettings) settings = plait_task_defaults (&plait_task_agreement);
  for (gint64 i = 0; i < plait_task_agreement.n_parameters; i++)
    settings.values[i] = 1;
  const int n = 40000;
  const double both = 1. / 4 + 3. / 4 * 1. / 8; /* mean over events with and without an object, if b is unknown */
  const struct
  {
    int mask;
    double bound;
  } cases[] = {
    { 1, 1. / 8 * both / 12 },
    { 2, 1. / 2 * (1. / 4 + 3. / 4 / 4) / 12 },
    { 3, 1. / 12 },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("sources %d", cases[i].mask);
      double accuracy = best_accuracy (&settings, cases[i].mask, n);
      CHECK_NEAR (accuracy, cases[i].bound, 4 * sqrt (cases[i].bound * (1 - cases[i].bound) / n));
    }
}

TEST_CASE (agreement, is_a_function_of_all_sources)
{
  g_auto (PlaitTaskSettings) settings = plait_task_defaults (&plait_task_agreement);
  for (gint64 i = 0; i < plait_task_agreement.n_parameters; i++)
    settings.values[i] = 2;
  g_autoptr (GHashTable) targets = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_auto (Tuple) tuple = { 0 };
  int seen_again = 0;
  for (gint64 i = 0; i < 20000; i++)
    {
      make_tuple (&tuple, &settings, 0, i);
      char *known = known_sources (&tuple, 7);
      const char *target = g_hash_table_lookup (targets, known);
      if (target)
        CHECK_STRING (tuple.lines[3]->str, target);
      seen_again += target != NULL;
      g_hash_table_insert (targets, known, g_strdup (tuple.lines[3]->str));
    }
  CHECK (seen_again > 100);
}

TEST_CASE (agreement, has_a_small_vocabulary_and_short_sentences)
{
  g_auto (PlaitTaskSettings) settings = plait_task_defaults (&plait_task_agreement);
  GHashTable *words[4];
  for (int s = 0; s < 4; s++)
    words[s] = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_auto (Tuple) tuple = { 0 };
  for (gint64 i = 0; i < 4000; i++)
    {
      make_tuple (&tuple, &settings, 0, i);
      for (int s = 0; s < 4; s++)
        {
          g_auto (GStrv) tokens = g_strsplit (tuple.lines[s]->str, " ", -1);
          guint n = g_strv_length (tokens);
          CHECK (n >= 2 - (s == 1) && n <= 10);
          for (guint j = 0; j < n; j++)
            {
              CHECK (*tokens[j] != '\0');
              g_hash_table_add (words[s], g_strdup (tokens[j]));
            }
        }
    }
  /* Numbers of words: the first source has 24 x 2 nouns, 12 verbs and "o"; the second 8 role words and 8 more; the
   * third 2 + 3 + 4. The target has 16 articles, 8 x 2 adjectives, 24 x 2 nouns, 12 x 6 verbs, 4 adverbs and "ne". */
  CHECK_INT (g_hash_table_size (words[0]), 24 * 2 + 12 + 1);
  CHECK_INT (g_hash_table_size (words[1]), 8 + 8);
  CHECK_INT (g_hash_table_size (words[2]), 2 + 3 + 4);
  CHECK_INT (g_hash_table_size (words[3]), 16 + 8 * 2 + 24 * 2 + 12 * 6 + 4 + 1);
  for (int s = 0; s < 4; s++)
    g_hash_table_unref (words[s]);
}

TEST_CASE (agreement, repeats_itself_by_seed)
{
  g_auto (PlaitTaskSettings) settings = plait_task_defaults (&plait_task_agreement);
  g_auto (Tuple) first = { 0 }, again = { 0 }, other = { 0 }, validation = { 0 };
  int same_seed = 0, same_split = 0;
  for (gint64 i = 0; i < 200; i++)
    {
      settings.seed = 1;
      make_tuple (&first, &settings, 0, i);
      make_tuple (&again, &settings, 0, i);
      make_tuple (&validation, &settings, 1, i);
      settings.seed = 2;
      make_tuple (&other, &settings, 0, i);
      for (int s = 0; s < 4; s++)
        CHECK_STRING (again.lines[s]->str, first.lines[s]->str);
      same_seed += strcmp (first.lines[3]->str, other.lines[3]->str) == 0;
      same_split += strcmp (first.lines[3]->str, validation.lines[3]->str) == 0;
    }
  CHECK_INT (same_seed, 0);
  CHECK_INT (same_split, 0);
}

TEST_CASE (agreement, tests_on_what_it_does_not_train_on)
{
  g_auto (PlaitTaskSettings) settings = plait_task_defaults (&plait_task_agreement);
  g_autoptr (GHashTable) train = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_auto (Tuple) tuple = { 0 };
  for (gint64 i = 0; i < settings.sizes[0]; i++)
    {
      make_tuple (&tuple, &settings, 0, i);
      g_hash_table_add (train, g_strdup (tuple.lines[3]->str));
    }
  int seen = 0;
  for (gint64 i = 0; i < settings.sizes[2]; i++)
    {
      make_tuple (&tuple, &settings, 2, i);
      seen += g_hash_table_contains (train, tuple.lines[3]->str);
    }
  CHECK (seen < settings.sizes[2] * 3 / 100);
}

TEST_CASE (generate, writes_a_corpus_that_opens)
{
  g_auto (PlaitTaskSettings) settings = plait_task_defaults (&plait_task_agreement);
  const char *folder = plait_test_path ("made/here");
  g_autoptr (GError) error = NULL;
  CHECK (plait_task_set (&plait_task_agreement, &settings, "train", 50, NO_ERROR));
  CHECK (plait_task_set (&plait_task_agreement, &settings, "validation", 20, NO_ERROR));
  CHECK (plait_task_set (&plait_task_agreement, &settings, "test", 10, NO_ERROR));
  CHECK (plait_task_set (&plait_task_agreement, &settings, "nouns", 30, NO_ERROR));
  CHECK (plait_task_write (&plait_task_agreement, &settings, folder, NO_ERROR));

  g_autofree char *a = g_build_filename (folder, "train.a", NULL);
  g_autofree char *target_path = g_build_filename (folder, "train.target", NULL);
  const char *const paths[] = { a, target_path, NULL };
  PlaitVocabularySettings vocabulary_settings = PLAIT_VOCABULARY_DEFAULTS;
  vocabulary_settings.type = "words";
  g_autoptr (PlaitVocabulary) vocabulary = plait_vocabulary_train (&vocabulary_settings, paths, NO_ERROR);
  PlaitCorpusStream source = data_tokens ("a", a, vocabulary);
  PlaitCorpusStream target = data_tokens ("target", target_path, vocabulary);
  PlaitCorpusSettings corpus_settings
      = { .split = "train", .sources = &source, .n_sources = 1, .target = &target, .empty_is_error = TRUE };
  g_autoptr (PlaitCorpus) corpus = plait_corpus_open (&corpus_settings, NULL, NO_ERROR);
  REQUIRE (corpus != NULL);
  CHECK_INT (plait_corpus_size (corpus), 50);
  CHECK_INT (plait_corpus_counts (corpus, 1)->unknown, 0);

  /* Line 8 of the file is tuple 7. */
  g_auto (GStrv) lines = plait_corpus_text (corpus, 1, &error);
  g_auto (Tuple) tuple = { 0 };
  make_tuple (&tuple, &settings, 0, 7);
  CHECK_STRING (lines[7], tuple.lines[3]->str);
}

TEST_CASE (generate, refuses_what_is_not_there)
{
  g_autoptr (GError) error = NULL;
  g_auto (PlaitTaskSettings) settings = plait_task_defaults (&plait_task_agreement);
  CHECK (plait_task_find ("agreement", &error) == &plait_task_agreement);
  CHECK (!plait_task_find ("agrement", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "did you mean \"agreement\"?");
  CHECK (!plait_task_find ("zzz", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "expected one of agreement");
  CHECK (!plait_task_set (&plait_task_agreement, &settings, "nouns", 0, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "Parameter nouns of task agreement cannot be 0; expected 1 to 400");
  CHECK (!plait_task_set (&plait_task_agreement, &settings, "train", 0, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "Parameter train");
  CHECK (!plait_task_set (&plait_task_agreement, &settings, "noun", 5, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "has no parameter \"noun\"");
  const char *file = plait_test_write_bytes ("file", "x", 1);
  CHECK (!plait_task_write (&plait_task_agreement, &settings, file, &error));
  CHECK (error != NULL);
}

TEST_CASE (generate, names_text_that_is_made_otherwise)
{
  static const struct
  {
    const char *text, *stream, *again; /* text to parse; its stream, or NULL if it is refused; its canonical form */
    const char *error;
  } cases[] = {
    { "a", "a", "a" },
    { "target train=7 seed=2", "target", "target seed=2 train=7" },
    { "b train=6000 test=3", "b", "b" },
    { "", NULL, NULL, "\"\" is not a stream of the task agreement" },
    { "tarjet", NULL, NULL, "\"tarjet\" is not a stream of the task agreement; did you mean \"target\"?" },
    { "a train", NULL, NULL, "\"train\" does not set a parameter of task agreement; write NAME=INTEGER" },
    { "a train=many", NULL, NULL, "\"train=many\" does not set a parameter" },
    { "a colour=1", NULL, NULL, "Task agreement has no parameter \"colour\"" },
  };
  const PlaitTask *task = plait_task_find ("agreement", NULL);
  g_auto (PlaitTaskSettings) base = plait_task_defaults (task);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("%s", cases[i].text);
      g_auto (PlaitTaskSettings) settings = { 0 };
      g_autoptr (GError) error = NULL;
      const char *stream = plait_task_parse_text (task, &base, cases[i].text, &settings, &error);
      g_autofree char *again = stream ? plait_task_name_text (task, &base, stream, &settings) : NULL;

      CHECK_STRING (stream, cases[i].stream);
      CHECK_STRING (again, cases[i].again);
      if (cases[i].error)
        CHECK_ERROR (error, PLAIT_ERROR_INPUT, cases[i].error);
    }
}
