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
 * A finished cell is kept if its fingerprint equals that of the experiment now, or if no setting, file or plugin
 * differs (difference.h). A file with another fingerprint stays until its cell is finished again. If only the
 * evaluation of a cell differs, or a run of another cell had the same training, that run is evaluated, without
 * training. If only its training ends later, the finished run is trained further.
 *
 * Several processes, on several machines, may run cells of one folder. A process locks each cell while it runs it, and
 * locks the folder while it writes the files about all cells.
 */

typedef enum
{
  PLAIT_CELL_NEW,
  PLAIT_CELL_STALE,    /* has a file, but from other settings, data or plugins: must be run again */
  PLAIT_CELL_PARTIAL,  /* has a checkpoint: must be resumed */
  PLAIT_CELL_TRAINED,  /* has finished an unchanged training: must only be evaluated */
  PLAIT_CELL_FINISHED, /* nothing is left to do */
  PLAIT_CELL_FAILED,   /* failed in this process */
} PlaitGridCellState;

/* Returns "new", "stale", "partial", "trained", "finished" or "failed". */
const char *plait_grid_cell_state_name (PlaitGridCellState state);

typedef struct
{
  const PlaitExperimentCell *cell;
  char *name; /* name of its files, without folder and ending */
  PlaitGridCellState state;
  char *note;    /* changes of a stale or trained cell, progress of a partial one, reason of a failed one; or NULL */
  char *found;   /* name in the folder of the finished run, if that is not NAME.h5 yet; else NULL */
  char *trained; /* trained: name in the folder of the run with the same training; partial: name of the finished run
                    that is trained further; else NULL */
  PlaitRunResult *result; /* result of a finished cell; NULL until it is read */
  PlaitLock *lock;        /* held while this process may run the cell; or NULL */
} PlaitGridCell;

typedef struct
{
  PlaitCells *cells;
  char *text;       /* text of the experiment file as read */
  char *path;       /* path of the experiment file, as given */
  char **overrides; /* overridden keys, NULL-terminated; or NULL */
  char *folder;     /* may be missing still */
  guint n;
  PlaitGridCell *items;
  guint n_known;    /* number of items; the first n are cells of this grid, the others are cells of other parts of it
                       (@part) */
  gboolean part;    /* TRUE: the grid holds only some of the cells, and never writes the files about all cells */
  gboolean fresh;   /* --fresh: run finished and partial cells again too */
  char **unclaimed; /* runs in the folder that belong to no cell, NULL-terminated */
  PlaitLock *lock;  /* lock of the folder, held from plait_grid_lock() on; or NULL */
} PlaitGrid;

/* Reads the grid file at @path and finds the state of each cell in @folder, without changing the folder. If @names
 * (NULL-terminated) is given, the grid holds only these cells, named by file name without ending or by label. Such
 * cells are locked from before their state is read until the grid is freed, so that one process runs them; @log reports
 * waiting. @more adds checks, such as PLAIT_RESOLVE_COUNT_LINES before cells are run. @registry must outlive the grid.
 * (transfer full) */
PlaitGrid *plait_grid_new (const char *path, const char *const *overrides, const char *folder, gboolean fresh,
                           const char *const *names, PlaitResolveFlags more, PlaitRegistry *registry, PlaitLog *log,
                           GError **error);

/* Opens the grid whose grid.h5 is @path, without its experiment file. Cells with a run file are finished and have the
 * run's experiment; other cells are new. (transfer full) */
PlaitGrid *plait_grid_open (const char *path, PlaitRegistry *registry, GError **error);
void plait_grid_free (PlaitGrid *grid);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitGrid, plait_grid_free)

/* Locks @cell for this process, unless it is locked by it already. PLAIT_ERROR_INPUT if another process runs it. */
gboolean plait_grid_lock_cell (const PlaitGrid *grid, PlaitGridCell *cell, PlaitLog *log, GError **error);

/* Finds the state of @cell again. */
void plait_grid_update_state (PlaitGrid *grid, PlaitGridCell *cell);

/* Returns the path FOLDER/NAME with @ending, such as ".h5" or ".training.h5". (transfer full) */
char *plait_grid_file (const PlaitGrid *grid, const PlaitGridCell *cell, const char *ending);

/* TRUE if @cell must still be run, resumed or evaluated. */
gboolean plait_grid_cell_is_due (const PlaitGridCell *cell);

/* Returns the number of cells that must still be run, resumed or evaluated. */
guint plait_grid_count_due (const PlaitGrid *grid);

/* Returns the number of cells in @state. */
guint plait_grid_count (const PlaitGrid *grid, PlaitGridCellState state);

/* Reads the result of the finished @cell from NAME.h5. */
gboolean plait_grid_read_result (const PlaitGrid *grid, PlaitGridCell *cell, GError **error);

/* Calls plait_run_results_drop_mixed() on the results of all cells. */
void plait_grid_drop_mixed (const PlaitGrid *grid, PlaitLog *log);

/* Makes the folder of @grid if it is missing. PLAIT_ERROR_INPUT if it cannot be made. */
gboolean plait_grid_make_folder (const PlaitGrid *grid, GError **error);

/* Makes the folder of @grid if it is missing and locks it until @grid is freed, so that two processes do not write its
 * files at once. PLAIT_ERROR_INPUT if the folder cannot be written, if another process holds it, or if files that @grid
 * would overwrite were not written by a grid. */
gboolean plait_grid_lock (PlaitGrid *grid, PlaitLog *log, GError **error);

/* TRUE if plait_grid_run() may work in the folder: plait_grid_lock() succeeds. Releases the lock and removes folders
 * that it made. */
gboolean plait_grid_check_folder (PlaitGrid *grid, PlaitLog *log, GError **error);

typedef struct
{
  guint jobs;     /* cells that run at once, each in its own process; 0: one for each processor, while memory lasts */
  guint threads;  /* threads of each cell; 0: the processors divided by the cells that run at once */
  guint retries;  /* retries of a cell that fails, from its checkpoint if it has one */
  gint64 seconds; /* time limit of a cell, after which it is stopped and has failed; 0: no limit */
  guint patience; /* seconds until a scheduler's command is given up; 0: 60 */
  const char *command;
  const char *lines; /* folder for a training log NAME.jsonl of each cell (run/training-log.h), or NULL */
  PlaitLog *log;
  const gint *stop; /* flag that SIGTERM raises, also in the cells' processes; or NULL */
} PlaitGridOptions;

/* Returns the number of threads of each cell if @to_run cells are left. */
guint plait_grid_threads (const PlaitGridOptions *options, guint to_run);

/* Runs all cells that are due, and holds the folder until @grid is freed. A cell that fails becomes PLAIT_CELL_FAILED
 * and the others are run; that is not an error here. PLAIT_ERROR_INTERRUPTED if the stop flag was raised and all
 * running cells have written checkpoints. */
gboolean plait_grid_run (PlaitGrid *grid, const PlaitGridOptions *options, GError **error);

/* Renames every finished run to NAME.h5 and reads its result. The folder must be locked. */
void plait_grid_collect_finished (PlaitGrid *grid);

/* Collects finished cells like plait_grid_run(), but runs none. Each other cell becomes PLAIT_CELL_FAILED with a note
 * of its progress. The folder stays locked until @grid is freed. */
gboolean plait_grid_collect (PlaitGrid *grid, PlaitLog *log, GError **error);
