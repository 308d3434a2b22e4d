/* SPDX-License-Identifier: MIT */
/* Reads trees written as triples of left child, right child and parent. */
#include "text/error.h"
#include "lines/text-file.h"
#include "trees/tree.h"

/* Reading a number ends at this limit, and further digits are refused: no line has that many words or nodes. */
#define NUMBER_LIMIT 100000000

typedef struct
{
  gint64 left;
  gint64 right;
  gint64 parent;
} Triple;

static void
skip_spaces (const char *line, gsize length, gsize *at)
{
  while (*at < length && plait_text_is_ascii_space (line[*at]))
    ++*at;
}

/* Reads a number and the character @end. Skips spaces before the number and before @end. */
static gboolean
read_number (const char *line, gsize length, gsize *at, char end, gint64 *number)
{
  skip_spaces (line, length, at);
  gsize first = *at;
  *number = 0;
  for (; *at < length && g_ascii_isdigit (line[*at]) && *number < NUMBER_LIMIT; ++*at)
    *number = *number * 10 + (line[*at] - '0');
  if (*at == first)
    return FALSE;
  skip_spaces (line, length, at);
  return *at < length && line[(*at)++] == end;
}

static gboolean
parse (const char *line, gsize length, GArray *triples, GError **error)
{
  for (gsize at = 0; skip_spaces (line, length, &at), at < length;)
    {
      gsize first = at;
      Triple triple;
      if (line[at++] != '[' || !read_number (line, length, &at, ',', &triple.left)
          || !read_number (line, length, &at, ',', &triple.right)
          || !read_number (line, length, &at, ']', &triple.parent))
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "at byte %zu there is no triple; expected [LEFT,RIGHT,PARENT] with words numbered from 1 "
                           "and larger numbers for nodes",
                           first + 1);
      g_array_append_val (triples, triple);
    }
  return TRUE;
}

/* Adds a node for each word, then a node for each triple. @inner maps the number of a triple's parent to its node. */
static gboolean
add_nodes (PlaitTree *tree, const GArray *triples, GHashTable *inner, GError **error)
{
  tree->n_words = (gint64)triples->len + 1;
  for (gint64 word = 0; word < tree->n_words; word++)
    plait_tree_add (tree, word, NULL, 0);
  for (guint i = 0; i < triples->len; i++)
    {
      gint64 number = g_array_index (triples, Triple, i).parent;
      gint64 node = plait_tree_add (tree, -1, NULL, 0);
      if (number <= tree->n_words)
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "triple %u has the parent %jd, but the numbers 1 to %jd are words (a tree has one word more "
                           "than triples); give parents larger numbers",
                           i + 1, number, tree->n_words);
      if (!g_hash_table_insert (inner, GINT_TO_POINTER (number), GINT_TO_POINTER (node)))
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "triple %u has the parent %jd, as an earlier triple has; expected each node to be the "
                           "parent in one triple only",
                           i + 1, number);
    }
  return TRUE;
}

static gboolean
attach_child (PlaitTree *tree, guint triple, gint64 number, GHashTable *inner, GError **error)
{
  gint64 child = number >= 1 && number <= tree->n_words
                     ? number - 1
                     : GPOINTER_TO_INT (g_hash_table_lookup (inner, GINT_TO_POINTER (number)));
  if (child == 0 && number != 1)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "triple %u has the child %jd; expected a word, from 1 to %jd (a tree has one word more than "
                       "triples), or the parent of another triple",
                       triple + 1, number, tree->n_words);
  if (plait_tree_node (tree, child)->parent >= 0)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "triple %u has the child %jd, which has a parent already; expected each word and node to be a "
                       "child of one triple",
                       triple + 1, number);
  plait_tree_attach (tree, tree->n_words + triple, child);
  return TRUE;
}

/* Checks that all nodes are below the root and the words in order. There is one child link fewer than nodes, and no
 * node is a child twice, so exactly one node has no parent: the root. A node that is not below the root is on a cycle
 * or below one. */
static gboolean
check_order (PlaitTree *tree, const GArray *triples, GError **error)
{
  g_autofree gboolean *seen = g_new0 (gboolean, tree->nodes->len);
  gint64 words = 0, misplaced = -1;
  for (gint64 node = 0; tree->root < 0; node++)
    if (plait_tree_node (tree, node)->parent < 0)
      tree->root = node;
  for (gint64 node = plait_tree_next (tree, -1); node >= 0; node = plait_tree_next (tree, node))
    {
      gint64 word = plait_tree_node (tree, node)->word;
      seen[node] = TRUE;
      if (word >= 0 && word != words++ && misplaced < 0)
        misplaced = words - 1;
    }
  for (guint i = 0; i < triples->len; i++)
    if (!seen[tree->n_words + i])
      return plait_fail (
          error, PLAIT_ERROR_INPUT,
          "node %jd of the tree's triples is on a cycle or below a cycle; expected one tree over %jd words",
          g_array_index (triples, Triple, i).parent, tree->n_words);
  if (misplaced >= 0)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "read from left to right, leaf %jd of the tree's triples is not word %jd; expected the words in "
                       "the order of the sentence",
                       misplaced + 1, misplaced + 1);
  return TRUE;
}

gboolean
plait_tree_read_triples (PlaitTree *tree, const char *line, gsize length, GError **error)
{
  g_autoptr (GArray) triples = g_array_new (FALSE, FALSE, sizeof (Triple));
  g_autoptr (GHashTable) inner = g_hash_table_new (NULL, NULL);
  if (!parse (line, length, triples, error))
    return FALSE;
  const Triple *only = &g_array_index (triples, Triple, 0);
  if (triples->len == 1 && only->left == only->right)
    return TRUE;
  if (!add_nodes (tree, triples, inner, error))
    return FALSE;
  for (guint i = 0; i < triples->len; i++)
    {
      const Triple *triple = &g_array_index (triples, Triple, i);
      if (!attach_child (tree, i, triple->left, inner, error) || !attach_child (tree, i, triple->right, inner, error))
        return FALSE;
    }
  return check_order (tree, triples, error);
}
