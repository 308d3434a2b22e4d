/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <string.h>

#include "call.h"
#include "experiments.h"
#include "files.h"
#include "harness.h"
#include "report-page.h"

/* Tests of plait trees. */

static const char *const sound = "(ROOT (S (NP (DT the) (JJ old) (NN dog)) (VP (VBZ barks)) (. .)))\n"
                                 "(NP (NN rain))\n"
                                 "\n"
                                 "(S (NP (PRP it)) (VP (VBZ rains)))\n";
static const char *const tokens = "the old dog barks .\nrain\nno tree\nit rains\n";

TEST_CASE (trees_command, checks_a_file)
{
  plait_test_write ("trees", sound);
  plait_test_write ("tokens", tokens);
  PlaitTestCall check = QUIET (CALL ("trees", "--check", "trees", "--tokens", "tokens", "--binarise", "right"));
  PlaitTestCall json = DONE (CALL ("trees", "--check", "trees", "--json"));
  DONE (plait_test_call (sound, (const char *[]){ "trees", "--check", "-", "--tokens", "tokens", NULL }));

  /* The trees have heights 3, 0 and 1. ROOT, two VP and two NP have one child. Part-of-speech tags are not
   * constituents. */
  CHECK_STRING (check.output, "trees\n"
                              "  lines           4\n"
                              "  with tree       3\n"
                              "  without tree    1\n"
                              "  bad             0\n"
                              "  mean leaves     2.67\n"
                              "  mean height     1.33 links of the binary trees\n"
                              "  children        62 % one, 12 % two, 25 % three, 0 % more, of 8 constituents\n");
  CHECK_CONTAINS (json.output, "\"unary\": 5");
  CHECK_CONTAINS (json.output, "\"ternary\": 2");
  CHECK_CONTAINS (json.output, "\"complaints\": []");
}

TEST_CASE (trees_command, names_bad_lines)
{
  plait_test_write ("trees", "(S (A a) (B b))\n(S (A a)\n(S (A a) (B c))\n(S (A a) (B b))\n");
  plait_test_write ("tokens", "a b\na\na b\na b c\n");
  PlaitTestCall check = CALL ("trees", "--check", "trees", "--tokens", "tokens", "--limit", "2");
  PlaitTestCall json = CALL ("trees", "--check", "trees", "--tokens", "tokens", "--json");

  CHECK_INT (check.code, 2);
  CHECK_CONTAINS (check.output, "trees:2: 1 brackets are still open");
  CHECK_CONTAINS (check.output, "trees:3: word 2 of the tree is \"c\", but token 2 of the sentence is \"b\"");
  CHECK_CONTAINS (check.output, "... and 1 more bad lines; --limit shows more\n");
  CHECK_CONTAINS (check.output, "  bad             3\n");
  CHECK_CONTAINS (check.errors, "trees: 3 of 4 lines are wrong");
  CHECK_INT (json.code, 2);
  CHECK_CONTAINS (json.output, "trees:4: the tree has 2 words, but the sentence has 3 tokens");
}

TEST_CASE (trees_command, converts_there_and_back)
{
  plait_test_write ("trees", sound);
  plait_test_write ("tokens", tokens);
  PlaitTestCall triples = CALL ("trees", "--convert", "trees", "--to", "triples", "--binarise", "right");
  PlaitTestCall brackets = DONE (CALL ("trees", "--convert", "trees", "--to", "brackets", "-o", "binary"));
  PlaitTestCall again = CALL ("trees", "--convert", "binary", "--to", "brackets", "--binarise", "left");
  PlaitTestCall back = plait_test_call (
      triples.output, (const char *[]){ "trees", "--convert", "-", "--to", "brackets", "--tokens", "tokens", NULL });

  CHECK_STRING (triples.output, "[2,3,201] [1,201,202] [4,5,203] [202,203,204]\n[1,1,201]\n[1,1,201]\n[1,2,201]\n");
  CHECK_STRING (brackets.output, "");
  CHECK_STRING (again.output, "(ROOT+S (@S (NP (DT the) (@NP (JJ old) (NN dog))) (VP+VBZ barks)) (. .))\n"
                              "(NP+NN rain)\n"
                              "\n"
                              "(S (NP+PRP it) (VP+VBZ rains))\n");
  CHECK_STRING (back.output, "(X (X (X the) (X (X old) (X dog))) (X (X barks) (X .)))\n\n\n(X (X it) (X rains))\n");
}

