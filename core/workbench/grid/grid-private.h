/* SPDX-License-Identifier: MIT */
#pragma once

#include "grid/grid.h"

/* Functions that only the files of this folder use. */

/* Path in grid.h5 of the table of cells that are left out as duplicates. */
#define PLAIT_GRID_DUPLICATES "/same"

/* Checks the files NAME.h5 and NAME.training.h5 of each cell, which may be missing. Fails if such a file is not a run,
 * or if another program holds it open or has not closed it. Accepts damaged runs. With grid->fresh, checks nothing. */
gboolean plait_grid_check_cells (const PlaitGrid *grid, GError **error);

/* Number of columns of the table /cells before the columns of the axes. */
#define PLAIT_GRID_CELL_COLUMNS 4

/* Sets the state of each cell of @grid, and grid->unclaimed, which is empty for a part of a grid. A cell of a part may
 * use the training of a cell outside the part, except with grid->fresh. */
void plait_grid_update_states (PlaitGrid *grid);

void plait_grid_cell_set_state (PlaitGridCell *cell, PlaitGridCellState state, const char *note);

/* Renames the finished run of @cell to NAME.h5 if it has another name, deletes NAME.training.h5, and reads the result
 * of the run. On failure returns FALSE and sets the state of @cell to PLAIT_CELL_FAILED. */
gboolean plait_grid_collect_cell (const PlaitGrid *grid, PlaitGridCell *cell);

/* Returns the last lines, at most 8 lines and 2000 bytes, of the text file at @path. Leaves out the file's first @from
 * bytes. (transfer full) */
char *plait_grid_read_tail (const char *path, goffset from);

/* Logs for every failed cell the reason and the end of its log. */
void plait_grid_report_failures (const PlaitGrid *grid, PlaitLog *log);

/* Makes options->lines, the folder of the cells' training logs; does nothing if options->lines is NULL. Call this
 * before any cell is trained. */
gboolean plait_grid_make_log_folders (const PlaitGridOptions *options, GError **error);
