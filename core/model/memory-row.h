/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/settings.h"
#include "plugin/memory.h"

/* One row of a memory for each sentence, [sentences, width]; zeros where it has none. */

PlaitNode *plait_memory_mean (PlaitTape *tape, const PlaitMemory *memory);
PlaitNode *plait_memory_row (PlaitTape *tape, const PlaitMemory *memory, PlaitMemoryRow row);
