/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "spoil.h"

/* Tests of faulty files of trees. */

#define CONVERT "trees --convert trees --to brackets --tokens tokens -o new"

static void
write_trees (const char *tree, const char *tokens)
{
  plait_test_write ("trees", tree);
  plait_test_write ("tokens", tokens);
}

/* Returns @before, then @text @times times, then @after. (transfer full) */
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
  REFUSED (CONVERT, "trees:2: 1 brackets are still open");
  REFUSED ("trees --check trees --tokens tokens", "trees: 1 of 2 lines are wrong");
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
  REFUSED (CONVERT, "trees:1: node 201 of the tree's triples is on a cycle");
  write_trees ("[1,2,201] [201,9,202]\n", "a b c\n");
  REFUSED (CONVERT, "trees:1: triple 2 has the child 9; expected a word, from 1 to 3 (");
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
  REFUSED (CONVERT, "trees:2: ends here, but tokens continues");
  write_trees (word, "a b\n");
  REFUSED (CONVERT, "trees:1: word 1 of the tree is \"xxx");
}

/* Each of these functions appends one tree of @words words: left-branching, right-branching, or as triples whose root
 * comes last. */
static void
append_left (GString *trees, int words)
{
  for (int i = 1; i < words; i++)
    g_string_append (trees, "(X ");
  g_string_append_c (trees, 'a');
  for (int i = 1; i < words; i++)
    g_string_append (trees, " a)");
  g_string_append_c (trees, '\n');
}

static void
append_right (GString *trees, int words)
{
  for (int i = 1; i < words; i++)
    g_string_append (trees, "(X a ");
  g_string_append_c (trees, 'a');
  for (int i = 1; i < words; i++)
    g_string_append_c (trees, ')');
  g_string_append_c (trees, '\n');
}

static void
append_triples (GString *trees, int words)
{
  for (int i = 1; i < words; i++)
    g_string_append_printf (trees, "[%d,%d,%d]%c", words - i, i == 1 ? words : words + i - 1, words + i,
                            i < words - 1 ? ' ' : '\n');
}

/* Converts trees of 10,000 levels. Refuses unbalanced brackets, long labels, and more words than a tree may have. */
TEST_CASE (hostile_trees, depth)
{
  g_autofree char *open = repeat ("", "(", 1000000, "\n"), *close = repeat ("", ")", 1000000, "\n"),
                  *chain = repeat ("", "(X", 10000, " a\n"), *words = repeat ("(S", " a", 100000, ")\n"),
                  *tokens = repeat ("", "a ", 100000, "\n");
  void (*const appends[]) (GString *, int) = { append_left, append_right, append_triples };
  g_autoptr (GString) deep = g_string_new (NULL), sentence = g_string_new (NULL);
  write_trees (open, "a\n");
  REFUSED (CONVERT, "trees:1: 1000000 brackets are still open");
  write_trees (close, "a\n");
  REFUSED (CONVERT, "trees:1: byte 1 of the tree closes a bracket that was never opened");
  memset (strchr (chain, '\n'), ')', 1);
  g_autofree char *closed = repeat (chain, ")", 9999, "\n");
  write_trees (closed, "a\n");
  REFUSED (CONVERT, "trees:1: a label of the tree is 19999 bytes long");
  write_trees (words, tokens);
  REFUSED (CONVERT, "trees:1: the tree has 100000 words; expected at most 65535");

  for (int i = 0; i < 10000; i++)
    g_string_append (sentence, "a ");
  for (guint i = 0; i < G_N_ELEMENTS (appends); i++)
    {
      g_string_truncate (deep, 0);
      appends[i](deep, 10000);
      write_trees (deep->str, sentence->str);
      DONE (ATTEMPT (CONVERT));
      plait_test_remove ("new");
    }
}

