/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include <string.h>

#include "call.h"
#include "files.h"

/* Tests of plait parse, with the real link-grammar if the build has it (PLAIT_HAS_LINK_GRAMMAR). */

#define NEED_GRAMMAR(call)                                                                                             \
  G_STMT_START                                                                                                         \
  {                                                                                                                    \
    if (!PLAIT_HAS_LINK_GRAMMAR)                                                                                       \
      SKIP_TEST ("built without link-grammar");                                                                        \
    if (strstr ((call)->errors, "link-grammar-dictionaries-en"))                                                       \
      SKIP_TEST ("link-grammar has no grammar of English");                                                            \
  }                                                                                                                    \
  G_STMT_END

static const char text[] = "A brown dog is running after the black dog .\n"
                           "\n"
                           "A boy wearing headphones sits on a woman 's shoulders .\n"
                           "He said ( in a [ big ] way ) that \" it is n't { so } \" .\n"
                           "the of and\n";

TEST_CASE (parse_command, makes_trees_that_plait_trees_accepts)
{
  plait_test_write ("text", text);
  PlaitTestCall call = DONE (CALL ("parse", "text", "-o", "trees", "--json", "--unlinked", "3", "--jobs", "2"));
  NEED_GRAMMAR (&call);
  PlaitTestCall check = DONE (CALL ("trees", "--check", "trees", "--tokens", "text"));
  PlaitTestCall piped = plait_test_call (text, (const char *[]){ "parse", "-", "--unlinked", "3", NULL });
  PlaitTestCall linked = CALL ("parse", "text", "-q", "--unlinked", "0", "--jobs", "1");
  PlaitTestCall brief = CALL ("parse", "text", "-q", "--tokens", "1");
  const char *trees = plait_test_read_text ("trees");
  g_auto (GStrv) lines = g_strsplit (trees, "\n", -1);

  CHECK_CONTAINS (call.output, "\"lines\": 5,");
  CHECK_CONTAINS (call.output, "\"empty\": 1,");
  CHECK_CONTAINS (call.output, "\"crashed\": 0,");
  CHECK_CONTAINS (call.errors, "5 lines in ");
  CHECK_CONTAINS (call.errors, "so the trees are approximate");
  REQUIRE (g_strv_length (lines) == 6);
  CHECK (g_str_has_prefix (lines[0], "(S (NP A brown dog) (VP is "));
  CHECK_STRING (lines[1], "");
  CHECK (g_str_has_prefix (lines[2], "(S (NP (NP A boy) (VP wearing (NP headphones))) (VP sits "));
  CHECK_CONTAINS (lines[3], "-LRB-");
  CHECK_CONTAINS (check.output, "  bad             0\n");
  CHECK_STRING (piped.output, trees);
  /* Sentences that are parsed completely get equal trees; all others get no tree. */
  g_auto (GStrv) whole = g_strsplit (linked.output, "\n", -1);
  REQUIRE (g_strv_length (whole) == 6);
  CHECK_STRING (whole[0], lines[0]);
  CHECK_STRING (whole[4], "");
  CHECK_STRING (brief.output, "\n\n\n\n\n");
}

TEST_CASE (parse_command, refuses)
{
  plait_test_write ("text", text);
  CHECK_REFUSED (CALL ("parse"), "parse");
  CHECK_REFUSED (CALL ("parse", "text", "--json"), "name a file for the trees with --output");
  CHECK_REFUSED (CALL ("parse", "text", "--unlinked", "-1"), "--unlinked cannot be \"-1\"");
  CHECK_REFUSED (CALL ("parse", "text", "--tokens", "0"),
                 "--tokens cannot be \"0\"; expected an integer from 1 to 250");
  CHECK_REFUSED (CALL ("parse", "text", "--seconds", "x"), "--seconds cannot be \"x\"");
  CHECK_REFUSED (CALL ("parse", "text", "--jobs", "9999"), "--jobs cannot be \"9999\"");
  CHECK_REFUSED (CALL ("parse", "text", "-o", "text"), "text");
  CHECK_REFUSED (CALL ("parse", "nowhere", "-o", "trees"), "nowhere: cannot be opened");
}
