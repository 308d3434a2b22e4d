/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/decoder.h"

/* The mean of the rows of a memory for each sentence, [sentences, width]; zeros where it has none. */
PlaitNode *plait_memory_mean (PlaitTape *tape, const PlaitMemory *memory);

/* Numbers that stand below one another, [rows, 1], side by side: [groups.n, most rows of a group], and PLAIT_NO_CHOICE
 * where a group has none. */
PlaitNode *plait_side_by_side (PlaitTape *tape, PlaitNode *numbers, PlaitRagged groups);
