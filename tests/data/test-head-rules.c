/* SPDX-License-Identifier: MIT */
#include "trees/head-rules.h"

#include <string.h>

#include "harness.h"

TEST_CASE (head_rules, are_a_key_file)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitHeadRules) rules
      = plait_head_rules_parse ("[head-rules]\nother=right\n[rules]\nA=left X Y;right Z;left\n", "mine", NO_ERROR);
  REQUIRE (rules != NULL);
  const PlaitLabel labels[] = { { "Q", 1 }, { "Z", 1 }, { "Y", 1 }, { "X", 1 }, { "Z", 1 } }, a = { "A", 1 },
                   b = { "B", 1 };
  CHECK_INT (plait_head_rules_find (rules, a, labels, 5), 2);
  CHECK_INT (plait_head_rules_find (rules, a, labels + 3, 2), 0);
  CHECK_INT (plait_head_rules_find (rules, a, labels, 2), 1);
  CHECK_INT (plait_head_rules_find (rules, a, labels, 1), 0);
  CHECK_INT (plait_head_rules_find (rules, b, labels, 5), 4);
  g_autofree char *text = plait_head_rules_text (rules);
  g_autoptr (PlaitHeadRules) again = plait_head_rules_parse (text, "again", NO_ERROR);
  CHECK_INT (plait_head_rules_find (again, a, labels, 5), 2);

  CHECK (!plait_head_rules_parse ("[other]\nx=y\n", "mine", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "mine: has no group [head-rules]");
  CHECK (
      !plait_head_rules_parse ("[head-rules]\nother=up\nsummry=x\n[rules]\nA=\nB=left;NN\n[more]\n", "mine", &error));
  const char *message = error ? error->message : "";
  CHECK_CONTAINS (message, "mine:2: [head-rules] other: expected other=left or other=right");
  CHECK_CONTAINS (message, "mine:3: [head-rules] summry: no such key");
  CHECK_CONTAINS (message, "mine:5: [rules] A: is empty");
  CHECK_CONTAINS (message, "mine:6: [rules] B: has a search that begins with neither left nor right");
  CHECK_CONTAINS (message, "mine:7: [more]: is not a group of head rules");
}

/* The table in Collins 1999, appendix A: for each parent the side where the search begins, and its labels by
 * priority. */
static const struct
{
  const char *label;
  const char *side;
  const char *priorities;
} published[] = {
  { "ADJP", "left", "NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB" },
  { "ADVP", "right", "RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN" },
  { "CONJP", "right", "CC RB IN" },
  { "FRAG", "right", "" },
  { "INTJ", "left", "" },
  { "LST", "right", "LS :" },
  { "NAC", "left", "NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW" },
  { "PP", "right", "IN TO VBG VBN RP FW" },
  { "PRN", "left", "" },
  { "PRT", "right", "RP" },
  { "QP", "left", "$ IN NNS NN JJ RB DT CD NCD QP JJR JJS" },
  { "RRC", "right", "VP NP ADVP ADJP PP" },
  { "S", "left", "TO IN VP S SBAR ADJP UCP NP" },
  { "SBAR", "left", "WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG" },
  { "SBARQ", "left", "SQ S SINV SBARQ FRAG" },
  { "SINV", "left", "VBZ VBD VBP VB MD VP S SINV ADJP NP" },
  { "SQ", "left", "VBZ VBD VBP VB MD VP SQ" },
  { "UCP", "right", "" },
  { "VP", "left", "TO VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP" },
  { "WHADJP", "left", "CC WRB JJ ADJP" },
  { "WHADVP", "right", "CC WRB" },
  { "WHNP", "left", "WDT WP WP$ WHADJP WHPP WHNP" },
  { "WHPP", "right", "IN TO FW" },
};

/* Returns the index of the head among the children @text (labels separated by blanks) of a @parent. */
static gint64
head_of (const PlaitHeadRules *rules, const char *parent, const char *text)
{
  g_auto (GStrv) children = g_strsplit (text, " ", -1);
  PlaitLabel labels[16];
  guint n = g_strv_length (children);

  g_assert (n <= G_N_ELEMENTS (labels));
  for (guint i = 0; i < n; i++)
    labels[i] = (PlaitLabel){ children[i], strlen (children[i]) };
  return plait_head_rules_find (rules, (PlaitLabel){ parent, strlen (parent) }, labels, n);
}

static PlaitHeadRules *
english (void)
{
  return plait_head_rules_read (plait_test_source_path ("schemas/head-rules/english.ini"), NO_ERROR);
}

TEST_CASE (head_rules, of_english_are_the_published_table)
{
  g_autoptr (PlaitHeadRules) rules = english ();

  REQUIRE (rules != NULL);
  for (guint r = 0; r < G_N_ELEMENTS (published); r++)
    {
      g_auto (GStrv) labels = g_strsplit (published[r].priorities, " ", -1);
      gboolean right = g_str_equal (published[r].side, "right");

      CHECK_INT (head_of (rules, published[r].label, "OTHER OTHER OTHER"), right ? 2 : 0);
      for (guint i = 0; labels[i]; i++)
        for (guint k = i; labels[k]; k++)
          {
            CONTEXT ("%s: %s and %s", published[r].label, labels[i], labels[k]);
            g_autofree char *before = g_strjoin (" ", "OTHER", labels[i], labels[k], "OTHER", NULL);
            g_autofree char *behind = g_strjoin (" ", "OTHER", labels[k], labels[i], "OTHER", NULL);

            CHECK_INT (head_of (rules, published[r].label, before), k == i && right ? 2 : 1);
            CHECK_INT (head_of (rules, published[r].label, behind), k == i && !right ? 1 : 2);
          }
    }
}

/* Rules for noun phrases search for any of several labels: from the right for a noun, POS or JJR; from the left for NP;
 * from the right for $, ADJP or PRN; then for CD; then for an adjective, RB or QP. If nothing is found, the last word
 * is the head. */
TEST_CASE (head_rules, of_english_noun_phrases_are_searched_for_sets)
{
  static const struct
  {
    const char *children;
    gint64 head;
  } cases[] = {
    { "DT NN NNS PP", 2 }, { "DT NNS NN PP", 2 }, { "NNP NNPS JJR", 2 }, { "NNP POS", 1 },    { "NX NP", 0 },
    { "NP , NP PP", 0 },   { "NP CD $", 0 },      { "$ CD ADJP", 2 },    { "ADJP PRN $", 2 }, { "CD CD JJ", 1 },
    { "JJ QP DT", 1 },     { "QP RB JJS DT", 2 }, { "DT VBG", 1 },
  };
  g_autoptr (PlaitHeadRules) rules = english ();

  REQUIRE (rules != NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("NP of %s", cases[i].children);
      CHECK_INT (head_of (rules, "NP", cases[i].children), cases[i].head);
    }
}

/* The table has no rule for NX, so the leftmost child is the head. */
TEST_CASE (head_rules, of_english_take_the_leftmost_where_there_is_no_rule)
{
  g_autoptr (PlaitHeadRules) rules = english ();

  REQUIRE (rules != NULL);
  CHECK_INT (head_of (rules, "NX", "JJ NN NNS"), 0);
  CHECK_INT (head_of (rules, "ROOT", "S ."), 0);
}
