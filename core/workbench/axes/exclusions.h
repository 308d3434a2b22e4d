/* SPDX-License-Identifier: MIT */
#pragma once

#include "files/problems.h"
#include "axes/cells.h"

/* The exclusions of a grid while its cells are built. For their syntax see axes/cells.h. */
typedef struct PlaitExclusions PlaitExclusions;

/* Returns an empty list for the grid of @file (borrowed). (transfer full) */
PlaitExclusions *plait_exclusions_new (const PlaitKeyFile *file);
void plait_exclusions_free (PlaitExclusions *exclusions);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitExclusions, plait_exclusions_free)

/* Returns the index of the axis @name among @axes [@n]. If there is no such axis: returns -1 and adds a problem of @key
 * in the group [grid] of @file. */
gint plait_axes_find (const PlaitAxis *axes, guint n, const char *name, const PlaitKeyFile *file, const char *key,
                      PlaitProblems *problems);

/* TRUE if @key of [grid] holds exclusions: exclude or exclude.NAME. */
gboolean plait_exclusions_have_key (const char *key);

/* Adds the exclusions in @key (borrowed) of [grid] on @axes [@n]. */
void plait_exclusions_read (PlaitExclusions *exclusions, const char *key, const PlaitAxis *axes, guint n,
                            PlaitProblems *problems);

/* TRUE if an exclusion leaves out the cell with value @value_indices[i] of axis i. Each exclusion counts the cells that
 * it leaves out. */
gboolean plait_exclusions_leave_out (PlaitExclusions *exclusions, const guint *value_indices);

/* Returns all exclusions and their number, *@n (transfer full, with their rules). An exclusion that left no cell out is
 * a problem. */
PlaitExclusion *plait_exclusions_list (const PlaitExclusions *exclusions, guint *n, PlaitProblems *problems);
