/* SPDX-License-Identifier: MIT */
#pragma once

#include "axes/cells.h"

/* Says which settings may make cells of @cells train on other lines or on batches of other sizes, as they read other
 * streams or have other vocabularies. NULL-terminated, empty if none do. (transfer full) */
char **plait_cells_describe_training_differences (const PlaitCells *cells);
