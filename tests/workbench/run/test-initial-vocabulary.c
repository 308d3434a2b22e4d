/* SPDX-License-Identifier: MIT */
#include "vocabulary/vocabulary.h"
#include "files.h"
#include "harness.h"
#include "initial.h"
#include "setup/vocabularies.h"
#include "runs.h"

#include <string.h>

/* Tests of the vocabulary that a run takes from the run whose parameters it begins with, and of runs that are named as
 * vocabularies. */

#define OTHER_TEXT "data.generate.seed=9"

static void
check_same_vocabulary (PlaitStore *run, const char *name, PlaitStore *base, const char *there)
{
  g_autofree char *path_there = g_strconcat ("/vocabulary/", there, NULL);
  g_autofree char *hash = plait_store_get_string (run, plait_test_format ("/vocabulary/%s", name), "sha256", NULL);
  g_autofree char *expected = plait_store_get_string (base, path_there, "sha256", NULL);

  CHECK (hash != NULL);
  CHECK_STRING (hash, expected);
}

/* The experiment has another text, from which it would learn another vocabulary. It takes the vocabulary of the base
 * run together with the embeddings; a line of the log says so. */
TEST_CASE (initial_vocabulary, comes_with_the_run)
{
  const char *experiment = test_write_experiment ("tiny", NULL);
  const char *base_path = test_base_run (experiment);
  g_autofree char *said = NULL;
  g_autofree char *line = NULL;
  g_autoptr (PlaitStore) base = plait_store_open (base_path, NO_ERROR);
  g_autoptr (PlaitStore) second = test_run_still (
      experiment, "second.h5", (const char *[]){ "train.initialise=base.h5", OTHER_TEXT, NULL }, &said, NO_ERROR);

  REQUIRE (base && second);
  check_same_vocabulary (second, "shared", base, "shared");
  TEST_CHECK_OUTCOME (second, "embedding/shared/table", "taken");
  CHECK (test_is_same (second, base, "best", "embedding/shared/table"));
  line = g_strdup_printf ("vocabulary shared is taken from %s:/vocabulary/shared, ", base_path);
  CHECK_CONTAINS (said, line);
  CHECK (!strstr (said, "learning vocabulary"));
  CHECK (!strstr (said, "warning"));
}

/* If an experiment names a vocabulary or asks to learn one, it gets that vocabulary, with a warning. */
TEST_CASE (initial_vocabulary, gives_way_to_the_one_that_the_experiment_names)
{
  const char *experiment = test_write_experiment ("tiny", NULL);
  const char *other_path = plait_test_path ("other.h5");

  test_base_run (experiment);
  CHECK (test_run_with (experiment, (const char *[]){ "train.updates=1", OTHER_TEXT, NULL }, other_path, FALSE, NULL,
                        NO_ERROR));
  for (guint i = 0; i < 2; i++)
    {
      const char *own = i == 0 ? "data.vocabulary.shared=other.h5" : "train.initialise_vocabulary=learnt";
      g_autofree char *name = g_strdup_printf ("second%u.h5", i);
      g_autofree char *said = NULL;
      CONTEXT ("%s", own);
      g_autoptr (PlaitStore) other = plait_store_open (other_path, NO_ERROR);
      g_autoptr (PlaitStore) second = test_run_still (
          experiment, name, (const char *[]){ "train.initialise=base.h5", OTHER_TEXT, own, NULL }, &said, NO_ERROR);

      REQUIRE (other && second);
      check_same_vocabulary (second, "shared", other, "shared");
      TEST_CHECK_OUTCOME (second, "embedding/shared/table", "other vocabulary");
      CHECK_CONTAINS (said, "warning: fresh random values, since the vocabulary differs: embedding/shared/table; the "
                            "parameters that are taken");
    }
}

/* If the base run lacks a source, this source learns its own vocabulary. If all streams of the base run share a
 * vocabulary, a source takes the shared vocabulary. */
