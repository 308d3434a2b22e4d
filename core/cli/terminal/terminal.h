/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/*
 * Text for people on stdout: headings, columns, paragraphs broken to the terminal's width. Colour only on a terminal,
 * and not where NO_COLOR is set or TERM is dumb. What is printed is cleaned first (text/display.h), so no schema or
 * file can command the terminal.
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

/* (transfer full) */
PlaitTerminal *plait_terminal_new (void);
void plait_terminal_free (PlaitTerminal *terminal);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitTerminal, plait_terminal_free)

/* The columns that a table or a picture may fill: those of the terminal; off a terminal there is no limit
 * (G_MAXSIZE), because whoever reads on wants everything. */
gsize plait_terminal_width (const PlaitTerminal *terminal);

/* TRUE if colour is used. */
gboolean plait_terminal_has_colour (const PlaitTerminal *terminal);

/* @text in colour @ink of a terminal's 256 on colour @ground. With colour only. */
void plait_terminal_shade (PlaitTerminal *terminal, guint ground, guint ink, const char *text);

/* Text as it stands, line breaks included. */
void plait_terminal_text (PlaitTerminal *terminal, PlaitTerminalStyle style, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

/* A heading on a line of its own, with a free line before it unless it is the first. */
void plait_terminal_heading (PlaitTerminal *terminal, const char *text);

/* @text broken between words, ended by a line break. @column is where the first line begins (what stands before it is
 * printed already), @indent where the others do. */
void plait_terminal_paragraph (PlaitTerminal *terminal, guint column, guint indent, const char *text);

/* "  label     text", the text a paragraph beside the label. Nothing if @text is NULL. */
void plait_terminal_row (PlaitTerminal *terminal, guint label_width, const char *label, const char *text);

/* Such rows, one for each line between the ';' of @lines (NULL: none), the label beside the first. */
void plait_terminal_list (PlaitTerminal *terminal, guint label_width, const char *label, const char *lines);
