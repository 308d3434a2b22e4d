/* SPDX-License-Identifier: MIT */
#pragma once

#include "layers/recurrent.h"

/*
 * A pyramid over rows (Gupta & Ahmed, Attention on Hierarchical Representation of Inputs). The rows of each sentence
 * are cut into blocks, the vectors of the blocks form the next level, and so on, while blocks are fewer than rows. With
 * x_1 .. x_n the rows of a block and y its vector:
 *
 *     rnn    h_i = cell (h_{i-1}, x_i), h_0 = 0;   y = h_n
 *     cnn    y = f ([x_1 .. x_k] W + b), kernel and stride k; a shorter block is padded with zeros
 *     mean   y = sum x_i / n
 *     act    y = sum p_i x_i, p the halting weights of plait_blocks_halt (Graves 2016) with h = sigmoid (x w + b)
 *     cif    y = sum p_i x_i, p the halting weights of plait_blocks_fire (Dong & Xu 2020) with sigmoid (x w + b)
 *
 * With act and cif, the parameters decide where blocks end. The derivative treats these ends as constants.
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
  gint64 width;  /* width of rows, at all levels */
  gint64 block;  /* k, rows of a block; act: at most k; cif: about k before training */
  gint64 levels; /* maximum number of levels above the leaves; 0: PLAIT_PYRAMID_MAX_LEVELS */
  /* TRUE: one set of parameters for all levels; required if levels is 0 and the pooling has parameters */
  gboolean shared;
  PlaitCellKind cell; /* used by rnn only, like the next two fields */
  PlaitResetOrder reset;
  double forget_bias;
  PlaitActivation activation; /* used by cnn only: activation f */
  double epsilon;             /* used by act only: see plait_blocks_halt */
  double tail;                /* used by cif only: see plait_blocks_fire */
} PlaitPyramidDeclaration;

/* The layers of one level, which the members call NAME. Only the layer that the kind of pooling needs is declared. */
typedef struct
{
  PlaitCell cell;          /* rnn: NAME/cell */
  PlaitLinear convolution; /* cnn: [k w, w], NAME/convolution */
  PlaitLinear numbers;     /* act: [w, 1], NAME/halting; cif: [w, 1], NAME/weights */
} PlaitPyramidLevel;

/* A pyramid. It refers to parameters and memory of the registry and owns nothing. */
typedef struct
{
  PlaitPyramidDeclaration declaration;
  PlaitPyramidLevel *levels; /* levels[l - 1] for level l; levels[0] for all levels if they share parameters */
} PlaitPyramid;

/* Declares the parameters of levels 1, 2, ... under NAME/1, NAME/2, ..., or under NAME if the levels share them. */
PLAIT_API PlaitPyramid plait_pyramid_declare (PlaitParameters *parameters, const char *name,
                                              const PlaitPyramidDeclaration *declaration);

/*
 * The rows of the memory that a pyramid makes: for each sentence its leaves, then level 1, level 2, ... Arrays are
 * [rows]; parent, first_child, previous and next hold a row number or -1. Children of a row are consecutive. With cif,
 * two neighbouring rows may share a child; the child's parent is the first of the two rows.
 */
typedef struct
{
  PlaitRagged rows;
  PlaitNode *states; /* [rows, w] */
  /* [rows, w], NULL if the leaves have no cell states; zeros above the leaves unless the pooling is rnn with LSTM
   * cells */
  PlaitNode *cells;
  const gint64 *parent;
  const gint64 *first_child;
  const gint64 *n_children; /* 0 for leaves */
  const gint64 *level;      /* 0 for leaves */
  const gint64 *previous;   /* previous row of this level in the sentence; @next: next row */
  const gint64 *next;
  const gint64 *leaf;  /* index of the leaf among all leaves; -1 for rows of higher levels */
  PlaitNode *ponder;   /* act: [1, 1], the sum over all blocks of N + R, where N is the number of rows of a block and R
                          its last halting weight (Graves 2016, section 2); only R has a gradient. Else NULL */
  PlaitNode *quantity; /* cif: [1, 1], quantity loss (Dong & Xu 2020): the sum of |sum of weights - n / k| over levels
                          0 .. maximum - 1 and the sentences with n > 1 rows at the level. Else NULL */
} PlaitPyramidRows;

/* Returns the rows of a pyramid over @leaves: state [leaves, w], cell NULL or [leaves, w]. @rows: the leaves of each
 * sentence. The result lives in the arena of @tape. */
PLAIT_API PlaitPyramidRows plait_pyramid_apply (PlaitTape *tape, const PlaitPyramid *pyramid, PlaitCellState leaves,
                                                PlaitRagged rows);
