/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "text/words.h"
#include "trees/tree.h"
#include "harness.h"
#include "link-tree.h"

/* Returns the tree of @sentence that link-grammar's @constituents give. @words [n] are the positions of link-grammar's
 * words in @sentence. NULL if no tree can be made. (transfer full) */
static char *
map (const char *constituents, const char *sentence, const PlaitLinkWord *words, gsize n)
{
  g_autoptr (GString) tree = g_string_new ("before ");
  if (!plait_link_tree (constituents, words, n, sentence, strlen (sentence), tree))
    {
      CHECK_STRING (tree->str, "before ");
      return NULL;
    }
  g_autoptr (PlaitTree) read = plait_tree_new ();
  const char *line = tree->str + strlen ("before ");
  CHECK (plait_tree_read (read, line, strlen (line), NO_ERROR));
  CHECK (plait_tree_match (read, sentence, strlen (sentence), NO_ERROR));
  return g_strdup (line);
}

/* Returns the tree of @sentence if link-grammar's words are exactly its tokens. (transfer full) */
static char *
map_tokens (const char *constituents, const char *sentence)
{
  PlaitLinkWord words[16];
  gsize n = 0, position = 0, length;
  for (const char *token; (token = plait_words_next (sentence, strlen (sentence), &position, &length)); n++)
    words[n] = (PlaitLinkWord){ (gsize)(token - sentence), (gsize)(token - sentence) + length };
  return map (constituents, sentence, words, n);
}

TEST_CASE (link_tree, has_the_tokens_for_words)
{
  g_autofree char *plain
      = map_tokens ("[S [NP a boy.n NP] [VP sits.v {right} [PP on [NP [NP Ann{!<CAPITALIZED-WORDS>} 's.p NP] bed.n NP] "
                    "PP] VP] . S]\n",
                    "A boy  sits\tright on Ann 's bed . ");
  g_autofree char *brackets = map_tokens ("[S [NP { big.a } NP] ({) {) S]", "[ big ] a(b)c (");
  g_autofree char *one = map_tokens ("[S [VP hello.ij VP] S]", "Hello");

  CHECK_STRING (plain, "(S (NP A boy) (VP sits right (PP on (NP (NP Ann 's) bed))) .)");
  CHECK_STRING (brackets, "(S (NP [ big ]) a-LRB-b-RRB-c -LRB-)");
  CHECK_STRING (one, "(S (VP Hello))");
}

TEST_CASE (link_tree, puts_a_split_token_where_its_first_word_is)
{
  /* The token "5kg," is three words of link-grammar, of which the last is in another constituent: 5 kg, | is |
   * heavy. */
  const PlaitLinkWord words[] = { { 0, 1 }, { 1, 3 }, { 3, 4 }, { 5, 7 }, { 8, 13 } };
  g_autofree char *tree = map ("[S [NP 5 kg.u NP] [X [X , X] X] [VP is.v [ADJP heavy.a ADJP] VP] S]", "5kg, is heavy",
                               words, G_N_ELEMENTS (words));

  CHECK_STRING (tree, "(S (NP 5kg,) (VP is (ADJP heavy)))");
}

TEST_CASE (link_tree, is_none_where_words_and_tokens_differ)
{
  static const struct
  {
    const char *constituents;
    PlaitLinkWord words[3];
    gsize n;
  } cases[] = {
    { "[S a.n b.n S]", { { 0, 1 }, { 2, 3 } }, 2 },                     /* the last token has no word */
    { "[S b.n c.n S]", { { 2, 3 }, { 4, 5 } }, 2 },                     /* the first token has no word */
    { "[S a.n c.n S]", { { 0, 1 }, { 4, 5 } }, 2 },                     /* a token in between has no word */
    { "[S ab.n c.n S]", { { 0, 3 }, { 4, 5 } }, 2 },                    /* one word covers two tokens */
    { "[S b.n a.n c.n S]", { { 2, 3 }, { 0, 1 }, { 4, 5 } }, 3 },       /* the words are in another order */
    { "[S a.n b.n S]", { { 0, 1 }, { 2, 3 }, { 4, 5 } }, 3 },           /* the tree lacks a word */
    { "[S a.n b.n c.n d.n S]", { { 0, 1 }, { 2, 3 }, { 4, 5 } }, 3 },   /* the tree has one word more */
    { "[S a.n b.n S] [S c.n S]", { { 0, 1 }, { 2, 3 }, { 4, 5 } }, 3 }, /* two trees */
    { "[S a.n b.n c.n", { { 0, 1 }, { 2, 3 }, { 4, 5 } }, 3 },          /* a constituent does not end */
    { "S] a.n b.n c.n", { { 0, 1 }, { 2, 3 }, { 4, 5 } }, 3 },          /* a constituent does not begin */
    { "a.n b.n c.n", { { 0, 1 }, { 2, 3 }, { 4, 5 } }, 3 },             /* no constituent */
    { "[S a.n b.n c.n S] S]", { { 0, 1 }, { 2, 3 }, { 4, 5 } }, 3 },    /* one end too many */
    { "[S a.n b.n c.n S]", { { 0, 1 }, { 2, 3 }, { 4, 9 } }, 3 },       /* a word ends after the end of the sentence */
    { "[S a.n b.n c.n S]", { { 0, 1 }, { 2, 3 }, { 40, 41 } }, 3 }, /* a word begins after the end of the sentence */
    { "", { { 0, 0 } }, 0 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("%s", cases[i].constituents);
      g_autofree char *tree = map (cases[i].constituents, "a b c", cases[i].words, cases[i].n);

      CHECK (!tree);
    }
}

TEST_CASE (link_tree, takes_any_depth)
{
  g_autoptr (GString) constituents = g_string_new (NULL);

  for (guint i = 0; i < 100000; i++)
    g_string_append (constituents, "[NP ");
  g_string_append (constituents, "a.n");
  for (guint i = 0; i < 100000; i++)
    g_string_append (constituents, " NP]");
  g_autofree char *tree = map_tokens (constituents->str, "a");

  CHECK (tree && strstr (tree, "(NP (NP a)))"));
}
