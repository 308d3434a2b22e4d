/* SPDX-License-Identifier: MIT */
#pragma once

#include "layers/recurrent.h"

/*
 * Recurrent units over binary trees: Tree-GRU (Chen et al. 2017, eq. 8) and binary Tree-LSTM (Tai et al. 2015, eq.
 * 9-14; Eriguchi et al. 2016). plait_tree_bottom_up has the equations.
 */

/* The rows of a memory that trees make, by plait_encoding_tree. */
typedef struct PlaitTreeRows PlaitTreeRows;

typedef struct
{
  PlaitTreeKind kind;    /* not a head */
  PlaitResetOrder reset; /* of a GRU */
  gint64 width;
  gint64 input_width;      /* of what each inner node reads beside its children, 0: nothing */
  gboolean candidate_bias; /* of a GRU; the paper has none, its authors' code has one */
  double forget_bias;      /* what the forget gates of an LSTM start with */
} PlaitTreeUnitDeclaration;

/* A value of this type refers to parameters and owns nothing. Gates stand side by side: reset left and right, update
 * left and right, update; input, forget left and right, candidate, output. */
typedef struct
{
  PlaitTreeUnitDeclaration declaration;
  PlaitLinear gates;     /* [2 w, 5 w], NAME/gates */
  PlaitLinear candidate; /* of a GRU: [2 w, w], NAME/candidate */
  PlaitLinear input;     /* [input, 6 w], of an LSTM [input, 5 w], NAME/input, without bias; or not declared */
} PlaitTreeUnit;

/* Declares the parameters of a unit. */
PLAIT_API PlaitTreeUnit plait_tree_unit_declare (PlaitParameters *parameters, const char *name,
                                                 const PlaitTreeUnitDeclaration *declaration);

/*
 * Bottom-up: the leaves' states [leaves, w] (and an LSTM's cells, NULL for zeros) -> the states (and cells) of all rows
 * of the memory, [rows, w]. @inputs is what the rows of the memory read, [rows, input], of which the inner nodes'
 * count; NULL where the declaration has no input.
 */
PLAIT_API PlaitCellState plait_tree_unit_apply (PlaitTape *tape, const PlaitTreeUnit *unit, const PlaitTreeRows *tree,
                                                PlaitCellState leaves, PlaitNode *inputs);

/* The word that stands for each node, chosen from the leaves up (Teng & Zhang 2016): x = g x_L + (1 - g) x_R, g from
 * both. A value of this type refers to parameters and owns nothing. */
typedef struct
{
  PlaitLinear gate; /* [2 w, w], NAME/gate */
} PlaitTreeHeadWords;

/* Declares NAME/gate for words of width @width. */
PLAIT_API PlaitTreeHeadWords plait_tree_head_words_declare (PlaitParameters *parameters, const char *name,
                                                            gint64 width);

/* x [leaves, w], the words -> [rows, w], the heads of all rows of the memory. */
PLAIT_API PlaitNode *plait_tree_head_words_apply (PlaitTape *tape, const PlaitTreeHeadWords *heads,
                                                  const PlaitTreeRows *tree, PlaitNode *x);

/* How the root begins the way down. */
typedef enum
{
  PLAIT_ROOT_TANH, /* tanh (h W + b) of its bottom-up state h: Chen et al. 2017, eq. 9 */
  PLAIT_ROOT_GRU,  /* a step of the left children's cell from zeros: their code */
} PlaitTreeRoot;

/* The GRU from the root down (eq. 9-10), with weights of their own for left and right children. A value of this type
 * refers to parameters and owns nothing. */
typedef struct
{
  PlaitTreeRoot root_kind;
  PlaitLinear root; /* [input, w], NAME/root; of PLAIT_ROOT_TANH */
  PlaitCell left;   /* NAME/left */
  PlaitCell right;  /* NAME/right */
} PlaitTreeTopDown;

/* Declares the cells as @cell says, a GRU. */
PlaitTreeTopDown plait_tree_top_down_declare (PlaitParameters *parameters, const char *name,
                                              const PlaitCellDeclaration *cell, PlaitTreeRoot root);

/* x [rows, input], the bottom-up states -> the top-down states of all rows, [rows, w]; zeros where there is no root. */
PlaitNode *plait_tree_top_down_apply (PlaitTape *tape, const PlaitTreeTopDown *down, const PlaitTreeRows *tree,
                                      PlaitNode *x);

/*
 * Both ways (Chen et al. 2017, eq. 8-10): a Tree-GRU bottom-up, then the GRU from the root down, which reads the
 * bottom-up states.
 */
typedef struct
{
  PlaitResetOrder reset; /* of both */
  gint64 leaf_width;     /* of leaves and of bottom-up states */
  gint64 width;          /* of top-down states; 0: as the leaves */
  gint64 input_width;    /* of what inner nodes read bottom-up beside their children, 0: nothing */
  gboolean candidate_bias;
  PlaitTreeRoot root;
} PlaitBitreeDeclaration;

/* A value of this type refers to parameters and owns nothing. */
typedef struct
{
  PlaitTreeUnit up;      /* PREFIXup */
  PlaitTreeTopDown down; /* PREFIXdown */
  gint64 width;          /* of rows: both states side by side */
} PlaitBitree;

/* Declares the parameters of both, under names that begin with @prefix. */
PLAIT_API PlaitBitree plait_bitree_declare (PlaitParameters *parameters, const char *prefix,
                                            const PlaitBitreeDeclaration *declaration);

/* leaves [leaves, leaf width], @inputs [rows, input width] or NULL as in plait_tree_unit_apply -> [rows, width], the
 * bottom-up states on the left; @up gets those alone. */
PLAIT_API PlaitNode *plait_bitree_apply (PlaitTape *tape, const PlaitBitree *bitree, const PlaitTreeRows *tree,
                                         PlaitNode *leaves, PlaitNode *inputs, PlaitNode **up);
