/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/*
 * Text as a terminal shows it, in columns: a wide character takes two, a combining one none. The same in every locale.
 */

/* @text with what would command or confuse the terminal (control characters, bytes that are not UTF-8, line and
 * paragraph separators, changes of the writing direction) replaced by U+FFFD. With @keep_lines line breaks and tabs
 * stay. (transfer full) */
char *plait_display_clean (const char *text, gboolean keep_lines);

/* The columns of one character: 0, 1 or 2. */
guint plait_display_character_width (gunichar character);

/* The columns of @text, which is valid UTF-8. */
gsize plait_display_width (const char *text);

/* @text if it has at most @columns columns, else its beginning and "…", as wide as fits. (transfer full) */
char *plait_display_cut (const char *text, gsize columns);

/* The same with both ends kept and "…" between them: names that begin alike stay apart. (transfer full) */
char *plait_display_cut_middle (const char *text, gsize columns);

/* Appends @text and blanks, or blanks and @text with @right, that make it @columns wide; @text alone if it is wider. */
void plait_display_pad (GString *line, const char *text, gsize columns, gboolean right);
