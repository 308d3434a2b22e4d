/* SPDX-License-Identifier: MIT */
#pragma once

#include "files/lock.h"
#include "axes/cells.h"
#include "setup/fingerprint.h"
#include "run/result.h"

/*
 * A grid in its folder: a run a cell, and files over all of them.
 *
 *     NAME.h5             a finished cell; NAME is short for its label, has its seed whole, and eight digits of the
 *                         label's digest
 *     NAME.training.h5    a cell that is not finished; it takes the place of NAME.h5 when it is
 *     NAME.log            what the cell's process said
 *     grid.h5             links to all finished cells, and the table
 *     table.csv table.md table.tex  the table
 *
 * A finished cell counts as long as its key is the one that the experiment gives now, or nothing but the key tells it
 * from what that gives (difference.h); a file that has another key stays until its cell is finished anew. Where only
 * its evaluation is another, or a run of another cell was trained the same, that run is evaluated and nothing trained.
 * Where only its training ends later, it goes on from where it ended.
 *
 * Several processes may run cells of one folder, on several machines: each cell is locked by itself while it is run,
 * and whoever writes the files over all cells locks the folder.
 */

typedef enum
{
  PLAIT_CELL_NEW,
  PLAIT_CELL_STALE,    /* there is a file, but of other settings, data or plugins: to be run again */
  PLAIT_CELL_PARTIAL,  /* to be gone on with */
  PLAIT_CELL_TRAINED,  /* to be evaluated again: what it was trained with is as it was */
  PLAIT_CELL_FINISHED, /* nothing to do */
  PLAIT_CELL_FAILED,   /* by this process */
} PlaitGridCellState;

/* "new", "stale", "partial", "trained", "finished", "failed". */
const char *plait_grid_cell_state_name (PlaitGridCellState state);

typedef struct
{
  const PlaitExperimentCell *cell;
  char *name;                       /* of its files, without folder and ending */
  char *key, *training_fingerprint; /* those of CELL */
  PlaitGridCellState state;
  char *note;             /* stale, trained: what has changed; partial: how far it is; failed: why; or NULL */
  char *found;            /* where the finished run is, if not at its place yet: a name in the folder */
  char *trained;          /* of a trained cell: the run in the folder that was trained as it would be; of a partial one
                             that goes on from a finished run: that run, which its training comes through */
  PlaitRunResult *result; /* of a finished cell, once read */
  PlaitLock *lock;        /* while this process may run it; or NULL */
} PlaitGridCell;

typedef struct
{
  PlaitCells *cells;
  char *text;       /* the experiment file as it was read */
  char *path;       /* of the file, as it was given */
  char **overrides; /* of its keys, or NULL */
  char *folder;     /* need not be there yet */
  guint n;
  PlaitGridCell *items;
  guint n_known;    /* items, of which the first n are of this grid: more where it is a part */
  gboolean part;    /* of the cells: the files over all of them are left alone */
  gboolean fresh;   /* finished and partial cells are run again too */
  char **unclaimed; /* runs in the folder that belong to no cell, NULL-terminated */
  PlaitLock *lock;  /* of the folder, from plait_grid_lock on; or NULL */
} PlaitGrid;

/* Reads the grid file at @path and looks what there is in @folder, without changing anything. With @names
 * (NULL-terminated), its files' names without ending or their labels, it has these cells alone. Each of them is held
 * from before it is looked at until the grid is freed, so it is run once, whoever else wants to; @log hears of that.
 * @more is looked at beside files and modules, such as PLAIT_RESOLVE_COUNT_LINES before cells are run.
 * @registry must outlive the grid. (transfer full) */
PlaitGrid *plait_grid_new (const char *path, const char *const *overrides, const char *folder, gboolean fresh,
                           const char *const *names, PlaitResolveFlags more, PlaitRegistry *registry, PlaitLog *log,
                           GError **error);

/* The grid whose file over all cells is @path, as that tells it: its cells are finished where their files are, with
 * their experiments, and else new. Nothing is read of the experiment file. (transfer full) */
