/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/table.h"
#include "grid/grid.h"
#include "run/seed-statistics.h"

/*
 * The table of a grid: a row for each combination of axis values without the seed, with mean and spread over seeds for
 * each metric of each test split.
 *
 * A test compares each row with the first row, over all finished seeds. If each of the two rows has one seed, the test
 * is approximate randomisation, which generalises to other sentences but not to other seeds; else the test is a t test
 * over seeds and sentences (significance/seeds.h). Holm's method adjusts p over the rows of one metric. Scores with
 * other references for a split have columns of their own; the first row with a score in such a column is its baseline.
 */

typedef struct
{
  const char **values; /* [n_axes]: the row's values of the table's axes */
  guint n;             /* number of finished cells in the row */
  guint n_cells;
  gint64 parameters; /* number of parameters of a finished cell of the row; -1: no cell is finished */
  double rate;       /* median target tokens per second over the training tables of all seeds; NaN: unknown */
  PlaitSeedStatistics *seed_statistics; /* [n_score_columns] */
} PlaitGridRow;

typedef struct
{
  guint n_axes;
  const char **axes; /* [n_axes]: keys of the axes, without the seed */
  guint n_score_columns;
  PlaitScoreColumn *score_columns;
  gboolean one_split;
  guint n_rows;
  PlaitGridRow *rows;
  char **notes; /* sentences that stand below the table, NULL-terminated */
} PlaitGridTable;

/* Makes the table from the results in @grid. The keys and values of its axes belong to @grid. (transfer full) */
PlaitGridTable *plait_grid_table_new (const PlaitGrid *grid, GError **error);
void plait_grid_table_free (PlaitGridTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitGridTable, plait_grid_table_free)

/* Returns the tables as users see them. One table shows all splits whose references are equal in all cells. Every other
 * split has a table for each set of references. (transfer full) (element-type PlaitTable) */
GPtrArray *plait_grid_tables_shown (const PlaitGridTable *table);

/* Returns the table as files store it: each number in a column of its own, such as "test BLEU standard deviation".
 * (transfer full) */
PlaitTable *plait_grid_table_numbers (const PlaitGridTable *table);

/* Writes table.csv, table.md and table.tex to the grid's folder, each replaced as a whole. */
gboolean plait_grid_write_tables (const PlaitGrid *grid, const PlaitGridTable *table, GError **error);

/* Writes grid.h5 to the grid's folder. It has the attributes name, version and experiment; /axes/KEY; the table /cells;
 * the table /same of cells left out as duplicates, if any; /summary with its attribute notes, unless @table is NULL;
 * and /runs/NAME, external links to finished runs. */
gboolean plait_grid_write (const PlaitGrid *grid, const PlaitGridTable *table, GError **error);
