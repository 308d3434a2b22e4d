/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/random.h"
#include "trees/tree.h"
#include "trees/trees.h"

/*
 * Binary trees, as their inner nodes one after the other, children before parents: what trees are kept as.
 *
 * A step stands for a node and says how many leaves come before the node's end. So a tree is read like the moves of a
 * shift-reduce parser: leaves are taken until there are as many, then the last two trees become one. Nothing more is
 * needed, because the words of a constituency tree stand in their order.
 */
typedef struct
{
  gint32 leaves; /* up to the end of the node: its last leaf and all before it */
  gint32 label;  /* its number, see plait_tree_label */
} PlaitTreeStep;

/* More leaves and more labels are refused: both numbers of a step take two bytes in a corpus. */
#define PLAIT_TREE_LEAVES_LIMIT 65535
#define PLAIT_TREE_LABELS_LIMIT 65536
#define PLAIT_TREE_LABEL_BYTES 255

/* What makes the trees of a source (trees.h), or of a file of trees as such. */
struct PlaitTreeMaker
{
  PlaitTreeSettings settings;
  char *source;

  /* The labels of all its trees, numbered as they come; 0 is the empty one. */
  GPtrArray *names;    /* (element-type utf8), which it owns */
  GHashTable *numbers; /* name -> number */
  GString *scratch;

  /* Of the present line. */
  PlaitTree *tree;
  GArray *steps;       /* PlaitTreeStep, over words */
  GArray *tags;        /* gint32 a word */
  GArray *piece_steps; /* PlaitTreeStep, over pieces */
};

/* The label of @number, as long as @maker. (transfer none) */
static inline const char *
plait_tree_label (const PlaitTreeMaker *maker, gint32 number)
{
  return maker->names->pdata[number];
}

/* Makes the tree of @maker binary, with its steps and tags. */
gboolean plait_tree_binarise (PlaitTreeMaker *maker, GError **error);

/* A tree over @words words that no parser made, without labels: not PLAIT_TREES_GIVEN. */
void plait_tree_control (PlaitTreeShape shape, gint64 words, PlaitRandomKey key, GArray *steps);

/* From the steps of @maker, over @words words, to those over their pieces: word w has pieces[w] of them. Those of a
 * word are grouped from the left under nodes that take the word's place: the highest has its tag, the others the tag
 * with '@' before it. A word without pieces is left out, and with it the node over it. */
gboolean plait_tree_split_words (PlaitTreeMaker *maker, const gint32 *pieces, gint64 words, GError **error);

/* The children of the @n nodes, which are numbered from @first on, behind the leaves from 0. */
void plait_tree_link (const PlaitTreeStep *steps, gint64 n, gint64 first, gint64 *left, gint64 *right);

/* The longest way from the root to a leaf, in links. */
gint64 plait_tree_height (const PlaitTreeStep *steps, gint64 n);
