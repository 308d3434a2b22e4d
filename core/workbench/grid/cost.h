/* SPDX-License-Identifier: MIT */
#pragma once

#include "grid/grid.h"

/* Time and memory that a due cell would take. */
typedef struct
{
  const PlaitGridCell *like; /* first known cell whose cost counts in field seconds; NULL: no cost is known */
  gboolean measured;         /* TRUE: the speed of @like was measured now; FALSE: the run of @like is finished */
  double seconds;
  gsize bytes;          /* peak memory; 0: unknown */
  char *fault;          /* reason why the cell could not be measured; or NULL */
  PlaitTrainingSet set; /* training set of this cell, if the cell has run or its speed was measured now */
} PlaitGridEstimate;

/* Time and memory that the due cells of a grid would take. */
typedef struct
{
  guint n_ran;              /* number of cells whose cost a finished run records */
  guint n_measured;         /* number of cells whose speed was measured now */
  guint threads;            /* threads of each measured cell */
  double seconds;           /* sum over all due cells; 0: unknown */
  gsize bytes;              /* peak memory of the largest cell; 0: unknown */
  PlaitGridEstimate *cells; /* [n]: estimates of the cells */
  guint n;
} PlaitGridCost;

/*
 * Estimates the cost of each due cell, from the known cells that agree with it on the most axes. Known cells are cells
 * with a finished run, cells that are only evaluated with the training of a finished run and, unless @options is NULL,
 * cells whose speed is measured now. Of cells that differ only in the seed, one is measured if none of them has run. A
 * measurement takes a few seconds in its own process (run/speed.h); after a minute, no further measurement begins.
 *
 * For a cell that is only evaluated, or that shares the training of an earlier cell, only evaluation is counted. The
 * training that an interrupted run, or a finished run that is trained further, has already done is subtracted. Writes
 * nothing to the folder. (transfer full)
 */
PlaitGridCost *plait_grid_cost_new (const PlaitGrid *grid, const PlaitGridOptions *options);
void plait_grid_cost_free (PlaitGridCost *cost);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitGridCost, plait_grid_cost_free)
