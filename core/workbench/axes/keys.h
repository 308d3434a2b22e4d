/* SPDX-License-Identifier: MIT */
#pragma once

#include "files/problems.h"
#include "schema/settings.h"

/*
 * The keys of [grid] that are not axes, declared in schemas/group/grid.ini: exclusions, constraints, match,
 * vocabularies and the executor. They are described in cells.h, constraints.h, parameter-match.h, vocabularies.h and
 * executor-settings.h. Each key may be missing, even one without a default.
 */
#include "axes/grid-settings.h"

/* The group [grid] of a file, and the list of its problems; both are borrowed. */
typedef struct
{
  PlaitKeyFile *file;
  PlaitProblems *problems;
} PlaitGridGroup;

/* Adds a problem of @key of [grid]. If @key is NULL, adds a problem of the group itself. */
void plait_grid_problem (const PlaitGridGroup *grid, const char *key, const char *format, ...) G_GNUC_PRINTF (3, 4);

/* TRUE if @key is one of [grid]'s own keys, such as "exclude". FALSE for an axis, because its key belongs to another
 * group. */
gboolean plait_grid_has_key (const char *key);

/* Adds the problem that @key is neither an axis nor a key of [grid]. */
void plait_grid_refuse_key (const PlaitGridGroup *grid, const char *key);

/* TRUE if the first part of @key, such as "executor" in "executor.colour", is reserved for keys of [grid] that are not
 * axes. The key itself may be unknown. */
gboolean plait_grid_owns_key (const char *key);

/* Reads the keys of [grid] that begin with @prefix into *@read. The fields of all other keys get their defaults. Adds
 * faults to the problems of @grid. The texts in *@read belong to the returned settings. (transfer full) */
PlaitSettings *plait_grid_read_keys (const PlaitGridGroup *grid, const char *prefix, PlaitGridSettings *read);
