/* SPDX-License-Identifier: MIT */
#pragma once

#include "files/problems.h"
#include "schema/settings.h"

/*
 * The keys of [grid], schemas/group/grid.ini: axes, exclusions, ties, match and the executor. What reads one of them
 * tells more of it (cells.h, ties.h, match.h, executor-settings.h). A key may be left out, also where it has no
 * default.
 */
#include "axes/grid-settings.h"

/* TRUE if @key is one of them; an axis, whose key is that of another group, is not. */
gboolean plait_grid_has_key (const char *key);

/* Notes that @key of [grid] of @file is neither one of them nor an axis. */
void plait_grid_refuse_key (const PlaitKeyFile *file, const char *key, PlaitProblems *problems);

/* TRUE if @key belongs to those that stand in [grid] alone, known or not: "executor.colour", "match". */
gboolean plait_grid_owns_key (const char *key);

/* Reads the keys of [grid] of @file that begin with @prefix into *@read; faults are noted. Others keep their defaults.
 * Texts belong to what is returned. (transfer full) */
PlaitSettings *plait_grid_read_keys (const PlaitKeyFile *file, const char *prefix, PlaitGridSettings *read,
                                     PlaitProblems *problems);
