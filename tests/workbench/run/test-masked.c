/* SPDX-License-Identifier: MIT */
#include "files.h"
#include "harness.h"
#include "run/result.h"
#include "runs.h"

#include <string.h>

/* Tests of runs that predict masked tokens, and of runs that begin with their parameters. */

/* Writes the experiment file of a tiny run, with the lines @data in [data], the lines @predict in [predict] and a
 * source "text". Returns its path. (transfer none) */
static const char *
write_masked (const char *name, const char *data, const char *predict)
{
  g_autofree char *text
      = g_strdup_printf ("[experiment]\nname=%s\nseed=3\n"
                         "[data]\n%s\nvocabulary_type=words\nvocabulary=separate\n"
                         "[predict]\n%s\n"
                         "[source text]\nencoder=transformer\nlayers=1\nheads=2\nfeed_forward=16\n"
                         "[decoder]\nwidth=16\nlayers=1\nheads=2\nfeed_forward=16\n"
                         "[train]\nbatch=16\nepochs=4\nwarm_up=40\nlearning_rate=1\nvalidate_every=20\nlog_every=50\n"
                         "[decode]\nbeam=1\nmaximum_length=4\n[evaluate]\nresamples=50\nattention=0\n",
                         name, data, predict);

  const char *path = plait_test_write (plait_test_format ("%s.ini", name), text);
  return path;
}

#define SIZES "generate.train=400\ngenerate.validation=20\ngenerate.test=30\n"
#define TOPIC "generate=topic\n" SIZES "generate.topics=2\ngenerate.words=8\ngenerate.own=2\ngenerate.common=2"

static PlaitStore *
masked_run (const char *const *overrides, const char *name)
{
  const char *experiment = write_masked ("masked", TOPIC "\ntarget=text", "kind=masked");

  return test_run_open (experiment, overrides, name);
}

static char **
strings (PlaitStore *run, const char *path)
{
  char **found = plait_store_read_strings (run, path, 1 << 20, NULL, NO_ERROR);

  return found;
}

TEST_CASE (masked, is_learnt_and_scored_by_tokens)
{
  g_autoptr (PlaitStore) run = masked_run (NULL, "masked.h5");
  gint64 n = 0, m = 0;

  REQUIRE (run != NULL);
  g_autoptr (PlaitRunResult) result = plait_run_result_new (run, NO_ERROR);
  g_autofree double *losses = plait_store_read_array (run, "/training/validation/negative_log_likelihood",
                                                      PLAIT_STORE_DOUBLE, 1000, &n, NO_ERROR);
  g_autofree gint64 *tokens
      = plait_store_read_array (run, "/evaluation/test/reference_tokens", PLAIT_STORE_INT64, 1000, &m, NO_ERROR);
  g_auto (GStrv) said = strings (run, "/evaluation/test/hypotheses");
  g_auto (GStrv) references = strings (run, "/evaluation/test/references");
  REQUIRE (result && losses && tokens && said && references);
  CHECK (losses[n - 1] < losses[0] - .1);
  CHECK_INT (m, 30);
  double right = 0, all = 0;
  for (gint64 i = 0; i < m; i++)
    {
      g_auto (GStrv) a = g_strsplit (said[i], " ", -1), b = g_strsplit (references[i], " ", -1);

      REQUIRE (g_strv_length (a) == g_strv_length (b));
      CHECK_INT (g_strv_length (b), tokens[i]);
      for (guint k = 0; b[k]; k++)
        right += g_str_equal (a[k], b[k]);
      all += (double)tokens[i];
    }
  /* 15 % of eight words is rounded to one or two words for each sentence. */
  CHECK (all >= 30 && all <= 60);
  const PlaitRunScore *accuracy = plait_run_result_find (result, "test", "accuracy:words");
  REQUIRE (accuracy != NULL);
  CHECK_NEAR (accuracy->score, 100 * right / all, 1e-9);
  CHECK (accuracy->scorer != NULL);
}

/* The masks of test text do not depend on the seed of the experiment, so that runs can be compared. */
TEST_CASE (masked, tests_on_the_same_tokens_with_any_seed)
{
  g_autoptr (PlaitStore) one = masked_run ((const char *[]){ "train.updates=1", NULL }, "one.h5");
  g_autoptr (PlaitStore) two = masked_run ((const char *[]){ "train.updates=1", "experiment.seed=4", NULL }, "two.h5");
  g_autoptr (PlaitStore) other
      = masked_run ((const char *[]){ "train.updates=1", "evaluate.seed=4", NULL }, "other.h5");

  REQUIRE (one && two && other);
  g_auto (GStrv) a = strings (one, "/evaluation/test/references"), b = strings (two, "/evaluation/test/references");
  g_auto (GStrv) c = strings (other, "/evaluation/test/references");
  CHECK (g_strv_equal ((const char *const *)a, (const char *const *)b));
  CHECK (!g_strv_equal ((const char *const *)a, (const char *const *)c));
}

