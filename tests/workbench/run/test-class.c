/* SPDX-License-Identifier: MIT */
#include "files.h"
#include "harness.h"
#include "run/result.h"
#include "runs.h"

#include <math.h>
#include <string.h>

/* Tests of runs that predict a class. */

/* Writes the experiment file of a tiny run that predicts a class, with the lines @data in [data]. Returns its path.
 * (transfer none) */
static const char *
write_class (const char *data)
{
  g_autofree char *text = g_strdup_printf (
      "[experiment]\nname=class\nseed=3\n"
      "[data]\n%s\nvocabulary_type=words\n"
      "[predict]\nkind=class\n"
      "[source text]\nencoder=transformer\nlayers=1\nheads=2\nfeed_forward=16\n"
      "[decoder]\nwidth=16\n"
      "[train]\nbatch=16\nepochs=8\nwarm_up=40\nlearning_rate=1\nvalidate_every=40\nlog_every=50\nmetric=accuracy\n"
      "[evaluate]\nresamples=50\n",
      data);

  const char *path = plait_test_write ("class.ini", text);
  return path;
}

#define GENERATED                                                                                                      \
  "generate=topic\ngenerate.train=800\ngenerate.validation=40\ngenerate.test=60\ngenerate.topics=3\n"                  \
  "generate.words=6\ngenerate.own=3\ngenerate.common=6"

static const PlaitRunScore *
find (const PlaitRunResult *result, const char *metric)
{
  const PlaitRunScore *score = plait_run_result_find (result, "test", metric);

  CHECK (score != NULL);
  return score;
}

TEST_CASE (class, is_learnt_and_scored)
{
  const char *experiment = write_class (GENERATED);
  g_autoptr (PlaitStore) run = test_run_open (experiment, NULL, "class.h5");
  gint64 n = 0;

  REQUIRE (run != NULL);
  g_autoptr (PlaitRunResult) result = plait_run_result_new (run, NO_ERROR);
  g_auto (GStrv) said = plait_store_read_strings (run, "/evaluation/test/hypotheses", 1000, &n, NO_ERROR);
  g_auto (GStrv) references = plait_store_read_strings (run, "/evaluation/test/references", 1000, NULL, NO_ERROR);
  g_auto (GStrv) labels = plait_store_read_strings (run, "/vocabulary/topic/pieces", 1000, NULL, NO_ERROR);
  REQUIRE (result && said && references && labels);
  CHECK_INT (n, 60);
  CHECK_INT (g_strv_length (labels), 4 + 3);
  gint64 right = 0;
  for (gint64 i = 0; i < n; i++)
    {
      CHECK (g_strv_contains ((const char *const *)labels, said[i]));
      right += g_str_equal (said[i], references[i]);
    }
  const PlaitRunScore *accuracy = find (result, "accuracy"), *f = find (result, "macro-f1");
  REQUIRE (accuracy && f);
  CHECK_NEAR (accuracy->score, 100 * (double)right / 60, 1e-9);
  CHECK (accuracy->score > 90);
  CHECK (f->score > 90);
  CHECK (accuracy->low <= accuracy->score && accuracy->score <= accuracy->high);
  /* Comparisons need the scorers to compute p values. */
  CHECK (accuracy->scorer && f->scorer);
  CHECK (!plait_store_has (run, "/attention"));
  CHECK (!plait_run_result_find (result, "test", "states_touched")); /* predicting a class needs no search */
}

/* Bits depend neither on the number of threads nor on an interruption. */
TEST_CASE (class, has_the_same_bits_again)
{
  const char *experiment = write_class (GENERATED);

  test_check_interruption (experiment, 30, 2);
}

/* Another run that predicts classes takes all parameters; a run that predicts sequences takes only the layers of the
 * encoder. */
