/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/*
 * Text for people on stdout: headings, columns, paragraphs broken to the terminal's width. Colour only on a terminal,
 * and not where NO_COLOR is set or TERM is dumb. What is printed is cleaned first (text/display.h), so no schema or
 * file can command the terminal.
 */
typedef struct PlaitPage PlaitPage;

typedef enum
{
  PLAIT_PAGE_PLAIN,
  PLAIT_PAGE_HEADING,
  PLAIT_PAGE_NAME,
  PLAIT_PAGE_DIM,
  PLAIT_PAGE_BAD,
} PlaitPageStyle;

/* (transfer full) */
PlaitPage *plait_page_new (void);
void plait_page_free (PlaitPage *page);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitPage, plait_page_free)

/* The columns that a table or a picture may fill: those of the terminal; off a terminal there is no limit
 * (G_MAXSIZE), because whoever reads on wants everything. */
gsize plait_page_room (const PlaitPage *page);

/* TRUE if colour is used. */
gboolean plait_page_has_colour (const PlaitPage *page);

/* @text in colour @ink of a terminal's 256 on colour @ground. With colour only. */
void plait_page_shade (PlaitPage *page, guint ground, guint ink, const char *text);

/* Text as it stands, line breaks included. */
void plait_page_text (PlaitPage *page, PlaitPageStyle style, const char *format, ...) G_GNUC_PRINTF (3, 4);

/* A heading on a line of its own, with a free line before it unless it is the first. */
void plait_page_heading (PlaitPage *page, const char *text);

/* @text broken between words, ended by a line break. @column is where the first line begins (what stands before it is
 * printed already), @indent where the others do. */
void plait_page_paragraph (PlaitPage *page, guint column, guint indent, const char *text);

/* "  label     text", the text a paragraph beside the label. Nothing if @text is NULL. */
void plait_page_row (PlaitPage *page, guint label_width, const char *label, const char *text);

/* Such rows, one for each line between the ';' of @lines (NULL: none), the label beside the first. */
void plait_page_list (PlaitPage *page, guint label_width, const char *label, const char *lines);
