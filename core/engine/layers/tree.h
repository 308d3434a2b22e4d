/* SPDX-License-Identifier: MIT */
#pragma once

#include "layers/recurrent.h"

/*
 * Recurrent cells over binary trees: Tree-GRU (Chen et al. 2017, eq. 8) and binary Tree-LSTM (Tai et al. 2015, eq.
 * 9-14; Eriguchi et al. 2016). Their equations are at PlaitTreeCell.
 */

/* The rows of a memory over trees, made by plait_encoding_tree. */
typedef struct PlaitTreeRows PlaitTreeRows;

typedef struct
{
  PlaitTreeKind kind;    /* PLAIT_TREE_GRU or PLAIT_TREE_LSTM */
  PlaitResetOrder reset; /* GRU only */
  gint64 width;
  gint64 input_width;      /* width of the input that inner nodes read in addition to their children; 0: no input */
  gboolean candidate_bias; /* GRU only: adds a bias to the candidate, as the code of Chen et al. 2017 does */
  double forget_bias;      /* initial bias of an LSTM's forget gates */
} PlaitTreeUnitDeclaration;

/* A Tree-GRU or Tree-LSTM. It refers to parameters and owns nothing. Gates of a GRU side by side: reset left, reset
 * right, update left, update right, update; of an LSTM: input, forget left, forget right, candidate, output. */
typedef struct
{
  PlaitTreeUnitDeclaration declaration;
  PlaitLinear gates;     /* [2 w, 5 w], NAME/gates */
  PlaitLinear candidate; /* GRU only: [2 w, w], NAME/candidate */
  PlaitLinear
      input; /* GRU [input, 6 w], LSTM [input, 5 w], NAME/input, without bias; not declared if nodes have no input */
} PlaitTreeUnit;

/* Declares the parameters of a unit under names that begin with @name. */
PLAIT_API PlaitTreeUnit plait_tree_unit_declare (PlaitParameters *parameters, const char *name,
                                                 const PlaitTreeUnitDeclaration *declaration);

/*
 * Returns the states [rows, w] (and an LSTM's cell states) of all rows of the memory, computed bottom-up from @leaves:
 * state [leaves, w], and for an LSTM cell [leaves, w] or NULL for zeros. @inputs [rows, input width]: input of each
 * row, used for inner nodes only; NULL if the declaration has no input.
 */
PLAIT_API PlaitCellState plait_tree_unit_apply (PlaitTape *tape, const PlaitTreeUnit *unit, const PlaitTreeRows *tree,
                                                PlaitCellState leaves, PlaitNode *inputs);

/* Head words: the embedding that stands for each node, mixed bottom-up by a gate over both children, x = g x_L + (1 -
 * g) x_R (Teng & Zhang 2016). It refers to parameters and owns nothing. */
typedef struct
{
  PlaitLinear gate; /* [2 w, w], NAME/gate */
} PlaitTreeHeadWords;

/* Declares NAME/gate for embeddings of width @width. */
PLAIT_API PlaitTreeHeadWords plait_tree_head_words_declare (PlaitParameters *parameters, const char *name,
                                                            gint64 width);

/* Returns a node [rows, w]: the head words of all rows of the memory, from the embeddings x [leaves, w]. */
PLAIT_API PlaitNode *plait_tree_head_words_apply (PlaitTape *tape, const PlaitTreeHeadWords *heads,
                                                  const PlaitTreeRows *tree, PlaitNode *x);

/* The top-down state of a root. */
typedef enum
{
  PLAIT_ROOT_TANH, /* tanh (h W + b), h the root's bottom-up state (Chen et al. 2017, eq. 9) */
  PLAIT_ROOT_GRU,  /* one step of the cell for left children, input h, zero state (the code of Chen et al. 2017) */
} PlaitTreeRoot;

/* A top-down GRU with separate weights for left and right children (Chen et al. 2017, eq. 9-10). It refers to
 * parameters and owns nothing. */
typedef struct
{
  PlaitTreeRoot root_kind;
  PlaitLinear root; /* [input, w], NAME/root; PLAIT_ROOT_TANH only */
  PlaitCell left;   /* NAME/left */
  PlaitCell right;  /* NAME/right */
} PlaitTreeTopDown;

/* Declares the parameters of a top-down GRU under names that begin with @name. @cell: the declaration of both cells,
 * which must be GRUs. */
PlaitTreeTopDown plait_tree_top_down_declare (PlaitParameters *parameters, const char *name,
                                              const PlaitCellDeclaration *cell, PlaitTreeRoot root);

/* Returns a node [rows, w]: the top-down states of all rows, from the bottom-up states x [rows, input width]. Rows
 * outside trees are zero. */
PlaitNode *plait_tree_top_down_apply (PlaitTape *tape, const PlaitTreeTopDown *down, const PlaitTreeRows *tree,
                                      PlaitNode *x);

/*
 * A bidirectional tree encoder (Chen et al. 2017, eq. 8-10): a Tree-GRU bottom-up, then a GRU from the root down that
 * reads the bottom-up states.
 */
typedef struct
{
  PlaitResetOrder reset; /* reset order of the Tree-GRU and of the top-down GRU */
  gint64 leaf_width;     /* width of leaves and of bottom-up states */
  gint64 width;          /* width of top-down states; 0: leaf_width */
  gint64 input_width;    /* width of the input that inner nodes read bottom-up in addition to their children; 0: no
                            input */
  gboolean candidate_bias;
  PlaitTreeRoot root;
} PlaitBitreeDeclaration;

/* A bidirectional tree encoder. It refers to parameters and owns nothing. */
typedef struct
{
  PlaitTreeUnit up;      /* the bottom-up Tree-GRU, named PREFIX + "up" */
  PlaitTreeTopDown down; /* the top-down GRU, named PREFIX + "down" */
  gint64 width;          /* width of the output: bottom-up and top-down state together */
} PlaitBitree;

/* Declares the parameters of a bidirectional tree encoder under names that begin with @prefix. */
PLAIT_API PlaitBitree plait_bitree_declare (PlaitParameters *parameters, const char *prefix,
                                            const PlaitBitreeDeclaration *declaration);

/* Returns a node [rows, width] with a row for each tree node: bottom-up state on the left, top-down state on the right.
 * leaves [leaves, leaf width]; @inputs as in plait_tree_unit_apply. *up receives the bottom-up states alone. */
PLAIT_API PlaitNode *plait_bitree_apply (PlaitTape *tape, const PlaitBitree *bitree, const PlaitTreeRows *tree,
                                         PlaitNode *leaves, PlaitNode *inputs, PlaitNode **up);
