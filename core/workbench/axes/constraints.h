/* SPDX-License-Identifier: MIT */
#pragma once

#include "files/problems.h"
#include "axes/cells.h"

/*
 * Axes that hang together.
 *
 *     zip=source.en.layers & source.de.layers     vary together: the first value of one with the first of the other
 *     only.combiner.context_heads=decoder.combiner=flat|hierarchical
 *                                                 an axis only of the cells that meet the condition
 *
 * zip holds such groups between ';', and so does any key zip.NAME. The condition of only.AXIS is written as an
 * exclusion's. A cell that does not meet it has of that key what the file says, and "" as the value of the axis.
 */
typedef struct PlaitAxisConstraints PlaitAxisConstraints;

/* All of @keys (NULL-terminated, borrowed) of @file that are ties of @axes [@n] (borrowed), which get the value ""
 * where they are not of all cells. (transfer full) */
PlaitAxisConstraints *plait_axis_constraints_new (const PlaitKeyFile *file, const char *const *keys, PlaitAxis *axes,
                                                  guint n, PlaitProblems *problems);
void plait_axis_constraints_free (PlaitAxisConstraints *constraints);

/* TRUE if @key of [grid] is one of them. */
gboolean plait_axis_constraints_have_key (const char *key);

/* How many combinations there are; more than @max is as good as any number. */
guint64 plait_axis_constraints_count (const PlaitAxisConstraints *constraints, guint64 max);

/* Goes on to the next of them, the last axis fastest. FALSE after the last. */
gboolean plait_axis_constraints_next (const PlaitAxisConstraints *constraints, guint *value_indices);

/* Makes of the combination @value_indices that of a cell, @resolved. FALSE if another one makes that cell. */
gboolean plait_axis_constraints_resolve (const PlaitAxisConstraints *constraints, const guint *value_indices,
                                         guint *resolved);

/* TRUE if @place of axis @a stands for no value. */
gboolean plait_axis_constraints_is_absent (const PlaitAxisConstraints *constraints, guint a, guint place);
