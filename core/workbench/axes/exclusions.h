/* SPDX-License-Identifier: MIT */
#pragma once

#include "files/problems.h"
#include "axes/cells.h"

/* The exclusions of a grid while its cells are made: cells.h tells how they are written. */
typedef struct PlaitExclusions PlaitExclusions;

/* None, of the grid of @file (borrowed). (transfer full) */
PlaitExclusions *plait_exclusions_new (const PlaitKeyFile *file);
void plait_exclusions_free (PlaitExclusions *exclusions);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitExclusions, plait_exclusions_free)

/* The place of the axis @name among @axes [n], or -1 and a problem of @key of @file's grid. */
gint plait_axes_find (const PlaitAxis *axes, guint n, const char *name, const PlaitKeyFile *file, const char *key,
                      PlaitProblems *problems);

/* TRUE if @key of [grid] is one of exclusions. */
gboolean plait_exclusions_have_key (const char *key);

/* Takes those of @key (borrowed), which speak of @n axes. */
void plait_exclusions_read (PlaitExclusions *exclusions, const char *key, const PlaitAxis *axes, guint n,
                            PlaitProblems *problems);

/* TRUE if one of them leaves out the cell that has value places[i] of axis i. Each counts the cells that it does so
 * with. */
gboolean plait_exclusions_leave_out (PlaitExclusions *exclusions, const guint *value_indices);

/* All of them, *@n; one that left nothing out is a problem. (transfer full), with their rules */
PlaitExclusion *plait_exclusions_list (const PlaitExclusions *exclusions, guint *n, PlaitProblems *problems);
