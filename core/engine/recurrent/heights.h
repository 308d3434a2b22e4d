/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/tensor.h"

/*
 * Binary trees over the rows of a memory, all trees of a batch together. A height is the inner nodes that can be
 * computed once those of the heights below are; the arrays of nodes go height after height.
 */
typedef struct
{
  gint64 rows;           /* of the memory: leaves and inner nodes */
  PlaitRagged sentences; /* whose rows they are */
  const gint64 *leaf;    /* [rows] the number of the leaf, or -1 for an inner node */
  gint64 n;              /* heights of inner nodes */
  const gint64 *first;   /* [n + 1]: height h has the nodes first[h] .. first[h + 1] - 1 */
  const gint64 *row;     /* [nodes] their rows, ascending in a height */
  const gint64 *left;    /* [nodes] the rows of their children */
  const gint64 *right;
} PlaitTreeHeights;

/* The children of one side, depth after depth. */
typedef struct
{
  const gint64 *first;  /* [n + 1] */
  const gint64 *row;    /* their rows */
  const gint64 *parent; /* the rows of their parents, ascending in a depth */
} PlaitTreeSide;

/* The same trees from the roots down. */
typedef struct
{
  gint64 rows; /* of the memory */
  PlaitRagged sentences;
  const gint64 *root; /* [rows] the number of the root, or -1 for other rows */
  gint64 n;           /* depths below the roots */
  PlaitTreeSide sides[2];
} PlaitTreeDepths;

static inline gint64
plait_tree_nodes (const PlaitTreeHeights *heights)
{
  return heights->first[heights->n];
}