TEST_CASE (initial_vocabulary, is_found_by_stream)
{
  static const char *const apart[] = { "experiment.sources=a", "data.vocabulary=separate",
                                       "decoder.share_embeddings=false", "train.updates=1", NULL };
  static const char *const more[]
      = { "train.initialise=base.h5", "data.vocabulary=separate", "decoder.share_embeddings=false", OTHER_TEXT, NULL };
  static const char *const fewer[] = { "train.initialise=base.h5",
                                       "data.vocabulary=separate",
                                       "experiment.sources=b",
                                       "decoder.share_embeddings=false",
                                       OTHER_TEXT,
                                       NULL };
  const char *experiment = test_write_experiment_of_two ("tiny", NULL);
  g_autofree char *said = NULL;
  g_autoptr (PlaitStore) base = test_run_open (experiment, apart, "base.h5");
  g_autoptr (PlaitStore) second = test_run_still (experiment, "second.h5", more, &said, NO_ERROR);

  REQUIRE (base && second);
  check_same_vocabulary (second, "a", base, "a");
  check_same_vocabulary (second, "target", base, "target");
  TEST_CHECK_OUTCOME (second, "source/a/embedding/table", "taken");
  TEST_CHECK_OUTCOME (second, "source/b/embedding/table", "fresh");
  CHECK_CONTAINS (said, "base.h5, which train.initialise names, has no vocabulary for b, so a new one is learnt\n");
  CHECK_CONTAINS (said, "learning vocabulary b (words) from 1 files\n");

  plait_store_free (g_steal_pointer (&base));
  plait_store_free (g_steal_pointer (&second));
  base = test_run_open (experiment, (const char *[]){ "decoder.share_embeddings=false", "train.updates=1", NULL },
                        "both.h5");
  second = test_run_still (experiment, "third.h5",
                           (const char *[]){ "train.initialise=both.h5", fewer[1], fewer[2], fewer[3], fewer[4], NULL },
                           NULL, NO_ERROR);
  REQUIRE (base && second);
  check_same_vocabulary (second, "b", base, "shared");
  TEST_CHECK_OUTCOME (second, "source/b/embedding/table", "taken");
}

/* A vocabulary of another kind, a run that lacks the vocabulary of a stream, and a run without vocabularies are
 * refused. */
TEST_CASE (initial_vocabulary, of_another_kind_is_refused)
{
  static const struct
  {
    const char *overrides[4];
    const char *part;
  } cases[] = {
    { { "train.initialise=base.h5", "data.vocabulary_type=bpe" },
      "base.h5:/vocabulary/shared (with train.initialise): is a vocabulary of words, but "
      "data.vocabulary_type=bpe expects a SentencePiece model; set train.initialise_vocabulary=learnt" },
    { { "data.vocabulary.shared=base.h5", "data.vocabulary_type=unigram" },
      "base.h5: is a vocabulary of words, but data.vocabulary_type=unigram expects a SentencePiece model; name another "
      "file" },
    { { "data.vocabulary=separate", "data.vocabulary.a=apart.h5", "data.vocabulary.b=apart.h5" },
      "apart.h5: has no vocabulary \"b\" (the vocabularies are: a, target); name another run, or a file" },
    { { "data.vocabulary.shared=bare.h5" }, "bare.h5: holds no vocabulary of text; name another run, or a file" },
  };
  static const char *const apart[] = { "experiment.sources=a", "data.vocabulary=separate",
                                       "decoder.share_embeddings=false", "train.updates=1", NULL };
  const char *experiment = test_write_experiment_of_two ("tiny", NULL);
  const char *output = plait_test_path ("none.h5");
  g_autoptr (PlaitStore) bare = plait_store_create (plait_test_path ("bare.h5"), NULL);

  test_base_run (experiment);
  plait_store_free (test_run_open (experiment, apart, "apart.h5"));
  CHECK (plait_store_make_group (bare, "/vocabulary", NULL) && plait_store_commit (bare, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      GError *error = NULL;
      CONTEXT ("%s", cases[i].overrides[0]);

      CHECK (!test_run_with (experiment, cases[i].overrides, output, FALSE, NULL, &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, cases[i].part);
      CHECK (!plait_test_exists (output));
    }
}

/* If a run that took a vocabulary is interrupted, it continues with this vocabulary. */
TEST_CASE (initial_vocabulary, stays_where_a_run_goes_on)
{
  const char *first = test_write_experiment ("tiny", NULL);
  const char *experiment = test_write_experiment ("second", "updates=5\ninitialise=base.h5");

  CHECK (test_run_with (first, (const char *[]){ "train.updates=1", OTHER_TEXT, NULL }, plait_test_path ("base.h5"),
                        FALSE, NULL, NO_ERROR));
  test_check_interruption (experiment, 3, 1);
}

/* A run that is named as a vocabulary gives its vocabulary of the given name, or its only one. */
TEST_CASE (initial_vocabulary, a_run_is_one_by_itself)
{
  static const char *const apart[] = { "experiment.sources=a", "data.vocabulary=separate",
                                       "decoder.share_embeddings=false", "train.updates=1", NULL };
  const char *experiment = test_write_experiment ("tiny", NULL);
  const char *base = test_base_run (experiment);
  const char *two = plait_test_path ("two.h5");
  GError *error = NULL;
  g_autoptr (PlaitVocabulary) only = plait_run_vocabulary_open (base, NULL, FALSE, NULL, NO_ERROR);
  g_autoptr (PlaitVocabulary) named = NULL;

  REQUIRE (only != NULL);
  CHECK_STRING (plait_vocabulary_format (only), "words");
  plait_store_free (test_run_open (experiment, apart, "two.h5"));
  named = plait_run_vocabulary_open (two, "target", FALSE, NULL, NO_ERROR);
  CHECK (named != NULL);
  CHECK (!plait_run_vocabulary_open (two, NULL, TRUE, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "two.h5: has several vocabularies (a, target); choose one with --name");
}
