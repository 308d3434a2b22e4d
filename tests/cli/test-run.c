/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "text/json-read.h"
#include "call.h"
#include "experiments.h"
#include "files.h"
#include "harness.h"
#include "hdf5/store.h"
#include "kernels/kernels.h"

/* Tests of the output of plait run. tests/workbench/run tests its effects. */

static const char *const experiment
    = "[data]\ngenerate=agreement\nvocabulary_type=words\n"
      "generate.train=32\ngenerate.validation=4\ngenerate.test=8\n" SMALL_SOURCE ("a") TINY_DECODER
    "[train]\nupdates=1\nbatch=8\n[evaluate]\nmetrics=bleu;bleu:tok=none\n";

TEST_CASE (run_command, prints_the_scores_alone)
{
  plait_test_write ("small.ini", experiment);
  PlaitTestCall loud = DONE (CALL ("run", "small.ini", "--threads", "1"));
  PlaitTestCall again = QUIET (CALL ("run", "small.ini", "--resume", "--quiet"));
  PlaitTestCall json = DONE (CALL ("run", "small.ini", "--resume", "--quiet", "--json"));

  CHECK_CONTAINS (loud.errors, "small.h5 is complete\n");
  CHECK (g_str_has_prefix (loud.output, "  Split  Metric"));
  CHECK_CONTAINS (loud.output, "\n  test   bleu ");
  CHECK_CONTAINS (loud.output, "\n  test   bleu:tok=none "); /* another metric whose column is called BLEU too */
  CHECK_CONTAINS (loud.output, "\n  test   perplexity per word ");
  CHECK (!strstr (loud.output, "states touched")); /* this combiner does not select rows */
  CHECK_STRING (again.output, loud.output);
  CHECK_CONTAINS (json.output, "\"file\": \"small.h5\"");
  CHECK_CONTAINS (json.output, "\"metric\": \"bleu\"");
  CHECK (!strstr (json.output, "states_touched"));
  CHECK_CONTAINS (json.output, "\"low\": null"); /* perplexity has no interval */
}

/* A run needs no memory for a BLAS library that computes nothing. */
TEST_CASE (run_command, needs_no_memory_for_an_unused_library)
{
  const char *const arguments[] = { "run", "small.ini", "--threads", "1", "--quiet", NULL };
  const PlaitTestCallSettings little = { .memory = (guint64)300 << 20 };

  if (plait_kernels ()->blas_rows[0] > 0 || plait_kernels ()->blas_rows[1] > 0)
    SKIP_TEST ("products use BLAS");
  plait_test_write ("small.ini", experiment);
  QUIET (plait_test_call_with (arguments, &little));
}

TEST_CASE (run_command, prints_its_plan_as_json)
{
  plait_test_write ("small.ini", experiment);
  PlaitTestCall call = QUIET (CALL ("run", "small.ini", "--dry-run", "--quiet", "--json"));
  PlaitTestCall text = CALL ("run", "small.ini", "--dry-run", "--quiet");
  g_autoptr (json_t) plan = json_loads (call.output, JSON_REJECT_DUPLICATES, NULL);
  gint64 parameters = 0, peak = 0, sum = 0;
  json_t *part;
  size_t i;

  REQUIRE (plan != NULL);
  parameters = json_integer_value (json_object_get (plan, "parameters"));
  peak = json_integer_value (json_object_get (json_object_get (plan, "bytes"), "peak"));
  CHECK_INT (json_integer_value (json_object_get (json_object_get (plan, "tuples"), "train")), 32);
  json_array_foreach (json_object_get (plan, "parts"), i, part) sum
      += json_integer_value (json_object_get (part, "parameters"));
  CHECK_INT (sum, parameters);
  g_autofree char *most = g_strdup_printf ("\npeak, about                  %10.1f MiB\n", (double)peak / 1024 / 1024);
  CHECK_CONTAINS (text.output, plait_test_format ("\nparameters                   %10jd\n", parameters));
  CHECK_CONTAINS (text.output, most);
}

/* The plan lists the components of plait explain that have parameters, with their numbers in one column. The
 * vocabulary is known only to the plan, so the numbers of embeddings differ. */
