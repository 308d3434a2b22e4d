/* SPDX-License-Identifier: MIT */
#pragma once

#include "cross-attention/cross-attention.h"

/* The rows of step t over whole targets: row t of each sentence that has more than t rows. */
typedef struct
{
  PlaitRagged queries; /* rows of the step: one for each sentence that has more than t rows */
  gint64 *before;      /* index, in the previous step, of the row of the same sentence: [rows] */
  gint64 *target;      /* index of each row in the whole targets: [rows] */
} PlaitStepRows;

/* Returns the rows of step @t, allocated in @arena. In the first step, PlaitStepRows.before has the index of each row's
 * sentence. */
PlaitStepRows plait_step_rows (PlaitArena *arena, PlaitRagged target, gint64 t);

/* Returns the pass for step @rows, which is a step of the pass @whole. @next: the rows of the next step. If @whole has
 * an attention record, the returned pass gets a new record with one layer. */
PlaitCrossAttentionPass plait_step_pass (const PlaitCrossAttentionPass *whole, const PlaitStepRows *rows,
                                         const PlaitStepRows *next);

/* Returns zeros [rows, width], such as the state before the first step. */
PlaitNode *plait_zeros (PlaitTape *tape, gint64 rows, gint64 width);

/* Concatenates the outputs of @n steps and reorders them to rows of @target, [rows, width]. */
PlaitNode *plait_concatenate_steps (PlaitTape *tape, PlaitNode *const *steps, gint64 n, PlaitRagged target);

/* Returns the row of @memory, the first memory, for token @position of sentence @s. Rows count over all sentences,
 * positions from 0. Fails the step if the token has no row; the message names @kind, the value of predict.kind. */
gint64 plait_memory_row_of_token (PlaitTape *tape, const PlaitMemory *memory, gint64 s, gint64 position,
                                  const char *kind);

/* Sets @row_of [tokens] to the row of @memory for each token of sentence @sentence, counted from the sentence's first
 * row; -1 if the token has no row. */
void plait_memory_rows_of_tokens (const PlaitMemory *memory, gint64 sentence, gint64 *row_of, gint64 tokens);

/* Reshapes @numbers [rows, 1] to [groups.n, longest group]: each group becomes one row, padded with
 * PLAIT_MASKED_LOGIT. */
PlaitNode *plait_pad_logits (PlaitTape *tape, PlaitNode *numbers, PlaitRagged groups);

/* Returns x + y; both have equal shapes. */
PlaitNode *plait_add (PlaitTape *tape, PlaitNode *x, PlaitNode *y);

/* Logit of a column that is padding. */
#define PLAIT_MASKED_LOGIT ((PlaitScalar)-1e9)
