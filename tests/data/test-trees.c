/* SPDX-License-Identifier: MIT */
#include "trees/trees.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "text/error.h"
#include "data-files.h"
#include "trees/tree-binary.h"
#include "harness.h"

/* A line of a tree file, and its sentence. */
typedef struct
{
  PlaitTreeSettings settings;
  const char *sentence;
  const char *tree;
  const gint32 *pieces; /* number of pieces of each word; NULL: one row for each word */
  gboolean append_end;
} Line;

/* Returns the nodes that @line gives, "(0 1)NP (2 6)@S ..", or the error. (transfer full) */
static char *
nodes_of (const Line *line, GError **error)
{
  g_autoptr (PlaitTreeMaker) maker = plait_tree_maker_new (&line->settings, "en");
  g_autoptr (GArray) steps = g_array_new (FALSE, FALSE, sizeof (gint32));
  g_auto (GStrv) words = g_strsplit (line->sentence, " ", -1);
  gint64 n_words = *line->sentence != '\0' ? g_strv_length (words) : 0, rows = line->append_end;
  g_autofree gint32 *ones = g_new (gint32, n_words + 1);
  for (gint64 i = 0; i < n_words; i++)
    {
      ones[i] = line->pieces ? line->pieces[i] : 1;
      rows += ones[i];
    }
  PlaitTreeLine full = { "trees", 7,       line->sentence, strlen (line->sentence),
                         ones,    n_words, line->tree,     line->tree ? strlen (line->tree) : 0 };
  if (!plait_tree_maker_make (maker, &full, steps, NULL, error))
    return NULL;
  gint64 n = steps->len / 2;
  g_autofree gint64 *left = g_new (gint64, n + 1), *right = g_new (gint64, n + 1);
  g_autofree const char **labels = g_new (const char *, n + 1);
  plait_tree_maker_fill (maker, (const gint32 *)(gpointer)steps->data, n, rows, left, right, labels);
  g_autoptr (GString) text = g_string_new (NULL);
  for (gint64 i = 0; i < n; i++)
    g_string_append_printf (text, "%s(%d %d)%s", i > 0 ? " " : "", (int)left[i], (int)right[i], labels[i]);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
check_nodes (Line line, const char *expected)
{
  CONTEXT ("%s", line.tree ? line.tree : line.sentence);
  g_autofree char *nodes = nodes_of (&line, NO_ERROR);
  CHECK_STRING (nodes, expected);
}

static void
check_refused (Line line, const char *message)
{
  CONTEXT ("%.200s", line.tree);
  g_autoptr (GError) error = NULL;
  g_autofree char *nodes = nodes_of (&line, &error);
  CHECK_STRING (nodes, NULL);
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, message);
}

#define LEFT                                                                                                           \
  {                                                                                                                    \
    .binarisation = PLAIT_BINARISE_LEFT                                                                                \
  }
#define RIGHT                                                                                                          \
  {                                                                                                                    \
    .binarisation = PLAIT_BINARISE_RIGHT                                                                               \
  }

static const char *const dog = "(ROOT (S (NP (DT the) (JJ old) (NN dog)) (VP (VB barks)) (. .)))";

/* Leaves are 0 to 4 and nodes 5 to 8. The expected nodes were worked out by hand. */
TEST_CASE (trees, are_made_binary_to_the_left_and_to_the_right)
{
  check_nodes ((Line){ LEFT, "the old dog barks .", dog }, "(0 1)@NP (5 2)NP (6 3)@S (7 4)ROOT+S");
  check_nodes ((Line){ RIGHT, "the old dog barks .", dog }, "(1 2)@NP (0 5)NP (3 4)@S (6 7)ROOT+S");
  const char *wide = "((S (A a) (B b) (C c) (D (E d) (F e)) (G f)))";
  check_nodes ((Line){ LEFT, "a b c d e f", wide }, "(0 1)@S (6 2)@S (3 4)D (7 8)@S (9 5)S");
  check_nodes ((Line){ RIGHT, "a b c d e f", wide }, "(3 4)D (6 5)@S (2 7)@S (1 8)@S (0 9)S");
  check_nodes ((Line){ LEFT, "a b", "(X (Y (Z a) (Z b)))" }, "(0 1)X+Y");
  check_nodes ((Line){ LEFT, "dog", "(S (NP (NN dog)))" }, "");
  check_nodes ((Line){ LEFT, "a b c", "(NP a b (N c))" }, "(0 1)@NP (3 2)NP");
  check_nodes ((Line){ LEFT, "a b", " ( ( A  a )\t( B b ) ) " }, "(0 1)");
}

