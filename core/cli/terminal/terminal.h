/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/*
 * Writes text for users to stdout: headings, columns, paragraphs wrapped to the width of the terminal. Uses colour only
 * on a terminal, if NO_COLOR is empty or unset and TERM is not "dumb". Replaces control characters in all text
 * (text/display.h), so that no schema or file can control the terminal.
 */
typedef struct PlaitTerminal PlaitTerminal;

typedef enum
{
  PLAIT_TERMINAL_PLAIN,
  PLAIT_TERMINAL_HEADING,
  PLAIT_TERMINAL_NAME,
  PLAIT_TERMINAL_DIM,
  PLAIT_TERMINAL_ERROR,
} PlaitTerminalStyle;

/* Returns a writer to stdout. (transfer full) */
PlaitTerminal *plait_terminal_new (void);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitTerminal, g_free)

/* Returns the number of columns for tables and pictures: the width of the terminal, or G_MAXSIZE if stdout is not a
 * terminal, because other programs should get all columns. */
gsize plait_terminal_width (const PlaitTerminal *terminal);

gboolean plait_terminal_has_colour (const PlaitTerminal *terminal);

/* Prints @text in colour @ink on colour @ground, two of the terminal's 256 colours. May be called only if the terminal
 * has colour. */
void plait_terminal_shade (PlaitTerminal *terminal, guint ground, guint ink, const char *text);

/* Prints formatted text, which may contain line breaks. */
void plait_terminal_text (PlaitTerminal *terminal, PlaitTerminalStyle style, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

/* Prints a heading line, with a capital first letter. Prints an empty line before it, unless it is the first output. */
void plait_terminal_heading (PlaitTerminal *terminal, const char *text);

/* Prints @text, wrapped between words, and ends the line. The first line begins at @column, after text that was already
 * printed; the other lines begin at @indent. */
void plait_terminal_paragraph (PlaitTerminal *terminal, guint column, guint indent, const char *text);

/* Prints "  label     text": the label, and at its right the text as a paragraph. Prints nothing if @text is NULL. */
void plait_terminal_row (PlaitTerminal *terminal, guint label_width, const char *label, const char *text);

/* Prints a row for each of @lines, which are separated by ';', with @label at the left of the first. Prints nothing if
 * @lines is NULL. */
void plait_terminal_list (PlaitTerminal *terminal, guint label_width, const char *label, const char *lines);
