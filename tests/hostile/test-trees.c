/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "spoil.h"

/* Trees that are none. */

#define CONVERT "trees --convert trees --to brackets --tokens tokens -o new"

static void
write_trees (const char *tree, const char *tokens)
{
  materials_write_text ("trees", tree);
  materials_write_text ("tokens", tokens);
}

/* @text @times times, and a line end. (transfer full) */
static char *
repeat (const char *before, const char *text, int times, const char *after)
{
  GString *line = g_string_new (before);

  for (int i = 0; i < times; i++)
    g_string_append (line, text);
  return g_string_free (g_string_append (line, after), FALSE);
}

TEST_CASE (hostile_trees, brackets)
{
  write_trees ("(S (A a) (B b))\n(S (A a)\n", "a b\na\n");
  REFUSED (CONVERT, "trees:2: 1 brackets of the tree are still open");
  REFUSED ("trees --check trees --tokens tokens", "trees: 1 of 2 lines are bad");
  write_trees ("(S (A a)))\n", "a\n");
  REFUSED (CONVERT, "trees:1: byte 10 comes after the end of the tree");
  write_trees ("S (A a)\n", "S a\n");
  REFUSED (CONVERT, "trees:1: byte 1 of the tree is outside of all brackets");
  write_trees ("(S (A) (B b))\n", "b\n");
  REFUSED (CONVERT, "trees:1: byte 6 of the tree closes a constituent (A) that holds nothing");
  write_trees ("(S (A \x1b[31m\x07) (B b))\n", "a b\n");
  REFUSED (CONVERT, "trees:1: word 1 of the tree is");
  write_trees ("(S (A \xff) (B b))\n", "a b\n");
  REFUSED (CONVERT, "trees:1: byte 7 of the line (0xff) is not UTF-8");
}

TEST_CASE (hostile_trees, triples)
{
  write_trees ("[1,202,201] [2,201,202] [3,4,203]\n", "a b c d\n");
  REFUSED (CONVERT, "trees:1: node 201 of the tree's triples is below itself");
  write_trees ("[1,2,201] [201,9,202]\n", "a b c\n");
  REFUSED (CONVERT, "trees:1: triple 2 has the child 9, which is neither one of the words 1 to 3");
  write_trees ("[0,2,201] [201,3,202]\n", "a b c\n");
  REFUSED (CONVERT, "trees:1: triple 1 has the child 0");
  write_trees ("[1,2,99999999999999999999999]\n", "a b\n");
  REFUSED (CONVERT, "trees:1: at byte 1 there is no triple");
  write_trees ("[1,2,201\n", "a b\n");
  REFUSED (CONVERT, "trees:1: at byte 1 there is no triple");
}

TEST_CASE (hostile_trees, words_that_do_not_match)
{
  g_autofree char *word = repeat ("(S (A ", "x", 100000, ") (B b))\n");
  write_trees ("(S (A a) (B b))\n", "a c\n");
  REFUSED (CONVERT, "trees:1: word 2 of the tree is \"b\", but token 2 of the sentence is \"c\"");
  write_trees ("(S (A a) (B b))\n", "a b c\n");
  REFUSED (CONVERT, "trees:1: the tree has 2 words, but the sentence has 3 tokens");
  write_trees ("(S (A a) (B b))\n", "a b\na b\n");
  REFUSED (CONVERT, "trees:2: ends here, but tokens goes on");
  write_trees (word, "a b\n");
  REFUSED (CONVERT, "trees:1: word 1 of the tree is \"xxx");
}

/* As deep and as wide as a line can be. */
TEST_CASE (hostile_trees, depth)
{
  g_autofree char *open = repeat ("", "(", 1000000, "\n"), *close = repeat ("", ")", 1000000, "\n"),
                  *chain = repeat ("", "(X", 10000, " a\n"), *words = repeat ("(S", " a", 100000, ")\n"),
                  *tokens = repeat ("", "a ", 100000, "\n");
  g_autoptr (GString) deep = g_string_new (NULL), sentence = g_string_new (NULL);
  write_trees (open, "a\n");
  REFUSED (CONVERT, "trees:1: 1000000 brackets of the tree are still open");
  write_trees (close, "a\n");
  REFUSED (CONVERT, "trees:1: byte 1 of the tree closes a bracket that was never opened");
  memset (strchr (chain, '\n'), ')', 1);
  g_autofree char *closed = repeat (chain, ")", 9999, "\n");
  write_trees (closed, "a\n");
  REFUSED (CONVERT, "trees:1: a label of the tree is 19999 bytes long");
  write_trees (words, tokens);
  REFUSED (CONVERT, "trees:1: the tree has 100000 words; expected at most 65535");

  for (int i = 0; i < 10000; i++)
    {
      g_string_append (deep, i < 9999 ? "(X a " : "a");
      g_string_append (sentence, "a ");
    }
  for (int i = 0; i < 9999; i++)
    g_string_append_c (deep, ')');
  write_trees (deep->str, sentence->str);
  g_auto (Attempt) attempt = ATTEMPT (CONVERT);
  CHECK_INT (attempt.code, 0);
}

TEST_CASE (hostile_trees, files)
{
  NEED_MATERIALS ();
  materials_write_text ("trees", "(S (A a) (B b))\n(S (A a) (B b))\n(S (A a) (B b))\n");
  materials_write_text ("tokens", "a b\na b\na b\n");
  spoil_and_refuse ("trees", CONVERT, "cut by a byte|-a pipe without a writer");
  spoil_and_refuse ("tokens", CONVERT, "cut by a byte|-a pipe without a writer");
}

TEST_CASE (hostile_trees, head_rules)
{
  write_trees ("(S (A a) (B b))\n", "a b\n");
  REFUSED (CONVERT " --head-rules ../../etc/passwd", "there is no head-rules/../../etc/passwd.ini");
  REFUSED (CONVERT " --head-rules klingon", "there is no head-rules/klingon.ini|english");
}