/* Trains and translates with very deep trees. */
HOSTILE_CASE (hostile_trees, deep_ones_in_training)
{
  static const struct
  {
    void (*append) (GString *, int);
    int words;
  } lines[] = { { append_left, 1000 }, { append_right, 10000 }, { append_triples, 1000 }, { append_right, 2 } };
  g_autoptr (GString) trees = g_string_new (NULL), sentences = g_string_new (NULL), targets = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    {
      lines[i].append (trees, lines[i].words);
      for (int k = 0; k < lines[i].words; k++)
        g_string_append (sentences, k > 0 ? " a" : "a");
      g_string_append_c (sentences, '\n');
      g_string_append (targets, "b\n");
    }
  plait_test_write ("reorder/train.a.trees", trees->str);
  plait_test_write ("reorder/train.a", sentences->str);
  plait_test_write ("reorder/train.target", targets->str);
  PlaitTestCall check = DONE (ATTEMPT ("trees --check reorder/train.a.trees --tokens reorder/train.a"));
  CHECK_CONTAINS (check.output, "  with tree       4\n");
  QUIET (ATTEMPT ("run trees.ini -q -o new --set source.a/leaves.width=2 --set decoder.width=2"));
  QUIET (ATTEMPT ("translate trees.h5 -q -s a=reorder/train.a -s a.trees=reorder/train.a.trees"));
}

/* Damages the trees in the data of a run. */
HOSTILE_CASE (hostile_trees, of_a_run)
{
  static const struct
  {
    const char *tree;
    const char *part;
  } lines[] = {
    { "(S (A a) (B b)", "1 brackets are still open" },
    { "(S (A a) (B b)))", "comes after the end of the tree" },
    { "(S (A a) (B c))", "word 2 of the tree is \"c\", but token 2 of the sentence is \"b\"" },
    { "(S (A a) (B b) (C c))", "the tree has 3 words, but the sentence has 2 tokens" },
    { "[1,202,201] [2,201,202] [3,4,203]", "node 201 of the tree's triples is on a cycle" },
    { "[1,3,201]", "triple 1 has the child 3; expected a word, from 1 to 2 (" },
    { "[1,2,201] [201,3,202]", "the tree has 3 words, but the sentence has 2 tokens" },
    { "", "the line has no tree" },
  };

  plait_test_write ("reorder/train.a", "a b\na b\na b\n");
  plait_test_write ("reorder/train.target", "b\nb\nb\n");
  plait_test_write ("text", "a b\na b\n");
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    {
      CONTEXT ("%s", lines[i].tree);
      g_autofree char *trees = g_strconcat ("[1,2,201]\n", lines[i].tree, "\n[1,2,201]\n", NULL);
      g_autofree char *two = g_strconcat ("[1,2,201]\n", lines[i].tree, "\n", NULL);
      g_autofree char *part = g_strconcat ("reorder/train.a.trees:2: |", lines[i].part, NULL);
      g_autofree char *of_two = g_strconcat ("two:2: |", lines[i].part, NULL);

      plait_test_write ("reorder/train.a.trees", trees);
      REFUSED ("run trees.ini -q -o new --set data.no_tree=error", part);
      if (lines[i].tree[0] == '\0')
        continue;
      plait_test_write ("two", two);
      REFUSED ("run trees.ini -q -o new --set data.no_tree=drop", part);
      REFUSED ("translate trees.h5 -q -s a=text -s a.trees=two -o new", of_two);
    }
}

HOSTILE_CASE (hostile_trees, files)
{
  plait_test_write ("trees", "(S (A a) (B b))\n(S (A a) (B b))\n(S (A a) (B b))\n");
  plait_test_write ("tokens", "a b\na b\na b\n");
  spoil_and_refuse ("trees", CONVERT, "cut by a byte|-a pipe without a writer");
  spoil_and_refuse ("tokens", CONVERT, "cut by a byte|-a pipe without a writer");
}

TEST_CASE (hostile_trees, head_rules)
{
  write_trees ("(S (A a) (B b))\n", "a b\n");
  REFUSED (CONVERT " --head-rules ../../etc/passwd", "there is no file head-rules/../../etc/passwd.ini");
  REFUSED (CONVERT " --head-rules klingon", "there is no file head-rules/klingon.ini|english");
}
