/* SPDX-License-Identifier: MIT */
#pragma once

#include "axes/cells.h"

/* Returns sentences that warn of unequal training. Each sentence names a setting that may make cells train on different
 * lines, on batches of different sizes, or on different chunks of documents. Returns no sentence if all cells read the
 * same streams and have equal vocabularies. NULL-terminated. (transfer full) */
char **plait_cells_describe_training_differences (const PlaitCells *cells);
