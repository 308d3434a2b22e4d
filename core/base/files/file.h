/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>
#include <sys/stat.h>

#include "text/error.h"

/* Types of files that may be read. Folders, and virtual files such as those of /proc, are always refused. Devices are
 * treated like pipes. */
typedef enum
{
  PLAIT_FILE_REGULAR,      /* regular files, which can be read again */
  PLAIT_FILE_OR_OPEN_PIPE, /* a regular file, or a pipe; a pipe without a writer reads as empty */
  PLAIT_FILE_OR_PIPE,      /* a regular file, or a pipe; waits until a program opens the pipe for writing */
} PlaitFileInput;

/* Opens @path for reading, fills @status and returns the descriptor. @expected names the expected file in messages,
 * such as "a text file". Returns -1 on failure: PLAIT_ERROR_FAILED if the system lacks memory or descriptors,
 * PLAIT_ERROR_INTERRUPTED if a signal arrives before a pipe has a writer, else PLAIT_ERROR_INPUT. */
int plait_file_open (const char *path, PlaitFileInput input, const char *expected, struct stat *status, GError **error);

/* Returns all bytes of @path, at most @limit. Fails like plait_file_open; also fails if the file has more than @limit
 * bytes, or if a pipe is empty. (transfer full) */
GBytes *plait_file_read (const char *path, PlaitFileInput input, gsize limit, const char *expected, GError **error);

/* Opens @path for writing in place, at its end if @append, else truncated. Does not wait for the reader of a pipe. NULL
 * with errno set; ENXIO if a pipe has no reader. */
FILE *plait_file_open_output (const char *path, gboolean append);

/*
 * Replaces a file as a whole: a reader sees the old bytes or the new ones, and after a crash the file is complete.
 *
 *   file = plait_file_begin ("run.h5", &error);
 *   ... write to plait_file_stream (file), or open and close plait_file_temporary (file) ...
 *   plait_file_commit (g_steal_pointer (&file), &error);
 *
 * The temporary file is NAME.partial-HOST-PROCESS-NUMBER in the same folder, locked (files/lock.h). A killed process
 * leaves it behind. The next plait_file_begin in the folder removes such files; files of other hosts only if locks
 * work across hosts. If two processes replace one file at the same time, the first commit wins and the second fails.
 */
typedef struct PlaitFile PlaitFile;

/* Begins to replace @path, a regular file or a new one in an existing folder. A symbolic link is followed. The
 * temporary file is empty and has the mode of the old file. NULL with PLAIT_ERROR_INPUT if @path cannot be replaced (a
 * folder, a device, no permission), with PLAIT_ERROR_FAILED if the system fails. (transfer full) */
PlaitFile *plait_file_begin (const char *path, GError **error);

/* Returns the path of the temporary file. (transfer none) */
const char *plait_file_temporary (const PlaitFile *file);

/* Returns a stream that writes the temporary file. It remembers a failed write, and plait_file_commit then fails.
 * (transfer none) */
FILE *plait_file_stream (const PlaitFile *file);

/* Flushes and syncs the temporary file, renames it over the old file, syncs the folder and frees @file. On FALSE the
 * temporary file was deleted and the old file is unchanged, with one exception: if only the sync of the folder failed,
 * the new file is there, but a loss of power may undo the rename. PLAIT_ERROR_INPUT if another program has made or
 * written the old file since plait_file_begin, or if the old file is an input of the command; else
 * PLAIT_ERROR_FAILED. */
gboolean plait_file_commit (PlaitFile *file, GError **error);

/* Deletes the temporary file and frees @file. The old file stays unchanged. */
void plait_file_abandon (PlaitFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitFile, plait_file_abandon)

/* Calls fsync on the file or folder @path. Returns FALSE and sets errno if it fails. */
gboolean plait_file_sync (const char *path);

/* TRUE if @a and @b are paths of one file. Links are followed if the file exists. If it does not exist, only the paths
 * are compared. */
gboolean plait_file_is_same (const char *a, const char *b);

/* TRUE if a command may write @path: if @path is NULL, if there is no regular file at @path, or if @force is TRUE.
 * Otherwise fails with PLAIT_ERROR_INPUT. The message contains @remedy, such as "add --resume to continue it, " or "",
 * and then names @option (to write another file) and --force. plait_file_begin refuses files that are not regular. */
gboolean plait_file_check_new (const char *path, gboolean force, const char *remedy, const char *option,
                               GError **error);

/* Writes @length bytes to the temporary file, which must still be empty, and commits like plait_file_commit. */
gboolean plait_file_finish (PlaitFile *file, gconstpointer bytes, gsize length, GError **error);

/* Calls plait_file_begin and plait_file_finish: replaces the file @path by @length bytes. */
gboolean plait_file_replace (const char *path, gconstpointer bytes, gsize length, GError **error);

/* Replaces the file @name in @folder by @text. */
gboolean plait_file_replace_text (const char *folder, const char *name, const char *text, GError **error);

/* Recognises a file by its first bytes. Returns its kind, such as "a gzip file"; NULL if unknown. (transfer none) */
const char *plait_file_kind (const char *bytes, gsize length);
