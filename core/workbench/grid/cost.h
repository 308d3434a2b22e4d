/* SPDX-License-Identifier: MIT */
#pragma once

#include "grid/grid.h"

/* Time and memory that a due cell would take. */
typedef struct
{
  const PlaitGridCell *like; /* the cell whose figures these are, perhaps the cell itself; NULL: nothing is known */
  gboolean measured;         /* TRUE: measured now; FALSE: from a finished run */
  double seconds;
  gsize bytes;          /* peak memory; 0: unknown */
  char *fault;          /* reason why the cell could not be measured; or NULL */
  PlaitTrainingSet set; /* training set, if this cell ran, or its first updates were timed */
} PlaitGridEstimate;

/* Time and memory that the due cells of a grid would take. */
typedef struct
{
  guint n_ran;              /* finished cells whose time is known */
  guint n_measured;         /* cells whose speed was measured now */
  guint threads;            /* threads of the measured cells */
  double seconds;           /* all due cells one after another; 0: unknown */
  gsize bytes;              /* peak memory of the largest cell; 0: unknown */
  PlaitGridEstimate *cells; /* [n] */
  guint n;
} PlaitGridCost;

/* Estimates the cost of each due cell. Uses the known cells that share most axis values with it: finished cells and,
 * unless @options is NULL, cells whose speed is measured now. One cell of each group that differs only in the seed is
 * measured, if no cell of the group has run: in its own process, for a few seconds (run/speed.h), about a minute for
 * all. A cell that is only evaluated, or shares the training of an earlier cell, counts with its evaluation alone. The
 * training that an interrupted cell has finished is subtracted. Writes nothing to the folder. (transfer full) */
PlaitGridCost *plait_grid_cost_new (const PlaitGrid *grid, const PlaitGridOptions *options);
void plait_grid_cost_free (PlaitGridCost *cost);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitGridCost, plait_grid_cost_free)
