/* SPDX-License-Identifier: MIT */
#pragma once

#include "recurrent/heights.h"
#include "recurrent/recurrent.h"

/* A GRU down binary trees, all rows of a depth at once. Tensors of a side have its rows, depth after depth. */
typedef struct
{
  PlaitStepFactor recurrent; /* as PlaitRecurrence has them */
  PlaitStepFactor candidate;
  const PlaitScalar *bias;
  PlaitTensor projected; /* [children, 3 w] */

  PlaitTensor previous; /* [children, w] the parents' states */
  PlaitTensor gates;    /* [children, plait_recurrence_kept () w] */
  PlaitTensor reset_states;

  PlaitTensor dprojected; /* backward: [children, 3 w], or no data */
  gboolean adds;          /* to dprojected */
} PlaitDownwardSide;

typedef struct
{
  PlaitResetPlace reset;
  gint64 width; /* w */
  const PlaitTreeDepths *depths;
  PlaitDownwardSide sides[2];
  PlaitTensor states; /* [rows, w], the roots' there, those below written */

  /* Backward. */
  PlaitTensor dstates; /* [rows, w], added to: afterwards those of the roots are their gradients */
  PlaitTensor dparent; /* [children of a side, w] scratch */
  PlaitTensor dreset;  /* the same, with the reset before */
} PlaitDownward;

/* Goes down, or @backward: with the factors packed transposed, and leaves the cotangents of the products in the gates,
 * as plait_recurrence_backward does. */
void plait_downward_run (PlaitPool *pool, const PlaitDownward *downward, gboolean backward);
