/* SPDX-License-Identifier: MIT */
#pragma once

#include "grid/grid.h"

/* Functions that the files of this folder share. */

/* The table of left-out duplicates in grid.h5. */
#define PLAIT_GRID_DUPLICATES "/same"

/* Fails if a file with the name of a cell's run is not a run, or was left open by another program. A damaged run
 * passes. With grid->fresh nothing is checked. */
gboolean plait_grid_check_cells (const PlaitGrid *grid, GError **error);

/* Columns of the table /cells before the columns of the axes. */
#define PLAIT_GRID_CELL_COLUMNS 4

/* Sets the state of each cell of @grid and grid->unclaimed. If the grid is a part, runs of its other cells are searched
 * for equal training too, but unclaimed runs are not. */
void plait_grid_update_states (PlaitGrid *grid);

void plait_grid_cell_set_state (PlaitGridCell *cell, PlaitGridCellState state, const char *note);

/* Renames the finished run of @cell to NAME.h5 and reads its result. If that fails: FALSE, and @cell becomes
 * PLAIT_CELL_FAILED. */
gboolean plait_grid_collect_cell (const PlaitGrid *grid, PlaitGridCell *cell);

/* Returns the last lines of the text file at @path, ignoring its first @from bytes. Reads the last 2000 bytes at most.
 * (transfer full) */
char *plait_grid_read_tail (const char *path, goffset from);

/* Logs for every failed cell the reason and the end of its log. */
void plait_grid_report_failures (const PlaitGrid *grid, PlaitLog *log);

/* Makes the folders of the cells' training logs before any cell is trained. */
gboolean plait_grid_make_log_folders (const PlaitGridOptions *options, GError **error);
