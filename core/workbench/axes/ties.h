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
typedef struct PlaitTies PlaitTies;

/* All of @keys (NULL-terminated, borrowed) of @file that are ties of @axes [@n] (borrowed), which get the value ""
 * where they are not of all cells. (transfer full) */
PlaitTies *plait_ties_new (const PlaitKeyFile *file, const char *const *keys, PlaitAxis *axes, guint n,
                           PlaitProblems *problems);
void plait_ties_free (PlaitTies *ties);

/* TRUE if @key of [grid] is one of them. */
gboolean plait_ties_have_key (const char *key);

/* How many combinations there are; more than @most is as good as any number. */
guint64 plait_ties_count (const PlaitTies *ties, guint64 most);

/* Goes on to the next of them, the last axis fastest. FALSE after the last. */
gboolean plait_ties_advance (const PlaitTies *ties, guint *places);

/* Makes of the combination @places that of a cell, @settled. FALSE if another one makes that cell. */
gboolean plait_ties_settle (const PlaitTies *ties, const guint *places, guint *settled);

/* TRUE if @place of axis @a stands for no value. */
gboolean plait_ties_is_absent (const PlaitTies *ties, guint a, guint place);
