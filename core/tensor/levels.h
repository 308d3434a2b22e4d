/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/tensor.h"

/*
 * Binary trees over the rows of a memory, all trees of a batch together. A level of inner nodes is what can be computed
 * once the levels below it are; the arrays of nodes go level after level.
 */
typedef struct
{
  gint64 rows;           /* of the memory: leaves and inner nodes */
  PlaitRagged sentences; /* whose rows they are */
  const gint64 *leaf;    /* [rows] the number of the leaf, or -1 for an inner node */
  gint64 levels;         /* of inner nodes */
  const gint64 *first;   /* [levels + 1]: level l has the nodes first[l] .. first[l + 1] - 1 */
  const gint64 *row;     /* [nodes] their rows, ascending in a level */
  const gint64 *left;    /* [nodes] the rows of their children */
  const gint64 *right;
} PlaitTreeLevels;

/* The children of one side, depth after depth. */
typedef struct
{
  const gint64 *first;  /* [levels + 1] */
  const gint64 *row;    /* their rows */
  const gint64 *parent; /* the rows of their parents, ascending in a depth */
} PlaitTreeSide;

/* The same trees from the roots down. */
typedef struct
{
  gint64 rows; /* of the memory */
  PlaitRagged sentences;
  const gint64 *root; /* [rows] the number of the root, or -1 for other rows */
  gint64 levels;      /* depths below the roots */
  PlaitTreeSide sides[2];
} PlaitTreeDescent;

static inline gint64
plait_tree_nodes (const PlaitTreeLevels *levels)
{
  return levels->first[levels->levels];
}
