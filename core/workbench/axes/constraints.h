/* SPDX-License-Identifier: MIT */
#pragma once

#include "axes/cells.h"

/*
 * Constraints on axes.
 *
 *     zip=source.en.layers & source.de.layers     vary together: value i of one axis with value i of the other; such an
 *                                                 axis may have a value several times
 *     only.combiner.context_heads=decoder.combiner=flat|hierarchical
 *                                                 only the cells that meet the condition have this axis
 *
 * The keys zip and zip.NAME hold groups of axes, separated by ';'. The value of only.AXIS has the form of exclude=:
 * conditions joined by '&', and alternatives separated by ';'. A cell that does not meet any alternative does not have
 * the axis: the cell keeps the value that the file gives the key, and tables show "" as its value of the axis.
 */
typedef struct PlaitAxisConstraints PlaitAxisConstraints;

/* Returns the constraints that @keys (NULL-terminated) of @grid put on @axes [@n]. All arguments are borrowed. Removes
 * repeated values of an axis. An axis with an only.AXIS condition gets "" as one more value. (transfer full) */
PlaitAxisConstraints *plait_axis_constraints_new (const PlaitGridGroup *grid, const char *const *keys, PlaitAxis *axes,
                                                  guint n);
void plait_axis_constraints_free (PlaitAxisConstraints *constraints);

/* Returns the number of combinations of axis values. If there are more than @max, returns some number above @max. */
guint64 plait_axis_constraints_count (const PlaitAxisConstraints *constraints, guint64 max);

/* Advances @positions to the next combination, the last axis fastest. FALSE after the last combination. The value of
 * axis a is the one at position @positions[a] of the list in [grid]. */
gboolean plait_axis_constraints_next (const PlaitAxisConstraints *constraints, guint *positions);

/* Sets @resolved to the value indices of the cell that the combination @positions describes. An axis that the cell
 * does not have gets the index of "". FALSE if an earlier combination gives the same cell. */
gboolean plait_axis_constraints_resolve (const PlaitAxisConstraints *constraints, const guint *positions,
                                         guint *resolved);

/* TRUE if value @index of axis @a is the "" of cells that do not have this axis. */
gboolean plait_axis_constraints_is_absent (const PlaitAxisConstraints *constraints, guint a, guint index);
