/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"

/*
 * Paths as people write them, who know them from a shell: "~" is their own folder and "~NAME" that of another user
 * where a path begins with it, "$NAME" and "${NAME}" are variables of the environment anywhere, and "$$" is the sign
 * itself. A path that is to begin with a tilde is written "./~".
 */

/* @written as the system knows it. PLAIT_ERROR_INPUT, naming it, for a variable that is not set, a user that there is
 * not, and a sign that stands before no name. (transfer full) */
char *plait_path_expand (const char *written, GError **error);

/* The same of the tilde alone: for what a shell has read, which leaves it where no word begins with it, as in
 * --output=~/run.h5. */
char *plait_path_expand_home (const char *written, GError **error);

/* @path so that plait_path_expand makes it of this. (transfer full) */
char *plait_path_escape (const char *path);

/* "FOLDER/NAME.ini" without the folder, and without @ending if it has that: "NAME". (transfer full) */
char *plait_path_stem (const char *path, const char *ending);

/* Adds @word to @line as a shell takes it. */
void plait_path_append_quoted (GString *line, const char *word);

/* The user's own folder that @variable names, such as "XDG_DATA_HOME", or else @below in the home folder. Folders that
 * are not absolute are passed over: NULL if there is no other. (transfer full) */
char *plait_path_user_folder (const char *variable, const char *below);

/* The folder for temporary files: TMPDIR if it is absolute, else /tmp. (transfer none) */
const char *plait_path_temporary (void);
