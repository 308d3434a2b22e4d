/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "tasks/generate.h"
#include "trees/tree.h"
#include "harness.h"

/* Lines of one tuple of the task reorder. */
typedef struct
{
  GString *lines[3];
} Tuple;

static void
tuple_clear (Tuple *tuple)
{
  for (int s = 0; s < 3; s++)
    if (tuple->lines[s])
      g_string_free (tuple->lines[s], TRUE);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Tuple, tuple_clear)

static void
make_tuple (Tuple *tuple, const PlaitTaskSettings *settings, gint64 split, gint64 index)
{
  for (int s = 0; s < 3; s++)
    if (!tuple->lines[s])
      tuple->lines[s] = g_string_new (NULL);
  plait_task_tuple (&plait_task_reorder, settings, split, index, tuple->lines);
}

static void
set (PlaitTaskSettings *settings, const char *name, gint64 value)
{
  CHECK (plait_task_set (&plait_task_reorder, settings, name, value, NO_ERROR));
}

TEST_CASE (reorder, trees_belong_to_their_sentences)
{
  g_auto (PlaitTaskSettings) settings = plait_task_defaults (&plait_task_reorder);
  g_autoptr (PlaitTree) tree = plait_tree_new ();
  g_auto (Tuple) tuple = { 0 };
  for (gint64 i = 0; i < 500; i++)
    {
      make_tuple (&tuple, &settings, 0, i);
      const GString *words = tuple.lines[0], *line = tuple.lines[1];
      CHECK (plait_tree_read (tree, line->str, line->len, NO_ERROR)
             && plait_tree_match (tree, words->str, words->len, NO_ERROR));
      REQUIRE (tree->root >= 0);
      CHECK (tree->n_words >= 3 && tree->n_words <= 10);
      for (gint64 node = plait_tree_next (tree, -1); node >= 0; node = plait_tree_next (tree, node))
        {
          const PlaitTreeNode *at = plait_tree_node (tree, node);
          gboolean tag = at->n_children == 1 && plait_tree_node (tree, at->first_child)->word >= 0;
          CHECK (at->word >= 0 || tag || at->n_children == 2);
        }
    }
}

/* Appends the translation of @node by the rules of the task, from the tree alone. Word k of one lexicon becomes word k
 * of the other. */
static void
translate (const PlaitTree *tree, gint64 node, GHashTable *lexicon, GString *out)
{
  const PlaitTreeNode *at = plait_tree_node (tree, node);
  if (at->word >= 0)
    {
      g_autofree char *word = g_strndup (at->text, at->length);
      g_string_append_printf (out, "%s%s", out->len > 0 ? " " : "", (const char *)g_hash_table_lookup (lexicon, word));
      return;
    }
  gboolean swapped = at->n_children == 2 && (at->text[0] - 'A') % 2 == 1;
  translate (tree, swapped ? at->last_child : at->first_child, lexicon, out);
  if (at->n_children == 2)
    translate (tree, swapped ? at->first_child : at->last_child, lexicon, out);
}

TEST_CASE (reorder, is_a_function_of_sentence_and_tree)
{
  g_auto (PlaitTaskSettings) settings = plait_task_defaults (&plait_task_reorder);
  g_autoptr (GHashTable) lexicon = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_autoptr (GHashTable) heads = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (PlaitTree) tree = plait_tree_new ();
  g_auto (Tuple) tuple = { 0 };
  set (&settings, "shortest", 1);
  set (&settings, "longest", 1);
  for (gint64 i = 0; i < 2000; i++)
    {
      make_tuple (&tuple, &settings, 0, i);
      g_hash_table_insert (lexicon, g_strdup (tuple.lines[0]->str), g_strdup (tuple.lines[2]->str));
    }
  CHECK_INT (g_hash_table_size (lexicon), 48);
  set (&settings, "longest", 12);
  for (gint64 i = 0; i < 1000; i++)
    {
      make_tuple (&tuple, &settings, 0, i);
      REQUIRE (plait_tree_read (tree, tuple.lines[1]->str, tuple.lines[1]->len, NULL));
      g_autoptr (GString) expected = g_string_new (NULL);
      translate (tree, tree->root, lexicon, expected);
      CHECK_STRING (tuple.lines[2]->str, expected->str);
      /* The type of a node pairs with the type of one of its children; which child depends only on the types. */
      for (gint64 node = plait_tree_next (tree, -1); node >= 0; node = plait_tree_next (tree, node))
        {
          const PlaitTreeNode *at = plait_tree_node (tree, node);
          if (at->n_children != 2)
            continue;
          char left = plait_tree_node (tree, at->first_child)->text[0],
               right = plait_tree_node (tree, at->last_child)->text[0];
          char *pair = g_strdup_printf ("%c%c", left, right);
          gpointer known = g_hash_table_lookup (heads, pair);
          int type = ((at->text[0] - 'A') ^ 1) + 'A';
          CHECK (type == left || type == right);
          CHECK (!known || GPOINTER_TO_INT (known) == type);
          g_hash_table_insert (heads, pair, GINT_TO_POINTER (type));
        }
    }
  CHECK_INT (g_hash_table_size (heads), 16);
}

