/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>
#include <sys/stat.h>

#include "text/error.h"

/* What may be read: never a folder, nor a file that is made up as it is read, such as those of /proc. */
typedef enum
{
  PLAIT_FILE_REGULAR,      /* what can be read again */
  PLAIT_FILE_OR_OPEN_PIPE, /* or a pipe that somebody writes to already */
  PLAIT_FILE_OR_PIPE,      /* or a pipe, whose writer is waited for */
} PlaitFileInput;

/* Opens @path for reading and looks at it. @expected is what messages say that it should be, such as "a text file". -1
 * with PLAIT_ERROR_INPUT; PLAIT_ERROR_FAILED if the system lacks memory or descriptors; PLAIT_ERROR_INTERRUPTED if a
 * signal came before the writer of a pipe. */
int plait_file_open (const char *path, PlaitFileInput input, const char *expected, struct stat *status, GError **error);

/* All bytes of @path, of which there may be @limit. As plait_file_open fails. (transfer full) */
GBytes *plait_file_read (const char *path, PlaitFileInput input, gsize limit, const char *expected, GError **error);

/* Opens @path to be written in place, emptied first or behind what it has. Does not wait for the reader of a pipe. NULL
 * with errno set, to ENXIO if a pipe has no reader. */
FILE *plait_file_open_output (const char *path, gboolean append);

/*
 * Replacing a file as a whole: whoever opens it sees the old bytes or the new, and after a crash one of the two is
 * there.
 *
 *   file = plait_file_begin ("run.h5", &error);
 *   ... write to plait_file_stream (file), or plait_file_temporary (file) and close it ...
 *   plait_file_commit (g_steal_pointer (&file), &error);
 *
 * The temporary file stands beside the one it replaces, as NAME.partial-HOST-PROCESS-NUMBER, and is locked
 * (files/lock.h). A process that is killed leaves it behind; the next plait_file_begin in the same folder removes what
 * dead processes left, those of other hosts where locks reach there. Of two that replace one file at a time the first
 * wins, and the other fails.
 */
typedef struct PlaitFile PlaitFile;

/* Begins to replace @path, which need not exist; its folder must. A symbolic link is followed. The temporary file is
 * made empty, with the mode of the old file. NULL with PLAIT_ERROR_INPUT if @path cannot be replaced (a folder, a
 * device, no permission), PLAIT_ERROR_FAILED if the system fails. (transfer full) */
PlaitFile *plait_file_begin (const char *path, GError **error);

/* The file to write. (transfer none) */
const char *plait_file_temporary (const PlaitFile *file);

/* A stream that writes it. It remembers a write that failed, of which plait_file_complete and plait_file_commit tell.
 * (transfer none) */
FILE *plait_file_stream (const PlaitFile *file);

/* Flushes and syncs the temporary file, renames it over the old one and syncs the folder. Frees @file. FALSE with
 * PLAIT_ERROR_FAILED, or PLAIT_ERROR_INPUT if another program has made or written the file since the beginning; then
 * the old file is what it was and the temporary is gone (only when the folder alone could not be synced, the new file
 * is there, but may not outlive a loss of power). */
gboolean plait_file_commit (PlaitFile *file, GError **error);

/* Removes the temporary file and frees @file. The old file is what it was. */
void plait_file_abandon (PlaitFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitFile, plait_file_abandon)

/* fsync of the file or folder @path. FALSE with errno set. */
gboolean plait_file_sync (const char *path);

/* TRUE if @a and @b, which need not exist, are one file, also by links. */
gboolean plait_file_is_same (const char *a, const char *b);

/* TRUE if a command may make @path (NULL: it makes none): there is no such file, or @force. PLAIT_ERROR_INPUT if there
 * is one, naming @option, by which another can be chosen, and before it @remedy, such as "add --resume to go on with
 * it, ", or "". What is no file is left to plait_file_begin. */
gboolean plait_file_check_new (const char *path, gboolean force, const char *remedy, const char *option,
                               GError **error);

/* plait_file_commit of these @length bytes, where nothing else has been written. */
gboolean plait_file_finish (PlaitFile *file, gconstpointer bytes, gsize length, GError **error);

/* Replaces @path by @length bytes, all of the above in one call. */
gboolean plait_file_replace (const char *path, gconstpointer bytes, gsize length, GError **error);

/* The same of @name in @folder by @text. */
gboolean plait_file_replace_text (const char *folder, const char *name, const char *text, GError **error);

/* What a file is that begins with these bytes, such as "a gzip file"; NULL: nothing that is known here. (transfer
 * none) */
const char *plait_file_kind (const char *bytes, gsize length);
