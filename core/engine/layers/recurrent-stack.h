/* SPDX-License-Identifier: MIT */
#pragma once

#include "layers/recurrent.h"

/*
 * Layers of recurrent cells over ragged sentences, each in one direction or in both (Schuster & Paliwal 1997; Chen et
 * al. 2017, eq. 2). With both, the next layer reads the states of the two directions side by side.
 */
typedef enum
{
  PLAIT_DIRECTIONS_BOTH,
  PLAIT_DIRECTIONS_FORWARD,
  PLAIT_DIRECTIONS_BACKWARD,
} PlaitDirections;

typedef struct
{
  PlaitCellDeclaration
      cell;      /* cell.input_width: width of the first layer's input; cell.width: width of one direction */
  gint64 layers; /* at least 1 */
  PlaitDirections directions;
  double dropout; /* dropout rate on the input of each layer */
} PlaitRecurrentStackDeclaration;

/* A stack of recurrent layers. It refers to parameters and memory of the registry and owns nothing. */
typedef struct
{
  PlaitRecurrentStackDeclaration declaration;
  guint n_directions;
  PlaitCell *cells; /* [layers][n_directions] */
  gint64 width;     /* width of the output: the widths of all directions together */
} PlaitRecurrentStack;

/* The output of a stack. Cell states are NULL unless the cells are LSTMs. */
typedef struct
{
  PlaitNode *states;       /* [rows, width] */
  PlaitNode *cells;        /* [rows, width] */
  PlaitNode *summary;      /* [sentences, width] last state of each direction; zeros for a sentence without rows */
  PlaitNode *summary_cell; /* [sentences, width] last cell state of each direction */
} PlaitRecurrentStates;

/* Returns the number of directions, 1 or 2. */
PLAIT_API guint plait_directions_n (PlaitDirections directions);

/* Declares the cells of each layer and direction: NAME/0/forward, NAME/0/backward, NAME/1/forward, ... */
PLAIT_API PlaitRecurrentStack plait_recurrent_stack_declare (PlaitParameters *parameters, const char *name,
                                                             const PlaitRecurrentStackDeclaration *declaration);

/* Returns states, cell states and summaries of the last layer, for x [rows, input width]. */
PLAIT_API PlaitRecurrentStates plait_recurrent_stack_apply (PlaitTape *tape, const PlaitRecurrentStack *stack,
                                                            PlaitNode *x, PlaitRagged rows);
