/* SPDX-License-Identifier: MIT */
#include "call.h"
#include "experiments.h"
#include "files.h"
#include "harness.h"
#include "search/search.h"

#include <math.h>
#include <string.h>

/* Tests of plait translate and plait score with several runs. */

static const char first[]
    = "[experiment]\nseed=3\n" SMALL_TEXT ("agreement", "vocabulary=separate\n") SMALL_SOURCE ("a") SMALL_SOURCE ("b")
        SMALL_DECODER ("serial") "[train]\nbatch=6\nepochs=1\n[decode]\nbeam=3\nmaximum_length=8\n"
                                 "[evaluate]\nresamples=10\n";
/* A run that differs from the first in sources, decoder, combiner and width. */
static const char second[]
    = "[experiment]\nseed=4\n" SMALL_TEXT ("agreement", "vocabulary=separate\n") SMALL_SOURCE ("b") SMALL_SOURCE (
        "c") "[decoder]\ntype=gru\ncombiner=flat\nwidth=12\nheads=2\n[train]\nbatch=6\nepochs=1\n[decode]\nbeam=9\n"
             "maximum_length=8\n[evaluate]\nresamples=10\n";

/* Trains one.h5 and two.h5, and writes the text made/test.STREAM. */
static void
train (void)
{
  plait_test_write ("one.ini", first);
  plait_test_write ("two.ini", second);
  DONE (CALL ("generate", "agreement", "-q", "-o", "made", "-s", "train=60", "-s", "validation=10", "-s", "test=19"));
  DONE (CALL ("run", "one.ini", "-q"));
  DONE (CALL ("run", "two.ini", "-q"));
}

#define A "-s", "a=made/test.a"
#define B "-s", "b=made/test.b"
#define C "-s", "c=made/test.c"
#define TARGET "--target", "made/test.target"

TEST_CASE (ensemble_command, of_one_run_twice_gives_its_hypotheses)
{
  train ();
  PlaitTestCall one = DONE (CALL ("translate", "one.h5", "-q", A, B, "--n-best", "2"));
  PlaitTestCall mean = DONE (CALL ("translate", "one.h5", "one.h5", "-q", A, B, "--n-best", "2"));
  PlaitTestCall log = DONE (CALL ("translate", "one.h5", "one.h5", "one.h5", "-q", A, B, "--n-best", "2", "--ensemble",
                                  "log", "--weights", "1;3;4"));
  PlaitTestCall score = DONE (CALL ("score", "one.h5", "-q", A, B, TARGET));
  PlaitTestCall scores = DONE (CALL ("score", "one.h5", "one.h5", "-q", A, B, TARGET));
  CHECK (strlen (one.output) > 100);
  CHECK_STRING (mean.output, one.output);
  CHECK_STRING (log.output, one.output);
  CHECK_STRING (scores.output, score.output);
}

TEST_CASE (ensemble_command, does_not_depend_on_threads_and_batches)
{
  static const char *const batches[] = { "decode.batch=1", "decode.batch=7", "decode.batch=64" };

  train ();
  PlaitTestCall one = DONE (CALL ("translate", "one.h5", "two.h5", "-q", A, B, C, "--n-best", "3", "-t", "1"));
  PlaitTestCall alone = DONE (CALL ("translate", "one.h5", "-q", A, B, "--n-best", "3", "-t", "1"));
  CHECK (strcmp (one.output, alone.output) != 0);
  for (guint i = 0; i < G_N_ELEMENTS (batches); i++)
    {
      CONTEXT ("%s", batches[i]);
      PlaitTestCall other = DONE (
          CALL ("translate", "one.h5", "two.h5", "-q", A, B, C, "--n-best", "3", "-t", "2", "--set", batches[i]));
      CHECK_STRING (other.output, one.output);
    }
}

/* Reads the log-probability at the beginning of each line of @text into @scores. Returns the number of lines. */
static guint
read_scores (const char *text, double *scores)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  guint n = 0;

  for (; lines[n] && *lines[n]; n++)
    scores[n] = g_ascii_strtod (lines[n], NULL);
  return n;
}