TEST_CASE (run_command, plans_tell_the_parts_of_the_model)
{
  g_autoptr (GString) parts = g_string_new (NULL);
  json_t *component;
  size_t i;

  plait_test_write ("small.ini", experiment);
  PlaitTestCall plan = DONE (CALL ("run", "small.ini", "--dry-run", "--quiet"));
  PlaitTestCall explained = DONE (CALL ("explain", "small.ini", "--json"));
  g_autoptr (json_t) model = json_loads (explained.output, JSON_REJECT_DUPLICATES, NULL);
  const char *after = strstr (plan.output, "  source a ");

  REQUIRE (model && after);
  CHECK_CONTAINS (plan.output, "training tuples                      32\n");
  CHECK_CONTAINS (plan.output, "\n  embeddings ");
  json_array_foreach (json_object_get (model, "components"), i, component)
  {
    const char *name = json_string_value (json_object_get (component, "component"));
    gint64 parameters = json_integer_value (json_object_get (component, "parameters"));

    if (parameters > 0 && !g_str_equal (name, "embeddings"))
      g_string_append_printf (parts, "  %-27s%10jd\n", name, parameters);
  }
  CHECK (g_str_has_prefix (after, g_string_append (parts, "\n")->str));
}

/* Writes the log of --log, but replaces neither an existing file nor the run. */
TEST_CASE (run_command, logs_what_it_may)
{
  plait_test_write ("small.ini", experiment);
  plait_test_write ("there.jsonl", "mine\n");
  CHECK_REFUSED (CALL ("run", "small.ini", "-q", "--log", "there.jsonl"),
                 "there.jsonl exists: write elsewhere with --log");
  CHECK_REFUSED (CALL ("run", "small.ini", "-q", "--log", "small.h5"), "small.h5");
  CHECK_REFUSED (CALL ("run", "small.ini", "-q", "--log", "no/where.jsonl"), "--log no/where.jsonl: cannot be written");
  PlaitTestCall full = DONE (CALL ("run", "small.ini", "--log", "/dev/full"));
  QUIET (CALL ("run", "small.ini", "-q", "--force", "--log", "new.jsonl"));
  const char *path = plait_test_path ("there.jsonl"), *new = plait_test_path ("new.jsonl");

  CHECK_CONTAINS (full.errors, "/dev/full: cannot be written");
  CHECK (g_file_test (new, G_FILE_TEST_IS_REGULAR));
  const char *mine = plait_test_read_text (path);
  CHECK_STRING (mine, "mine\n");
}