TEST_CASE (trees_command, refuses)
{
  plait_test_write ("trees", sound);
  plait_test_write ("tokens", tokens);
  plait_test_write ("short", "a\n");
  plait_test_write ("triples", "[1,2,201]\n");
  CHECK_REFUSED (CALL ("trees"), "expected one of --check and --convert, found none");
  CHECK_REFUSED (CALL ("trees", "--check", "trees", "--convert", "trees"), "found both");
  CHECK_REFUSED (CALL ("trees", "--check", "nowhere"), "nowhere: cannot be opened");
  CHECK_REFUSED (CALL ("trees", "--check", "trees", "--tokens", "short"),
                 "short:2: ends here, but trees continues; expected equal numbers of trees and sentences");
  CHECK_REFUSED (CALL ("trees", "--check", "trees", "--to", "triples"), "--to and --output are for --convert");
  CHECK_REFUSED (CALL ("trees", "--check", "trees", "--binarise", "up"), "--binarise cannot be \"up\"");
  CHECK_REFUSED (CALL ("trees", "--check", "trees", "--head-rules", "../x"), "there is no file head-rules/../x.ini");
  CHECK_REFUSED (CALL ("trees", "--check", "trees", "--head-rules", "klingon"),
                 "or name a file that they have: english");
  CHECK_REFUSED (CALL ("trees", "--check", "trees", "--binarise", "left", "--head-rules", "english"),
                 "--head-rules needs --binarise head");
  CHECK_REFUSED (CALL ("trees", "--convert", "trees"), "--to is missing");
  CHECK_REFUSED (CALL ("trees", "--convert", "trees", "--to", "xml"), "expected brackets or triples");
  CHECK_REFUSED (CALL ("trees", "--convert", "trees", "--to", "triples", "--output", "trees"), "trees");
  CHECK_REFUSED (CALL ("trees", "--convert", "trees", "--to", "triples", "--json"),
                 "--json and --limit are for --check");
  CHECK_REFUSED (CALL ("trees", "--convert", "triples", "--to", "brackets", "-o", "new"),
                 "give their sentences with --tokens");
  CHECK_REFUSED (CALL ("trees", "--convert", "short", "--to", "triples", "-o", "new"),
                 "short:1: byte 1 of the tree is outside");
  CHECK (!plait_test_exists ("new"));
}

/*
 * Tests of trees of a source in a run.
 */

/* Calls plait with the plugin folder forest/. */
static PlaitTestCall
forest_call (const char *first, ...)
{
  const char *folder = plait_test_build_path ("tests/cli/forest");
  g_autoptr (GPtrArray) words = g_ptr_array_new ();
  va_list more;

  va_start (more, first);
  for (const char *word = first; word; word = va_arg (more, const char *))
    g_ptr_array_add (words, (gpointer)word);
  va_end (more);
  g_ptr_array_add (words, NULL);
  return plait_test_call_with_plugins (folder, (const char *const *)words->pdata);
}

static const char *const experiment
    = "[experiment]\nseed=3\n"
      "[data]\ngenerate=reorder\nvocabulary_type=words\n"
      "generate.train=60\ngenerate.validation=10\ngenerate.test=8\n"
      "[source a]\nencoder=forest\n" SMALL_DECODER (
          "serial") "[train]\nbatch=6\nepochs=2\nwarm_up=10\nlearning_rate=1\nvalidate_every=7\n"
                    "[decode]\nbeam=2\nmaximum_length=12\n[evaluate]\nresamples=10\nattention=1\n";