/* The log-probability of a line is the weighted mean of those of the runs, because the mean of log-probabilities is
 * linear. */
TEST_CASE (ensemble_command, scores_the_weighted_mean_of_log_probabilities)
{
  double a[32], b[32], both[32], mean[32];

  train ();
  PlaitTestCall one = DONE (CALL ("score", "one.h5", "-q", A, B, TARGET));
  PlaitTestCall two = DONE (CALL ("score", "two.h5", "-q", B, C, TARGET));
  PlaitTestCall log
      = DONE (CALL ("score", "one.h5", "two.h5", "-q", A, B, C, TARGET, "--ensemble", "log", "--weights", "3;1"));
  PlaitTestCall probabilities = DONE (CALL ("score", "one.h5", "two.h5", "-q", A, B, C, TARGET));
  CHECK_INT (read_scores (one.output, a), 19);
  CHECK_INT (read_scores (two.output, b), 19);
  CHECK_INT (read_scores (log.output, both), 19);
  CHECK_INT (read_scores (probabilities.output, mean), 19);
  for (guint i = 0; i < 19; i++)
    {
      CHECK_NEAR (both[i], 0.75 * a[i] + 0.25 * b[i], 1e-5);
      /* The mean of probabilities is at least their geometric mean. */
      CHECK (mean[i] >= 0.5 * a[i] + 0.5 * b[i] - 1e-5);
    }
}

/* If both runs have a source, it is read only once, so it may be standard input. */
TEST_CASE (ensemble_command, reads_the_sources_of_all_runs)
{
  g_autofree char *b = NULL;

  train ();
  PlaitTestCall files = DONE (CALL ("translate", "one.h5", "two.h5", "-q", A, B, C));
  REQUIRE (g_file_get_contents (plait_test_path ("made/test.b"), &b, NULL, NULL));
  PlaitTestCall piped
      = DONE (plait_test_call (b, (const char *[]){ "translate", "one.h5", "two.h5", "-q", A, "-s", "b=-", C, NULL }));
  CHECK_STRING (piped.output, files.output);
  PlaitTestCall columns = DONE (plait_test_call_shell (
      "paste made/test.c made/test.a made/test.b | \"$PLAIT\" translate one.h5 two.h5 -q --tsv c,a,b"));
  CHECK_STRING (columns.output, files.output);
  PlaitTestCall without = DONE (CALL ("translate", "one.h5", "two.h5", "-q", A, B, "--without", "c"));
  CHECK (strcmp (without.output, files.output) != 0);
  CHECK_REFUSED (CALL ("translate", "one.h5", "two.h5", A, B), "source \"c\" is not given");
  CHECK_REFUSED (CALL ("translate", "one.h5", "two.h5", A, B, C, "-s", "d=made/test.c"),
                 "no run reads this source; expected one of: a, b, c");
  CHECK_REFUSED (CALL ("translate", "one.h5", "two.h5", A, "--without", "b", "--without", "c"),
                 "every source of two.h5 is missing");
}

/* The runs may have different vocabularies for a source: each run encodes the text by its own. */
TEST_CASE (ensemble_command, encodes_a_source_by_the_vocabulary_of_each_run)
{
  double a[32], b[32], both[32];

  train ();
  DONE (CALL ("vocabulary", "made/train.b", "--type", "words", "--size", "12", "-q", "-o", "small.vocabulary"));
  DONE (CALL ("run", "one.ini", "-q", "-o", "small.h5", "--set", "data.vocabulary.b=small.vocabulary"));
  PlaitTestCall one = DONE (CALL ("score", "one.h5", "-q", A, B, TARGET));
  PlaitTestCall small = DONE (CALL ("score", "small.h5", "-q", A, B, TARGET));
  PlaitTestCall mean = DONE (CALL ("score", "one.h5", "small.h5", "-q", A, B, TARGET, "--ensemble", "log"));
  CHECK_INT (read_scores (one.output, a), 19);
  CHECK_INT (read_scores (small.output, b), 19);
  CHECK_INT (read_scores (mean.output, both), 19);
  for (guint i = 0; i < 19; i++)
    {
      CHECK_NEAR (both[i], 0.5 * a[i] + 0.5 * b[i], 1e-5);
      CHECK (a[i] != b[i]);
    }
}

