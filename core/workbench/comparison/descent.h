/* SPDX-License-Identifier: MIT */
#pragma once

#include "comparison/heatmap.h"

/*
 * The descents of one sentence through the levels of a memory (dumps/descent-dump.h), at one layer and head or at
 * their mean.
 */

/* What one target word gave to one row. Of several heads the mean. */
typedef struct
{
  double weight; /* among its siblings */
  double path;   /* product from the top */
  double share;  /* of the path, of what all rows that were weighed on this level have */
  guint weighed; /* by so many heads */
  guint taken;   /* by so many */
} PlaitDescentStep;

typedef struct
{
  char *title;
  char *choice; /* "layer 1, mean of 2 heads" */
  guint ways;   /* of how many heads, and layers, the steps tell */
  gint64 n_targets, n_rows, n_leaves, highest;
  char **targets;
  char **rows;             /* labels */
  gint64 *level;           /* [n_rows]: 0 of leaves, up to highest */
  gint64 *first, *last;    /* [n_rows]: numbers of the leaves that a row spans */
  PlaitDescentStep *steps; /* [n_targets][n_rows] */
} PlaitDescent;

/* TRUE if the dump of a descent stands at @path. */
gboolean plait_descent_is (PlaitStore *store, const char *path);

/* Reads it. PLAIT_ERROR_INPUT where its arrays do not fit each other. (transfer full) */
PlaitDescent *plait_descent_read (PlaitStore *store, const char *path, PlaitHeatmapSelection choice, GError **error);
void plait_descent_free (PlaitDescent *descent);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitDescent, plait_descent_free)

static inline const PlaitDescentStep *
plait_descent_step (const PlaitDescent *descent, gint64 target, gint64 row)
{
  return &descent->steps[target * descent->n_rows + row];
}
