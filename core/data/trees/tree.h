/* SPDX-License-Identifier: MIT */
#pragma once

#include "trees/head-rules.h"

/*
 * A constituency tree as a parser wrote it, read from one line (tree-lines.h joins trees of several lines):
 *
 *     (ROOT (S (NP (DT A) (NN man)) (VP (VBZ sleeps))))      brackets, as in the Penn Treebank
 *     [1,2,201] [201,3,202]                                  triples of left child, right child and parent
 *
 * A label follows its opening bracket and may be missing; words may have brackets of their own or not. Empty elements
 * (-NONE-) are left out, and so are constituents that contain only empty elements. In triples, words are numbered from
 * 1, and inner nodes have any larger numbers, in any order (Chen et al. 2017 number them 201, 202, ... from the bottom
 * up).
 *
 * A line has no tree if it is blank, "null", only brackets, a tree of empty elements only, or the triple [N,N,P].
 *
 * No function here is recursive: only the length of its line limits the depth of a tree.
 */
typedef struct
{
  gint64 parent;      /* index of the parent; -1 for the root */
  gint64 first_child; /* index of the first child; -1 for a leaf */
  gint64 last_child;
  gint64 next; /* next child of the same parent, or -1 */
  gint64 n_children;
  gint64 word;      /* index of a leaf's word in the sentence, from 0; -1 for an inner node */
  const char *text; /* label of an inner node or word of a leaf, inside the line; NULL in triples */
  gsize length;
} PlaitTreeNode;

typedef struct
{
  GArray *nodes; /* (element-type PlaitTreeNode); nodes that cover no words are not below the root */
  gint64 root;   /* index of the root; -1: the line has no tree */
  gint64 n_words;
} PlaitTree;

/* Returns an empty tree, which plait_tree_read may fill many times. (transfer full) */
PlaitTree *plait_tree_new (void);
void plait_tree_free (PlaitTree *tree);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitTree, plait_tree_free)

/* Reads the tree on @line (@length bytes), which must stay valid while @tree is used. Fails with PLAIT_ERROR_INPUT on
 * unbalanced brackets, empty constituents, text outside the brackets, and triples that are not a tree over words in
 * order. The message does not name file and line. */
gboolean plait_tree_read (PlaitTree *tree, const char *line, gsize length, GError **error);

/* TRUE if the words of @tree equal the white-space tokens of @sentence one by one. For triples, which contain no words:
 * TRUE if there are as many words as tokens. The tree may write brackets as -LRB-, -RRB-, -LSB-, -RSB-, -LCB-, -RCB-,
 * slashes and asterisks with a backslash, and quotation marks as `` and ''. Otherwise sets PLAIT_ERROR_INPUT to the
 * first difference, without file and line. */
gboolean plait_tree_match (const PlaitTree *tree, const char *sentence, gsize length, GError **error);

/* Returns the node after @node in an order with children before parents; -1 after the root. Begin with @node = -1; the
 * tree must have a root. */
gint64 plait_tree_next (const PlaitTree *tree, gint64 node);

static inline PlaitTreeNode *
plait_tree_node (const PlaitTree *tree, gint64 node)
{
  return &g_array_index (tree->nodes, PlaitTreeNode, node);
}

/* Reads a tree from a line of triples, for plait_tree_read, which describes the arguments and errors. */
gboolean plait_tree_read_triples (PlaitTree *tree, const char *line, gsize length, GError **error);

/* Adds a node without parent and children, and returns its index. Invalidates pointers to nodes. */
gint64 plait_tree_add (PlaitTree *tree, gint64 word, const char *text, gsize length);

/* Makes @child the last child of @parent. */
void plait_tree_attach (PlaitTree *tree, gint64 parent, gint64 child);
