/* SPDX-License-Identifier: MIT */
#pragma once

#include "axes/cells.h"

/* Returns sentences that warn of unequal training. They name settings that may make cells train on different lines, or
 * on batches of different sizes, if the cells read different streams or have different vocabularies. NULL-terminated,
 * may be empty. (transfer full) */
char **plait_cells_describe_training_differences (const PlaitCells *cells);
