/* SPDX-License-Identifier: MIT */
#pragma once

#include "grid/grid.h"

/* Makes the folder of @grid if need be. PLAIT_ERROR_INPUT if it takes none. */
gboolean plait_grid_make_folder (const PlaitGrid *grid, GError **error);

/* Makes the folder of @grid if need be and holds it until @grid is freed, so that two grids do not write the same
 * files. PLAIT_ERROR_INPUT if it takes no files, if another grid holds it, or if files that a grid replaces are not a
 * grid's. */
gboolean plait_grid_hold (PlaitGrid *grid, PlaitLog *log, GError **error);