TEST_CASE (trees_of_runs, are_trained_with_and_translated_with)
{
  plait_test_write ("forest.ini", experiment);
  QUIET (forest_call ("run", "forest.ini", "-q", "-o", "run.h5", NULL));
  DONE (forest_call ("run", "forest.ini", "-q", "-o", "right.h5", "--set", "data.trees=right", NULL));
  DONE (CALL ("generate", "reorder", "-o", "made", "-s", "train=60", "-s", "validation=10", "-s", "test=8"));
  PlaitTestCall given = QUIET (forest_call ("score", "run.h5", "-q", "-s", "a=made/test.a", "-s",
                                            "a.trees=made/test.a.trees", "--target", "made/test.target", NULL));
  QUIET (forest_call ("translate", "run.h5", "-q", "-s", "a=made/test.a", "-s", "a.trees=made/test.a.trees",
                      "--attention", "dump.h5", NULL));
  PlaitTestCall right
      = DONE (forest_call ("score", "right.h5", "-q", "-s", "a=made/test.a", "--target", "made/test.target", NULL));
  QUIET (forest_call ("adversarial", "run.h5", "-q", NULL));
  PlaitTestCall rules = forest_call ("show", "run.h5", "/trees", NULL);
  PlaitTestCall inspected = forest_call ("inspect", "forest", NULL);

  CHECK (strcmp (given.output, right.output) != 0);
  CHECK_CONTAINS (rules.output, "head_rules");
  CHECK_CONTAINS (inspected.output, "tokens, trees");

  /* The sentences get other scores if their trees are missing. */
  plait_test_write ("none", "\n\n\n\n\n\n\n\n");
  PlaitTestCall without = DONE (forest_call ("score", "run.h5", "-q", "-s", "a=made/test.a", "-s", "a.trees=none",
                                             "--target", "made/test.target", NULL));
  CHECK (strcmp (given.output, without.output) != 0);

  CHECK_REFUSED (forest_call ("translate", "run.h5", "-s", "a=made/test.a", NULL),
                 "a.trees is not given, but source \"a\" needs it: add --source a.trees=FILE");
  CHECK_REFUSED (forest_call ("translate", "run.h5", "-s", "a.trees=made/test.a.trees", NULL),
                 "source \"a\" is not given");
  CHECK_REFUSED (forest_call ("translate", "run.h5", "-s", "b=made/test.a", NULL), "expected one of: a, a.trees");
  CHECK_REFUSED (forest_call ("translate", "right.h5", "-s", "a=made/test.a", "-s", "a.trees=made/test.a.trees", NULL),
                 "--source a.trees=made/test.a.trees: the run does not read this source; expected one of: a");
  CHECK_REFUSED (forest_call ("translate", "run.h5", "-s", "a=-", "-s", "a.trees=-", NULL),
                 "standard input cannot be both a and");
  CHECK_REFUSED (
      forest_call ("translate", "run.h5", "-s", "a=made/test.a", "-s", "a.trees=made/validation.a.trees", NULL),
      "made/validation.a.trees:1: ");
  CHECK_REFUSED (forest_call ("translate", "run.h5", "-s", "a=made/test.a", "-s", "a.trees=made/test.a.trees", "-o",
                              "made/test.a.trees", NULL),
                 "made/test.a.trees");
  CHECK_REFUSED (CALL ("translate", "run.h5", "-s", "a=made/test.a", "-s", "a.trees=made/test.a.trees"), "forest");
}

TEST_CASE (trees_of_runs, keep_coverage_beside_attention)
{
  plait_test_write ("covered.ini", "[experiment]\nseed=3\n"
                                   "[data]\ngenerate=reorder\nvocabulary_type=words\n"
                                   "generate.train=12\ngenerate.validation=6\ngenerate.test=2\n"
                                   "[source a]\nencoder=bitree-gru\nleaves=bigru\n"
                                   "[decoder]\ntype=gru\ncoverage=tree\nlayers=1\nwidth=8\n"
                                   "[coverage]\nwidth=3\n"
                                   "[train]\nbatch=6\nepochs=1\n"
                                   "[decode]\nbeam=2\nmaximum_length=12\n[evaluate]\nresamples=10\nattention=1\n");
  PlaitTestCall run = CALL ("run", "covered.ini", "-q", "-o", "covered.h5");
  DONE (CALL ("generate", "reorder", "-o", "made", "-s", "train=12", "-s", "validation=6", "-s", "test=2"));
  PlaitTestCall translated = CALL ("translate", "covered.h5", "-q", "-s", "a=made/test.a", "-s",
                                   "a.trees=made/test.a.trees", "--attention", "dump.h5");
  PlaitTestCall kept = CALL ("show", "covered.h5", "/coverage/test/0/a");
  PlaitTestCall dumped = CALL ("show", "dump.h5", "/coverage/translation/0");
  PlaitTestCall second = CALL ("show", "dump.h5", "/coverage/translation/1/a/state");
  PlaitTestCall forced = CALL ("show", "covered.h5", "/coverage/test-forced/0/a/row_labels");
  DONE (CALL ("report", "covered.h5", "-q", "-o", "covered.html"));
  g_auto (Pack) pack = { 0 };

  CHECK_STRING (run.errors, "");
  CHECK_STRING (translated.errors, "");
  CHECK_CONTAINS (kept.output, "coverage of a: attention so far");
  CHECK_CONTAINS (dumped.output, "/coverage/translation/0/a\n");
  CHECK_CONTAINS (second.output, ", 3]\n"); /* coverage state of the second layer: [target, row, unit] */
  CHECK_CONTAINS (forced.output, "…");      /* label of an inner node, with its first and last word */
  const char *page = plait_test_read_text ("covered.html");
  read_pack (&pack, page, 0);
  CHECK_CONTAINS (pack.json, "\"title\": \"coverage of a: attention so far\"");
}
