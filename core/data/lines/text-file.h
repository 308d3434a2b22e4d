/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/words.h"

/*
 * Reads lines of UTF-8 text, one at a time, from a file or a pipe, plain or gzip (recognised by its first two bytes).
 *
 * A line ends with LF or CRLF. Other CRs and all Unicode separators are ordinary text, so line numbers agree with wc
 * -l. A last line without LF counts. A byte order mark at the start is dropped.
 *
 * Bytes that are not UTF-8, NUL, a line above PLAIT_TEXT_LINE_LIMIT, and damaged or truncated gzip data are errors that
 * name file and line. Memory is at most about twice the line limit, however large the file is.
 */
#define PLAIT_TEXT_LINE_LIMIT (1024 * 1024) /* maximum bytes of a line */

typedef struct PlaitTextReader PlaitTextReader;

/* Opens the regular file at @path. Refuses devices, pipes and folders, which cannot be read a second time. (transfer
 * full) */
PlaitTextReader *plait_text_reader_open (const char *path, GError **error);

/* Opens @path, which may be a pipe, for reading once; "-" is standard input, which stays open. A line is returned as
 * soon as it has arrived. A signal whose handler does not restart system calls ends the wait with
 * PLAIT_ERROR_INTERRUPTED. (transfer full) */
PlaitTextReader *plait_text_reader_open_pipe (const char *path, GError **error);

/* Opens @path, which may be a pipe, and returns @n PlaitTextReaders, one for each column of its tab-separated lines.
 * Read line i of every column before line i + 1 of any column. Only the column that reads a line first reports an error
 * of the line. (transfer full) */
GPtrArray *plait_text_reader_open_columns (const char *path, guint n, GError **error);

/* Returns @n PlaitTextReaders, each of which returns all lines of @lines; each line is read once. Takes ownership of
 * @lines. (transfer full) */
GPtrArray *plait_text_reader_share (PlaitTextReader *lines, guint n);

/* Returns a reader whose lines are the trees of @lines. A tree may take several lines of the file (tree-lines.h).
 * If @lines is a column of a file, returns @lines itself. Reads lines ahead if @lines is a regular file, or if
 * @may_wait; to read ahead from a pipe may block. Takes ownership of @lines. (transfer full) */
PlaitTextReader *plait_text_reader_join_trees (PlaitTextReader *lines, gboolean may_wait);

void plait_text_reader_free (PlaitTextReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitTextReader, plait_text_reader_free)

/* Returns the next line, without its line end, NUL-terminated, valid until the next call; for a column, until the next
 * call for any column of the file. Sets *@length to its length in bytes, unless @length is NULL. Returns NULL at the
 * end without setting @error, and NULL with @error set on failure. */
const char *plait_text_reader_next (PlaitTextReader *reader, gsize *length, GError **error);

/* Returns the number of the last line that was read, from 1; of a tree, the number of its first line. */
gint64 plait_text_reader_line (const PlaitTextReader *reader);

/* Returns the path or name to show in messages. (transfer none) */
const char *plait_text_reader_name (const PlaitTextReader *reader);

/* Reads all lines of the file at @path. With @pipes it may be a pipe, and "-" is standard input. Fails above @maximum
 * bytes, so that an endless device is an error. (transfer full) */
char **plait_text_file_lines (const char *path, gboolean pipes, gsize maximum, GError **error);
