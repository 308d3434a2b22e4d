/* SPDX-License-Identifier: MIT */
#include "lines/tree-lines.h"

#include <string.h>

#include "text/error.h"
#include "data-files.h"
#include "trees/tree-lint.h"
#include "files.h"
#include "harness.h"

/* Tests of trees that take several lines, as the Penn Treebank and NLTK print them. */

/* Returns the trees of @text with the numbers of their lines, "1:(A a)|2:|3:(B b)", and after '!' the error if there is
 * one. @may_wait: the reader may read ahead. (transfer full) */
static char *
trees_of (const char *text, gboolean may_wait)
{
  const char *path = plait_test_write ("trees", text);
  g_autoptr (GError) error = NULL;
  PlaitTreeLines *trees = plait_tree_lines_new (plait_text_reader_open (path, &error), may_wait);
  GString *shown = g_string_new (NULL);
  const char *tree;
  gint64 number;
  gsize length;

  while ((tree = plait_tree_lines_next (trees, &length, &number, &error)))
    {
      CHECK_INT (length, strlen (tree));
      g_string_append_printf (shown, "%s%jd:%s", shown->len > 0 ? "|" : "", number, tree);
    }
  if (error)
    g_string_append_printf (shown, "!%s", strrchr (error->message, '/') + 1);
  plait_tree_lines_free (trees);
  return g_string_free (shown, FALSE);
}

TEST_CASE (tree_lines, are_joined_where_brackets_are_open)
{
  static const struct
  {
    const char *text, *ahead, *at_once; /* at_once: result without reading ahead; NULL: as ahead */
  } cases[] = {
    { "", "" },
    { "(A a)\n(B b)\n", "1:(A a)|2:(B b)" },
    { "(A a)\n\n(B b)\nnull\n\n", "1:(A a)|2:|3:(B b)|4:null|5:" },
    { "(S\n  (A a)\n  (B b))\n(C c)\n", "1:(S   (A a)   (B b))|4:(C c)" },
    { "(S\r\n\t(A a)\r\n)\r\n\r\n(C c)", "1:(S \t(A a) )|5:(C c)" },
    { "( (S\n    (A a))\n)\n()\n(())\nnull\n(C c)\n", "1:( (S     (A a)) )|4:()|5:(())|6:null|7:(C c)" },
    { "[1,2,201]\n[1,1,201]\n", "1:[1,2,201]|2:[1,1,201]" },
    /* If some trees take several lines, empty lines only separate trees. A reader that does not read ahead returns them
     * as sentences. */
    { "(C c)\n\n(S\n (A a))\n\n(D d)\n", "1:(C c)|3:(S  (A a))|6:(D d)",
      "1:(C c)|2:!trees:3: the tree has several lines, but empty lines above were read as sentences without a tree; "
      "write each tree on one line, or remove the empty lines and write () for each sentence without a tree" },
    { "\xef\xbb\xbf\n\n(S\n (A a))\n\n", "3:(S  (A a))",
      "1:|2:!trees:3: the tree has several lines, but empty lines above were read as sentences without a tree; write "
      "each tree on one line, or remove the empty lines and write () for each sentence without a tree" },
    /* A line that leaves brackets open and has no continuation is returned as it is; the parser of trees refuses it. */
    { "(S (A a)\n(B b)\n\n(C c)\n", "1:(S (A a)|2:(B b)|3:|4:(C c)" },
    { "(S\n(A a))\n", "1:(S|2:(A a))" },
    { "(S\n\n  (A a))\n(B b)\n", "1:(S|2:|3:  (A a))|4:(B b)" },
    { "(S (A a)\n", "1:(S (A a)" },
    { "  (S\n (A a))\n  (B b)\n", "1:  (S  (A a))|3:  (B b)" },
    { "(A a))\n  (B b)\n", "1:(A a))|2:  (B b)" },
    { "(S\n (A \xff))\n",
      "!trees:2: byte 5 of the line (0xff) is not UTF-8; convert the file, for example with iconv -t "
      "UTF-8" },
    { "(C c)\n\n(B\xff b)\n",
      "1:(C c)|2:!trees:3: byte 3 of the line (0xff) is not UTF-8; convert the file, for example "
      "with iconv -t UTF-8" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *ahead = trees_of (cases[i].text, TRUE), *at_once = trees_of (cases[i].text, FALSE);
      CONTEXT ("case %zu", i);

      CHECK_STRING (ahead, cases[i].ahead);
      CHECK_STRING (at_once, cases[i].at_once ? cases[i].at_once : cases[i].ahead);
    }
}

/* The first megabyte shows whether trees take several lines. A later tree of several lines is accepted if no empty line
 * came before. */
TEST_CASE (tree_lines, are_told_by_the_beginning_of_the_file)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *late = NULL, *early = NULL;

  while (text->len < 2 * PLAIT_TEXT_LINE_LIMIT)
    g_string_append (text, "(A a)\n");
  g_string_append (text, "(S\n  (B b))\n\n(C c)\n");
  late = trees_of (text->str, TRUE);
  CHECK_CONTAINS (late, ":(S   (B b))|");
  CHECK (g_str_has_suffix (late, ":(C c)"));
  CHECK (!strstr (late, ":|"));
  g_string_prepend (text, "\n");
  early = trees_of (text->str, TRUE);
  CHECK (g_str_has_prefix (early, "1:|2:(A a)|"));
  CHECK_CONTAINS (early, ": the tree has several lines, but empty lines above were read");
}

TEST_CASE (tree_lines, have_the_length_of_a_line_at_most)
{
  g_autoptr (GString) text = g_string_new ("(A a)\n(S\n");
  g_autofree char *shown = NULL;

  while (text->len < PLAIT_TEXT_LINE_LIMIT + 100)
    g_string_append (text, " (A a)\n");
  shown = trees_of (text->str, TRUE);
  CHECK_STRING (shown, "1:(A a)!trees:2: the tree that begins here has more than 1048576 bytes; expected one tree over "
                       "one sentence, so close its brackets, or remove it");
}

/* Appends the message @line to @data (GString). */
static void
complain (const char *line, gpointer data)
{
  g_string_append (data, line);
}

TEST_CASE (tree_lines, belong_to_their_sentences)
{
  const PlaitTreeSettings settings = { .binarisation = PLAIT_BINARISE_LEFT };
  const char *trees = plait_test_write ("trees", "( (S\n    (A a)\n    (B b)) )\n\n(C c)\n\n(S\n  (A a)\n  (B x))\n");
  const char *tokens = plait_test_write ("tokens", "a b\nc\na b\n");
  g_autoptr (GString) told = g_string_new (NULL);
  PlaitTreeCounts counts;

  CHECK (plait_trees_check (trees, tokens, &settings, complain, told, &counts, NO_ERROR));
  CHECK_INT (counts.lines, 3);
  CHECK_INT (counts.with_tree, 2);
  CHECK_CONTAINS (told->str, "trees:7: word 2 of the tree is \"x\", but token 2 of the sentence is \"b\"");
}
