/* SPDX-License-Identifier: MIT */
#pragma once

#include "grid/grid.h"

/* Inside of grid.h: what has to be done with each cell, and what became of it. */

/* The table of cells that are left out, in the file over all cells. */
#define PLAIT_GRID_DUPLICATES "/same"

/* Fails if what bears the name of a cell's file is no run, damaged or not, or was left open by another program, unless
 * all cells are to be run afresh. */
gboolean plait_grid_check_cells (const PlaitGrid *grid, GError **error);

/* Columns of the table of cells before those of the axes. */
#define PLAIT_GRID_CELL_COLUMNS 4

/* Sets the state of each cell of @grid, and what else it says of the folder. Where some cells were chosen, only runs of
 * its other cells are looked at beside theirs. */
void plait_grid_update_states (PlaitGrid *grid);

void plait_grid_cell_set_state (PlaitGridCell *cell, PlaitGridCellState state, const char *note);

/* Puts @cell, which is finished, into its place, and reads its results. FALSE where it has failed, for that cannot be
 * done. */
gboolean plait_grid_collect_cell (const PlaitGrid *grid, PlaitGridCell *cell);

/* The last lines of a file of text behind its first @from bytes, what is in the last bytes. (transfer full) */
char *plait_grid_read_tail (const char *path, goffset from);

/* Says of every cell that failed why, and what it said last. */
void plait_grid_report_failures (const PlaitGrid *grid, PlaitLog *log);

/* Makes the folders of the cells' training logs, so that none is trained whose log cannot be written. */
gboolean plait_grid_make_log_folders (const PlaitGridOptions *options, GError **error);
