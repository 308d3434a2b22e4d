/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/random.h"
#include "trees/tree.h"
#include "trees/trees.h"

/*
 * A binary tree, stored as the list of its inner nodes, children before parents.
 *
 * A step describes one node and says how many leaves come before the node's end. So a tree is read like the actions of
 * a shift-reduce parser: shift leaves until their number is reached, then reduce the last two trees to one. This is
 * enough, because the words of a constituency tree are in the order of the sentence.
 */
typedef struct
{
  gint32 leaves; /* number of leaves from the start of the sentence to the last leaf of the node */
  gint32 label;  /* number of the node's label (plait_tree_label) */
} PlaitTreeStep;

/* Limits: a step's two numbers take 16 bits each in a corpus, so larger trees and more labels are errors. */
#define PLAIT_TREE_LEAVES_LIMIT 65535
#define PLAIT_TREE_LABELS_LIMIT 65536
#define PLAIT_TREE_LABEL_BYTES 255

/* Makes the trees of a source (trees.h) or of a file of trees. */
struct PlaitTreeMaker
{
  PlaitTreeSettings settings;
  char *source;

  /* Labels of all its trees, numbered in the order of appearance; 0 is the empty label. */
  GPtrArray *names;    /* (element-type utf8), owns the labels */
  GHashTable *numbers; /* name -> number */
  GString *scratch;

  /* Tree of the current line, as read. The arrays below are the tree made from it. */
  PlaitTree *tree;
  GArray *steps;       /* (element-type PlaitTreeStep) the binary tree over words */
  GArray *tags;        /* gint32 per word: number of the label of its tag */
  GArray *piece_steps; /* (element-type PlaitTreeStep) the binary tree over pieces */
};

/* Returns the label of @number, valid as long as @maker. (transfer none) */
static inline const char *
plait_tree_label (const PlaitTreeMaker *maker, gint32 number)
{
  return maker->names->pdata[number];
}

/* Makes the tree of @maker binary: fills its steps and tags. */
gboolean plait_tree_binarise (PlaitTreeMaker *maker, GError **error);

/* Sets @steps to a control tree of shape @shape over @words words, without labels. @shape is not PLAIT_TREES_GIVEN. */
void plait_tree_control (PlaitTreeShape shape, gint64 words, PlaitRandomKey key, GArray *steps);

/* Makes maker->piece_steps from maker->steps, a tree over @words words: word w becomes a subtree of pieces[w] pieces.
 * Pieces are grouped from the left; the top node of a word has the word's tag, lower ones the tag with '@' before it. A
 * word without pieces is left out, and with it the node above it. */
gboolean plait_tree_split_words (PlaitTreeMaker *maker, const gint32 *pieces, gint64 words, GError **error);

/* Writes the children of the @n nodes of @steps to @left and @right. Leaves are numbered from 0, nodes from @first. */
void plait_tree_link (const PlaitTreeStep *steps, gint64 n, gint64 first, gint64 *left, gint64 *right);

/* Returns the number of links from the root to the farthest leaf. */
gint64 plait_tree_height (const PlaitTreeStep *steps, gint64 n);