/* Returns the first 12 digits of the digest in the first line of a vocabulary file. (transfer full) */
static char *
digest_of (const char *vocabulary)
{
  const char *digest = strstr (plait_test_read_text (vocabulary), "sha256 ");

  CHECK (digest != NULL);
  return g_strndup (digest ? digest + strlen ("sha256 ") : "", 12);
}

/* The error names the first run that does not fit, and the vocabularies that differ by their digests. */
TEST_CASE (ensemble_command, refuses_runs_that_do_not_translate_together)
{
  const char *many[2 + PLAIT_SEARCH_MAX_MEMBERS + 2] = { "translate" };

  train ();
  plait_test_write ("class.ini", SMALL_CLASSES);
  DONE (CALL ("run", "class.ini", "-q"));
  DONE (CALL ("vocabulary", "made/train.target", "--type", "words", "--size", "9", "-q", "-o", "own.vocabulary"));
  DONE (CALL ("run", "one.ini", "-q", "-o", "other.h5", "--set", "data.vocabulary.target=own.vocabulary"));
  g_autofree char *digest = digest_of ("own.vocabulary");
  g_autofree char *differs
      = g_strdup_printf ("... and %s...); an ensemble needs runs of one target vocabulary", digest);
  PlaitTestCall refused = CALL ("translate", "one.h5", "two.h5", "other.h5", A, B, "-o", "out.txt");
  CHECK_REFUSED (refused, "one.h5 and other.h5 have different target vocabularies (SHA-256 ");
  CHECK_CONTAINS (refused.errors, differs);
  CHECK (!g_file_test (plait_test_path ("out.txt"), G_FILE_TEST_EXISTS));
  CHECK_REFUSED (CALL ("score", "one.h5", "other.h5", A, B, TARGET), "different target vocabularies");
  CHECK_REFUSED (CALL ("translate", "one.h5", "class.h5", A, B), "class.h5 has no decoder");
  CHECK_REFUSED (CALL ("translate", "one.h5", "none.h5", A, B), "none.h5");
  CHECK_REFUSED (CALL ("translate", "one.h5", "two.h5", A, B, C, "-o", "two.h5", "--force"), "two.h5");
  for (guint i = 0; i <= PLAIT_SEARCH_MAX_MEMBERS; i++)
    many[1 + i] = "one.h5";
  CHECK_REFUSED (plait_test_call (NULL, many), "there are 65 runs, but an ensemble has at most 64");
}

/* Runs fit if both or none have start tokens before the sentences of the target. */
TEST_CASE (ensemble_command, refuses_runs_with_other_start_tokens)
{
  plait_test_write ("d.en", "a b\nc d\n\na d\n\nc b\na a\n");
  plait_test_write ("d.fr", "u v\nw x\n\nu x\n\nw v\nu u\n");
  plait_test_write ("d.ini", "[data]\ntarget=fr\nvocabulary_type=words\ndocuments=en;fr\ntrain.en=d.en\ntrain.fr=d.fr\n"
                             "validation.en=d.en\nvalidation.fr=d.fr\n" SMALL_SOURCE ("en")
                                 TINY_DECODER TINY_TRAINING TINY_SEARCH);
  DONE (CALL ("run", "d.ini", "-q", "-o", "all.h5"));
  DONE (CALL ("run", "d.ini", "-q", "-o", "target.h5", "--set", "data.document_starts=target"));
  DONE (CALL ("run", "d.ini", "-q", "-o", "none.h5", "--set", "data.document_starts=none"));
  DONE (CALL ("translate", "all.h5", "target.h5", "-q", "-s", "en=d.en"));
  CHECK_REFUSED (CALL ("translate", "all.h5", "target.h5", "none.h5", "-s", "en=d.en"),
                 "all.h5 separates the sentences of the target by start tokens, none.h5 does not; an ensemble needs "
                 "runs that agree in this (data.document_starts)");
  CHECK_REFUSED (CALL ("translate", "none.h5", "target.h5", "-s", "en=d.en"),
                 "target.h5 separates the sentences of the target by start tokens, none.h5 does not");
}

