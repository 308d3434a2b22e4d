/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/log.h"
#include "hdf5/store.h"

/*
 * The file of a run, held by the process that writes it: nobody else may begin to (files/lock.h), and where somebody
 * has done so all the same, what they wrote is left alone.
 */
typedef struct PlaitRunOutput PlaitRunOutput;

/* Takes @path for this process. PLAIT_ERROR_INPUT if it takes no file, if another process writes it, or if there is a
 * file and not @over_old. (transfer full) */
PlaitRunOutput *plait_run_output_new (const char *path, gboolean over_old, PlaitLog *log, GError **error);

/* Lets go of it. */
void plait_run_output_free (PlaitRunOutput *run_output);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitRunOutput, plait_run_output_free)

/* TRUE if there was a file when the place was taken, or has been one of this process since. */
gboolean plait_run_output_has_file (const PlaitRunOutput *run_output);

/* Opens the file. PLAIT_ERROR_INPUT if it is not the one that this process found or wrote; so below. (transfer full) */
PlaitStore *plait_run_output_open (const PlaitRunOutput *run_output, GError **error);

/* Begins to replace the file. (transfer full) */
PlaitStore *plait_run_output_create (const PlaitRunOutput *run_output, GError **error);

/* Commits @store, which plait_run_output_create gave. */
gboolean plait_run_output_commit (PlaitRunOutput *run_output, PlaitStore *store, GError **error);
