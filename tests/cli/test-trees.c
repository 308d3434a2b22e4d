/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "call.h"
#include "harness.h"

/* plait trees. */

static const char *const sound = "(ROOT (S (NP (DT the) (JJ old) (NN dog)) (VP (VBZ barks)) (. .)))\n"
                                 "(NP (NN rain))\n"
                                 "\n"
                                 "(S (NP (PRP it)) (VP (VBZ rains)))\n";
static const char *const tokens = "the old dog barks .\nrain\nno tree\nit rains\n";

TEST_CASE (trees_command, checks_a_file)
{
  plait_test_write ("trees", sound);
  plait_test_write ("tokens", tokens);
  g_auto (PlaitTestCall) check = CALL ("trees", "--check", "trees", "--tokens", "tokens", "--binarise", "right");
  g_auto (PlaitTestCall) json = CALL ("trees", "--check", "trees", "--json");
  g_auto (PlaitTestCall) piped
      = plait_test_call (sound, (const char *[]){ "trees", "--check", "-", "--tokens", "tokens", NULL });

  CHECK_INT (check.code, 0);
  CHECK_STRING (check.errors, "");
  /* Heights 3, 0 and 1. ROOT, VP twice and NP twice have one child; tags of words are no constituents. */
  CHECK_STRING (check.output, "trees\n"
                              "  lines           4\n"
                              "  with tree       3\n"
                              "  without tree    1\n"
                              "  bad             0\n"
                              "  mean leaves     2.67\n"
                              "  mean height     1.33 links of the binary trees\n"
                              "  children        62 % one, 12 % two, 25 % three, 0 % more, of 8 constituents\n");
  CHECK_INT (json.code, 0);
  CHECK_CONTAINS (json.output, "\"unary\": 5");
  CHECK_CONTAINS (json.output, "\"ternary\": 2");
  CHECK_CONTAINS (json.output, "\"complaints\": []");
  CHECK_INT (piped.code, 0);
}

TEST_CASE (trees_command, names_bad_lines)
{
  plait_test_write ("trees", "(S (A a) (B b))\n(S (A a)\n(S (A a) (B c))\n(S (A a) (B b))\n");
  plait_test_write ("tokens", "a b\na\na b\na b c\n");
  g_auto (PlaitTestCall) check = CALL ("trees", "--check", "trees", "--tokens", "tokens", "--limit", "2");
  g_auto (PlaitTestCall) json = CALL ("trees", "--check", "trees", "--tokens", "tokens", "--json");

  CHECK_INT (check.code, 2);
  CHECK_CONTAINS (check.output, "trees:2: 1 brackets of the tree are still open");
  CHECK_CONTAINS (check.output, "trees:3: word 2 of the tree is \"c\", but token 2 of the sentence is \"b\"");
  CHECK_CONTAINS (check.output, "... and 1 more bad lines; --limit shows more\n");
  CHECK_CONTAINS (check.output, "  bad             3\n");
  CHECK_CONTAINS (check.errors, "trees: 3 of 4 lines are bad");
  CHECK_INT (json.code, 2);
  CHECK_CONTAINS (json.output, "trees:4: the tree has 2 words, but the sentence has 3 tokens");
}

TEST_CASE (trees_command, converts_there_and_back)
{
  plait_test_write ("trees", sound);
  plait_test_write ("tokens", tokens);
  g_auto (PlaitTestCall) triples = CALL ("trees", "--convert", "trees", "--to", "triples", "--binarise", "right");
  g_auto (PlaitTestCall) brackets = CALL ("trees", "--convert", "trees", "--to", "brackets", "-o", "binary");
  g_auto (PlaitTestCall) again = CALL ("trees", "--convert", "binary", "--to", "brackets", "--binarise", "left");
  g_auto (PlaitTestCall) back = plait_test_call (
      triples.output, (const char *[]){ "trees", "--convert", "-", "--to", "brackets", "--tokens", "tokens", NULL });

  CHECK_STRING (triples.output, "[2,3,201] [1,201,202] [4,5,203] [202,203,204]\n[1,1,201]\n[1,1,201]\n[1,2,201]\n");
  CHECK_INT (brackets.code, 0);
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
  const struct
  {
    PlaitTestCall call;
    const char *part;
  } cases[] = {
    { CALL ("trees"), "expected one of --check and --convert, not none" },
    { CALL ("trees", "--check", "trees", "--convert", "trees"), "not both" },
    { CALL ("trees", "--check", "nowhere"), "nowhere: cannot be opened" },
    { CALL ("trees", "--check", "trees", "--tokens", "short"), "short:2: ends here, but trees goes on" },
    { CALL ("trees", "--check", "trees", "--to", "triples"), "--to and --output go with --convert" },
    { CALL ("trees", "--check", "trees", "--binarise", "up"), "--binarise cannot be \"up\"" },
    { CALL ("trees", "--check", "trees", "--head-rules", "../x"), "there is no head-rules/../x.ini" },
    { CALL ("trees", "--check", "trees", "--head-rules", "klingon"), "name one of: english" },
    { CALL ("trees", "--check", "trees", "--binarise", "left", "--head-rules", "english"),
      "--head-rules goes with --binarise head alone" },
    { CALL ("trees", "--convert", "trees"), "--to is missing" },
    { CALL ("trees", "--convert", "trees", "--to", "xml"), "expected one of: brackets, triples" },
    { CALL ("trees", "--convert", "trees", "--to", "triples", "--output", "trees"), "trees" },
    { CALL ("trees", "--convert", "trees", "--to", "triples", "--json"), "--json and --limit go with --check" },
    { CALL ("trees", "--convert", "triples", "--to", "brackets", "-o", "new"), "give their sentences with --tokens" },
    { CALL ("trees", "--convert", "short", "--to", "triples", "-o", "new"), "short:1: byte 1 of the tree is outside" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (PlaitTestCall) call = cases[i].call;
      plait_test_check_refused (&call, cases[i].part);
    }
  g_autofree char *path = plait_test_path ("new");
  CHECK (!g_file_test (path, G_FILE_TEST_EXISTS));
}
