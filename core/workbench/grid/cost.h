/* SPDX-License-Identifier: MIT */
#pragma once

#include "grid/grid.h"

/* Time and memory that a due cell would take. */
typedef struct
{
  const PlaitGridCell *like; /* most similar known cell, the first if there are several; NULL: no cell is known */
  gboolean measured;         /* TRUE: the speed of @like was measured now; FALSE: its cost is from a finished run */
  double seconds;
  gsize bytes;          /* peak memory; 0: unknown */
  char *fault;          /* reason why the cell could not be measured; or NULL */
  PlaitTrainingSet set; /* training set of the cell; empty unless the cell is known (see plait_grid_cost_new()) */
} PlaitGridEstimate;

/* Time and memory that the due cells of a grid would take. */
typedef struct
{
  guint n_ran;              /* number of cells whose cost was read from a finished run */
  guint n_measured;         /* number of cells whose speed was measured now */
  guint threads;            /* threads of each measured cell */
  double seconds;           /* sum over all due cells; 0: unknown */
  gsize bytes;              /* peak memory of the largest cell; 0: unknown */
  PlaitGridEstimate *cells; /* [n]: estimates of the cells */
  guint n;
} PlaitGridCost;

/*
 * Estimates the cost of each due cell from the known cells that agree with the due cell on the most axes. Writes
 * nothing to the folder. (transfer full)
 *
 * A cell is known if its run is finished, if the cell uses the training of a finished run and is only evaluated, or if
 * its speed is measured now. If @options is NULL, no speed is measured. Otherwise due cells that must be trained are
 * measured. Of cells that differ only in the seed, one is measured, or none if one of them has run. A measurement takes
 * a few seconds in its own process (run/speed.h); after a minute, no further measurement begins.
 *
 * The cost is the time of training and evaluation. Only evaluation counts if the due cell is only evaluated, or if it
 * shares the training of an earlier cell. If the due cell continues a run, interrupted or finished, the time that this
 * run has already trained is subtracted.
 */
PlaitGridCost *plait_grid_cost_new (const PlaitGrid *grid, const PlaitGridOptions *options);
void plait_grid_cost_free (PlaitGridCost *cost);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitGridCost, plait_grid_cost_free)