/* Returns the fraction of targets that the best model without trees gets wholly right. It predicts the most frequent
 * target of each sentence, counted on @tuples tuples and tested on as many others. */
static double
best_without_trees (const PlaitTaskSettings *settings, gint64 tuples)
{
  g_autoptr (GHashTable) counts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) most = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) best = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_auto (Tuple) tuple = { 0 };
  gint64 right = 0;
  for (gint64 i = 0; i < tuples; i++)
    {
      make_tuple (&tuple, settings, 0, i);
      char *both = g_strconcat (tuple.lines[0]->str, "|", tuple.lines[2]->str, NULL);
      int count = GPOINTER_TO_INT (g_hash_table_lookup (counts, both)) + 1;
      g_hash_table_insert (counts, both, GINT_TO_POINTER (count));
      if (count > GPOINTER_TO_INT (g_hash_table_lookup (most, tuple.lines[0]->str)))
        {
          g_hash_table_insert (most, g_strdup (tuple.lines[0]->str), GINT_TO_POINTER (count));
          g_hash_table_insert (best, g_strdup (tuple.lines[0]->str), g_strdup (tuple.lines[2]->str));
        }
    }
  for (gint64 i = 0; i < tuples; i++)
    {
      make_tuple (&tuple, settings, 1, i);
      right += g_strcmp0 (g_hash_table_lookup (best, tuple.lines[0]->str), tuple.lines[2]->str) == 0;
    }
  return (double)right / (double)tuples;
}

/* The expected values are sums over all trees of each sentence, which were computed by other code. */
TEST_CASE (reorder, needs_the_tree)
{
  const struct
  {
    gint64 length;
    double bound;
  } cases[] = { { 3, .617 }, { 4, .419 } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("%d words", (int)cases[i].length);
      g_auto (PlaitTaskSettings) settings = plait_task_defaults (&plait_task_reorder);
      set (&settings, "words", 4);
      set (&settings, "shortest", cases[i].length);
      set (&settings, "longest", cases[i].length);
      CHECK_NEAR (best_without_trees (&settings, 40000), cases[i].bound, .015);
    }
}

TEST_CASE (reorder, repeats_itself_by_seed)
{
  g_auto (PlaitTaskSettings) settings = plait_task_defaults (&plait_task_reorder);
  g_auto (Tuple) first = { 0 }, again = { 0 }, other = { 0 }, grammar = { 0 };
  int same = 0, same_grammar = 0;
  for (gint64 i = 0; i < 200; i++)
    {
      settings.seed = 1;
      set (&settings, "grammar", 1);
      make_tuple (&first, &settings, 0, i);
      make_tuple (&again, &settings, 0, i);
      set (&settings, "grammar", 2);
      make_tuple (&grammar, &settings, 0, i);
      settings.seed = 2;
      make_tuple (&other, &settings, 0, i);
      for (int s = 0; s < 3; s++)
        CHECK_STRING (again.lines[s]->str, first.lines[s]->str);
      CHECK_STRING (grammar.lines[0]->str, first.lines[0]->str);
      same += strcmp (first.lines[2]->str, other.lines[2]->str) == 0;
      same_grammar += strcmp (first.lines[2]->str, grammar.lines[2]->str) == 0;
    }
  CHECK (same < 5);
  CHECK (same_grammar > 5 && same_grammar < 150);
}