/* Weights count by their ratio, even if their sum is not finite. */
TEST_CASE (ensemble_command, takes_the_greatest_weights)
{
  train ();
  PlaitTestCall equal = DONE (CALL ("translate", "one.h5", "two.h5", "-q", A, B, C, "--n-best", "2"));
  PlaitTestCall large
      = DONE (CALL ("translate", "one.h5", "two.h5", "-q", A, B, C, "--n-best", "2", "--weights", "1.7e308;1.7e308"));
  CHECK_STRING (large.output, equal.output);
}

TEST_CASE (ensemble_command, refuses_bad_weights)
{
  static const struct
  {
    const char *weights, *part;
  } cases[] = {
    { "1", "number of weights: 1, number of runs: 2" },
    { "1,2", "did you mean \"1;2\"?" },
    { "1;-2", "\"-2\" is not a positive" },
    { "1;0", "\"0\" is not a positive" },
    { "1;x", "\"x\" is not a positive" },
    { "1;nan", "\"nan\" is not a positive" },
  };

  train ();
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("%s", cases[i].weights);
      CHECK_REFUSED (CALL ("translate", "one.h5", "two.h5", A, B, C, "--weights", cases[i].weights), cases[i].part);
    }
  CHECK_REFUSED (CALL ("translate", "one.h5", A, B, "--weights", "1"), "there is only one run");
  CHECK_REFUSED (CALL ("translate", "one.h5", A, B, "--ensemble", "log"), "--ensemble: there is only one run");
  CHECK_REFUSED (CALL ("translate", "one.h5", "two.h5", A, B, C, "--ensemble", "max"), "expected mean or log");
}

/* Returns the JSON of @path in the dump @file, without its first line, which names the file. */
static const char *
show_attention (const char *file, const char *path)
{
  PlaitTestCall shown = DONE (CALL ("show", file, path, "--json"));
  const char *rest = strstr (shown.output, "\"path\"");

  CHECK (rest != NULL);
  return rest;
}

/* The shown attention is that of the first run, although the second run reads other sources. */
TEST_CASE (ensemble_command, aligns_words_by_the_first_run)
{
  train ();
  PlaitTestCall alone = DONE (
      CALL ("translate", "two.h5", "-q", B, C, "--alignment", "mean", "--attention", "alone.h5", "--format", "tsv"));
  PlaitTestCall twice = DONE (CALL ("translate", "two.h5", "two.h5", "-q", B, C, "--alignment", "mean", "--attention",
                                    "twice.h5", "--format", "tsv"));
  CHECK_STRING (twice.output, alone.output);
  CHECK_STRING (show_attention ("twice.h5", "/attention/translation/2/c"),
                show_attention ("alone.h5", "/attention/translation/2/c"));
  PlaitTestCall both = DONE (CALL ("translate", "two.h5", "one.h5", "-q", A, B, C, "--alignment", "mean", "--attention",
                                   "both.h5", "--format", "json"));
  CHECK_CONTAINS (both.output, "\"alignment\": {\"b\": ");
  CHECK_CONTAINS (both.output, "\"c\": ");
  DONE (CALL ("score", "two.h5", "one.h5", "-q", A, B, C, TARGET, "--attention", "forced.h5"));
  DONE (CALL ("score", "two.h5", "-q", B, C, TARGET, "--attention", "forced-alone.h5"));
  CHECK_STRING (show_attention ("forced.h5", "/attention/forced/2/c"),
                show_attention ("forced-alone.h5", "/attention/forced/2/c"));
  DONE (CALL ("translate", "two.h5", "one.h5", "-q", A, B, C, "--set", "decode.unknown=replace"));
}

