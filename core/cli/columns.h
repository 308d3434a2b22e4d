/* SPDX-License-Identifier: MIT */
#pragma once

#include "cli/page.h"

/*
 * A table of text for people: columns aligned by what the terminal shows, cut to its width.
 */
typedef struct PlaitColumns PlaitColumns;

typedef enum
{
  PLAIT_COLUMN_LEFT,
  PLAIT_COLUMN_RIGHT, /* numbers */
} PlaitColumnSide;

/* (transfer full) */
PlaitColumns *plait_columns_new (void);
void plait_columns_free (PlaitColumns *columns);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitColumns, plait_columns_free)

/* One more column with @title as its head. All columns before the first cell. */
void plait_columns_add (PlaitColumns *columns, const char *title, PlaitColumnSide side);

/* The next cell, row by row from the left. @text is cleaned; NULL leaves the cell empty. */
void plait_columns_cell (PlaitColumns *columns, PlaitPageStyle style, const char *text);

/* A line across all columns where rows are left out. After a whole row. */
void plait_columns_gap (PlaitColumns *columns, const char *text);

/* Prints everything, indented by two. On a terminal text is cut until the table fits; columns that still do not fit
 * follow below, beside the first one again. */
void plait_columns_print (const PlaitColumns *columns, PlaitPage *page);
