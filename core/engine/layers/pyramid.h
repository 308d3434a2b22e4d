/* SPDX-License-Identifier: MIT */
#pragma once

#include "layers/recurrent.h"

/*
 * A pyramid over rows (Gupta & Ahmed, Attention on Hierarchical Representation of Inputs): the rows of each sentence
 * are cut into blocks, the vectors of the blocks are the next level, and so on upwards, while the blocks are fewer than
 * the rows. With x_1 .. x_n the rows of a block and y its vector:
 *
 *     rnn    h_i = cell (h_{i-1}, x_i), h_0 = 0;   y = h_n
 *     cnn    y = f ([x_1 .. x_k] W + b), kernel and stride k; a block of fewer rows ends in zeros
 *     mean   y = sum x_i / n
 *     act    y = sum p_i x_i, p the shares of plait_blocks_halt (Graves 2016) with h = sigmoid (x w + b)
 *     cif    y = sum p_i x_i, p the shares of plait_blocks_fire (Dong & Xu 2020) with the same for weights
 *
 * act and cif cut by the values of their numbers, so what rows there are depends on the parameters. Where a block ends
 * has no gradient, by definition; the shares have that of the blocks as they stand.
 */
typedef enum
{
  PLAIT_POOLING_RNN,
  PLAIT_POOLING_CNN,
  PLAIT_POOLING_MEAN,
  PLAIT_POOLING_ACT,
  PLAIT_POOLING_CIF,
} PlaitPooling;

#define PLAIT_PYRAMID_MAX_LEVELS 32

typedef struct
{
  PlaitPooling pooling;
  gint64 width;       /* of the rows of all levels */
  gint64 block;       /* k: rows of a block; act: at most so many; cif: about so many before anything is learnt */
  gint64 levels;      /* above the leaves; 0: until one row is left, at most PLAIT_PYRAMID_MAX_LEVELS */
  gboolean shared;    /* one set of parameters for all levels; must be where @levels is 0 and there are parameters */
  PlaitCellKind cell; /* rnn */
  PlaitResetOrder reset;
  double forget_bias;
  PlaitActivation activation; /* cnn: f */
  double epsilon;             /* act */
  double tail;                /* cif */
} PlaitPyramidDeclaration;

/* What makes one level. The layers that the pooling does not need are not declared. */
typedef struct
{
  PlaitCell cell;          /* NAME/cell */
  PlaitLinear convolution; /* [k w, w], NAME/convolution */
  PlaitLinear numbers;     /* [w, 1], NAME/halting; of cif NAME/weights */
} PlaitPyramidLevel;

/* A value of this type refers to parameters and memory of the registry and owns nothing. */
typedef struct
{
  PlaitPyramidDeclaration declaration;
  PlaitPyramidLevel *levels; /* level l's is levels[l - 1], or levels[0] for all where they are shared */
} PlaitPyramid;

/* Declares the parameters of levels 1, 2, ... below NAME/1, NAME/2, ..., shared ones below NAME. */
PLAIT_API PlaitPyramid plait_pyramid_declare (PlaitParameters *parameters, const char *name,
                                              const PlaitPyramidDeclaration *declaration);

/*
 * The rows of the memory that a pyramid makes: of each sentence its leaves, then level 1, level 2, ... Arrays have an
 * entry a row of the memory, a row number or -1. Children stand beside each other; neighbours of cif may have one in
 * common, whose parent is the first of them.
 */
typedef struct
{
  PlaitRagged rows;
  PlaitNode *states; /* [rows, w] */
  PlaitNode *cells;  /* [rows, w], or NULL where the leaves have none; zeros above them but of LSTMs */
  const gint64 *parent;
  const gint64 *first_child;
  const gint64 *n_children; /* 0 of leaves */
  const gint64 *level;      /* 0 of leaves */
  const gint64 *previous;   /* the neighbours within a level */
  const gint64 *next;
  const gint64 *leaf;  /* the leaf's number, -1 above them */
  PlaitNode *ponder;   /* act, [1, 1]: the sum of N + R over all blocks, N being their rows and R their last shares
                          (Graves 2016, section 2); its gradient is that of R. NULL of others */
  PlaitNode *quantity; /* cif, [1, 1]: the sum of |sum of weights - n / k| over the sentences of n > 1 rows of each
                          level (Dong & Xu 2020, quantity loss, with n / k for the number of targets). NULL of others */
} PlaitPyramidRows;

/* leaves [leaves, w], cells NULL or the same, a row of @rows each. In the arena of @tape. */
PLAIT_API PlaitPyramidRows plait_pyramid_apply (PlaitTape *tape, const PlaitPyramid *pyramid, PlaitCellState leaves,
                                                PlaitRagged rows);