/* A sentence must fit both runs; data.too_long says what to do if it does not. */
TEST_CASE (ensemble_command, handles_sentences_that_one_run_cannot_read)
{
  static const char *const orders[][2] = { { "limited.h5", "free.h5" }, { "free.h5", "limited.h5" } };

  plait_test_write ("train.a", "u v\nw u\nv\n");
  plait_test_write ("train.b", "x y\nx\ny\n");
  plait_test_write ("in.a", "u v\nu v w u v w u v\nw\n");
  plait_test_write ("free.ini", "[data]\ntarget=b\nvocabulary_type=words\nvocabulary=separate\ntrain.a=train.a\n"
                                "train.b=train.b\ntest.a=train.a\ntest.b=train.b\n" SMALL_SOURCE ("a") TINY_DECODER
                    "[train]\nupdates=1\n[decode]\nmaximum_length=3\n[evaluate]\nresamples=0\n");
  DONE (CALL ("run", "free.ini", "-q"));
  DONE (CALL ("run", "free.ini", "-q", "-o", "limited.h5", "--set", "source.a.positions=learned", "--set",
              "source.a.position_limit=6"));
  for (guint i = 0; i < 2; i++)
    {
      CONTEXT ("%s first", orders[i][0]);
      PlaitTestCall stopped = CALL ("translate", orders[i][0], orders[i][1], "-q", "-s", "a=in.a");
      CHECK_INT (stopped.code, 2);
      CHECK_CONTAINS (stopped.errors, "in.a:2: [source a]: a sentence has 9 rows, but there are only position_limit=6");
      PlaitTestCall skipped
          = DONE (CALL ("translate", orders[i][0], orders[i][1], "-s", "a=in.a", "--set", "data.too_long=skip"));
      CHECK_CONTAINS (skipped.errors, "in.a:2: skipped");
      PlaitTestCall cut
          = DONE (CALL ("translate", orders[i][0], orders[i][1], "-s", "a=in.a", "--set", "data.too_long=truncate"));
      CHECK_CONTAINS (cut.errors, "in.a:2: truncated to 6 tokens");
    }
}

/* If one of the runs has a pointer output, words that the vocabulary lacks are copied. */
TEST_CASE (ensemble_command, copies_own_words)
{
  plait_test_write ("in.a", "from Ada to Bob\nfrom Cid to Eve\nfrom Gus to Ina\nfrom Leo to Mia\n");
  plait_test_write ("pointer.ini",
                    "[data]\ntarget=b\nvocabulary=shared\nvocabulary_type=words\nvocabulary_size=6\ntrain.a=in.a\n"
                    "train.b=in.a\ntest.a=in.a\ntest.b=in.a\n" SMALL_SOURCE ("a") TINY_DECODER
                    "output=pointer\n[train]\nepochs=1\n[decode]\nmaximum_length=6\n[evaluate]\nresamples=0\n");
  DONE (CALL ("run", "pointer.ini", "-q"));
  DONE (CALL ("run", "pointer.ini", "-q", "-o", "plain.h5", "--set", "decoder.output=softmax"));
  PlaitTestCall once = DONE (CALL ("translate", "pointer.h5", "-q", "-s", "a=in.a", "--n-best", "5"));
  PlaitTestCall twice = DONE (CALL ("translate", "pointer.h5", "pointer.h5", "-q", "-s", "a=in.a", "--n-best", "5"));
  CHECK_STRING (twice.output, once.output);
  PlaitTestCall score = DONE (CALL ("score", "pointer.h5", "-q", "-s", "a=in.a", "--target", "in.a"));
  PlaitTestCall scores = DONE (CALL ("score", "pointer.h5", "pointer.h5", "-q", "-s", "a=in.a", "--target", "in.a"));
  CHECK_STRING (scores.output, score.output);
  PlaitTestCall both = DONE (CALL ("translate", "pointer.h5", "plain.h5", "-q", "-s", "a=in.a", "--n-best", "20",
                                   "--set", "decode.method=sample"));
  CHECK_CONTAINS (both.output, "Ada");
  DONE (CALL ("translate", "plain.h5", "pointer.h5", "-q", "-s", "a=in.a"));
  DONE (CALL ("score", "pointer.h5", "plain.h5", "-q", "-s", "a=in.a", "--target", "in.a"));
  DONE (CALL ("score", "plain.h5", "pointer.h5", "-q", "-s", "a=in.a", "--target", "in.a"));
}
