/* SPDX-License-Identifier: MIT */
#pragma once

#include "recurrent/heights.h"
#include "recurrent/recurrent.h"

/* A GRU down binary trees, all rows of a depth at once. Tensors of a side have its rows, depth after depth. */
typedef struct
{
  PlaitRnnWeight recurrent; /* as PlaitRecurrence has them */
  PlaitRnnWeight candidate;
  const PlaitScalar *bias;
  PlaitTensor projected; /* [children, 3 w] */

  PlaitTensor previous; /* [children, w] the parents' states */
  PlaitTensor gates;    /* [children, plait_recurrence_saved () w] */
  PlaitTensor reset_states;

  PlaitTensor dprojected; /* backward: [children, 3 w], or no data */
  gboolean adds;          /* to dprojected */
} PlaitTopDownSide;

typedef struct
{
  PlaitResetOrder reset;
  gint64 width; /* w */
  const PlaitTreeDepths *depths;
  PlaitTopDownSide sides[2];
  PlaitTensor states; /* [rows, w], the roots' there, those below written */

  /* Backward. */
  PlaitTensor dstates; /* [rows, w], added to: afterwards those of the roots are their gradients */
  PlaitTensor dparent; /* [children of a side, w] scratch */
  PlaitTensor dreset;  /* the same, with the reset before */
} PlaitTopDown;

/* Goes down, or @backward: with the factors packed transposed, and leaves the cotangents of the products in the gates,
 * as plait_recurrence_backward does. */
void plait_top_down_run (PlaitPool *pool, const PlaitTopDown *top_down, gboolean backward);
