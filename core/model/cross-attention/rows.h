/* SPDX-License-Identifier: MIT */
#pragma once

#include "cross-attention/cross-attention.h"

/* Gathers and rearranges rows of targets and memories. */

/* The rows of step t of whole targets: one row for each sentence that is longer than t. */
typedef struct
{
  PlaitRagged queries; /* one row for each sentence in the step */
  gint64 *before;      /* [rows]: row in the previous step */
  gint64 *target;      /* [rows]: row in the whole target */
} PlaitStepRows;

/* Returns the rows of step @t. In the first step, the field before holds the numbers of the sentences. */
PlaitStepRows plait_step_rows (PlaitArena *arena, PlaitRagged target, gint64 t);

/* Returns the pass of step @rows of @whole; @next is the following step. If @whole has an attention record, the step
 * gets its own record of one layer. */
PlaitCrossAttentionPass plait_step_pass (const PlaitCrossAttentionPass *whole, const PlaitStepRows *rows,
                                         const PlaitStepRows *next);

/* Returns zeros [rows, width], such as the state before the first step. */
PlaitNode *plait_zeros (PlaitTape *tape, gint64 rows, gint64 width);

/* Concatenates the outputs of @n steps and reorders them to rows of @target, [rows, width]. */
PlaitNode *plait_concatenate_steps (PlaitTape *tape, PlaitNode *const *steps, gint64 n, PlaitRagged target);

/* Returns the row of @memory, the first memory, for token @position of sentence @s. Fails the step if the token has no
 * row; @kind is named in the message. */
gint64 plait_memory_row_of_token (PlaitTape *tape, const PlaitMemory *memory, gint64 s, gint64 position,
                                  const char *kind);

/* Reshapes @numbers [rows, 1] to [groups.n, longest group], one group in a row, padded with PLAIT_MASKED_LOGIT. */
PlaitNode *plait_pad_logits (PlaitTape *tape, PlaitNode *numbers, PlaitRagged groups);

/* Returns x + y, of equal shapes. */
PlaitNode *plait_add (PlaitTape *tape, PlaitNode *x, PlaitNode *y);

/* Logit of a column that is padding. */
#define PLAIT_MASKED_LOGIT ((PlaitScalar)-1e9)
