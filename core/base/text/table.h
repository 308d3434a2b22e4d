/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/json.h"

/*
 * A table for people or programs: columns, typed cells, notes. Whoever has something to tell fills one, cell by cell,
 * row by row; a writer makes it text: the terminal's is in terminal/table-print.h, HTML's in report/html.h, Markdown's,
 * LaTeX's, CSV's and JSON's are below. Cells keep what they mean (a score with its interval, a p) until then.
 */

/* What stands in a column. */
typedef enum
{
  PLAIT_TABLE_WORDS,   /* names */
  PLAIT_TABLE_COUNTS,  /* integers; as all numbers aligned at their ends and never cut */
  PLAIT_TABLE_NUMBERS, /* real numbers, scores, p; also as text */
  PLAIT_TABLE_CODE,    /* keys and values as a file has them */
  PLAIT_TABLE_PATHS,   /* of files */
  PLAIT_TABLE_PROSE,   /* sentences */
} PlaitTableKind;

typedef enum
{
  PLAIT_TABLE_PLAIN,
  PLAIT_TABLE_HEADING,
  PLAIT_TABLE_NAME, /* what its row is about */
  PLAIT_TABLE_DIM,  /* of less weight */
  PLAIT_TABLE_BAD,  /* something is missing */
} PlaitTableStyle;

/* Which score of a column is the best one, where one is to stand out. */
typedef enum
{
  PLAIT_TABLE_NO_BEST,
  PLAIT_TABLE_LARGEST,
  PLAIT_TABLE_SMALLEST,
} PlaitTableBest;

typedef struct
{
  char *title; /* "": none */
  PlaitTableKind kind;
  const char *format;  /* of its numbers, as for g_ascii_formatd; "%.2f" unless set */
  PlaitTableBest best; /* unless set, none */
  gboolean has_plots;  /* where there are pictures, its scores have one beside them */
} PlaitTableColumn;

/* A number and what is known of its uncertainty. */
typedef struct
{
  double value;
  double spread;    /* "1.50 ± 0.25"; NaN: none */
  double low, high; /* "1.50 [1.25, 1.75]" if there is no spread; none unless low < high */
} PlaitTableScore;

typedef enum
{
  PLAIT_TABLE_CELL_EMPTY,
  PLAIT_TABLE_CELL_NONE, /* there is no such number: "–" */
  PLAIT_TABLE_CELL_TEXT,
  PLAIT_TABLE_CELL_INTEGER,
  PLAIT_TABLE_CELL_REAL,
  PLAIT_TABLE_CELL_SCORE,
  PLAIT_TABLE_CELL_P,
  PLAIT_TABLE_CELL_GAP, /* stands for whole rows */
} PlaitTableCellKind;

/* What a significant p says of its row. */
typedef enum
{
  PLAIT_TABLE_UNMARKED,
  PLAIT_TABLE_MARKED, /* not which way */
  PLAIT_TABLE_BETTER,
  PLAIT_TABLE_WORSE,
} PlaitTableMark;

typedef struct
{
  guint8 kind;  /* PlaitTableCellKind */
  guint8 style; /* PlaitTableStyle */
  gint16 run;   /* the text names the run of that number; -1: it does not */
  guint8 mark;  /* PlaitTableMark, of a p */
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
  char *title;     /* of the whole, which printers show; NULL: none */
  GArray *columns; /* PlaitTableColumn */
  GArray *cells;   /* PlaitTableCell; a gap is one that takes a row */
  guint gaps;
  GPtrArray *notes; /* (element-type utf8) */
  GStringChunk *texts;
  GPtrArray *scores;
} PlaitTable;

/* (transfer full) */
PlaitTable *plait_table_new (void);
void plait_table_free (PlaitTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitTable, plait_table_free)

/* One more column. All columns before the first cell. (transfer none): until the next one is added */
PlaitTableColumn *plait_table_column (PlaitTable *table, PlaitTableKind kind, const char *title);

/*
 * The next cell, row by row from the left.
 */

/* NULL leaves the cell empty. */
void plait_table_text (PlaitTable *table, PlaitTableStyle style, const char *text);
void plait_table_integer (PlaitTable *table, PlaitTableStyle style, gint64 integer);

/* What is not finite is told as "inf", "-inf" or "nan". */
void plait_table_real (PlaitTable *table, double real);

/* The same, but a NaN says that there is no such number. */
void plait_table_real_or_none (PlaitTable *table, double real);

/* A NaN: there is no such score. */
void plait_table_score (PlaitTable *table, PlaitTableScore score);

/* "0.0123" or "< 0.0001", then the mark. */
void plait_table_p (PlaitTable *table, double p, PlaitTableMark mark);

/* There is no such number: "–". */
void plait_table_none (PlaitTable *table);

/* The name of a run; where there is colour, each @run has its own. */
void plait_table_run (PlaitTable *table, const char *name, guint run);

/* A line across all columns where rows are left out. After a whole row. */
void plait_table_gap (PlaitTable *table, const char *text);

/* A sentence or two below the table. */
void plait_table_note (PlaitTable *table, const char *text);

/*
 * Reading, for writers.
 */

/* Without gaps. */
guint plait_table_rows (const PlaitTable *table);

/* The cell of row @row and column @column of a table without gaps. */
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

/* The cell as people read it, all but the mark of a p. (transfer full) */
char *plait_table_cell_text (const PlaitTableColumn *column, const PlaitTableCell *cell);

/* "1.50 ± 0.25" and so on. (transfer full) */
char *plait_table_score_text (const char *format, PlaitTableScore score);

/* What stands after the text of @cell: "", or of a p that is marked " *", " * better", " * worse". (transfer none) */
const char *plait_table_cell_mark (const PlaitTableCell *cell);

/*
 * Writers
 */

/* With its notes. (transfer full) */
char *plait_table_markdown (const PlaitTable *table);

/* A tabular of LaTeX, which needs no package; its notes are comments below it. (transfer full) */
char *plait_table_latex (const PlaitTable *table);

/* RFC 4180 with a header line, numbers with all their digits, what is not known empty; without notes. Text that a
 * spreadsheet would run as a formula begins with an apostrophe. (transfer full) */
char *plait_table_csv (const PlaitTable *table);

/* Adds to the object that is open "rows", their number, and "columns", an object of arrays by title; numbers with all
 * their digits, null for what is not known. */
void plait_table_add_json (const PlaitTable *table, PlaitJson *json);