TEST_CASE (masked, has_the_same_bits_again)
{
  const char *experiment = write_masked ("masked", TOPIC "\ntarget=text", "kind=masked");

  test_check_interruption (experiment, 30, 2); /* interrupt in the second epoch */
}

TEST_CASE (masked, is_said_to_diverge)
{
  const char *experiment = write_masked ("masked", TOPIC "\ntarget=text", "kind=masked");

  test_check_diverges (experiment, NULL);
}

/* Checks that all parameters of @run whose names begin with @prefix have the outcome @outcome. */
static void
check_outcomes (PlaitStore *run, const char *prefix, const char *outcome)
{
  g_auto (GStrv) names = strings (run, "/initialisation/parameters/name");
  g_auto (GStrv) outcomes = strings (run, "/initialisation/parameters/outcome");
  guint n = 0;

  REQUIRE (names && outcomes);
  for (guint i = 0; names[i]; i++)
    if (g_str_has_prefix (names[i], prefix))
      {
        CONTEXT ("%s", names[i]);
        CHECK_STRING (outcomes[i], outcome);
        n++;
      }
  CHECK (n > 0);
}

/* Runs that predict classes or translate take the encoder, the embeddings and the vocabulary. */
TEST_CASE (masked, is_what_others_begin_with)
{
  g_autoptr (PlaitStore) base = masked_run ((const char *[]){ "train.updates=2", NULL }, "base.h5");
  const char *from = plait_test_path ("base.h5");
  g_autofree char *initialise = g_strconcat ("train.initialise=", from, NULL);
  g_autofree char *vocabulary = g_strconcat ("data.vocabulary.text=", from, NULL);
  const char *overrides[] = { initialise, vocabulary, "train.updates=1", "data.generate.train=40", NULL };
  const char *class = write_masked ("class", TOPIC, "kind=class");
  const char *sequence = write_masked ("sequence", TOPIC, "kind=sequence");

  REQUIRE (base != NULL);
  g_autoptr (PlaitStore) classes = test_run_open (class, overrides, "class.h5");
  g_autoptr (PlaitStore) translations = test_run_open (sequence, overrides, "sequence.h5");
  REQUIRE (classes && translations);
  PlaitStore *runs[] = { classes, translations };
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *hash = plait_store_get_string (runs[i], "/vocabulary/text", "sha256", NULL);
      g_autofree char *expected = plait_store_get_string (base, "/vocabulary/text", "sha256", NULL);

      CHECK_STRING (hash, expected);
      check_outcomes (runs[i], "source/text/", "taken");
      check_outcomes (runs[i], "embedding/text/", "taken");
      check_outcomes (runs[i], i == 0 ? "class/" : "decoder/", "fresh");
    }
}

static void
check_refused (const char *experiment, const char *set, const char *message)
{
  GError *error = NULL;
  CONTEXT ("%s", set);

  CHECK (
      !test_run_with (experiment, (const char *[]){ set, NULL }, plait_test_path ("refused.h5"), FALSE, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, message);
  g_clear_error (&error);
}

TEST_CASE (masked, refuses_what_does_not_fit)
{
  const char *masked = write_masked ("masked", TOPIC "\ntarget=text", "kind=masked");
  const char *several
      = write_masked ("several", TOPIC "\ntarget=text", "kind=masked\n[source topic]\nencoder=transformer");
  const char *class = write_masked ("class", TOPIC, "kind=class");

  check_refused (masked, "data.target=topic",
                 "target: is topic, but [predict] kind=masked predicts tokens of the first source; set target=text");
  check_refused (several, "source.topic.stream=text",
                 "reads the stream text, which is data.target: the model would see what it must predict");
  check_refused (several, "train.source_dropout=0.1", "source_dropout: 0.1 would drop the first source too");
  check_refused (masked, "predict.random_share=0.3", "0.3 plus mask_share=0.8 is above 1");
  check_refused (masked, "train.metric=accuracy",
                 "makes no text that a metric could score during training; drop the key");
  check_refused (class, "data.vocabulary.topic=class.ini",
                 "its lines are labels, learnt from training text, or numbers; drop the line");
}
