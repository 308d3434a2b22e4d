/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/json.h"

/*
 * A table for people and programs: columns, typed cells, notes. The caller adds cells row by row. Cells store numbers,
 * not their text. Writers turn a table into text: terminal/table-print.h for terminals, report/html.h for HTML; the
 * functions at the end of this file for Markdown, LaTeX, CSV and JSON.
 */

/* Content of a column; decides alignment and how it may be shortened. */
typedef enum
{
  PLAIT_TABLE_WORDS,   /* names */
  PLAIT_TABLE_COUNTS,  /* integers; aligned right and never cut, like all numbers */
  PLAIT_TABLE_NUMBERS, /* real numbers, scores, p values, or text */
  PLAIT_TABLE_CODE,    /* keys and values as written in a file */
  PLAIT_TABLE_PATHS,
  PLAIT_TABLE_PROSE, /* sentences */
} PlaitTableKind;

typedef enum
{
  PLAIT_TABLE_PLAIN,
  PLAIT_TABLE_HEADING,
  PLAIT_TABLE_NAME, /* cell with the name of the row's subject */
  PLAIT_TABLE_DIM,  /* less important text */
  PLAIT_TABLE_BAD,  /* text that says that something is missing */
} PlaitTableStyle;

/* Score that is highlighted as the best one of its column. */
typedef enum
{
  PLAIT_TABLE_NO_BEST,
  PLAIT_TABLE_LARGEST,
  PLAIT_TABLE_SMALLEST,
} PlaitTableBest;

typedef struct
{
  char *title; /* title of the column; "" if there is no title */
  PlaitTableKind kind;
  const char *format;  /* printf format of real numbers and scores, for g_ascii_formatd; "%.2f" by default */
  PlaitTableBest best; /* PLAIT_TABLE_NO_BEST by default */
  gboolean has_plots;  /* TRUE if writers that can draw add a plot to each score */
} PlaitTableColumn;

/* A number with its uncertainty. */
typedef struct
{
  double value;
  double spread;    /* standard deviation, shown as "1.50 ± 0.25"; NaN if unknown */
  double low, high; /* interval, shown as "1.50 [1.25, 1.75]" if @spread is NaN and low < high */
} PlaitTableScore;

typedef enum
{
  PLAIT_TABLE_CELL_EMPTY,
  PLAIT_TABLE_CELL_NONE, /* the number does not exist; shown as "–" */
  PLAIT_TABLE_CELL_TEXT,
  PLAIT_TABLE_CELL_INTEGER,
  PLAIT_TABLE_CELL_REAL,
  PLAIT_TABLE_CELL_SCORE,
  PLAIT_TABLE_CELL_P,
  PLAIT_TABLE_CELL_GAP, /* a text across all columns in place of left-out rows */
} PlaitTableCellKind;

/* Mark after a p value: how the subject of the row differs, if significantly. */
typedef enum
{
  PLAIT_TABLE_UNMARKED,
  PLAIT_TABLE_MARKED, /* significantly different, but neither better nor worse */
  PLAIT_TABLE_BETTER,
  PLAIT_TABLE_WORSE,
} PlaitTableMark;

typedef struct
{
  guint8 kind;  /* kind of the cell: PlaitTableCellKind */
  guint8 style; /* style of a text: PlaitTableStyle */
  gint16 run;   /* number of the run that the text names, for the run's colour in HTML; -1 if the text names no run */
  guint8 mark;  /* PlaitTableMark, for a p value */
  union
  {
    const char *text;
    gint64 integer;
    double real;
    const PlaitTableScore *score;
  };
} PlaitTableCell;

typedef struct
{
  char *title;     /* title of the table on a terminal and in HTML; NULL: no title */
  GArray *columns; /* (element-type PlaitTableColumn) */
  GArray *cells;   /* (element-type PlaitTableCell); a gap is one cell for a whole row */
  guint gaps;
  GPtrArray *notes; /* paragraphs below the table (element-type utf8) */
  GStringChunk *texts;
  GPtrArray *scores;
} PlaitTable;