TEST_CASE (class, is_taken_on_from)
{
  const char *experiment = write_class (GENERATED);
  g_autoptr (PlaitStore) base = test_run_open (experiment, (const char *[]){ "train.updates=2", NULL }, "base.h5");
  g_autofree char *initialise = g_strconcat ("train.initialise=", plait_test_path ("base.h5"), NULL);
  const char *same[] = { "train.updates=1", initialise, NULL };
  const char *sequence[] = { "train.updates=1",  "predict.kind=sequence",    "train.metric=", "decoder.heads=2",
                             "decoder.layers=1", "data.vocabulary=separate", initialise,      NULL };
  g_autoptr (PlaitStore) again = test_run_open (experiment, same, "again.h5");
  g_auto (GStrv) outcomes
      = again ? plait_store_read_strings (again, "/initialisation/parameters/outcome", 1000, NULL, NULL) : NULL;
  g_autoptr (PlaitStore) other = test_run_open (experiment, sequence, "other.h5");
  g_auto (GStrv) names
      = other ? plait_store_read_strings (other, "/initialisation/parameters/name", 1000, NULL, NULL) : NULL;
  g_auto (GStrv) took
      = other ? plait_store_read_strings (other, "/initialisation/parameters/outcome", 1000, NULL, NULL) : NULL;

  REQUIRE (base && outcomes && names && took);
  for (guint i = 0; outcomes[i]; i++)
    CHECK_STRING (outcomes[i], "taken");
  CHECK (g_strv_contains ((const char *const *)names, "source/text/layer/0/self_attention/output/weight"));
  CHECK (g_strv_contains ((const char *const *)names, "decoder/norm/gain"));
  for (guint i = 0; names[i]; i++)
    {
      CONTEXT ("%s", names[i]);

      CHECK_STRING (took[i], g_str_has_prefix (names[i], "source/text/") ? "taken" : "fresh");
    }
}

