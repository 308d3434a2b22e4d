/* SPDX-License-Identifier: MIT */
#pragma once

#include "grid/grid.h"

/*
 * The due cells of a grid as shell commands for schedulers. Each line runs all due cells with one training, one after
 * another. A line works on every machine that sees the folder and the program.
 */

/* Returns the command lines, ordered by the first cell that each line runs. If @replaces_shell, the program replaces
 * the shell (exec), so that signals reach the program. Fails with PLAIT_ERROR_INPUT if a path or a value of --set
 * contains a line break. (transfer full) (element-type char*) */
GPtrArray *plait_grid_tasks (const PlaitGrid *grid, const PlaitGridOptions *options, gboolean replaces_shell,
                             GError **error);

/* Returns the largest number of cells that one line runs. */
guint plait_grid_longest_task (const PlaitGrid *grid);

/* Returns the shell command that makes the table of the finished cells. (transfer full) */
char *plait_grid_collect_command (const PlaitGrid *grid, GError **error);

/* Returns the path of the running program, which the lines call. (transfer full) */
char *plait_grid_program (GError **error);
