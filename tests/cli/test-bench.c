/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "call.h"
#include "harness.h"

/* plait bench: what it measures and prints, and the data that it reads. Speed is no matter here. */

/* Two batches of sentences with their trees. */
static const char trees[] = "5 6 7\t1 2 0 3\t8 9 2\n"
                            "10 11\t0 1\t5 2\n"
                            "\n"
                            "7 8 9 10\t0 1 2 3 4 5\t6 7 8 2\n";

/* What stands between the brackets of the array @name of @json; empty if there is none. */
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
  plait_test_write ("trees", trees);
  g_auto (PlaitTestCall) one = CALL ("bench", "tree", "--data", "trees", "--coverage", "tree", "--json", "--steps", "2",
                                     "--warmup", "1", "--threads", "1");
  g_auto (PlaitTestCall) two = CALL ("bench", "tree", "--data", "trees", "--coverage", "tree", "--json", "--steps", "2",
                                     "--warmup", "1", "--threads", "2");

  CHECK_INT (one.code, 0);
  CHECK_STRING (one.errors, "");
  CHECK_CONTAINS (one.output, "\"mode\": \"tree\"");
  CHECK_CONTAINS (one.output, "\"part\": \"step\"");
  CHECK_CONTAINS (one.output, "\"size\": \"h128\"");
  CHECK_CONTAINS (one.output, "\"coverage\": \"tree\"");
  CHECK_CONTAINS (one.output, "\"threads\": 1");
  CHECK_CONTAINS (two.output, "\"threads\": 2");
  g_autofree char *losses = array (one.output, "losses"), *same = array (two.output, "losses");
  g_auto (GStrv) each = g_strsplit (losses, ",", -1);
  CHECK_STRING (losses, same);
  CHECK_INT (g_strv_length (each), 3);
  /* Of words that are all about as probable. */
  CHECK_NEAR (g_ascii_strtod (each[0], NULL), 8.294, .3);
}

TEST_CASE (bench_command, measures_parts)
{
  const struct
  {
    PlaitTestCall call;
    const char *part;
  } cases[] = {
    { CALL ("bench", "tree", "--part", "encoder", "-n", "1", "-w", "0"),
      "h128: the encoder over 32 sentences with trees, forward and backward, " },
    { CALL ("bench", "recurrent", "--coverage", "word", "--reset", "after", "-n", "1", "-w", "0"),
      "h128: a training step of 32 sentences, serial, coverage word, " },
    { CALL ("bench", "recurrent", "--part", "attention", "--positions", "70", "-n", "1"),
      "h128: a step of additive attention over 70 positions, forward and backward, " },
    { CALL ("bench", "recurrent", "--part", "attention-forward", "--positions", "70", "-n", "1", "-s", "h256"),
      "h256: a step of additive attention over 70 positions, forward, " },
    { CALL ("bench", "train", "-n", "1", "-w", "0"), "small: a training step of 64 sentences, serial, " },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("case %u", i);
      g_auto (PlaitTestCall) call = cases[i].call;

      CHECK_INT (call.code, 0);
      CHECK_CONTAINS (call.output, cases[i].part);
      CHECK_CONTAINS (call.output, "peak memory, MiB");
    }
}

TEST_CASE (bench_command, writes_the_initial_parameters)
{
  plait_test_write ("trees", trees);
  g_auto (PlaitTestCall) call
      = CALL ("bench", "tree", "-d", "trees", "-n", "1", "-w", "0", "--parameters", "values.h5", "--part", "encoder");
  g_auto (PlaitTestCall) show = CALL ("show", "values.h5", "/parameters");

  CHECK_INT (call.code, 0);
  CHECK_INT (show.code, 0);
  CHECK_CONTAINS (show.output, "text");
}

TEST_CASE (bench_command, refuses)
{
  const struct
  {
    PlaitTestCall call;
    const char *part;
  } cases[] = {
    { CALL ("bench", "forest"), "cannot measure \"forest\"; expected train, decode, tree or recurrent" },
    { CALL ("bench", "tree", "--size", "small"), "--size cannot be \"small\"; expected h128, h256 or h1024" },
    { CALL ("bench", "train", "--size", "h128"), "--size cannot be \"h128\"; expected small, msmt or mmt" },
    { CALL ("bench", "train", "--part", "encoder"), "--part goes with plait bench tree and plait bench recurrent" },
    { CALL ("bench", "decode", "--coverage", "word"), "--coverage goes with plait bench tree and" },
    { CALL ("bench", "tree", "--part", "attention"), "cannot be \"attention\"; expected step or encoder" },
    { CALL ("bench", "recurrent", "--part", "x"), "expected step, encoder, attention or attention-forward" },
    { CALL ("bench", "recurrent", "--coverage", "tree"), "--coverage tree needs memories with tree links" },
    { CALL ("bench", "recurrent", "--part", "attention", "-c", "flat"), "expected serial or parallel" },
    { CALL ("bench", "tree", "--positions", "0"), "--positions" },
    { CALL ("bench", "tree", "--reset", "never"), "--reset cannot be \"never\"; expected before or after" },
    { CALL ("bench", "tree", "--dropout", "1"), "--dropout cannot be \"1\"" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("case %u", i);
      g_auto (PlaitTestCall) call = cases[i].call;

      plait_test_check_refused (&call, cases[i].part);
    }
}

TEST_CASE (bench_command, refuses_trees_that_are_none)
{
  const struct
  {
    const char *text;
    const char *part;
  } cases[] = {
    { "5 6 7\t8 9 2\n", "data:1: 2 streams; expected 3 separated by tabs: the sources of size h128, their trees," },
    { "5 6\t0 1\t2\n5 6 7\t1 2 0\t2\n", "data:2: a tree of 3 numbers over 3 tokens; expected 4" },
    { "5 6 7\t1 3 0 2\t2\n", "data:1: child 3 of node 3 of the tree comes after it" },
    { "5 6 7\t1 2 0 1\t2\n", "data:1: child 1 of node 4 of the tree has two parents" },
    { "5 6 7\t1 2 0 4\t2\n", "data:1: \"4\" is no id; expected an integer from 0 to 3" },
    { "5\t0 1\t2\n", "data:1: \"0\" is no id" },
    { "5 6\t0 1\t7\n", "data:1: the target does not end in 2" },
    { "5 4000\t0 1\t2\n", "data:1: \"4000\" is no id; expected an integer from 2 to 3999" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("case %u", i);
      plait_test_write ("data", cases[i].text);
      g_auto (PlaitTestCall) call = CALL ("bench", "tree", "--data", "data");

      plait_test_check_refused (&call, cases[i].part);
    }
}

TEST_CASE (bench_command, takes_one_word_and_no_node)
{
  plait_test_write ("data", "5\t\t2\n5 6\t0 1\t7 2\n");
  g_auto (PlaitTestCall) call = CALL ("bench", "tree", "--data", "data", "-n", "1", "-w", "0", "--coverage", "tree");

  CHECK_STRING (call.errors, "");
  CHECK_INT (call.code, 0);
}
