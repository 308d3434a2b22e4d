/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/words.h"

/*
 * Lines of UTF-8 text from a file or a pipe, plain or gzip (told by its first two bytes), one at a time.
 *
 * A line ends with LF; a CR right before it belongs to the line end, so CRLF files read the same. Other CRs, and all
 * Unicode separators, are ordinary text: files stay aligned with what wc -l counts. A last line without LF counts. A
 * byte order mark at the start is dropped.
 *
 * Refused, each with file and line: bytes that are not UTF-8, NUL, a line above PLAIT_TEXT_LINE_LIMIT, gzip data that
 * is damaged or ends early. Memory stays below twice the line limit, whatever the file.
 */
#define PLAIT_TEXT_LINE_LIMIT (1024 * 1024) /* bytes */

typedef struct PlaitTextReader PlaitTextReader;

/* Opens the regular file at @path. Devices, pipes and folders are refused (they cannot be read a second time).
 * (transfer full) */
PlaitTextReader *plait_text_reader_open (const char *path, GError **error);

/* Opens @path, which may be a pipe, to be read once; "-" is standard input, which stays open. A line is given as soon
 * as it has arrived. A signal whose handler does not restart calls ends the wait with PLAIT_ERROR_INTERRUPTED.
 * (transfer full) */
PlaitTextReader *plait_text_reader_open_pipe (const char *path, GError **error);

/* Opens @path likewise, whose lines are @n fields that tabs part, as a reader each (PlaitTextReader). They are to be
 * read line by line, each once a line, in any order; what is refused is told by the first. (transfer full) */
GPtrArray *plait_text_reader_open_columns (const char *path, guint n, GError **error);

/* A reader whose lines are the trees of @lines, each of which may go over several lines of the file (tree-lines.h).
 * @may_wait: a pipe may be read ahead of what is asked for, as a file is. Takes @lines; returns them as they are if
 * they are a column. (transfer full) */
PlaitTextReader *plait_text_reader_join_trees (PlaitTextReader *lines, gboolean may_wait);

void plait_text_reader_free (PlaitTextReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitTextReader, plait_text_reader_free)

/* The next line, without its end, NUL-terminated, valid until the next call; @length (may be NULL) receives its bytes.
 * NULL at the end, with @error left alone, and NULL with @error set on failure. */
const char *plait_text_reader_next (PlaitTextReader *reader, gsize *length, GError **error);

/* The number of lines read so far: of the line last given, counting from 1; of a tree, of its first line. */
gint64 plait_text_reader_line (const PlaitTextReader *reader);

/* The path or name that messages show. (transfer none) */
const char *plait_text_reader_name (const PlaitTextReader *reader);

/* Reads all lines of the file at @path, as a reader gives them; with @pipes it may be a pipe, and "-" is standard
 * input. Refuses more than @maximum bytes: no device goes on for ever. (transfer full) */
char **plait_text_file_lines (const char *path, gboolean pipes, gsize maximum, GError **error);
