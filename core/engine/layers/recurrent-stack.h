/* SPDX-License-Identifier: MIT */
#pragma once

#include "layers/recurrent.h"

/*
 * Layers of recurrent cells over ragged sentences, each layer in one direction or in both (Schuster & Paliwal 1997;
 * Chen et al. 2017, eq. 2): in both, the states of the two directions stand side by side and are what the next layer
 * reads.
 */
typedef enum
{
  PLAIT_DIRECTIONS_BOTH,
  PLAIT_DIRECTIONS_FORWARD,
  PLAIT_DIRECTIONS_BACKWARD,
} PlaitDirections;

typedef struct
{
  PlaitCellDeclaration cell; /* input_width: of what the first layer reads; width: of one direction */
  gint64 layers;             /* at least 1 */
  PlaitDirections directions;
  double dropout; /* of what each layer reads */
} PlaitRecurrentStackDeclaration;

/* A value of this type refers to parameters and memory of the registry and owns nothing. */
typedef struct
{
  PlaitRecurrentStackDeclaration declaration;
  guint n_directions;
  PlaitCell *cells; /* [layers][n_directions] */
  gint64 width;     /* of the rows that come out: of all directions together */
} PlaitRecurrentStack;

/* What comes out. The cells are an LSTM's, else NULL. */
typedef struct
{
  PlaitNode *states;       /* [rows, width] */
  PlaitNode *cells;        /* [rows, width] */
  PlaitNode *summary;      /* [sentences, width] the last state of each direction, zeros for a sentence without rows */
  PlaitNode *summary_cell; /* [sentences, width] */
} PlaitRecurrentStates;

/* How many directions there are. */
PLAIT_API guint plait_directions_n (PlaitDirections directions);

/* Declares the cells NAME/0/forward, NAME/0/backward, NAME/1/forward, ... */
PLAIT_API PlaitRecurrentStack plait_recurrent_stack_declare (PlaitParameters *parameters, const char *name,
                                                             const PlaitRecurrentStackDeclaration *declaration);

/* x [rows, input] -> states, cells and summaries of the last layer. */
PLAIT_API PlaitRecurrentStates plait_recurrent_stack_apply (PlaitTape *tape, const PlaitRecurrentStack *stack,
                                                            PlaitNode *x, PlaitRagged rows);
