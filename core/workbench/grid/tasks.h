/* SPDX-License-Identifier: MIT */
#pragma once

#include "grid/grid.h"

/*
 * What is to be run in a grid as lines for a shell, for schedulers: each runs one cell, or those cells that are trained
 * the same, one after the other, wherever the folder and the program can be seen.
 */

/* The lines, in order of their first cells. PLAIT_ERROR_INPUT where a path cannot stand in one line.
 * (transfer container) (element-type char*) */
GPtrArray *plait_grid_tasks (const PlaitGrid *grid, const PlaitGridOptions *options, GError **error);

/* The most cells that one of the lines runs. */
guint plait_grid_longest_task (const PlaitGrid *grid);

/* The line that makes the table of what is finished. (transfer full) */
char *plait_grid_collect_command (const PlaitGrid *grid, GError **error);

/* The program that the lines run: this one. (transfer full) */
char *plait_grid_program (GError **error);
