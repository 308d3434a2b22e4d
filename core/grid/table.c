/* SPDX-License-Identifier: MIT */
#include "grid/table.h"

#include "evaluate/seeds.h"

#include <math.h>

#define SEED_AXIS "experiment.seed"

/* Which axes make rows. */
typedef struct
{
  guint n;
  guint *axes; /* [n]: places in the grid's list */
} RowAxes;

static void
row_axes_clear (RowAxes *rows)
{
  g_free (rows->axes);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (RowAxes, row_axes_clear)

static RowAxes
row_axes (const PlaitCells *cells)
{
  RowAxes rows = { 0, g_new (guint, cells->n_axes) };

  for (guint a = 0; a < cells->n_axes; a++)
    if (!g_str_equal (cells->axes[a].key, SEED_AXIS))
      rows.axes[rows.n++] = a;
  return rows;
}

static gboolean
same_row (const RowAxes *rows, const PlaitExperimentCell *a, const PlaitExperimentCell *b)
{
  for (guint i = 0; i < rows->n; i++)
    if (a->places[rows->axes[i]] != b->places[rows->axes[i]])
      return FALSE;
  return TRUE;
}

/* The cells of each row, rows in the order of their first cells. (element-type GPtrArray of PlaitGridCell) */
static GPtrArray *
group_cells (const PlaitGrid *grid, const RowAxes *axes)
{
  GPtrArray *rows = g_ptr_array_new_with_free_func ((GDestroyNotify)g_ptr_array_unref);

  for (guint i = 0; i < grid->n; i++)
    {
      GPtrArray *row = NULL;

      for (guint r = 0; r < rows->len && !row; r++)
        if (same_row (axes, ((PlaitGridCell *)g_ptr_array_index ((GPtrArray *)rows->pdata[r], 0))->cell,
                      grid->items[i].cell))
          row = rows->pdata[r];
      if (!row)
        {
          row = g_ptr_array_new ();
          g_ptr_array_add (rows, row);
        }
      g_ptr_array_add (row, &grid->items[i]);
    }
  return rows;
}

/*
 * Columns
 */

/* Everything that any finished cell was scored by. */
static void
collect_measures (PlaitGridTable *table, const PlaitGrid *grid)
{
  g_autofree const PlaitRunResult **results = g_new (const PlaitRunResult *, grid->n);
  GArray *measures;

  for (guint i = 0; i < grid->n; i++)
    results[i] = grid->items[i].result;
  measures = plait_run_results_measures (results, grid->n);
  table->n_measures = measures->len;
  table->measures = (PlaitMeasure *)(gpointer)g_array_free (measures, FALSE);
  table->one_split = TRUE;
  for (guint m = 1; m < table->n_measures; m++)
    table->one_split &= plait_measure_is_beside (&table->measures[m], &table->measures[0]);
}

/*
 * Rows
 */

static const PlaitRunScore *
score_of (const PlaitGridCell *cell, const PlaitMeasure *measure)
{
  return cell->result ? plait_measure_score (measure, cell->result) : NULL;
}

static PlaitGridValue
summarise (const GPtrArray *cells, const PlaitMeasure *measure)
{
  PlaitGridValue value = { .mean = 0, .deviation = NAN, .low = NAN, .high = NAN };
  double squares = 0;

  for (guint i = 0; i < cells->len; i++)
    {
      const PlaitRunScore *score = score_of (cells->pdata[i], measure);

      if (!score)
        continue;
      value.n++;
      value.mean += score->score;
      value.low = value.n == 1 ? score->low : NAN;
      value.high = value.n == 1 ? score->high : NAN;
    }
  value.mean = value.n > 0 ? value.mean / value.n : NAN;
  if (value.n < 2)
    return value;
  for (guint i = 0; i < cells->len; i++)
    {
      const PlaitRunScore *score = score_of (cells->pdata[i], measure);

      if (score)
        squares += (score->score - value.mean) * (score->score - value.mean);
    }
  value.deviation = sqrt (squares / (value.n - 1));
  return value;
}

static void
fill_row (PlaitGridTable *table, PlaitGridRow *row, const PlaitGrid *grid, const RowAxes *axes, const GPtrArray *cells)
{
  const PlaitGridCell *first = g_ptr_array_index (cells, 0);
  g_autoptr (GArray) rates = g_array_new (FALSE, FALSE, sizeof (double));

  row->values = g_new0 (const char *, axes->n + 1);
  for (guint a = 0; a < axes->n; a++)
    row->values[a] = grid->cells->axes[axes->axes[a]].values[first->cell->places[axes->axes[a]]];
  row->parameters = -1;
  row->n_cells = cells->len;
  for (guint i = 0; i < cells->len; i++)
    {
      const PlaitRunResult *result = ((const PlaitGridCell *)cells->pdata[i])->result;

      if (!result)
        continue;
      row->n++;
      if (row->parameters < 0)
        row->parameters = result->parameters;
      g_array_append_vals (rates, result->rates->data, result->rates->len);
    }
  row->rate = plait_median ((const double *)(gpointer)rates->data, rates->len);
  row->measured = g_new0 (PlaitGridValue, table->n_measures + 1);
  for (guint m = 0; m < table->n_measures; m++)
    row->measured[m] = summarise (cells, &table->measures[m]);
}

/*
 * Tests against the first row
 */

/* The rows of sentences of all finished @cells, by @measure. (element-type PlaitStatistics) (transfer container) */
static GPtrArray *
statistics_of (const GPtrArray *cells, const PlaitMeasure *measure)
{
  GPtrArray *found = g_ptr_array_new ();

  for (guint i = 0; i < cells->len; i++)
    {
      const PlaitRunScore *score = score_of (cells->pdata[i], measure);

      if (score && score->statistics)
        g_ptr_array_add (found, score->statistics);
    }
  return found;
}

/* A measure that is tested has a metric wherever it has a score. */
static const PlaitMetric *
metric_of (const GPtrArray *cells, const PlaitMeasure *measure)
{
  const PlaitRunScore *score = NULL;

  for (guint i = 0; i < cells->len && !score; i++)
    score = score_of (cells->pdata[i], measure);
  return score ? score->scorer : NULL;
}

static gboolean
compare (const GPtrArray *first, const GPtrArray *cells, const PlaitMeasure *measure, PlaitGridValue *value,
         GError **error)
{
  g_autoptr (GPtrArray) baseline = statistics_of (first, measure);
  g_autoptr (GPtrArray) system = statistics_of (cells, measure);
  const PlaitGridCell *cell = g_ptr_array_index (cells, 0);
  const PlaitMetric *metric = metric_of (cells, measure);

  value->compared = baseline->len > 0 && system->len > 0;
  if (!value->compared)
    return TRUE;
  if (baseline->len + system->len > 2)
    return plait_compare_seeds (metric, (const PlaitStatistics *const *)baseline->pdata, baseline->len,
                                (const PlaitStatistics *const *)system->pdata, system->len, &value->comparison, error);
  return plait_compare_systems (metric, baseline->pdata[0], system->pdata[0], PLAIT_TEST_PERMUTATION,
                                PLAIT_PERMUTATION_SHUFFLES, (guint64)cell->cell->experiment->evaluate.seed,
                                &value->comparison, error);
}

static gboolean
compare_all (PlaitGridTable *table, const GPtrArray *rows, guint m, GError **error)
{
  g_autoptr (GArray) comparisons = g_array_new (FALSE, FALSE, sizeof (PlaitComparison));
  guint next = 0;

  for (guint r = 1; r < rows->len; r++)
    {
      PlaitGridValue *value = &table->rows[r].measured[m];

      if (!compare (rows->pdata[0], rows->pdata[r], &table->measures[m], value, error))
        return FALSE;
      if (value->compared)
        g_array_append_val (comparisons, value->comparison);
    }
  plait_holm_adjust ((PlaitComparison *)(gpointer)comparisons->data, comparisons->len);
  for (guint r = 1; r < rows->len; r++)
    if (table->rows[r].measured[m].compared)
      table->rows[r].measured[m].comparison = g_array_index (comparisons, PlaitComparison, next++);
  return TRUE;
}

PlaitGridTable *
plait_grid_table_new (const PlaitGrid *grid, GError **error)
{
  g_autoptr (PlaitGridTable) table = g_new0 (PlaitGridTable, 1);
  g_auto (RowAxes) axes = row_axes (grid->cells);
  g_autoptr (GPtrArray) rows = group_cells (grid, &axes);

  table->n_axes = axes.n;
  table->axes = g_new0 (const char *, axes.n + 1);
  for (guint a = 0; a < axes.n; a++)
    table->axes[a] = grid->cells->axes[axes.axes[a]].key;
  collect_measures (table, grid);
  table->n_rows = rows->len;
  table->rows = g_new0 (PlaitGridRow, rows->len);
  for (guint r = 0; r < rows->len; r++)
    fill_row (table, &table->rows[r], grid, &axes, rows->pdata[r]);
  for (guint m = 0; m < table->n_measures; m++)
    if (table->measures[m].tested && !compare_all (table, rows, m, error))
      return NULL;
  return g_steal_pointer (&table);
}

void
plait_grid_table_free (PlaitGridTable *table)
{
  if (!table)
    return;
  for (guint r = 0; r < table->n_rows; r++)
    {
      g_free (table->rows[r].values);
      g_free (table->rows[r].measured);
    }
  g_free (table->measures);
  g_free (table->rows);
  g_free (table->axes);
  g_free (table);
}
