/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>
#include <stdio.h>

/*
 * Text as a terminal shows it, in columns: a wide character takes two, a combining one none. The same in every locale.
 *
 * What goes to a terminal is harmless there; what goes to a pipe or a file is exact.
 */

/* TRUE if @stream is a terminal that a person looks at. What starts several processes (text/launcher.h) may give them
 * terminals of its own, and write to a file what they say there. */
gboolean plait_display_is_terminal (FILE *stream);

/* TRUE if @character would command or confuse a terminal: control characters, line and paragraph separators, changes of
 * the writing direction. */
gboolean plait_display_is_unsafe (gunichar character);

/* @text with such characters, and bytes that are not UTF-8, replaced by U+FFFD. With @keep_lines line breaks and tabs
 * stay. (transfer full) */
char *plait_display_sanitise (const char *text, gboolean keep_lines);

/* Writes @text: to a terminal cleaned, with its lines kept, to anything else as it is. */
void plait_display_text (FILE *stream, const char *text);

/* The same, and a line break unless it ends with one. */
void plait_display_line (FILE *stream, const char *text);

/* The columns of one character: 0, 1 or 2. */
guint plait_display_character_width (gunichar character);

/* The columns of @text, which is valid UTF-8. */
gsize plait_display_width (const char *text);

/* @text if it has at most @columns columns, else its beginning and "…", as wide as fits. (transfer full) */
char *plait_display_truncate (const char *text, gsize columns);

/* The same with both ends kept and "…" between them: names that begin alike stay apart. (transfer full) */
char *plait_display_truncate_middle (const char *text, gsize columns);

/* Appends @text and blanks, or blanks and @text with @right, that make it @columns wide; @text alone if it is wider. */
void plait_display_pad (GString *line, const char *text, gsize columns, gboolean right);
