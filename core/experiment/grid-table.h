/* SPDX-License-Identifier: MIT */
#pragma once

#include "evaluate/statistics.h"
#include "experiment/grid.h"

/*
 * The table of a grid: a row for each combination of the values of all axes but experiment.seed, a mean and a spread
 * over the seeds for each metric of each test split.
 *
 * A row is tested against the first one by approximate randomisation of the hypotheses of the seeds that both have: a
 * sentence changes sides with all its seeds at once, so p speaks of these trained models on other sentences; what other
 * seeds would give is told by the spread. p is adjusted by Holm's method over the rows of one metric.
 */

typedef struct
{
  guint n; /* seeds */
  double mean;
  double deviation;  /* sample standard deviation over seeds; NaN for one */
  double low, high;  /* for one seed: its bootstrap interval; else NaN */
  gboolean compared; /* with the first row */
  PlaitComparison comparison;
} PlaitGridValue;

typedef struct
{
  const char **values; /* [n_axes], of the axes of the table */
  guint n;             /* finished cells */
  guint n_cells;
  gint64 parameters;        /* of the first finished cell; -1: none */
  double rate;              /* median target tokens per second over all seeds; NaN: none */
  PlaitGridValue *measured; /* [n_measures] */
} PlaitGridRow;

typedef struct
{
  guint n_axes;
  const char **axes; /* keys, [n_axes] */
  guint n_measures;
  PlaitMeasure *measures;
  gboolean one_split;
  guint n_rows;
  PlaitGridRow *rows;
} PlaitGridTable;

/* The table of the cells that are finished and whose results are read; its strings are the grid's. (transfer full)
 */
PlaitGridTable *plait_grid_table_new (const PlaitGrid *grid, GError **error);
void plait_grid_table_free (PlaitGridTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitGridTable, plait_grid_table_free)

/* "BLEU", or "test2016 BLEU" where there are several splits. (transfer full) */
char *plait_grid_measure_title (const PlaitGridTable *table, const PlaitMeasure *measure);

/* "34.50 ± 0.31" over seeds, "34.50 [33.30, 35.70]" of one, "–" of none. (transfer full) */
char *plait_grid_value_text (const PlaitGridValue *value);

/* "0.0123", with " *" behind it if it is below .05 after adjustment; "–" where nothing was compared. (transfer full) */
char *plait_grid_value_p (const PlaitGridValue *value);

/* What the marks of the table mean, as a sentence or two. (transfer none) */
const char *plait_grid_table_legend (void);

/* The numbers of a table by columns, as files have them. */
typedef struct
{
  char *name;     /* "test BLEU standard deviation" */
  gboolean whole; /* integers */
  double *values; /* [n_rows]; NaN: none */
} PlaitGridColumn;

/* (transfer full) (element-type PlaitGridColumn) */
GPtrArray *plait_grid_table_columns (const PlaitGridTable *table);

/* With all digits; a header line. (transfer full) */
char *plait_grid_table_csv (const PlaitGridTable *table);

/* (transfer full) */
char *plait_grid_table_markdown (const PlaitGridTable *table, const char *title);

/*
 * Files in the grid's folder, each replaced as a whole.
 */

/* Writes table.csv and table.md. */
gboolean plait_grid_write_tables (const PlaitGrid *grid, const PlaitGridTable *table, GError **error);

/* Writes grid.h5: attributes name, version and experiment; /axes/KEY; the table /cells and, unless @table is NULL,
 * /summary; /runs/NAME, external links to finished cells, the first of which viewers open. */
gboolean plait_grid_write (const PlaitGrid *grid, const PlaitGridTable *table, GError **error);
