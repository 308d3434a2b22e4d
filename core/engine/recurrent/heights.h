/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/tensor.h"

/*
 * Binary trees over the rows of a memory, bottom-up, all trees of a batch together. The height of an inner node is the
 * distance to its farthest leaf; nodes of one height depend only on lower heights. Arrays of inner nodes [nodes] go
 * height after height, lowest first.
 */
typedef struct
{
  gint64 rows;           /* rows of the memory: leaves and inner nodes */
  PlaitRagged sentences; /* rows of each sentence */
  const gint64 *leaf;    /* [rows] index of the row among all leaves, or -1 for an inner node */
  gint64 n;              /* number of heights that have inner nodes: 1 .. n */
  const gint64 *first;   /* [n + 1]: height h + 1 has the nodes first[h] .. first[h + 1] - 1 */
  const gint64 *row;     /* [nodes] memory row of each node, ascending within a height */
  const gint64 *left;    /* [nodes] memory row of each node's left child */
  const gint64 *right;
} PlaitTreeHeights;

/* All left children, or all right children, of trees: depth after depth, from the roots down. */
typedef struct
{
  const gint64 *first; /* [depths + 1]: depth d + 1 has the children first[d] .. first[d + 1] - 1; roots have depth 0 */
  const gint64 *row;   /* [children] memory row of each child */
  const gint64 *parent; /* [children] memory row of each child's parent, ascending within a depth */
} PlaitTreeSide;

/* Binary trees over the rows of a memory, top-down: the trees of PlaitTreeHeights by depth instead of height. */
typedef struct
{
  gint64 rows; /* rows of the memory */
  PlaitRagged sentences;
  const gint64 *root; /* [rows] index of the row among all roots, or -1 for other rows */
  gint64 n;           /* number of depths, not counting that of the roots */
  PlaitTreeSide sides[2];
} PlaitTreeDepths;

static inline gint64
plait_tree_nodes (const PlaitTreeHeights *heights)
{
  return heights->first[heights->n];
}
