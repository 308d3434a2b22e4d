/* SPDX-License-Identifier: MIT */
#pragma once

#include "grid/grid.h"
#include "run/key.h"

/*
 * What has to be done with each cell, by what is in the folder.
 */

/* Sets the state of each cell of @grid, and what else it says of the folder. Where some cells were chosen, only runs of
 * its other cells are looked at beside theirs. */
void plait_grid_judge (PlaitGrid *grid, PlaitDigests *digests);
