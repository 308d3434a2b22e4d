/* SPDX-License-Identifier: MIT */
#pragma once

#include "comparison/heatmap.h"

/*
 * The descents of the target words of one sentence through the levels of a memory (dumps/descent-dump.h), in one layer
 * and head, or as a mean over layers or heads.
 */

/* The weights that one target word gave to one row. @weight, @path and @share are means over the selected layers and
 * heads. */
typedef struct
{
  double weight; /* softmax weight among its siblings */
  double path;   /* product of the weights on the way from the top level down to the row */
  double share;  /* path divided by the sum of path over the weighed rows of the level */
  guint weighed; /* number of (layer, head) pairs of the mean that weighed the row */
  guint taken;   /* number of (layer, head) pairs of the mean that selected the row */
} PlaitDescentStep;

typedef struct
{
  char *title;
  char *choice; /* layer and head of the descent, such as "layer 1, mean of 2 heads" */
  guint ways;   /* number of selected layers times number of selected heads */
  gint64 n_targets, n_rows, n_leaves, highest;
  char **targets;
  char **rows;             /* labels of the rows */
  gint64 *level;           /* [n_rows]: level of the row, from 0 (leaves) to highest */
  gint64 *first, *last;    /* [n_rows]: numbers of the first and last leaf below the row */
  PlaitDescentStep *steps; /* [n_targets, n_rows] */
} PlaitDescent;

/* TRUE if @path of @store is the descent of one sentence in a dump. */
gboolean plait_descent_is (PlaitStore *store, const char *path);

/* Reads the descent at @path. PLAIT_ERROR_INPUT if its arrays do not fit each other. (transfer full) */
PlaitDescent *plait_descent_read (PlaitStore *store, const char *path, PlaitHeatmapSelection choice, GError **error);
void plait_descent_free (PlaitDescent *descent);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitDescent, plait_descent_free)

static inline const PlaitDescentStep *
plait_descent_step (const PlaitDescent *descent, gint64 target, gint64 row)
{
  return &descent->steps[target * descent->n_rows + row];
}
