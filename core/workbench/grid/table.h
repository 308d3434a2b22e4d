/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/table.h"
#include "grid/grid.h"
#include "run/seed-statistics.h"

/*
 * The table of a grid: a row for each combination of the values of all axes but experiment.seed, a mean and a spread
 * over the seeds for each metric of each test split.
 *
 * A row is tested against the first one, over the seeds that each has finished: by a t test over seeds and sentences
 * (significance/seeds.h), or, where both have a single one, by approximate randomisation, which speaks of these trained
 * models on other sentences. p is adjusted by Holm's method over the rows of one metric. Cells over other references of
 * a split have measures of their own, which are tested against the first row that has them.
 */

typedef struct
{
  const char **values; /* [n_axes], of the axes of the table */
  guint n;             /* finished cells */
  guint n_cells;
  gint64 parameters;                    /* of the first finished cell; -1: none */
  double rate;                          /* median target tokens per second over all seeds; NaN: none */
  PlaitSeedStatistics *seed_statistics; /* [n_score_columns] */
} PlaitGridRow;

typedef struct
{
  guint n_axes;
  const char **axes; /* keys, [n_axes] */
  guint n_score_columns;
  PlaitScoreColumn *score_columns;
  gboolean one_split;
  guint n_rows;
  PlaitGridRow *rows;
  char **notes; /* sentences that belong below the table, NULL-terminated */
} PlaitGridTable;

/* The table of the cells that are finished and whose results are read; its strings are the grid's. (transfer full) */
PlaitGridTable *plait_grid_table_new (const PlaitGrid *grid, GError **error);
void plait_grid_table_free (PlaitGridTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitGridTable, plait_grid_table_free)

/* As people read it: one table, or, where cells have other references of a split, one for each of these too, of the
 * cells that have them. (transfer full) (element-type PlaitTable) */
GPtrArray *plait_grid_tables_shown (const PlaitGridTable *table);

/* All its numbers, each in a column of its own, "test BLEU standard deviation", as files have them. (transfer full) */
PlaitTable *plait_grid_table_numbers (const PlaitGridTable *table);

/*
 * Files in the grid's folder, each replaced as a whole.
 */

/* Writes table.csv, table.md and table.tex. */
gboolean plait_grid_write_tables (const PlaitGrid *grid, const PlaitGridTable *table, GError **error);

/* Writes grid.h5: attributes name, version and experiment; /axes/KEY; the table /cells; the table /same of cells that
 * are left out, if there are; unless @table is NULL, /summary with its attribute notes; /runs/NAME, external links to
 * finished cells, the first of which viewers open. */
gboolean plait_grid_write (const PlaitGrid *grid, const PlaitGridTable *table, GError **error);
