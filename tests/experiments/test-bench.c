/* SPDX-License-Identifier: MIT */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "call.h"
#include "files.h"
#include "harness.h"

/* Tests of plait-bench: its measurements, output and input data. Speed is not tested. */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (json_t, json_decref)

#define BENCH(...) plait_test_call_program ("plait-bench", (const char *[]){ __VA_ARGS__, NULL })

/* An experiment with a small recurrent model, whose sources tests select, and one with a Transformer. Neither reads
 * files. */
static const char recurrent[] = "[experiment]\nsources=text\n"
                                "[data]\ntarget=target\nvocabulary=separate\nvocabulary_size=400\n"
                                "[source text]\nencoder=bigru\nwidth=6\n"
                                "[source tree]\nencoder=bitree-gru\nstream=text\nleaves=bigru\n"
                                "[source tree/leaves]\nwidth=6\ndropout=0\n"
                                "[decoder]\ntype=gru\nwidth=8\nstate_width=12\nlayers=1\ndropout=0\n"
                                "[train]\nbatch=4\nsmoothing=0\n"
                                "[decode]\nbeam=2\nbatch=3\n"
                                "[bench]\nmean_length=6\nlength_deviation=2\nshortest_length=1\nlongest_length=9\n";
static const char transformer[] = "[data]\ntarget=target\nvocabulary_size=400\n"
                                  "[source en]\nencoder=transformer\nlayers=1\nheads=2\nfeed_forward=16\n"
                                  "[source image]\nencoder=features\n"
                                  "[decoder]\nwidth=8\nlayers=1\nheads=2\nfeed_forward=16\n"
                                  "[train]\nbatch=30\nbatch_unit=tokens\n"
                                  "[bench]\nmean_length=6\nfeature_rows=3\nfeature_width=5\n";

/* Two batches of sentences with their trees, in the input format of plait-bench. */
static const char trees[] = "5 6 7\t1 2 0 3\t8 9 2\n"
                            "10 11\t0 1\t5 2\n"
                            "\n"
                            "7 8 9 10\t0 1 2 3 4 5\t6 7 8 2\n";

#define TREES "--set", "experiment.sources=tree"

static void
write_files (void)
{
  plait_test_write ("recurrent.ini", recurrent);
  plait_test_write ("transformer.ini", transformer);
  plait_test_write ("trees", trees);
}

/* Returns the text between the brackets of the array @name of @json; "" if there is no such array. (transfer full) */
static char *
array (const char *json, const char *name)
{
  g_autofree char *key = g_strdup_printf ("\"%s\": [", name);
  const char *start = strstr (json, key);

  if (!start)
    return g_strdup ("");
  start += strlen (key);
  return g_strndup (start, strcspn (start, "]"));
}

TEST_CASE (bench_command, trains_trees_the_same_with_any_threads)
{
  write_files ();
  PlaitTestCall one = QUIET (BENCH ("train", "recurrent.ini", TREES, "--set", "decoder.coverage=tree", "--data",
                                    "trees", "--json", "--steps", "2", "--warmup", "1", "--threads", "1"));
  PlaitTestCall two = BENCH ("train", "recurrent.ini", TREES, "--set", "decoder.coverage=tree", "--data", "trees",
                             "--json", "--steps", "2", "--warmup", "1", "--threads", "2");

  g_autoptr (json_t) document = json_loads (one.output, JSON_REJECT_DUPLICATES, NULL);

  CHECK (document != NULL);
  CHECK_CONTAINS (one.output, "\"mode\": \"train\"");
  CHECK_CONTAINS (one.output, "\"experiment\": \"recurrent\"");
  CHECK_CONTAINS (one.output, "\"decoder.coverage=tree\"");
  CHECK_CONTAINS (one.output, "\"measured\": \"a training step of 4 sentences, serial, coverage tree\"");
  CHECK_CONTAINS (one.output, "\"threads\": 1");
  CHECK_CONTAINS (two.output, "\"threads\": 2");
  g_autofree char *losses = array (one.output, "losses"), *same = array (two.output, "losses");
  g_auto (GStrv) each = g_strsplit (losses, ",", -1);
  CHECK_STRING (losses, same);
  CHECK_INT (g_strv_length (each), 3);
  /* the loss if 400 words are about equally probable */
  CHECK_NEAR (g_ascii_strtod (each[0], NULL), 5.992, .3);
}