static void
check_refused (const char *experiment, const char *set, const char *message)
{
  const char *output = plait_test_path ("refused.h5");
  GError *error = NULL;
  CONTEXT ("%s", set ? set : message);

  CHECK (!test_run_with (experiment, (const char *[]){ set ? set : "train.updates=1", NULL }, output, FALSE, NULL,
                         &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, message);
  g_clear_error (&error);
  CHECK (!plait_test_exists (output));
}

static void
write_file (const char *name, const char *text)
{
  plait_test_write (name, text);
}

/* Checks that a line whose label training lacks counts as wrong, is stored with the log-probability 0 and does not
 * count in the perplexity, even if it is the only line of a batch. */
static void
check_unknown_is_wrong (const char *experiment)
{
  static const char *const wrong[]
      = { "predict.unknown_labels=wrong", "decode.batch=1", "train.validation_batch=1", NULL };
  g_autoptr (PlaitStore) run = test_run_open (experiment, wrong, "unknown.h5");
  g_autoptr (PlaitRunResult) result = run ? plait_run_result_new (run, NULL) : NULL;
  double probabilities[2];

  REQUIRE (result != NULL);
  CHECK (plait_store_read (run, "/evaluation/test/reference_log_probabilities", PLAIT_STORE_DOUBLE, 2, probabilities,
                           NULL));
  g_auto (GStrv) said = plait_store_read_strings (run, "/evaluation/test/hypotheses", 1000, NULL, NULL);
  const PlaitRunScore *accuracy = find (result, "accuracy"), *perplexity = find (result, "perplexity");
  REQUIRE (said && accuracy && perplexity);
  CHECK_STRING (said[0], "one");
  CHECK_NEAR (accuracy->score, 50, 0);
  CHECK (probabilities[0] < 0);
  CHECK_NEAR (probabilities[1], 0, 0);
  CHECK_NEAR (perplexity->score, exp (-probabilities[0]), 1e-9);
}

TEST_CASE (class, is_said_to_diverge)
{
  const char *experiment = write_class (GENERATED);

  test_check_diverges (experiment, NULL);

  /* Half of these lines have the label that a constant answer gives, so accuracy would not show divergence. */
  const char *alone = write_class ("target=topic\ntrain.text=train.text\ntrain.topic=train.topic\n"
                                   "test.text=train.text\ntest.topic=train.topic");
  write_file ("train.text", "a b\nb c\nc d\nd e\n");
  write_file ("train.topic", "one\ntwo\none\ntwo\n");
  test_check_diverges (alone, (const char *[]){ "train.batch=1", "train.metric=", NULL });
}

/* A model that knows its training text by heart is certain, and is wrong where validation text has other labels. The
 * high loss that follows is not divergence. */
TEST_CASE (class, is_not_said_to_diverge_where_it_knows_its_text_by_heart)
{
  static const char *const overrides[] = { "train.epochs=400", "train.validate_every=200", "train.metric=", NULL };
  const char *experiment = write_class (
      "target=topic\ntrain.text=train.text\ntrain.topic=train.topic\ntest.text=train.text\ntest.topic=train.topic\n"
      "validation.text=train.text\nvalidation.topic=other.topic");
  gint64 n = 0;

  write_file ("train.text", "a b\nb c\nc d\nd e\n");
  write_file ("train.topic", "one\ntwo\none\ntwo\n");
  write_file ("other.topic", "two\none\ntwo\none\n");
  g_autoptr (PlaitStore) run = test_run_open (experiment, overrides, "heart.h5");
  REQUIRE (run != NULL);
  g_autofree double *losses = plait_store_read_array (run, "/training/validation/negative_log_likelihood",
                                                      PLAIT_STORE_DOUBLE, 1000, &n, NO_ERROR);
  REQUIRE (losses && n == 2);
  CHECK (losses[n - 1] > 4 * log (2));
}

TEST_CASE (class, refuses_bad_input)
{
  const char *generated = write_class (GENERATED);

  check_refused (generated, "predict.memories=texts",
                 "predict.memories: no encoder makes a memory \"texts\"; did you mean \"text\"?");
  check_refused (generated, "predict.kind=klass", "class");
  check_refused (generated, "data.documents=topic", "each line is an answer");
  check_refused (generated, "decode.groups=2", "[decode] groups: 2 does not divide the beam of 5; choose beam=6");
  check_refused (generated, "evaluate.translation_rates=search",
                 "with this [predict] there is no decoder; drop the key");

  const char *files = write_class (
      "target=topic\ntrain.text=train.text\ntrain.topic=train.topic\ntest.text=test.text\ntest.topic=test.topic\n"
      "validation.text=test.text\nvalidation.topic=test.topic");
  write_file ("train.text", "a b\nb c\nc d\n");
  write_file ("train.topic", "one\ntwo\ntwo\n");
  write_file ("test.text", "a\nb\n");
  write_file ("test.topic", "one\nthree\n");
  check_refused (files, NULL,
                 "test.topic:2: the label \"three\" does not occur in training; expected one of its 2 labels");
  check_unknown_is_wrong (files);
  write_file ("test.topic", "one\n");
  check_refused (files, NULL, "test.topic:2: the file has 1 lines, but ");
  write_file ("test.topic", "one\ntwo\n");
  write_file ("train.topic", "one\ntwo\n\n");
  check_refused (
      files, NULL,
      "train.topic:3: the line is empty; expected a sentence of topic, since empty=error (empty=missing drops "
      "training tuples with an empty target)");
  write_file ("train.topic", "one\none\none\n");
  check_refused (files, NULL, "train.topic: has only the label \"one\"; expected at least two labels");
}

TEST_CASE (class, names_all_files_that_have_changed)
{
  const char *files = write_class (
      "target=topic\ntrain.text=train.text\ntrain.topic=train.topic\ntest.text=train.text\ntest.topic=train.topic\n"
      "validation.text=train.text\nvalidation.topic=train.topic");
  const char *output = plait_test_path ("run.h5");
  gint stop = 1;
  GError *error = NULL;

  write_file ("train.text", "a b\nb c\nc d\n");
  write_file ("train.topic", "one\ntwo\ntwo\n");
  CHECK (!test_run (files, output, FALSE, 1, NULL, &stop, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INTERRUPTED, "");
  write_file ("train.text", "a b\nb c\nc e\n");
  write_file ("train.topic", "one\ntwo\none\n");
  CHECK (!test_run (files, output, TRUE, 1, NULL, NULL, &error));
  REQUIRE (error != NULL);
  CHECK_CONTAINS (error->message, "train.text: this file of data.train.text has changed since");
  CHECK_CONTAINS (error->message, "train.topic: this file of data.train.topic has changed since");
  g_clear_error (&error);
}

/*
 * Tests of choices
 */

/* Writes @n documents of two to four sentences. In each document, one sentence has the word "right". The answer is the
 * number of this sentence, from 0. */
static void
write_choices (const char *split, int n)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GString) answers = g_string_new (NULL);
  g_autofree char *text_name = g_strconcat (split, ".text", NULL);
  g_autofree char *answers_name = g_strconcat (split, ".answer", NULL);

  for (int d = 0; d < n; d++)
    {
      int sentences = 2 + d % 3, right = d * 7 % sentences;

      for (int i = 0; i < sentences; i++)
        g_string_append_printf (text, "w%d %s w%d\n", (d + i) % 9, i == right ? "right" : "wrong", d * i % 8);
      g_string_append_c (text, '\n');
      g_string_append_printf (answers, "%d\n", right);
    }
  write_file (text_name, text->str);
  write_file (answers_name, answers->str);
}

