/* SPDX-License-Identifier: MIT */
#pragma once

#include "files/lock.h"
#include "axes/cells.h"
#include "setup/fingerprint.h"
#include "run/result.h"

/*
 * A grid in its folder: one run for each cell, and files about all cells.
 *
 *     NAME.h5             a finished cell; NAME is its label shortened, with the whole seed and eight digits of the
 *                         label's digest
 *     NAME.training.h5    an unfinished cell; renamed to NAME.h5 when the cell is finished
 *     NAME.log            output of the cell's process
 *     grid.h5             links to all finished cells, and the table
 *     table.csv table.md table.tex  the table
 *
 * A finished cell is kept if its fingerprint equals the fingerprint of the cell's experiment now, or if no setting,
 * file or plugin differs (difference.h). A NAME.h5 with another fingerprint stays until its cell is finished again.
 *
 * A cell is not trained if a run with the same training exists: the cell's own run, if only the evaluation differs,
 * or the run of another cell. The cell is then only evaluated, with the parameters of that run. If the cell's finished
 * run differs from the cell only in an earlier end of training, the finished run is trained further.
 *
 * Several processes, on several machines, may run cells of one folder. A process locks a cell while running the cell,
 * and locks the folder while writing the files about all cells.
 */

typedef enum
{
  PLAIT_CELL_NEW,
  PLAIT_CELL_STALE,    /* has a file that differs or is damaged, or that grid->fresh replaces: must be run again */
  PLAIT_CELL_PARTIAL,  /* has a run that must be resumed: unfinished, trained for too short, or with a failed external
                          score */
  PLAIT_CELL_TRAINED,  /* a run with the same training exists: must only be evaluated */
  PLAIT_CELL_FINISHED, /* nothing is left to do */
  PLAIT_CELL_FAILED,   /* failed in this process, or was unfinished when plait_grid_collect() ran */
} PlaitGridCellState;

/* Returns the name of @state: "new", "stale", "partial", "trained", "finished" or "failed". */
const char *plait_grid_cell_state_name (PlaitGridCellState state);

typedef struct
{
  const PlaitExperimentCell *cell;
  char *name; /* name of the cell's files, without folder and ending */
  PlaitGridCellState state;
  char *note;    /* text for messages: the reason for the state, or the progress of a partial cell; or NULL */
  char *found;   /* file name of the finished run in the folder, if it is not called NAME.h5 yet; else NULL */
  char *trained; /* trained cell: file name of the run with the same training; partial cell: file name of the finished
                    run that is trained further; else NULL */
  PlaitRunResult *result; /* result of a finished cell; NULL until it is read */
  gboolean begun;         /* TRUE: this process has begun to run the cell, so a partial file is not an old one */
  PlaitLock *lock; /* lock that keeps other processes from running the cell; NULL if this process does not run it */
} PlaitGridCell;

typedef struct
{
  PlaitCells *cells;
  char *text;                     /* text of the experiment file as read */
  char *path;                     /* path of the experiment file, as given */
  const PlaitOverride *overrides; /* changes of the file's settings, or NULL; owned by the caller */
  char *folder;                   /* folder of the grid, which need not exist yet */
  guint n;
  PlaitGridCell *items;
  guint n_known;    /* length of items; the first n are the cells of this grid, the others belong to other parts of the
                       grid */
  gboolean part;    /* TRUE: this process handles only some of the cells, and never writes the files about all cells */
  gboolean fresh;   /* option --fresh: finished and partial cells are run again too */
  char **unclaimed; /* file names of finished runs in the folder that belong to no cell, NULL-terminated; empty for a
                       part of a grid */
  PlaitLock *lock;  /* lock of the folder, held from plait_grid_lock() on; or NULL */
} PlaitGrid;

/* Reads the grid file at @path and finds the state of each cell in @folder, without changing a run. @names
 * (NULL-terminated) restricts the grid to these cells, each named by its label or by its file name without ending;
 * NULL: all cells. With @names, makes the folder if it is missing, and locks the named cells until the grid is freed,
 * so that no other process runs them. @log gets warnings about locks. @more adds checks, such as
 * PLAIT_RESOLVE_COUNT_LINES before cells are run. @overrides and @registry must outlive the grid. (transfer full) */
PlaitGrid *plait_grid_new (const char *path, const PlaitOverride *overrides, const char *folder, gboolean fresh,
                           const char *const *names, PlaitResolveFlags more, PlaitRegistry *registry, PlaitLog *log,
                           GError **error);