/* Replaces no file that the run reads, even with --force. */
TEST_CASE (run_command, keeps_what_it_reads)
{
  static const char text[] = "a b\nb\n";
  static const char reading[]
      = "[data]\ntrain.a=a\ntrain.b=b\ntest.a=test.a\ntest.b=b\ntarget=b\nvocabulary_type=words\n" SMALL_SOURCE ("a")
          TINY_DECODER "[train]\nupdates=1\nbatch=2\n";
  const char *const files[] = { "a", "b", "test.a" };

  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    plait_test_write (files[i], text);
  plait_test_write ("reading.ini", reading);
  DONE (CALL ("run", "reading.ini", "-q", "--output", "first.h5"));
  const struct
  {
    PlaitTestCall call;
    const char *part;
  } cases[] = {
    { CALL ("run", "reading.ini", "-q", "--force", "--output", "a"), "a: is the same file as " },
    { CALL ("run", "reading.ini", "-q", "--force", "--log", "test.a"),
      "--log test.a: the run reads this file (data.test.a)" },
    { CALL ("run", "reading.ini", "-q", "--resume", "--log", "b"), "--log b: the run reads this file (data.train.b)" },
    { CALL ("run", "reading.ini", "-q", "--force", "--output", "./reading.ini"),
      "the run reads this file (the experiment" },
    { CALL ("run", "reading.ini", "-q", "--force", "--log", "reading.ini", "--dry-run"),
      "the run reads this file (the exp" },
    { CALL ("run", "reading.ini", "-q", "--force", "--output", "first.h5", "--set", "train.initialise=first.h5"),
      "--output first.h5: the run reads this file (train.initialise)" },
    { CALL ("run", "reading.ini", "-q", "--force", "--output", "first.h5", "--set", "data.vocabulary.shared=first.h5"),
      "--output first.h5: the run reads this file (data.vocabulary.shared)" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("%s", cases[i].part);
      CHECK_REFUSED (cases[i].call, cases[i].part);
    }
  for (guint i = 0; i <= G_N_ELEMENTS (files); i++)
    {
      const char *path = plait_test_path (i < G_N_ELEMENTS (files) ? files[i] : "reading.ini");

      const char *now = plait_test_read_text (path);
      CHECK_STRING (now, i < G_N_ELEMENTS (files) ? text : reading);
    }
}

/* Returns the number that follows @what in the output of @call. */
static double
told (const PlaitTestCall *call, const char *what)
{
  const char *at = strstr (call->output, what);

  CHECK_INT (call->code, 0);
  CHECK (at != NULL);
  return at ? g_ascii_strtod (at + strlen (what), NULL) : 0;
}

/* A batch of all validation sentences may need more memory than a training step. */
TEST_CASE (run_command, plans_the_memory_of_validation)
{
  plait_test_write ("small.ini", experiment);
  PlaitTestCall few = CALL ("run", "small.ini", "--dry-run", "-q", "--set", "data.generate.validation=400", "--set",
                            "train.validation_batch=1");
  PlaitTestCall many = CALL ("run", "small.ini", "--dry-run", "-q", "--set", "data.generate.validation=400", "--set",
                             "train.validation_batch=400");
  double before = told (&few, "validation, longest batch"), now = told (&many, "validation, longest batch");

  CHECK (now > 2 * before);
  CHECK (told (&many, "peak, about") >= now);
}

/* plait vocabulary accepts a run in place of a vocabulary file. */
TEST_CASE (run_command, leaves_a_run_that_is_a_vocabulary)
{
  plait_test_write ("small.ini", experiment);
  DONE (CALL ("run", "small.ini", "-q"));
  DONE (CALL ("run", "small.ini", "-q", "--output", "two.h5", "--set", "data.vocabulary=separate"));
  PlaitTestCall show = CALL ("vocabulary", "--show", "small.h5");
  PlaitTestCall show_one = CALL ("vocabulary", "--show", "two.h5", "--name", "a", "--json");
  PlaitTestCall encode = plait_test_call ("nowhere\n", (const char *[]){ "vocabulary", "--encode", "small.h5", NULL });
  PlaitTestCall several = CALL ("vocabulary", "--show", "two.h5");
  CHECK_REFUSED (CALL ("vocabulary", "--show", "small.h5", "--name", "a"),
                 "small.h5: has no vocabulary \"a\" (the vocabularies are: shared)");
  CHECK_REFUSED (CALL ("vocabulary", "--show", "two.h5", "--name", ""),
                 "two.h5: has no vocabulary \"\" (the vocabularies are: a, target)");
  CHECK_REFUSED (CALL ("vocabulary", "--show", "small.ini", "--name", "a"),
                 "small.ini: is not a run, so it has no vocabulary called a; leave --name out");
  CHECK_REFUSED (CALL ("vocabulary", "--output", "new", "--name", "a", "small.ini"),
                 "--name chooses a vocabulary of a run");

  CHECK_CONTAINS (show.output, "small.h5  words, ");
  CHECK_CONTAINS (show_one.output, "\"format\": \"words\"");
  CHECK_STRING (encode.output, "<unk>\n");
  CHECK_REFUSED (several, "two.h5: has several vocabularies (a, target); choose one with --name");
}

/* Returns the losses of run.h5 as text. */
static const char *
losses_of_run (void)
{
  return DONE (CALL ("show", "run.h5", "/training/updates/loss")).output;
}

/* A second run takes the vocabulary of a large text from the cache and has equal losses; PLAIT_INDEX=none disables the
 * cache. Words of 600 letters make the text large, although it has few lines. */
TEST_CASE (run_command, reads_a_large_text_once)
{
  enum
  {
    LINES = 1200,
    WORDS = 100,
    LETTERS = 600,
  };
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *letters = g_strnfill (LETTERS, 'a');

  for (guint i = 0; i < LINES; i++)
    for (guint k = 0; k < WORDS; k++)
      {
        letters[0] = (char)('a' + (i + k) % 26);
        g_string_append_printf (text, "%s%c", letters, k + 1 < WORDS ? ' ' : '\n');
      }
  plait_test_write ("train.a", text->str);
  g_string_truncate (text, 0);
  for (guint i = 0; i < LINES; i++)
    g_string_append (text, "b\n");
  plait_test_write ("train.b", text->str);
  plait_test_write ("validation.a", "a\n");
  plait_test_write ("validation.b", "b\n");
  plait_test_write ("run.ini",
                    "[data]\ntrain.a=train.a\ntrain.b=train.b\nvalidation.a=validation.a\n"
                    "validation.b=validation.b\ntarget=b\nvocabulary=shared\nvocabulary_type=words\n" SMALL_SOURCE ("a")
                        TINY_DECODER "[train]\nupdates=2\nbatch=2\n");
  PlaitTestCall first = DONE (CALL ("run", "run.ini", "--threads", "2"));
  CHECK_CONTAINS (first.errors, "learning vocabulary shared");
  CHECK_CONTAINS (first.errors, "/plait-index keeps the encoded corpus for the next start");
  const char *expected = losses_of_run ();
  PlaitTestCall second = DONE (CALL ("run", "run.ini", "--threads", "1", "--force"));
  CHECK_CONTAINS (second.errors, "vocabulary shared (words) from the cache: ");
  CHECK_CONTAINS (second.errors, "/plait-index/");
  const char *actual = losses_of_run ();
  CHECK_STRING (actual, expected);
  g_setenv ("PLAIT_INDEX", "none", TRUE);
  PlaitTestCall third = DONE (CALL ("run", "run.ini", "--threads", "2", "--force"));
  CHECK_CONTAINS (third.errors, "learning vocabulary shared");
}

/* If evaluate.join is set, subwords are joined to words before text is scored and stored. */
TEST_CASE (run_command, joins_pieces_of_words_before_it_scores)
{
  g_autoptr (PlaitStore) store = NULL;
  gint64 n = 0;

  plait_test_write ("p.a", "a b\nb a\n");
  plait_test_write ("p.target", "un@@ known x\nx un@@ known\n");
  plait_test_write (
      "pieces.ini",
      "[data]\ntarget=target\nvocabulary_type=words\ntrain.a=p.a\ntrain.target=p.target\n"
      "test.a=p.a\ntest.target=p.target\nvalidation.a=p.a\nvalidation.target=p.target\n" SMALL_SOURCE ("a") TINY_DECODER
      "[train]\nupdates=1\nbatch=2\nmetric=bleu\n"
      "[decode]\nmaximum_length=4\n[evaluate]\nmetrics=bleu\nresamples=0\nattention=0\n");
  PlaitTestCall plan = CALL ("run", "pieces.ini", "--dry-run");
  PlaitTestCall plain = CALL ("run", "pieces.ini", "-o", "plain.h5");
  PlaitTestCall joined = DONE (CALL ("run", "pieces.ini", "-o", "pieces.h5", "--set", "evaluate.join=subword-nmt"));

  CHECK_CONTAINS (plan.errors, "test: the text looks like pieces of words, which metrics would count as words; "
                               "evaluate.join=subword-nmt joins them");
  CHECK_CONTAINS (plain.errors, "test: the text looks like pieces of words");
  CHECK (!strstr (joined.errors, "looks like"));
  store = plait_store_open (plait_test_path ("pieces.h5"), NULL);
  REQUIRE (store != NULL);
  g_auto (GStrv) references = plait_store_read_strings (store, "/evaluation/test/references", 1 << 20, &n, NULL);
  g_auto (GStrv) hypotheses = plait_store_read_strings (store, "/evaluation/test/hypotheses", 1 << 20, &n, NULL);
  REQUIRE (references && hypotheses && n == 2);
  CHECK_STRING (references[0], "unknown x");
  CHECK_STRING (references[1], "x unknown");
  CHECK (!strstr (hypotheses[0], "@@ ") && !strstr (hypotheses[1], "@@ "));
}
