/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"

/*
 * Paths with shell syntax: a leading "~" is the user's home folder, a leading "~NAME" that of another user, "$NAME" and
 * "${NAME}" are environment variables, "$$" is a dollar sign. A path that really begins with a tilde is written "./~".
 */

/* Returns the path that @written means. PLAIT_ERROR_INPUT for a variable that is not set, an unknown user, and a $
 * without a name. (transfer full) */
char *plait_path_expand (const char *written, GError **error);

/* Expands only the leading tilde of @written, for arguments that a shell has read: a shell does not expand
 * --output=~/run.h5. (transfer full) */
char *plait_path_expand_home (const char *written, GError **error);

/* Returns text that plait_path_expand turns into @path. (transfer full) */
char *plait_path_escape (const char *path);

/* Returns the part of @path after @folder and its slash if @path is in @folder, else @path. (transfer none) */
const char *plait_path_within (const char *path, const char *folder);

/* Returns the file name in @path, without the folder and without the suffix @ending: "NAME" of "FOLDER/NAME.ini".
 * (transfer full) */
char *plait_path_stem (const char *path, const char *ending);

/* Appends @word to a command line, quoted for a shell if needed. */
void plait_path_append_quoted (GString *line, const char *word);

/* Returns the folder named by the environment variable @variable, such as "XDG_DATA_HOME". If it is not set or not
 * absolute, returns the folder @below in the user's home folder. NULL if the path of the home folder is not absolute.
 * The folder need not exist. (transfer full) */
char *plait_path_user_folder (const char *variable, const char *below);

/* Returns the folder for temporary files: $TMPDIR if it is absolute, else /tmp. (transfer none) */
const char *plait_path_temporary (void);
