/* SPDX-License-Identifier: MIT */
#pragma once

#include "grid/grid.h"

/* What is left of a grid would take, by what its finished cells took. */
typedef struct
{
  guint n_ran;    /* finished cells that tell their time */
  double seconds; /* of the cells that are due, one after another; 0 where none has run */
} PlaitGridCost;

/* Each cell that is due counts as the finished ones do that have the most values of axes in common with it; one that is
 * only evaluated, or trained the same as a cell before it, as their evaluation. */
PlaitGridCost plait_grid_cost (const PlaitGrid *grid);