/* Returns an empty table. (transfer full) */
PlaitTable *plait_table_new (void);
void plait_table_free (PlaitTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitTable, plait_table_free)

/* Adds a column. Add all columns before the first cell. (transfer none): valid until the next column is added. */
PlaitTableColumn *plait_table_column (PlaitTable *table, PlaitTableKind kind, const char *title);

/*
 * Functions that add the next cell, row by row from the left, or a note
 */

/* Adds a text; an empty cell if @text is NULL. */
void plait_table_text (PlaitTable *table, PlaitTableStyle style, const char *text);
void plait_table_integer (PlaitTable *table, PlaitTableStyle style, gint64 integer);

/* Adds a real number. Infinite and undefined ones are shown as "inf", "-inf" or "nan". */
void plait_table_real (PlaitTable *table, double real);

/* Adds a real number, or the cell of plait_table_none if it is NaN. */
void plait_table_real_or_none (PlaitTable *table, double real);

/* Adds a score, or the cell of plait_table_none if its value is NaN. */
void plait_table_score (PlaitTable *table, PlaitTableScore score);

/* Adds a p value, shown as "0.0123" or "< 0.0001" with its mark. */
void plait_table_p (PlaitTable *table, double p, PlaitTableMark mark);

/* Adds a cell "–": the number does not exist. */
void plait_table_none (PlaitTable *table);

/* Adds the name of run number @run. HTML shows the run's colour before the name. */
void plait_table_run (PlaitTable *table, const char *name, guint run);

/* Adds @text across all columns in place of left-out rows. The previous row must be complete. */
void plait_table_gap (PlaitTable *table, const char *text);

/* Adds a paragraph below the table. */
void plait_table_note (PlaitTable *table, const char *text);

/*
 * Functions for code that writes tables
 */

/* Returns the number of rows, without gaps. */
guint plait_table_rows (const PlaitTable *table);

/* Returns a cell. The table must not have gaps. (transfer none) */
const PlaitTableCell *plait_table_cell (const PlaitTable *table, guint row, guint column);

static inline const PlaitTableColumn *
plait_table_get_column (const PlaitTable *table, guint column)
{
  return &g_array_index (table->columns, PlaitTableColumn, column);
}

static inline gboolean
plait_table_is_number (const PlaitTableColumn *column)
{
  return column->kind == PLAIT_TABLE_COUNTS || column->kind == PLAIT_TABLE_NUMBERS;
}

/* TRUE if any column has a title. */
gboolean plait_table_is_titled (const PlaitTable *table);

/* Formats a cell for people, without the mark of a p value. (transfer full) */
char *plait_table_cell_text (const PlaitTableColumn *column, const PlaitTableCell *cell);

/* Formats a score such as "1.50 ± 0.25"; @format is the printf format of its numbers. (transfer full) */
char *plait_table_score_text (const char *format, PlaitTableScore score);

/* Returns the mark after the text of @cell: "", or for a marked p value " *", " * better" or " * worse". (transfer
 * none) */
const char *plait_table_cell_mark (const PlaitTableCell *cell);

/*
 * Functions that write a table as text. The table must not have gaps.
 */

/* Writes the table and its notes as Markdown. (transfer full) */
char *plait_table_markdown (const PlaitTable *table);

/* Writes a LaTeX tabular that needs no package. The notes are comments below it. (transfer full) */
char *plait_table_latex (const PlaitTable *table);

/* Writes CSV (RFC 4180, but lines end with LF) with a header line: numbers with all digits, unknown numbers empty, no
 * notes. Text that a spreadsheet would run as a formula begins with an apostrophe. (transfer full) */
char *plait_table_csv (const PlaitTable *table);

/* Adds two members to the open object: "rows", the number of rows, and "columns", an object of arrays by title. Numbers
 * have all digits; unknown, infinite and undefined numbers are null. */
void plait_table_add_json (const PlaitTable *table, PlaitJson *json);
