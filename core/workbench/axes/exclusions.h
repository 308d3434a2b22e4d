/* SPDX-License-Identifier: MIT */
#pragma once

#include "axes/cells.h"

/* The exclusions of a grid while its cells are built. For their syntax see axes/cells.h. */
typedef struct PlaitExclusions PlaitExclusions;

/* Returns an empty list of exclusions for @grid and its @axes [@n]. All arguments are borrowed. (transfer full) */
PlaitExclusions *plait_exclusions_new (const PlaitGridGroup *grid, const PlaitAxis *axes, guint n);
void plait_exclusions_free (PlaitExclusions *exclusions);

/* Returns the index of the axis @name among @axes [@n]. If there is no such axis, returns -1 and adds a problem of
 * @key. */
gint plait_axes_find (const PlaitGridGroup *grid, const PlaitAxis *axes, guint n, const char *name, const char *key);

/* TRUE if @key of [grid] holds exclusions: exclude or exclude.NAME. */
gboolean plait_exclusions_have_key (const char *key);

/* Adds the exclusions that [grid] lists under @key. Borrows @key. */
void plait_exclusions_read (PlaitExclusions *exclusions, const char *key);

/* TRUE if an exclusion leaves out the cell with value @value_indices[i] of axis i. Each exclusion counts the cells that
 * it leaves out. */
gboolean plait_exclusions_leave_out (PlaitExclusions *exclusions, const guint *value_indices);

/* Returns all exclusions with their rules (transfer full), and their number in *@n. Adds a problem for each exclusion
 * that left no cell out. */
PlaitExclusion *plait_exclusions_list (const PlaitExclusions *exclusions, guint *n);
