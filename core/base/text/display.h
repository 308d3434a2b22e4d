/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>
#include <stdio.h>

/*
 * Text for a terminal: its width in columns, equal in all locales, and the replacement of characters that control the
 * terminal. Text for a pipe or a file is written unchanged.
 */

/* TRUE if @stream is a terminal that a person looks at. A launcher of several processes (text/launcher.h) may give them
 * terminals and redirect their output into files, so under a launcher the result is FALSE. */
gboolean plait_display_is_terminal (FILE *stream);

/* TRUE if @character could control or confuse a terminal: control characters, line and paragraph separators, changes of
 * the writing direction. */
gboolean plait_display_is_unsafe (gunichar character);

/* Returns @text with U+FFFD for unsafe characters (plait_display_is_unsafe) and for bytes that are not UTF-8.
 * @keep_lines keeps line breaks and tabs. (transfer full) */
char *plait_display_sanitise (const char *text, gboolean keep_lines);

/* Writes @text: sanitised, with its lines kept, if @stream is a terminal; else unchanged. */
void plait_display_text (FILE *stream, const char *text);

/* Writes @text like plait_display_text, and a line break if it does not end with one. */
void plait_display_line (FILE *stream, const char *text);

/* Returns the columns of one character on a terminal: 0, 1 or 2. */
guint plait_display_character_width (gunichar character);

/* Returns the columns of @text, valid UTF-8, on a terminal. */
gsize plait_display_width (const char *text);

/* Returns @text if it has at most @columns columns; else its beginning and "…", together at most @columns. (transfer
 * full) */
char *plait_display_truncate (const char *text, gsize columns);

/* Returns @text if it has at most @columns columns; else its beginning, "…" and its end, so that names with a common
 * beginning still differ. (transfer full) */
char *plait_display_truncate_middle (const char *text, gsize columns);

/* Appends @text and blanks, @columns columns in all. The blanks come after @text, or before it if @right. A @text wider
 * than @columns is appended unchanged. */
void plait_display_pad (GString *line, const char *text, gsize columns, gboolean right);