/* Opens the grid whose grid.h5 is @path, without its experiment file. Cells that have a run file are finished and get
 * the experiment of their run; all other cells are new. (transfer full) */
PlaitGrid *plait_grid_open (const char *path, PlaitRegistry *registry, GError **error);
void plait_grid_free (PlaitGrid *grid);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitGrid, plait_grid_free)

/* Locks @cell for this process, unless this process already holds the lock. PLAIT_ERROR_INPUT if another process runs
 * the cell. */
gboolean plait_grid_lock_cell (const PlaitGrid *grid, PlaitGridCell *cell, PlaitLog *log, GError **error);

/* Reads the state of @cell from the folder again. */
void plait_grid_update_state (PlaitGrid *grid, PlaitGridCell *cell);

/* Returns the path of a file of @cell, FOLDER/NAME with @ending, such as ".h5" or ".training.h5". (transfer full) */
char *plait_grid_file (const PlaitGrid *grid, const PlaitGridCell *cell, const char *ending);

/* TRUE if @cell must still be run, resumed or evaluated. FALSE for a failed cell. */
gboolean plait_grid_cell_is_due (const PlaitGridCell *cell);

/* Returns the number of cells that must still be run, resumed or evaluated, without failed cells. */
guint plait_grid_count_due (const PlaitGrid *grid);

/* Returns the number of cells in @state. */
guint plait_grid_count (const PlaitGrid *grid, PlaitGridCellState state);

/* Reads the result of the finished @cell from NAME.h5. */
gboolean plait_grid_read_result (const PlaitGrid *grid, PlaitGridCell *cell, GError **error);

/* Calls plait_run_results_drop_mixed() on the results of all cells. */
void plait_grid_drop_mixed (const PlaitGrid *grid, PlaitLog *log);

/* Makes the folder of @grid if it is missing. */
gboolean plait_grid_make_folder (const PlaitGrid *grid, GError **error);

/* Makes the folder of @grid if it is missing, and locks it until @grid is freed, so that two processes do not write its
 * files at once. PLAIT_ERROR_INPUT if another process holds the lock, or if @grid would overwrite files that no grid
 * has written. */
gboolean plait_grid_lock (PlaitGrid *grid, PlaitLog *log, GError **error);

/* TRUE if plait_grid_lock() succeeds, so that plait_grid_run() can work in the folder. Does not keep the lock, and
 * removes folders that plait_grid_lock() made. */
gboolean plait_grid_check_folder (PlaitGrid *grid, PlaitLog *log, GError **error);

typedef struct
{
  guint jobs; /* maximum number of cells that run at once, each in its own process; 0: as many as memory allows, but at
                 most one for each @threads processors, or for each processor if @threads is 0 */
  guint threads;  /* threads of each cell; 0: processors divided by the number of cells that may run at once */
  guint retries;  /* maximum retries of a failed cell; a retry continues from the checkpoint, if there is one */
  gint64 seconds; /* time limit in seconds of each try of a cell, after which the try is stopped and has failed; 0: no
                     limit */
  guint patience; /* time in seconds after which a scheduler's command is given up; 0: 60 */
  const char *command;
  const char *lines; /* folder for the training logs NAME.jsonl of the cells (run/training-log.h), or NULL */
  PlaitLog *log;
  const gint *stop; /* flag that a signal handler sets, also in the processes of the cells; or NULL */
} PlaitGridOptions;

/* Returns the number of threads of each cell if @to_run cells must be run. */
guint plait_grid_threads (const PlaitGridOptions *options, guint to_run);

/* Runs all due cells. Unless @grid is only a part of a grid, locks the folder until @grid is freed. A cell that fails
 * gets the state PLAIT_CELL_FAILED; the other cells are run, and no error is returned. PLAIT_ERROR_INTERRUPTED if the
 * stop flag was set and cells are left to run: the processes of cells were asked for checkpoints and have ended. */
gboolean plait_grid_run (PlaitGrid *grid, const PlaitGridOptions *options, GError **error);

/* Renames the run of each finished cell to NAME.h5 and reads its result. The caller must hold the lock of the folder,
 * or for a part of a grid the locks of the cells. */
void plait_grid_collect_finished (PlaitGrid *grid);

/* Collects finished cells like plait_grid_run(), but runs none. Each unfinished cell gets the state PLAIT_CELL_FAILED,
 * with a note about its progress. The folder stays locked until @grid is freed. */
gboolean plait_grid_collect (PlaitGrid *grid, PlaitLog *log, GError **error);
