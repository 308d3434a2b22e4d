/* SPDX-License-Identifier: MIT */
#include "files.h"
#include "harness.h"
#include "initial.h"
#include "run/result.h"
#include "runs.h"

#include <string.h>

/* Tests of runs that predict a tag for each token of the first source. */

/* Writes @n lines of words and of their tags. A tag says whether the number in the word is odd or even. If the line of
 * the second source is "turned", the two tags are exchanged. */
static void
write_split (const char *split, guint n, guint64 seed)
{
  g_autoptr (GString) words = g_string_new (NULL);
  g_autoptr (GString) signs = g_string_new (NULL);
  g_autoptr (GString) tags = g_string_new (NULL);
  PlaitRandomKey key = plait_random_key (seed, "tags", NULL, 0);

  for (guint i = 0; i < n; i++)
    {
      guint length = 1 + (guint)plait_random_below (key, i * 32, 6);
      gboolean turned = plait_random_below (key, i * 32 + 1, 2);

      for (guint k = 0; k < length; k++)
        {
          guint word = (guint)plait_random_below (key, i * 32 + 2 + k, 6);

          g_string_append_printf (words, "%sw%u", k ? " " : "", word);
          g_string_append_printf (tags, "%s%s", k ? " " : "", (word % 2) ^ (guint)turned ? "odd" : "even");
        }
      g_string_append (words, "\n");
      g_string_append (tags, "\n");
      g_string_append (signs, turned ? "turned\n" : "straight\n");
    }
  plait_test_write (plait_test_format ("%s.text", split), words->str);
  plait_test_write (plait_test_format ("%s.sign", split), signs->str);
  plait_test_write (plait_test_format ("%s.tags", split), tags->str);
}

/* Returns the path of an experiment over the files that write_split() writes. (transfer none) */
static const char *
write_experiment (void)
{
  g_autoptr (GString) text = g_string_new ("[experiment]\nseed=3\n[data]\ntarget=tags\nvocabulary_type=words\n");
  static const char *const splits[] = { "train", "validation", "test" };
  static const char *const streams[] = { "text", "sign", "tags" };

  for (guint i = 0; i < 3; i++)
    for (guint k = 0; k < 3; k++)
      g_string_append_printf (text, "%s.%s=%s.%s\n", splits[i], streams[k], splits[i], streams[k]);
  g_string_append (text, "[predict]\nkind=tags\nrow=mean\n"
                         "[source text]\nencoder=transformer\nlayers=1\nheads=2\nfeed_forward=16\n"
                         "[source sign]\nencoder=transformer\nlayers=0\n"
                         "[decoder]\nwidth=16\n"
                         "[train]\nbatch=16\nepochs=12\nwarm_up=20\nlearning_rate=1\nvalidate_every=50\nlog_every=50\n"
                         "[evaluate]\nresamples=50\n");
  write_split ("train", 400, 1);
  write_split ("validation", 20, 2);
  write_split ("test", 40, 3);
  return plait_test_write ("tags.ini", text->str);
}

/* Returns the accuracy of the tags of @run on its test set. */
static double
word_accuracy (PlaitStore *run)
{
  g_autoptr (PlaitRunResult) result = plait_run_result_new (run, NO_ERROR);
  const PlaitRunScore *score = result ? plait_run_result_find (result, "test", "accuracy:words") : NULL;

  CHECK (score != NULL);
  return score ? score->score : 0;
}

/* The tags depend on both sources: with one of them, a model can only guess. */
TEST_CASE (tags, are_learnt_from_both_sources)
{
  const char *experiment = write_experiment ();
  g_autoptr (PlaitStore) both = test_run_open (experiment, NULL, "both.h5");
  g_autoptr (PlaitStore) one
      = test_run_open (experiment, (const char *[]){ "experiment.sources=text", NULL }, "one.h5");
  gint64 n = 0;

  REQUIRE (both && one);
  CHECK (word_accuracy (both) > 95);
  CHECK (word_accuracy (one) < 70);
  g_auto (GStrv) said = plait_store_read_strings (both, "/evaluation/test/hypotheses", 100, &n, NO_ERROR);
  g_auto (GStrv) references = plait_store_read_strings (both, "/evaluation/test/references", 100, NULL, NO_ERROR);
  REQUIRE (said && references);
  CHECK_INT (n, 40);
  for (gint64 i = 0; i < n; i++)
    {
      g_auto (GStrv) a = g_strsplit (said[i], " ", -1), b = g_strsplit (references[i], " ", -1);

      CHECK_INT (g_strv_length (a), g_strv_length (b));
    }
}

TEST_CASE (tags, have_the_same_bits_again)
{
  test_check_interruption (write_experiment (), 30, 2);
}

/* Replaces the tag "odd" of @split by "uneven". */
static void
rename_tag (const char *split)
{
  const char *path = plait_test_path (plait_test_format ("%s.tags", split));
  g_autofree char *text = NULL;
  g_autoptr (GString) renamed = NULL;

  REQUIRE (g_file_get_contents (path, &text, NULL, NULL));
  renamed = g_string_new (text);
  g_string_replace (renamed, "odd", "uneven", 0);
  CHECK (g_file_set_contents (path, renamed->str, -1, NULL));
}

