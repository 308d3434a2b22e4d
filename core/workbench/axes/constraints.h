/* SPDX-License-Identifier: MIT */
#pragma once

#include "axes/cells.h"

/*
 * Constraints on axes.
 *
 *     zip=source.en.layers & source.de.layers     vary together: the first value of one with the first of the other
 *     only.combiner.context_heads=decoder.combiner=flat|hierarchical
 *                                                 an axis only of the cells that meet the condition
 *
 * The keys zip and zip.NAME hold groups of axes, separated by ';'. The condition of only.AXIS is written like the
 * condition of an exclusion. A cell that does not meet it has no value of AXIS: the key keeps the value that the file
 * has, and the cell's value of the axis is "".
 */
typedef struct PlaitAxisConstraints PlaitAxisConstraints;

/* Reads the constraints among @keys (NULL-terminated, borrowed) of @grid on @axes [@n] (borrowed). An
 * axis with an only.AXIS condition gets "" as one more value. (transfer full) */
PlaitAxisConstraints *plait_axis_constraints_new (const PlaitGridGroup *grid, const char *const *keys, PlaitAxis *axes,
                                                  guint n);
void plait_axis_constraints_free (PlaitAxisConstraints *constraints);

/* Returns the number of combinations of axis values. May stop counting above @max. */
guint64 plait_axis_constraints_count (const PlaitAxisConstraints *constraints, guint64 max);

/* Advances @value_indices to the next combination, the last axis fastest. FALSE after the last one. */
gboolean plait_axis_constraints_next (const PlaitAxisConstraints *constraints, guint *value_indices);

/* Writes the cell of the combination @value_indices to @resolved: an axis that the cell does not have gets its value
 * "". FALSE if an earlier combination gives this cell. */
gboolean plait_axis_constraints_resolve (const PlaitAxisConstraints *constraints, const guint *value_indices,
                                         guint *resolved);

/* TRUE if index @index of axis @a is the value "" of cells that do not have the axis. */
gboolean plait_axis_constraints_is_absent (const PlaitAxisConstraints *constraints, guint a, guint index);
