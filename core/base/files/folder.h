/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"

/*
 * Makes a folder as a whole: writes its files into a temporary folder NAME.partial-HOST-PROCESS-NUMBER in the same
 * parent folder, then renames the temporary folder. A killed process leaves the temporary folder behind. The next
 * plait_folder_begin of this name on this host removes it unless it is locked (files/lock.h).
 *
 *   folder = plait_folder_begin ("model", &error);
 *   ... make files in plait_folder_temporary (folder) ...
 *   plait_folder_commit (g_steal_pointer (&folder), names, &error);
 *
 * An existing folder is exchanged for the new one in one step if it holds only files of the names given to
 * plait_folder_commit. This is not possible if the existing folder holds other files, is locked (files/lock.h), is the
 * current folder, is on another file system than its parent, or has a parent that is not writable, or if the file
 * system cannot exchange folders. In these cases all new files are written first, then moved into the existing folder
 * one by one; the temporary folder can then be inside the existing folder.
 */
typedef struct PlaitFolder PlaitFolder;

/* Begins to make the folder @path, which may exist, and its missing parents. NULL with PLAIT_ERROR_INPUT if it cannot
 * be made; with PLAIT_ERROR_FAILED if the system fails. (transfer full) */
PlaitFolder *plait_folder_begin (const char *path, GError **error);

/* Begins a private folder below the folder for temporary files ($TMPDIR, else /tmp). It must be abandoned, not
 * committed. NULL with an error if it cannot be made. (transfer full) */
PlaitFolder *plait_folder_begin_temporary (GError **error);

/* Returns the path of the temporary folder, for the new files. (transfer none) */
const char *plait_folder_temporary (const PlaitFolder *folder);

/* Replaces the temporary folder's name in the message of *error by the final name, which the user knows, and returns
 * FALSE. Call it when a file in the temporary folder could not be made. */
gboolean plait_folder_fail (const PlaitFolder *folder, GError **error);

/* Gives the folder its final name and frees @folder. @names: all file names that such a folder can have. A file of
 * @names in the old folder is deleted even if the new folder has no file of this name. If @names is NULL, the folder
 * must not exist yet. On failure the old folder is unchanged, unless files were moved one by one or only the sync of
 * the parent folder failed. */
gboolean plait_folder_commit (PlaitFolder *folder, const char *const *names, GError **error);

/* Deletes the temporary folder and frees @folder. */
void plait_folder_abandon (PlaitFolder *folder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitFolder, plait_folder_abandon)