PlaitGrid *plait_grid_open (const char *path, PlaitRegistry *registry, GError **error);
void plait_grid_free (PlaitGrid *grid);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitGrid, plait_grid_free)

/* Holds @cell, unless this process does already, so that it alone runs it. PLAIT_ERROR_INPUT if another one does. */
gboolean plait_grid_lock_cell (const PlaitGrid *grid, PlaitGridCell *cell, PlaitLog *log, GError **error);

/* Looks again what is to be done with @cell. */
void plait_grid_update_state (PlaitGrid *grid, PlaitGridCell *cell);

/* FOLDER/NAME and @ending, such as ".h5" or ".training.h5". (transfer full) */
char *plait_grid_file (const PlaitGrid *grid, const PlaitGridCell *cell, const char *ending);

/* TRUE if @cell is to be run, gone on with or evaluated. */
gboolean plait_grid_cell_is_due (const PlaitGridCell *cell);

/* How many are. */
guint plait_grid_count_due (const PlaitGrid *grid);

/* How many cells are in @state. */
guint plait_grid_count (const PlaitGrid *grid, PlaitGridCellState state);

/* Reads the results of @cell, which is finished and at its place. */
gboolean plait_grid_read_result (const PlaitGrid *grid, PlaitGridCell *cell, GError **error);

/* plait_run_results_drop_mixed of the results that were read. */
void plait_grid_drop_mixed (const PlaitGrid *grid, PlaitLog *log);

/* Makes the folder of @grid if need be. PLAIT_ERROR_INPUT if it takes none. */
gboolean plait_grid_make_folder (const PlaitGrid *grid, GError **error);

/* Makes the folder of @grid if need be and holds it until @grid is freed, so that two grids do not write the same
 * files. PLAIT_ERROR_INPUT if it takes no files, if another grid holds it, or if files that a grid replaces are not a
 * grid's. */
gboolean plait_grid_lock (PlaitGrid *grid, PlaitLog *log, GError **error);

/* TRUE if plait_grid_run may work in the folder: it takes files, no other grid holds it, and what would be replaced is
 * a grid's. Leaves nothing behind. */
gboolean plait_grid_check_folder (PlaitGrid *grid, PlaitLog *log, GError **error);

typedef struct
{
  guint jobs; /* cells that run at once, each in a process of its own; 0: as many as processors, while memory lasts */
  guint threads;  /* of each; 0: the processors divided by the cells that run at once */
  guint retries;  /* of a cell that fails, from its checkpoint if it has one */
  gint64 seconds; /* that a cell may run before it is made to end and has failed; 0: as long as it likes */
  guint patience; /* seconds that a scheduler's command may take; 0: a minute */
  const char *command;
  const char *lines;  /* NULL, or a folder for the training logs of the cells (run/training-log.h): NAME.jsonl */
  const char *events; /* NULL, or a folder of TensorBoard's: a folder NAME for each cell */
  PlaitLog *log;
  const gint *stop; /* a flag that SIGTERM raises, also in the cells' processes; or NULL */
} PlaitGridOptions;

/* Threads of each of @to_run cells. */
guint plait_grid_threads (const PlaitGridOptions *options, guint to_run);

/* Runs what is to be run, holding the folder, which stays held until @grid is freed. A cell that fails, however, leaves
 * the others alone and becomes PLAIT_CELL_FAILED; that is no error here. PLAIT_ERROR_INTERRUPTED when the flag was
 * raised and all cells have written checkpoints. */
gboolean plait_grid_run (PlaitGrid *grid, const PlaitGridOptions *options, GError **error);

/* Puts every cell that is finished into its place, and reads its results; the folder must be held. */
void plait_grid_collect_finished (PlaitGrid *grid);

/* Takes what is finished as plait_grid_run does, and runs nothing: what else there is becomes PLAIT_CELL_FAILED, with a
 * note of how far it is. The folder stays held until @grid is freed. */
gboolean plait_grid_collect (PlaitGrid *grid, PlaitLog *log, GError **error);
