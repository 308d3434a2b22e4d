/* SPDX-License-Identifier: MIT */
#pragma once

#include "layers/linear.h"
#include "recurrent/cell.h"

/*
 * Recurrent cells: GRU (Cho et al. 2014b; Chen et al. 2017, eq. 2 and 4) and LSTM. Their equations are at
 * PlaitRecurrentCell. The update gate z of a GRU keeps the old state, h <- z h + (1 - z) c, as in Cho et al. 2014b,
 * dl4mt, PyTorch and cuDNN; Bahdanau et al. 2015 swap z and 1 - z. First, plait_cell_project multiplies the inputs of
 * all rows at once. Then plait_cell_run computes all time steps, or plait_cell_step computes one time step.
 */
typedef struct
{
  PlaitCellKind kind;
  PlaitResetOrder reset; /* GRU only */
  gint64 input_width;
  gint64 width;            /* w, width of the state */
  double forget_bias;      /* initial bias of an LSTM's forget gate; Jozefowicz et al. 2015 recommend 1 */
  gboolean recurrent_bias; /* TRUE: adds a bias to the recurrent product too, as cuDNN and PyTorch do. Must be FALSE for
                              a GRU with PLAIT_RESET_BEFORE. The reset gate multiplies the recurrent bias of a GRU's
                              candidate; all other recurrent biases act like the bias of the input */
} PlaitCellDeclaration;

/* A recurrent cell. It refers to parameters and owns nothing. */
typedef struct
{
  PlaitCellDeclaration declaration;
  PlaitLinear input; /* [input, gates w] with bias, NAME/input */
  PlaitLinear
      recurrent; /* [w, gates w], NAME/recurrent; of a GRU with PLAIT_RESET_BEFORE [w, 2 w], for reset and update */
  PlaitLinear candidate; /* [w, w], NAME/candidate; only of a GRU with PLAIT_RESET_BEFORE */
} PlaitCell;

/* A state and, for an LSTM, a cell state; @cell of a GRU is NULL. Before the first step, NULL means zeros. */
typedef struct
{
  PlaitNode *state;
  PlaitNode *cell;
} PlaitCellState;

/* Declares the parameters of a cell under names that begin with @name. */
PLAIT_API PlaitCell plait_cell_declare (PlaitParameters *parameters, const char *name,
                                        const PlaitCellDeclaration *declaration);

/* Returns a node [r, gates w]: the product of the input x [r, input width] with the input weight of all gates, plus
 * the bias of the input. It does not depend on states, so it is computed for the rows of all time steps at once. */
PLAIT_API PlaitNode *plait_cell_project (PlaitTape *tape, const PlaitCell *cell, PlaitNode *x);

/* Returns the states [n, w] after one step, for decoders whose next step depends on this one. projected [n, gates w];
 * state and cell of @previous [n, w]. */
PLAIT_API PlaitCellState plait_cell_step (PlaitTape *tape, const PlaitCell *cell, PlaitNode *projected,
                                          PlaitCellState previous);

/* Returns the states [rows, w], one for each row of all sentences. projected [rows, gates w] comes from
 * plait_cell_project. @backwards: from the last row of each sentence to its first. @initial: state and cell state
 * before the first step, [sentences, w]. */
PLAIT_API PlaitCellState plait_cell_run (PlaitTape *tape, const PlaitCell *cell, PlaitNode *projected, PlaitRagged rows,
                                         gboolean backwards, PlaitCellState initial);