TEST_CASE (choice, is_learnt_and_scored)
{
  const char *experiment = write_class (
      "target=answer\ndocuments=text\ntrain.text=train.text\ntrain.answer=train.answer\ntest.text=test.text\n"
      "test.answer=test.answer\nvalidation.text=test.text\nvalidation.answer=test.answer");
  static const char *const choice[] = { "predict.kind=choice", NULL };

  write_choices ("train", 400);
  write_choices ("test", 30);
  g_autoptr (PlaitStore) run = test_run_open (experiment, choice, "choice.h5");
  REQUIRE (run != NULL);
  g_autoptr (PlaitRunResult) result = plait_run_result_new (run, NO_ERROR);
  g_auto (GStrv) said = plait_store_read_strings (run, "/evaluation/test/hypotheses", 1000, NULL, NO_ERROR);
  REQUIRE (result && said && find (result, "accuracy"));
  CHECK (find (result, "accuracy")->score > 95);
  for (int d = 0; d < 30; d++)
    CHECK_STRING (said[d], plait_test_format ("%d", d * 7 % (2 + d % 3)));
  CHECK (!plait_store_has (run, "/vocabulary/answer"));
}

TEST_CASE (choice, refuses_what_does_not_fit)
{
  static const char files[] = "target=answer\ntrain.text=train.text\ntrain.answer=train.answer\ntest.text=test.text\n"
                              "test.answer=test.answer\nvalidation.text=test.text\nvalidation.answer=test.answer";
  const char *experiment = write_class (files);

  write_choices ("train", 8);
  write_choices ("test", 8);
  check_refused (experiment, "predict.kind=choice",
                 "[predict] kind=choice chooses among the sentences of a document, but the stream text has no "
                 "documents; name it in "
                 "data.documents");
}

/*
 * Tests of spans
 */

/* Writes @n documents of two sentences with four words each. Two of three documents have an answer, from the word
 * "from" to the word "to". */
static void
write_spans (const char *split, int n)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GString) answers = g_string_new (NULL);
  g_autofree char *text_name = g_strconcat (split, ".text", NULL);
  g_autofree char *answers_name = g_strconcat (split, ".answer", NULL);

  for (int d = 0; d < n; d++)
    {
      int first = d % 3 == 0 ? -1 : d * 5 % 2 * 4 + d * 7 % 2, last = first + 1 + d * 11 % 2;

      for (int i = 0; i < 8; i++)
        {
          if (first >= 0 && (i == first || i == last))
            g_string_append (text, i == first ? "from" : "to");
          else
            g_string_append_printf (text, "w%d", (d * 3 + i * 5) % 7);
          g_string_append (text, i % 4 == 3 ? "\n" : " ");
        }
      g_string_append_c (text, '\n');
      if (first < 0)
        g_string_append (answers, "-1\n");
      else
        g_string_append_printf (answers, "%d %d\n", first, last);
    }
  write_file (text_name, text->str);
  write_file (answers_name, answers->str);
}

TEST_CASE (span, is_learnt_and_scored)
{
  static const char files[] = "target=answer\ntrain.text=train.text\ntrain.answer=train.answer\ntest.text=test.text\n"
                              "test.answer=test.answer\nvalidation.text=test.text\nvalidation.answer=test.answer";
  const char *experiment = write_class (files);
  static const char *const span[] = { "predict.kind=span", "data.documents=text", "train.epochs=16", NULL };

  write_spans ("train", 400);
  write_spans ("test", 30);
  check_refused (experiment, "predict.kind=span",
                 "marks a question without an answer by a span on the first start token");
  g_autoptr (PlaitStore) run = test_run_open (experiment, span, "span.h5");
  REQUIRE (run != NULL);
  g_autoptr (PlaitRunResult) result = plait_run_result_new (run, NO_ERROR);
  REQUIRE (result && find (result, "accuracy") && find (result, "span-f1"));
  CHECK (find (result, "accuracy")->score > 80);
  CHECK (find (result, "span-f1")->score >= find (result, "accuracy")->score);
  CHECK (find (result, "span-f1")->scorer != NULL);

  g_autoptr (GString) recurrent = NULL;
  const char *text = plait_test_read_text (experiment);
  recurrent = g_string_new (text);
  g_string_replace (recurrent, "transformer\nlayers=1\nheads=2\nfeed_forward=16", "bigru\nwidth=16", 0);
  plait_test_write (experiment, recurrent->str);
  test_check_diverges (experiment,
                       (const char *[]){ span[0], span[1], "train.batch=1", "train.learning_rate=1e3", NULL });
}
