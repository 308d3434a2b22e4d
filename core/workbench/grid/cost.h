/* SPDX-License-Identifier: MIT */
#pragma once

#include "grid/grid.h"

/* What a cell that is due would take. */
typedef struct
{
  const PlaitGridCell *like; /* whose figures they are, perhaps its own; NULL: nothing is known */
  gboolean measured;         /* these were measured now; else it ran */
  double seconds;
  gsize bytes;          /* the most memory; 0: not known */
  char *fault;          /* why it could not be measured, or NULL */
  PlaitTrainingSet set; /* what it trains on, where it ran or was measured itself */
} PlaitGridEstimate;

/* What is left of a grid would take. */
typedef struct
{
  guint n_ran;              /* finished cells that tell their time */
  guint n_measured;         /* cells whose speed was measured now */
  guint threads;            /* that it was measured with */
  double seconds;           /* of the cells that are due, one after another; 0 where nothing is known */
  gsize bytes;              /* the most of one cell; 0: not known */
  PlaitGridEstimate *cells; /* [grid->n] */
  guint n;
} PlaitGridCost;

/* Each cell that is due counts as the ones do that are known and have the most values of axes in common with it; one
 * that is only evaluated, or trained the same as a cell before it, as their evaluation, and one that was interrupted
 * less what it has behind it. Known are finished cells, and, with @options (NULL: no), those whose speed is measured
 * now: cells of which none has run that differs in its seed alone, each in a process of its own for a few seconds
 * (run/speed.h), about a minute in all. Nothing is written in the folder. (transfer full) */
PlaitGridCost *plait_grid_cost_new (const PlaitGrid *grid, const PlaitGridOptions *options);
void plait_grid_cost_free (PlaitGridCost *cost);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitGridCost, plait_grid_cost_free)
