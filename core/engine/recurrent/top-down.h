/* SPDX-License-Identifier: MIT */
#pragma once

#include "recurrent/heights.h"
#include "recurrent/recurrent.h"

/* The left or right children of a top-down GRU, all trees of a batch together. Tensors with [children] rows hold the
 * children depth after depth, as in PlaitTreeSide. */
typedef struct
{
  PlaitRnnWeight recurrent; /* recurrent weight, as in PlaitRecurrence */
  PlaitRnnWeight candidate;
  const PlaitScalar *bias;
  PlaitTensor projected; /* [children, 3 w] projected inputs */

  PlaitTensor previous; /* [children, w] states of the parents */
  PlaitTensor gates;    /* [children, plait_recurrence_saved () w] activations kept for backward */
  PlaitTensor reset_states;

  PlaitTensor dprojected; /* backward: [children, 3 w] gradients of the projected inputs; no data if not needed */
  gboolean adds;          /* TRUE: add to dprojected; FALSE: overwrite it */
} PlaitTopDownSide;

typedef struct
{
  PlaitResetOrder reset;
  gint64 width; /* width w of a state */
  const PlaitTreeDepths *depths;
  PlaitTopDownSide sides[2];
  PlaitTensor states; /* [rows, w]: rows of roots are input, rows below them are output */

  /* Backward only. */
  PlaitTensor dstates; /* [rows, w] in: gradients of all states, to which the pass adds; out: gradients of the roots in
                          their rows */
  PlaitTensor dparent; /* scratch [children on one side, w] */
  PlaitTensor dreset;  /* scratch [children of a side, w]; PLAIT_RESET_BEFORE only */
} PlaitTopDown;

/* Computes the states of all rows below the roots. If @backward, runs the backward pass instead: it replaces the
 * activations in PlaitTopDownSide.gates by the gradients of the recurrent products. For backward, weights that are
 * packed must be packed transposed. */
void plait_top_down_run (PlaitPool *pool, const PlaitTopDown *top_down, gboolean backward);