/* Around the head, words before it are joined first and words after it last (Zhang & Clark 2009). */
TEST_CASE (trees, are_made_binary_around_the_head)
{
  g_autoptr (PlaitHeadRules) rules
      = plait_head_rules_read (plait_test_source_path ("schemas/head-rules/english.ini"), NO_ERROR);
  REQUIRE (rules != NULL);
  PlaitTreeSettings head = { .binarisation = PLAIT_BINARISE_HEAD, .head_rules = rules };
  check_nodes ((Line){ head, "the old dog barks .", dog }, "(1 2)@NP (0 5)NP (6 3)@S (7 4)ROOT+S");
  check_nodes ((Line){ head, "a b c d e", "(VP (ADVP (RB a)) (RB b) (VBZ c) (NP (NN d)) (PP (IN e)))" },
               "(1 2)@VP (0 5)@VP (6 3)@VP (7 4)VP");
  check_nodes ((Line){ head, "a b c d", "(NP-SBJ=2 (DT a) (NN-X b) (NN c) (PP d))" }, "(1 2)@NP-SBJ=2 (0 4)@NP-SBJ=2 "
                                                                                      "(5 3)NP-SBJ=2");
  check_nodes ((Line){ head, "a b c", "(ZZ (NN a) (NN b) (NN c))" }, "(0 1)@ZZ (3 2)ZZ");
  check_nodes ((Line){ head, "a b c", "(FRAG (NN a) (NN b) (NN c))" }, "(1 2)@FRAG (0 3)FRAG");
}

/* Reads triples as Chen et al. 2017 write them, and with other numbers in any order. */
TEST_CASE (trees, are_read_from_triples)
{
  check_nodes ((Line){ LEFT, "a b c d e", "[2,3,201] [1,201,202] [4,5,203] [202,203,204]" }, "(1 2) (0 5) (3 4) (6 7)");
  check_nodes ((Line){ LEFT, "a b c d e", "[202,203,9] [ 4 , 5 , 203 ][2,3,77]  [1,77,202]" },
               "(1 2) (0 5) (3 4) (6 7)");
  check_nodes ((Line){ LEFT, "a b", "[1,2,201]" }, "(0 1)");
  check_nodes ((Line){ LEFT, "a", "[1,1,201]" }, "");
  check_nodes ((Line){ LEFT, "a b c", "[1,1,201]" }, "");
}

TEST_CASE (trees, match_tokens_however_they_are_written)
{
  check_nodes ((Line){ LEFT, "( a/b ) * [x] \" -LRB-",
                       "(S (-LRB- -LRB-) (NN a\\/b) (-RRB- -RRB-) (SYM \\*) (NN -LSB-x-RSB-) (`` ``) (X -LRB-))" },
               "(0 1)@S (7 2)@S (8 3)@S (9 4)@S (10 5)@S (11 6)S");
  check_nodes ((Line){ LEFT, "a b", "(S (NP (-NONE- *T*-1)) (A a) (VP (B b) (-NONE- *)))" }, "(0 1)S");
}

/* The words have 1, 3, 2 and 0 pieces, which are rows 0 to 5. EOS is row 6. */
TEST_CASE (trees, group_the_pieces_of_a_word)
{
  const gint32 pieces[] = { 1, 3, 2, 0 };
  check_nodes ((Line){ RIGHT, "the dog barks .", "(S (NP (DT the) (NN dog)) (VP (VB barks)) (. .))", pieces, TRUE },
               "(1 2)@NN (7 3)NN (0 8)NP (4 5)VP+VB (9 10)S");
  const gint32 one[] = { 3 };
  check_nodes ((Line){ LEFT, "dog", "(NN dog)", one, TRUE }, "(0 1)@NN (4 2)NN");
  check_nodes ((Line){ LEFT, "dog", "", one, FALSE }, "(0 1) (3 2)");
  PlaitTreeSettings balanced = { .shape = PLAIT_TREES_BALANCED };
  check_nodes ((Line){ balanced, "a b c", NULL, pieces, FALSE }, "(1 2) (6 3) (4 5) (7 8) (0 9)");
}