/* Returns the number called @name in @json; -1 if it is missing. */
static double
number (const char *json, const char *name)
{
  g_autofree char *key = g_strdup_printf ("\"%s\": ", name);
  const char *start = strstr (json, key);

  return start ? g_ascii_strtod (start + strlen (key), NULL) : -1;
}

TEST_CASE (bench_command, tells_where_the_time_goes)
{
  static const char *const trained[] = { "products", "attention", "output layer", "norms, sums", "update" };
  write_files ();
  PlaitTestCall call = DONE (
      BENCH ("train", "transformer.ini", "--profile", "--json", "--steps", "2", "--warmup", "1", "--threads", "2"));
  PlaitTestCall text = DONE (BENCH ("decode", "transformer.ini", "--profile", "--steps", "1", "--warmup", "0"));

  for (guint i = 0; i < G_N_ELEMENTS (trained); i++)
    CHECK (number (call.output, trained[i]) > 0);
  CHECK (number (call.output, "cells") == 0);
  CHECK_CONTAINS (text.output, "share of the time of ");
  CHECK_CONTAINS (text.output, "  waiting at the end of a run ");
}

/* Smoothing changes the loss of a model that is not uniform. The best hypotheses of 6 words of a vocabulary of 400 are
 * more probable than uniform ones, whose score is -6 log 400 / (11 / 6). */
TEST_CASE (bench_command, tells_losses_and_scores)
{
  static const char *const keys[] = { "train.smoothing=0", "train.smoothing=0.5" };
  g_auto (GStrv) losses = g_new0 (char *, 3);

  write_files ();
  for (guint i = 0; i < 2; i++)
    {
      PlaitTestCall trained
          = DONE (BENCH ("train", "recurrent.ini", "--set", keys[i], "--set", "decoder.output=pointer", "--set",
                         "data.vocabulary=shared", "--json", "--steps", "1", "--warmup", "0"));

      losses[i] = array (trained.output, "losses");
    }
  CHECK (strcmp (losses[0], losses[1]) != 0);
  PlaitTestCall searched = DONE (BENCH ("decode", "recurrent.ini", "--json", "--steps", "2", "--warmup", "1"));
  g_autofree char *scores = array (searched.output, "losses");
  g_auto (GStrv) each = g_strsplit (scores, ",", -1);
  CHECK_INT (g_strv_length (each), 3);
  for (guint i = 0; each[i]; i++)
    {
      double score = g_ascii_strtod (each[i], NULL);

      CHECK (score > 1 && score < 6 * log (400) / (11 / 6.));
    }
}

/* The members of an ensemble differ in seed, so scores change with their number. */
TEST_CASE (bench_command, searches_with_an_ensemble)
{
  static const char *const members[] = { "1", "2", "3" };
  g_auto (GStrv) scores = g_new0 (char *, 4);

  write_files ();
  for (guint i = 0; i < 3; i++)
    {
      PlaitTestCall done = DONE (
          BENCH ("decode", "transformer.ini", "--json", "--steps", "1", "--warmup", "0", "--members", members[i]));

      scores[i] = array (done.output, "losses");
      for (guint k = 0; k < i; k++)
        CHECK (strcmp (scores[i], scores[k]) != 0);
    }
  PlaitTestCall alone = DONE (BENCH ("decode", "transformer.ini", "--json", "--steps", "1", "--warmup", "0"));
  g_autofree char *same = array (alone.output, "losses");
  CHECK_STRING (scores[0], same);
  CHECK_REFUSED (BENCH ("decode", "transformer.ini", "--members", "65"), "--members");
  CHECK_REFUSED (BENCH ("train", "transformer.ini", "--members", "2"), "--members");
}