/* A run takes the output layer of another run only if the tags have equal names. */
TEST_CASE (tags, of_other_names_have_another_output_layer)
{
  const char *experiment = write_experiment ();
  g_autoptr (PlaitStore) base = test_run_open (experiment, (const char *[]){ "train.updates=2", NULL }, "base.h5");
  const char *const warm[] = { "train.initialise=base.h5", NULL };
  g_autoptr (PlaitStore) equal = test_run_still (experiment, "equal.h5", warm, NULL, NO_ERROR);
  g_autoptr (PlaitStore) other = NULL;

  rename_tag ("train");
  rename_tag ("validation");
  rename_tag ("test");
  other = test_run_still (experiment, "other.h5", warm, NULL, NO_ERROR);
  REQUIRE (base && equal && other);
  TEST_CHECK_OUTCOME (equal, "tags/output/weight", "taken");
  TEST_CHECK_OUTCOME (other, "tags/output/weight", "other vocabulary");
}

static void
check_refused (const char *experiment, const char *set, const char *message)
{
  const char *overrides[] = { set, NULL };
  GError *error = NULL;
  CONTEXT ("%s", set ? set : message);

  CHECK (!test_run_with (experiment, overrides, plait_test_path ("refused.h5"), FALSE, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, message);
  g_clear_error (&error);
}

TEST_CASE (tags, are_refused_where_they_do_not_fit)
{
  const char *experiment = write_experiment ();

  check_refused (experiment, "train.source_dropout=.1", "source_dropout: 0.1 would drop the first source too");
  check_refused (experiment, "data.document_length=10",
                 "document_length: limits the length of documents, so tokens with tags might be cut off");
  plait_test_write ("test.tags", "odd even\n");
  plait_test_write ("test.text", "w1\n");
  plait_test_write ("test.sign", "turned\n");
  check_refused (experiment, NULL, "test.tags:1: has 2 tags, but the first source has 1 tokens there");
  plait_test_write ("test.tags", "old\n");
  check_refused (experiment, NULL, "test.tags:1: the label \"old\" does not occur in training");
  plait_test_write ("test.tags", "\n");
  check_refused (experiment, NULL, "test.tags:1: the line is empty; expected a sentence of tags");
}

/* An unknown tag counts as wrong. The line with the tag has no reference tokens, so perplexity leaves it out. */
TEST_CASE (tags, may_be_unknown_in_scored_sets)
{
  const char *experiment = write_experiment ();
  const char *overrides[] = { "predict.unknown_labels=wrong", NULL };

  plait_test_write ("test.text", "w1 w2\nw1 w3\n");
  plait_test_write ("test.sign", "straight\nstraight\n");
  plait_test_write ("test.tags", "odd new\nodd odd\n");
  g_autoptr (PlaitStore) run = test_run_open (experiment, overrides, "unknown.h5");
  gint64 n = 0;

  REQUIRE (run != NULL);
  g_autofree gint64 *tokens
      = plait_store_read_array (run, "/evaluation/test/reference_tokens", PLAIT_STORE_INT64, 10, &n, NO_ERROR);
  CHECK_INT (n, 2);
  REQUIRE (tokens != NULL);
  CHECK_INT (tokens[0], 0);
  CHECK_INT (tokens[1], 2);
  CHECK_NEAR (word_accuracy (run), 75, 1e-9);
}

/* A masked word can only be guessed if the other source is missing. */
TEST_CASE (tags, masked_tokens_are_learnt_from_other_sources_too)
{
  g_autoptr (GString) words = g_string_new (NULL);
  const char *experiment = plait_test_write (
      "masked.ini", "[experiment]\nseed=3\n[data]\ntarget=text\nvocabulary_type=words\nvocabulary=separate\n"
                    "train.text=words\ntrain.copy=words\nvalidation.text=words\nvalidation.copy=words\n"
                    "test.text=words\ntest.copy=words\n"
                    "[predict]\nkind=masked\nmask_rate=1\nmask_share=1\nrandom_share=0\n"
                    "[source text]\nencoder=transformer\nlayers=0\n[source copy]\nencoder=transformer\nlayers=0\n"
                    "[decoder]\nwidth=16\nheads=2\n"
                    "[train]\nbatch=16\nepochs=30\nwarm_up=20\nlearning_rate=1\n[evaluate]\nresamples=50\n");

  for (guint i = 0; i < 60; i++)
    g_string_append_printf (words, "w%u\n", i % 6);
  plait_test_write ("words", words->str);
  g_autoptr (PlaitStore) both = test_run_open (experiment, NULL, "both.h5");
  g_autoptr (PlaitStore) one
      = test_run_open (experiment, (const char *[]){ "experiment.sources=text", NULL }, "one.h5");

  REQUIRE (both && one);
  CHECK (word_accuracy (both) > 99);
  CHECK (word_accuracy (one) < 30);
  check_refused (experiment, "data.target=copy",
                 "target: is copy, but [predict] kind=masked predicts tokens of the first source");
}