TEST_CASE (trees, may_be_missing)
{
  static const char *const none[]
      = { "", " \t", "\f", " \v\r", "null", " null ", "\fnull\v", "(())", "()", "( ( ) )", "[1,1,201]", "[3,3,9]" };
  const gint32 pieces[] = { 2, 1, 1 };
  for (guint i = 0; i < G_N_ELEMENTS (none); i++)
    {
      PlaitTreeSettings settings = LEFT;
      check_nodes ((Line){ settings, "a b c", none[i], pieces, TRUE }, "");
      check_nodes ((Line){ settings, "", none[i], NULL, FALSE }, "");
      settings.no_tree = PLAIT_NO_TREE_RIGHT;
      check_nodes ((Line){ settings, "a b c", none[i], pieces, TRUE }, "(0 1) (2 3) (5 6)");
      settings.no_tree = PLAIT_NO_TREE_ERROR;
      check_refused ((Line){ settings, "a b c", none[i] },
                     "trees:7: the line has no tree; expected one for its sentence");
      check_nodes ((Line){ settings, "a", none[i] }, "");
    }
}

/* Reads @line at the beginning and then at the end of a memory page between unreadable pages, so that a read outside
 * the line crashes. */
static void
read_alone (const char *line)
{
  CONTEXT ("%s", line);
  g_autoptr (PlaitTree) tree = plait_tree_new ();
  gsize page = (gsize)sysconf (_SC_PAGESIZE), length = strlen (line);
  char *pages = mmap (NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE (pages != MAP_FAILED && mprotect (pages + page, page, PROT_READ | PROT_WRITE) == 0);
  memcpy (pages + page, line, length);
  plait_tree_read (tree, pages + page, length, NULL);
  memcpy (pages + 2 * page - length, line, length);
  plait_tree_read (tree, pages + 2 * page - length, length, NULL);
  munmap (pages, 3 * page);
}

TEST_CASE (trees, are_read_from_their_line_alone)
{
  static const char *const lines[]
      = { "\f", " \v", "null", " null ", "( )", "(A a)", " [1,2,3] ", "(A", "(A ", "[1,2", "[1,2," };
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    read_alone (lines[i]);
}

TEST_CASE (trees, are_refused_in_a_sentence)
{
  static const struct
  {
    const char *sentence, *tree, *message;
  } cases[] = {
    { "a", "(S (A a)", "trees:7: 1 brackets are still open" },
    { "a", "(S (A a)))", "trees:7: byte 10 comes after the end of the tree" },
    { "a", ")", "byte 1 of the tree closes a bracket that was never opened" },
    { "a", "a", "byte 1 of the tree is outside of all brackets" },
    { "a b", "(A a) (B b)", "byte 7 comes after the end of the tree" },
    { "a", "(S (A) (B a))", "byte 6 of the tree closes a constituent (A) that holds nothing" },
    { "a b", "(S (A a) (B c))", "word 2 of the tree is \"c\", but token 2 of the sentence is \"b\"" },
    { "a b c", "(S (A a) (B b))", "the tree has 2 words, but the sentence has 3 tokens" },
    { "a", "(S (A a) (B b))", "the tree has 2 words, but the sentence has 1 tokens" },
    { "", "(A a)", "the tree has 1 words, but the sentence has 0 tokens" },
    { "a b c", "[1,2,201]", "the tree has 2 words, but the sentence has 3 tokens" },
    { "a b", "[1,2]", "at byte 1 there is no triple" },
    { "a b", "[1,2,201] x", "at byte 11 there is no triple" },
    { "a b", "[1,2,99999999999999999999]", "at byte 1 there is no triple" },
    { "a b", "[-1,2,201]", "at byte 1 there is no triple" },
    { "a b", "[1,2,2]", "triple 1 has the parent 2, but the numbers 1 to 2 are words" },
    { "a b c", "[1,2,201] [201,3,201]", "triple 2 has the parent 201, as an earlier triple has" },
    { "a b c", "[1,2,201] [201,4,202]", "triple 2 has the child 4; expected a word, from 1 to 3 (" },
    { "a b c", "[0,2,201] [201,3,202]", "triple 1 has the child 0" },
    { "a b c", "[1,2,201] [1,3,202]", "triple 2 has the child 1, which has a parent already" },
    { "a b c", "[1,1,201] [201,3,202]", "triple 1 has the child 1, which has a parent already" },
    { "a b c", "[1,201,201] [2,3,202]", "node 201 of the tree's triples is on a cycle" },
    { "a b c d", "[1,202,201] [2,201,202] [3,4,203]", "node 201 of the tree's triples is on a cycle" },
    { "a b c", "[2,1,201] [201,3,202]", "leaf 1 of the tree's triples is not word 1" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check_refused ((Line){ LEFT, cases[i].sentence, cases[i].tree }, cases[i].message);
}

/* Reads trees as deep as a line allows. Nothing is recursive, so the stack does not overflow. */
TEST_CASE (trees, may_be_deep_and_wide)
{
  enum
  {
    DEPTH = 10000,
  };
  g_autoptr (GString) deep = g_string_new (NULL), chain = g_string_new (NULL), wide = g_string_new ("(S"),
                      sentence = g_string_new (NULL), triples = g_string_new (NULL);
  for (int i = 0; i < DEPTH; i++)
    {
      g_string_append (sentence, i > 0 ? " a" : "a");
      g_string_append (deep, i + 1 < DEPTH ? "(X a " : "(X a");
      g_string_append (chain, "(X");
      g_string_append (wide, " a");
      if (i > 0)
        g_string_append_printf (triples, "[%d,%d,%d]", i == 1 ? 1 : 20000 + i - 1, i + 1, 20000 + i);
    }
  g_string_append_c (wide, ')');
  g_string_append (chain, " a");
  for (int i = 0; i < DEPTH; i++)
    {
      g_string_append_c (deep, ')');
      g_string_append_c (chain, ')');
    }
  const char *trees[] = { deep->str, wide->str, triples->str };
  for (guint i = 0; i < G_N_ELEMENTS (trees); i++)
    for (guint side = PLAIT_BINARISE_LEFT; side <= PLAIT_BINARISE_RIGHT; side++)
      {
        CONTEXT ("tree %u, side %u", i, side);
        g_autofree char *nodes
            = nodes_of (&(Line){ { .binarisation = side }, sentence->str, trees[i], NULL, FALSE }, NO_ERROR);
        REQUIRE (nodes != NULL);
        CHECK (g_str_has_prefix (nodes, i == 2 || (i == 1 && side == PLAIT_BINARISE_LEFT) ? "(0 1)" : "(9998 9999)"));
      }
  check_refused ((Line){ LEFT, "a", chain->str }, "a label of the tree is 19999 bytes long");

  g_autoptr (GString) many = g_string_new (NULL);
  for (int i = 0; i < 70000; i++)
    g_string_append (many, i > 0 ? " a" : "a");
  check_refused ((Line){ { .shape = PLAIT_TREES_RIGHT }, many->str, NULL },
                 "the sentence of the tree has 70000 words; expected at most 65535");
  const gint32 pieces[] = { 40000, 30000 };
  check_refused ((Line){ { .shape = PLAIT_TREES_RIGHT }, "a b", NULL, pieces, FALSE },
                 "the sentence of the tree has more than 65535 tokens");
}

TEST_CASE (trees, controls_have_their_shapes)
{
  const struct
  {
    PlaitTreeShape shape;
    const char *sentence, *nodes;
  } cases[] = {
    { PLAIT_TREES_LEFT, "a b c d e f", "(0 1) (6 2) (7 3) (8 4) (9 5)" },
    { PLAIT_TREES_RIGHT, "a b c d e f", "(4 5) (3 6) (2 7) (1 8) (0 9)" },
    { PLAIT_TREES_BALANCED, "a b c d e f", "(1 2) (0 6) (4 5) (3 8) (7 9)" },
    { PLAIT_TREES_BALANCED, "a b c d e f g", "(1 2) (0 7) (3 4) (5 6) (9 10) (8 11)" },
    { PLAIT_TREES_BALANCED, "a b c", "(1 2) (0 3)" },
    { PLAIT_TREES_RANDOM, "a b", "(0 1)" },
    { PLAIT_TREES_RANDOM, "a", "" },
    { PLAIT_TREES_RIGHT, "", "" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check_nodes ((Line){ { .shape = cases[i].shape }, cases[i].sentence, NULL }, cases[i].nodes);
}

/* There are five binary trees over four words. A root that splits after word 1 or 3 leaves two of them. */
TEST_CASE (trees, random_ones_are_uniform_in_their_splits)
{
  enum
  {
    DRAWS = 6000,
  };
  static const struct
  {
    gint32 leaves[3];
    double share;
  } shapes[] = {
    { { 4, 4, 4 }, 1. / 6 }, { { 3, 4, 4 }, 1. / 6 }, { { 2, 4, 4 }, 1. / 3 },
    { { 3, 3, 4 }, 1. / 6 }, { { 2, 3, 4 }, 1. / 6 },
  };
  g_autoptr (GArray) steps = g_array_new (FALSE, FALSE, sizeof (PlaitTreeStep));
  int counts[G_N_ELEMENTS (shapes)] = { 0 }, all = 0;
  for (guint64 line = 0; line < DRAWS; line++)
    {
      plait_tree_control (PLAIT_TREES_RANDOM, 4, plait_random_key (1, "trees", "en", line), steps);
      REQUIRE (steps->len == 3);
      for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
        {
          gboolean same = TRUE;
          for (guint k = 0; k < 3; k++)
            same &= g_array_index (steps, PlaitTreeStep, k).leaves == shapes[i].leaves[k];
          counts[i] += same;
          all += same;
        }
    }
  CHECK_INT (all, DRAWS);
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    CHECK_NEAR (counts[i], shapes[i].share * DRAWS, 4 * 37);
}

TEST_CASE (trees, random_ones_differ_by_seed_line_and_source)
{
  const char *sentence = "a b c d e f g h i j k l m n o p";
  const gint32 ones[] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  static const struct
  {
    guint64 seed;
    const char *source;
    gint64 line;
  } cases[] = { { 1, "en", 1 }, { 2, "en", 1 }, { 1, "de", 1 }, { 1, "en", 2 }, { 1, "en", 1 } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      PlaitTreeSettings settings = { .shape = PLAIT_TREES_RANDOM, .seed = cases[i].seed };
      g_autoptr (PlaitTreeMaker) maker = plait_tree_maker_new (&settings, cases[i].source);
      g_autoptr (GArray) steps = g_array_new (FALSE, FALSE, sizeof (gint32));
      PlaitTreeLine line = { "trees", cases[i].line, sentence, strlen (sentence), ones, 16, NULL, 0 };
      CHECK (plait_tree_maker_make (maker, &line, steps, NULL, NULL));
      g_autoptr (GString) text = g_string_new (NULL);
      for (guint k = 0; k < steps->len; k++)
        g_string_append_printf (text, "%d ", g_array_index (steps, gint32, k));
      g_hash_table_add (seen, g_string_free (g_steal_pointer (&text), FALSE));
    }
  CHECK_INT (g_hash_table_size (seen), G_N_ELEMENTS (cases) - 1);
}

TEST_CASE (trees, height_is_the_longest_way_down)
{
  g_autoptr (GArray) steps = g_array_new (FALSE, FALSE, sizeof (PlaitTreeStep));
  const PlaitRandomKey key = { 0 };
  const struct
  {
    PlaitTreeShape shape;
    gint64 words, height;
  } cases[] = { { PLAIT_TREES_LEFT, 9, 8 },
                { PLAIT_TREES_RIGHT, 9, 8 },
                { PLAIT_TREES_BALANCED, 9, 4 },
                { PLAIT_TREES_BALANCED, 8, 3 },
                { PLAIT_TREES_LEFT, 1, 0 } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      plait_tree_control (cases[i].shape, cases[i].words, key, steps);
      CHECK_INT (plait_tree_height ((const PlaitTreeStep *)(gpointer)steps->data, steps->len), cases[i].height);
    }
}