TEST_CASE (bench_command, draws_documents)
{
  write_files ();
  PlaitTestCall plain = BENCH ("train", "transformer.ini", "--set", "experiment.sources=en", "--json", "--steps", "1",
                               "--warmup", "0", "--threads", "1");
  PlaitTestCall documents
      = QUIET (BENCH ("train", "transformer.ini", "--set", "experiment.sources=en", "--set", "data.documents=en",
                      "--set", "data.document_roles=2", "--set", "bench.document_sentence=2", "--json", "--steps", "1",
                      "--warmup", "0", "--threads", "1"));
  g_autofree char *without = array (plain.output, "losses"), *with = array (documents.output, "losses");

  CHECK (strcmp (with, "") != 0 && strcmp (with, without) != 0);
}

/* Returns the number of floating point operations of the first step in @json, as the operators count them. */
static double
flop (const char *json)
{
  g_autofree char *steps = array (json, "flop_per_step");

  return g_ascii_strtod (steps, NULL);
}

#define COUNT(...) BENCH (__VA_ARGS__, "--json", "--steps", "1", "--warmup", "0")

/* experiments/peers/flops.py computed the expected numbers, for the first batch of trees with and without its trees. */
TEST_CASE (bench_command, counts_the_work_of_the_equations)
{
  write_files ();
  plait_test_write ("sentences", "5 6 7\t8 9 2\n10 11\t5 2\n");
  const struct
  {
    PlaitTestCall call;
    double flop;
  } cases[] = {
    { COUNT ("train", "recurrent.ini", TREES, "--data", "trees"), 260040 },
    { COUNT ("encode", "recurrent.ini", TREES, "--data", "trees"), 79056 },
    { COUNT ("train", "recurrent.ini", "--data", "sentences"), 165840 },
    { COUNT ("train", "transformer.ini", "--data", "sentences"), 148608 },
    { COUNT ("train", "transformer.ini", "--data", "sentences", "--set", "decoder.combiner=flat"), 144768 },
    { COUNT ("train", "transformer.ini", "--data", "sentences", "--set", "decoder.combiner=hierarchical"), 161088 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("case %u", i);
      PlaitTestCall call = DONE (cases[i].call);

      CHECK_NEAR (flop (call.output) / cases[i].flop, 1, 1e-9);
    }
}

TEST_CASE (bench_command, measures_any_experiment)
{
  write_files ();
  const struct
  {
    PlaitTestCall call;
    const char *part;
  } cases[] = {
    { BENCH ("encode", "recurrent.ini", TREES, "-n", "1", "-w", "0"),
      "recurrent: the encoders over 4 sentences, forward and backward, " },
    { BENCH ("train", "recurrent.ini", "--set", "decoder.coverage=word", "-n", "1", "-w", "0"),
      "recurrent: a training step of 4 sentences, serial, coverage word, " },
    { BENCH ("decode", "recurrent.ini", "-n", "1", "-w", "0"),
      "recurrent: 6 steps of search with beam 2, 3 sentences together, serial, " },
    { BENCH ("encode", "transformer.ini", "-n", "1", "-w", "0", "--forward"),
      "transformer: the encoders over 30 tokens, forward, " },
    { BENCH ("train", "transformer.ini", "--set", "train.accumulate=2", "-n", "1", "-w", "0"),
      "transformer: a training step of 30 tokens, serial, " },
    { BENCH ("train", "recurrent.ini", "--set", "train.precision=bfloat16_emulated", "-n", "1", "-w", "0"),
      "recurrent: a training step of 4 sentences, serial, in bfloat16, " },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("case %u", i);
      PlaitTestCall call = QUIET (cases[i].call);

      CHECK_CONTAINS (call.output, cases[i].part);
      CHECK_CONTAINS (call.output, "peak memory, MiB");
    }
}

TEST_CASE (bench_command, writes_the_initial_parameters)
{
  write_files ();
  DONE (BENCH ("encode", "recurrent.ini", TREES, "-d", "trees", "-n", "1", "-w", "0", "--parameters", "values.h5"));
  PlaitTestCall show = DONE (CALL ("show", "values.h5", "/parameters/source/tree"));
  CHECK_REFUSED (BENCH ("encode", "recurrent.ini", "--parameters", "values.h5"), "values.h5");

  CHECK_CONTAINS (show.output, "leaves");
}

TEST_CASE (bench_command, helps)
{
  static const char *const modes[] = { "train", "decode", "encode", "steps" };
  PlaitTestCall help = BENCH ("--help");
  PlaitTestCall version = BENCH ("--version");
  CHECK_REFUSED (CALL ("bench", "train", "recurrent.ini"), "there is no command \"bench\"");

  CHECK_STRING (version.output, "plait-bench " PLAIT_VERSION "\n");
  for (guint i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      PlaitTestCall call = BENCH ("help", modes[i]);

      CHECK_CONTAINS (help.output, modes[i]);
      CHECK_CONTAINS (call.output, plait_test_format ("Usage: plait-bench %s FILE.ini", modes[i]));
    }
}

TEST_CASE (bench_command, refuses)
{
  write_files ();
  const struct
  {
    PlaitTestCall call;
    const char *part;
  } cases[] = {
    { BENCH ("forest", "recurrent.ini"), "there is no command \"forest\"; plait-bench --help lists the commands" },
    { BENCH ("train"), "FILE.ini" },
    { BENCH ("train", "nowhere.ini"), "nowhere.ini" },
    { BENCH ("train", "recurrent.ini", "--set", "train.bach=3"), "did you mean \"batch\"?" },
    { BENCH ("train", "recurrent.ini", "--set", "bench.shortest_length=10"),
      "--set bench.shortest_length=10: [bench] shortest_length: 10 is above longest_length=9" },
    { BENCH ("train", "recurrent.ini", "--set", "decoder.coverage=tree"), "needs memories with" },
    { BENCH ("train", "recurrent.ini", "--set", "data.vocabulary_type=words", "--set", "data.vocabulary_size=0"),
      "recurrent.ini: data.vocabulary_size=0 keeps all words of the text, but this command reads no text" },
    { BENCH ("train", "recurrent.ini", "--set", "train.batch=10000000"),
      "recurrent.ini: train.batch=10000000 makes 16 batches of about" },
    { BENCH ("train", "recurrent.ini", "--forward"), "--forward" },
    { BENCH ("steps", "recurrent.ini", "--data", "trees"), "--data" },
    { BENCH ("train", "recurrent.ini", "--steps", "0"), "--steps" },
    { CALL ("run", "recurrent.ini"), "there is no file for train.text" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("case %u", i);
      PlaitTestCall call = cases[i].call;

      CHECK_INT (call.code, 2);
      CHECK_STRING (call.output, "");
      CHECK_CONTAINS (call.errors, cases[i].part);
    }
}

TEST_CASE (bench_command, refuses_trees_that_are_none)
{
  write_files ();
  const struct
  {
    const char *text;
    const char *part;
  } cases[] = {
    { "5 6 7\t8 9 2\n", "data:1: the line has 2 streams; expected 3, separated by tabs: tree, its trees, the target" },
    { "5 6\t0 1\t2\n5 6 7\t1 2 0\t2\n", "data:2: the tree has 3 numbers for 3 tokens; expected 4" },
    { "5 6 7\t1 3 0 2\t2\n", "data:1: in the tree, child 3 of node 3 is not before the node" },
    { "5 6 7\t1 2 0 1\t2\n", "data:1: in the tree, child 1 of node 4 is named twice" },
    { "5 6 7\t1 2 0 4\t2\n", "data:1: \"4\" is not an id; expected an integer from 0 to 3" },
    { "5\t0 1\t2\n", "data:1: \"0\" is not an id" },
    { "5 6\t0 1\t7\n", "data:1: the target does not end in 2" },
    { "5 2\t0 1\t\n", "data:1: the target does not end in 2" },
    { "5 400\t0 1\t2\n", "data:1: \"400\" is not an id; expected an integer from 2 to 399" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("case %u", i);
      plait_test_write ("data", cases[i].text);
      CHECK_REFUSED (BENCH ("train", "recurrent.ini", TREES, "--data", "data"), cases[i].part);
    }
}

TEST_CASE (bench_command, takes_one_word_and_no_node)
{
  write_files ();
  plait_test_write ("data", "5\t\t2\n5 6\t0 1\t7 2\n");
  QUIET (BENCH ("train", "recurrent.ini", TREES, "--set", "decoder.coverage=tree", "--data", "data", "-n", "1", "-w",
                "0"));
}
