/* SPDX-License-Identifier: MIT */
#pragma once

#include "grid/grid.h"
#include "run/key.h"

/*
 * What has to be done with each cell, by what is in the folder.
 */

/* Sets the state of each cell of @grid, and what else it says of the folder. */
void plait_grid_judge (PlaitGrid *grid, PlaitDigests *digests);

/* The same of a grid of which some cells were chosen: of runs that are none of its cells' only those of its other cells
 * are looked at. */
void plait_grid_judge_part (PlaitGrid *grid, PlaitDigests *digests);
