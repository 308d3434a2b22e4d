/* SPDX-License-Identifier: MIT */
#pragma once

#include "cross-attention/cross-attention.h"

/* Rows of targets and memories, taken otherwise than they stand. */

/* Whole targets taken step by step: step t works on the sentences that are longer than t, one row each. */
typedef struct
{
  PlaitRagged queries; /* one row for each sentence that takes part */
  gint64 *before;      /* [rows]: its row in the step before */
  gint64 *target;      /* [rows]: its row of the target */
} PlaitStepRows;

/* The rows of step @t over @target. In the first step the row before is that of the sentence. */
PlaitStepRows plait_step_rows (PlaitArena *arena, PlaitRagged target, gint64 t);

/* The pass of @rows, which are a step of @whole, before that of @next: with a capture of its own, of one layer, where
 * the whole has one. */
PlaitCrossAttentionPass plait_step_pass (const PlaitCrossAttentionPass *whole, const PlaitStepRows *rows,
                                         const PlaitStepRows *next);

/* Zeros, [rows, width]: what there is before the first step. */
PlaitNode *plait_zeros (PlaitTape *tape, gint64 rows, gint64 width);

/* What the steps gave, @steps [n], as rows of @target: [rows, width]. */
PlaitNode *plait_concatenate_steps (PlaitTape *tape, PlaitNode *const *steps, gint64 n, PlaitRagged target);

/* The mean of the rows of a memory for each sentence, [sentences, width]; zeros where it has none. */
PlaitNode *plait_memory_mean (PlaitTape *tape, const PlaitMemory *memory);

/* The row of @memory, the first, that stands for token @position of sentence @s. Where there is none the step is left:
 * [predict] kind=@kind needs it. */
gint64 plait_memory_row_of_token (PlaitTape *tape, const PlaitMemory *memory, gint64 s, gint64 position,
                                  const char *kind);

/* Numbers that stand below one another, [rows, 1], side by side: [groups.n, most rows of a group], and
 * PLAIT_MASKED_LOGIT where a group has none. */
PlaitNode *plait_pad_logits (PlaitTape *tape, PlaitNode *numbers, PlaitRagged groups);

/* Returns x + y, of one shape. */
PlaitNode *plait_add (PlaitTape *tape, PlaitNode *x, PlaitNode *y);

/* The logit of a column that is no choice of its row. */
#define PLAIT_MASKED_LOGIT ((PlaitScalar)-1e9)
