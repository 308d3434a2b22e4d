/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"

/*
 * Making a folder as a whole: its files are written into a temporary folder beside it,
 * NAME.partial-HOST-PROCESS-NUMBER, which then takes its name. A process that is killed leaves the temporary folder
 * behind; the next plait_folder_begin of this name on this host removes it, which it knows by its lock (files/lock.h).
 *
 *   folder = plait_folder_begin ("model", &error);
 *   ... make files in plait_folder_temporary (folder) ...
 *   plait_folder_commit (g_steal_pointer (&folder), names, &error);
 *
 * A folder that is there already is exchanged for the new one in one step where it holds nothing else than @names.
 * Where it does, or is the current folder, locked (files/lock.h) or on another file system than its parent, the files
 * take their places one by one, after all are written.
 */
typedef struct PlaitFolder PlaitFolder;

/* Begins to make @path, which may be a folder already, and the folders above it. NULL with PLAIT_ERROR_INPUT.
 * (transfer full) */
PlaitFolder *plait_folder_begin (const char *path, GError **error);

/* Begins a folder below the system's one for temporary files ($TMPDIR, else /tmp), for the user alone, that is to be
 * abandoned. PLAIT_ERROR_FAILED if there is no room or place for it. (transfer full) */
PlaitFolder *plait_folder_begin_temporary (GError **error);

/* The folder to write into. (transfer none) */
const char *plait_folder_temporary (const PlaitFolder *folder);

/* Returns FALSE, for a file that could not be made; its error names the folder instead of the temporary one then. */
gboolean plait_folder_fail (const PlaitFolder *folder, GError **error);

/* Gives the folder its name and frees @folder. @names: every name that a file of such a folder can have, so that those
 * of an earlier one that are not made anew go; NULL if the folder must not be there yet. On failure the old folder is
 * what it was, where it could be exchanged as a whole. */
gboolean plait_folder_commit (PlaitFolder *folder, const char *const *names, GError **error);

/* Removes what was written and frees @folder. */
void plait_folder_abandon (PlaitFolder *folder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitFolder, plait_folder_abandon)
