/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/decoder.h"
#include "nn/linear.h"

/* One row of a memory for each sentence, [sentences, width]; zeros where it has none. */

PlaitNode *plait_memory_mean (PlaitTape *tape, const PlaitMemory *memory);
PlaitNode *plait_memory_row (PlaitTape *tape, const PlaitMemory *memory, PlaitMemoryRow row);

/*
 * One state for each sentence, from the rows that [predict] names (Liu et al. 2019, as its code has it):
 *
 *     x = [row (memory_1); ..; row (memory_n)]
 *     state = dropout (tanh (dropout (x) W + b))
 */
typedef struct
{
  PlaitMemoryRow row;
  double dropout;
  guint *memories; /* [n], which are read */
  guint n;
  PlaitLinear hidden;
} PlaitRowReader;

/* Declares @name/weight and @name/bias; the states have the width of the model. PLAIT_ERROR_INPUT where there is no
 * such memory. */
gboolean plait_row_reader_declare (PlaitRowReader *reader, const PlaitDecoderBuild *build, const char *name,
                                   GError **error);

PlaitNode *plait_row_reader_apply (const PlaitRowReader *reader, PlaitTape *tape, const PlaitDecoderSources *sources);

/* Numbers that stand below one another, [rows, 1], side by side: [groups.n, most rows of a group], and PLAIT_NO_CHOICE
 * where a group has none. */
PlaitNode *plait_side_by_side (PlaitTape *tape, PlaitNode *numbers, PlaitRagged groups);
