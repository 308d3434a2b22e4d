/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/log.h"
#include "hdf5/store.h"

/*
 * The file of a run, locked by the process that writes it (files/lock.h). If another program replaces the file in spite
 * of the lock, the new file is left alone.
 */
typedef struct PlaitRunOutput PlaitRunOutput;

/* Locks @path for this process. PLAIT_ERROR_INPUT if no file can be written there, if another process writes it, or if
 * a file exists and @over_old is FALSE. (transfer full) */
PlaitRunOutput *plait_run_output_new (const char *path, gboolean over_old, PlaitLog *log, GError **error);

/* Releases the lock. */
void plait_run_output_free (PlaitRunOutput *run_output);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitRunOutput, plait_run_output_free)

/* TRUE if the file existed at the beginning, or this process has written it. */
gboolean plait_run_output_has_file (const PlaitRunOutput *run_output);

/* Opens the file. PLAIT_ERROR_INPUT if it is not the file that this process found or wrote. (transfer full) */
PlaitStore *plait_run_output_open (const PlaitRunOutput *run_output, GError **error);

/* Begins to replace the file. PLAIT_ERROR_INPUT as for plait_run_output_open. (transfer full) */
PlaitStore *plait_run_output_create (const PlaitRunOutput *run_output, GError **error);

/* Replaces the file by @store, which plait_run_output_create() returned. */
gboolean plait_run_output_commit (PlaitRunOutput *run_output, PlaitStore *store, GError **error);
