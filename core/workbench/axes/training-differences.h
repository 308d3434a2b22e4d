/* SPDX-License-Identifier: MIT */
#pragma once

#include "axes/cells.h"

/* Returns sentences about the settings by which cells may train on different lines or on batches of different sizes,
 * because they read different streams or have different vocabularies. NULL-terminated, may be empty.
 * (transfer full) */
char **plait_cells_describe_training_differences (const PlaitCells *cells);
