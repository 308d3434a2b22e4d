/* SPDX-License-Identifier: MIT */
#pragma once

#include "trees/head-rules.h"

/*
 * A constituency tree as a parser gave it, read from one line, which several lines of a file may have been joined into
 * (tree-lines.h):
 *
 *     (ROOT (S (NP (DT A) (NN man)) (VP (VBZ sleeps))))      brackets, as the Penn Treebank has them
 *     [1,2,201] [201,3,202]                                  triples of left child, right child and parent
 *
 * A label stands behind its bracket and may be missing; words stand in a bracket of their own or beside others. Empty
 * elements (-NONE-) are left out with all that holds nothing else. In triples, words count from 1, and inner nodes
 * have any numbers above the words', in any order (Chen et al. 2017 number them 201, 202, .. from the bottom up).
 *
 * Said to have no tree: a line of white space alone, "null", brackets with nothing in them, and the triple [N,N,P].
 *
 * Nothing here recurses: the depth of a tree is bounded by the length of its line alone.
 */
typedef struct
{
  gint64 parent;      /* -1: the root */
  gint64 first_child; /* -1: none, a leaf */
  gint64 last_child;
  gint64 next; /* the next child of the same parent; -1: none */
  gint64 n_children;
  gint64 word;      /* of a leaf: its place in the sentence, from 0; -1 of an inner node */
  const char *text; /* of an inner node its label, of a leaf its word; inside the line; NULL in triples */
  gsize length;
} PlaitTreeNode;

typedef struct
{
  GArray *nodes; /* PlaitTreeNode; not all of them need hang on the root (empty elements) */
  gint64 root;   /* -1: there is no tree */
  gint64 n_words;
} PlaitTree;

/* An empty tree, to be read into again and again. (transfer full) */
PlaitTree *plait_tree_new (void);
void plait_tree_free (PlaitTree *tree);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitTree, plait_tree_free)

/* Reads the @length bytes of @line, which must stay while @tree is used. FALSE with PLAIT_ERROR_INPUT, a sentence
 * without the place, on brackets that do not match, constituents that hold nothing, and triples that make no tree over
 * words in their order. */
gboolean plait_tree_read (PlaitTree *tree, const char *line, gsize length, GError **error);

/* TRUE if the words of @tree are the white-space tokens of @sentence one by one (of triples: as many). Brackets may be
 * written -LRB-, -RRB-, -LSB-, -RSB-, -LCB-, -RCB- in the tree, slashes and asterisks with a backslash, and quotation
 * marks `` and ''. FALSE with PLAIT_ERROR_INPUT, a sentence without the place, that names the first difference. */
gboolean plait_tree_match (const PlaitTree *tree, const char *sentence, gsize length, GError **error);

/* The next node after @node when children come before their parents, from -1 on (tree->root must not be -1); -1 after
 * the root. */
gint64 plait_tree_next (const PlaitTree *tree, gint64 node);

static inline PlaitTreeNode *
plait_tree_node (const PlaitTree *tree, gint64 node)
{
  return &g_array_index (tree->nodes, PlaitTreeNode, node);
}

/* tree-triples.c */
gboolean plait_tree_read_triples (PlaitTree *tree, const char *line, gsize length, GError **error);

/* A new node whose children and parent are still to come. Pointers to nodes end their life here. */
gint64 plait_tree_add (PlaitTree *tree, gint64 word, const char *text, gsize length);

/* Makes @child the last child of @parent. */
void plait_tree_attach (PlaitTree *tree, gint64 parent, gint64 child);
