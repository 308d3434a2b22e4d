/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/tape.h"

/* Whole targets taken step by step: step t works on the sentences that are longer than t, one row each. */
typedef struct
{
  PlaitRagged queries; /* one row for each sentence that takes part */
  gint64 *before;      /* [rows]: its row in the step before */
  gint64 *target;      /* [rows]: its row of the target */
} PlaitStepRows;

/* The rows of step @t over @target. In the first step the row before is that of the sentence. */
PlaitStepRows plait_step_rows (PlaitArena *arena, PlaitRagged target, gint64 t);

/* How many steps there are. */
gint64 plait_steps (PlaitRagged target);

/* What the steps gave, @steps [n], as rows of @target: [rows, width]. */
PlaitNode *plait_steps_in_order (PlaitTape *tape, PlaitNode *const *steps, gint64 n, PlaitRagged target);
