/* SPDX-License-Identifier: MIT */
#pragma once

#include "layers/linear.h"
#include "recurrent/cell.h"

/*
 * Recurrent cells: GRU (Cho et al. 2014b; Chen et al. 2017, eq. 2 and 4) and LSTM. plait_rnn has the equations. The
 * update gate z of a GRU keeps the old state, h <- z h + (1 - z) c, as in Cho et al. 2014b, dl4mt, torch and cuDNN;
 * Bahdanau et al. 2015 write it the other way round. Gates stand side by side: reset, update, candidate; input, forget,
 * candidate, output.
 *
 * A cell is used in two strokes: plait_cell_project multiplies the inputs of all rows at once, plait_cell_run or
 * plait_cell_step goes through time.
 */
typedef struct
{
  PlaitCellKind kind;
  PlaitResetOrder reset; /* of a GRU */
  gint64 input_width;
  gint64 width;       /* w, of the state */
  double forget_bias; /* what an LSTM's forget gate starts with: 1 keeps the cell at first (Jozefowicz et al. 2015) */
  gboolean recurrent_bias; /* biases on the recurrent product too, as in cuDNN and torch; dl4mt's second cell has those
                              alone. They differ from the input's in a GRU's candidate with the reset after; not with
                              the reset before */
} PlaitCellDeclaration;

/* A value of this type refers to parameters and owns nothing. */
typedef struct
{
  PlaitCellDeclaration declaration;
  PlaitLinear input;     /* [input, gates w] and bias, NAME/input */
  PlaitLinear recurrent; /* [w, gates w], NAME/recurrent; with the reset before, [w, 2 w]: reset and update */
  PlaitLinear candidate; /* with the reset before: [w, w], NAME/candidate */
} PlaitCell;

/* A state and, of an LSTM, the cell beside it; NULL stands for zeros. */
typedef struct
{
  PlaitNode *state;
  PlaitNode *cell;
} PlaitCellState;

/* Declares the parameters of a cell. */
PLAIT_API PlaitCell plait_cell_declare (PlaitParameters *parameters, const char *name,
                                        const PlaitCellDeclaration *declaration);

/* The input's part of all gates, biases included: x [r, input] -> [r, gates w]. It does not depend on the time step. */
PLAIT_API PlaitNode *plait_cell_project (PlaitTape *tape, const PlaitCell *cell, PlaitNode *x);

/* One step of n rows, for decoders whose next step depends on this one: projected [n, gates w], previous [n, w] each
 * -> [n, w] each. */
PlaitCellState plait_cell_step (PlaitTape *tape, const PlaitCell *cell, PlaitNode *projected, PlaitCellState previous);

/* Whole sentences: projected [rows, gates w] -> [rows, w] each, row by row the state after it. @backwards goes from the
 * last row of each sentence to its first. @initial [sentences, w] each is what they begin with. */
PLAIT_API PlaitCellState plait_cell_run (PlaitTape *tape, const PlaitCell *cell, PlaitNode *projected, PlaitRagged rows,
                                         gboolean backwards, PlaitCellState initial);
