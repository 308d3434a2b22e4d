/* SPDX-License-Identifier: MIT */
#include "run/length-table.h"

#include "store/table.h"

#include <math.h>

#define MOST_ROWS 100000
#define MOST_TEXT ((gsize)1 << 24)

static void
row_free (gpointer data)
{
  PlaitLengthRow *row = data;

  g_free (row->metric);
  g_free (row->name);
  g_free (row->bin);
  g_free (row);
}

static void
add_row (GPtrArray *rows, const PlaitMetric *metric, char *bin, const PlaitResult *result)
{
  PlaitLengthRow *row = g_new (PlaitLengthRow, 1);
  gboolean interval = result && result->interval.resamples > 0;
  double value = result ? result->score : NAN;

  *row = (PlaitLengthRow){
    .metric = g_strdup (plait_metric_text (metric)),
    .name = g_strdup (plait_metric_title (metric)),
    .bin = bin,
    .sentences = result ? (gint64)result->sentences : 0,
    .score = value,
    .low = interval ? result->interval.low : value,
    .high = interval ? result->interval.high : value,
  };
  g_ptr_array_add (rows, row);
}

GPtrArray *
plait_length_rows_new (const PlaitLengthBins *bins, const PlaitMetric *metric, const PlaitStatistics *statistics,
                       const gint64 *words, guint resamples, guint64 seed, GError **error)
{
  GPtrArray *rows;
  g_autoptr (GPtrArray) results = plait_length_bins_score (bins, metric, statistics, words, resamples, seed, error);

  if (!results)
    return NULL;
  rows = g_ptr_array_new_with_free_func (row_free);
  for (guint i = 0; i < bins->n; i++)
    add_row (rows, metric, plait_length_bins_label (bins, i), results->pdata[i]);
  return rows;
}

gboolean
plait_length_table_write (const GPtrArray *rows, PlaitStore *store, const char *path, GError **error)
{
  g_autoptr (PlaitTable) table = plait_table_new ();

  plait_table_column (table, PLAIT_TABLE_WORDS, "metric");
  plait_table_column (table, PLAIT_TABLE_WORDS, "name");
  plait_table_column (table, PLAIT_TABLE_WORDS, "bin");
  plait_table_column (table, PLAIT_TABLE_COUNTS, "sentences");
  plait_table_column (table, PLAIT_TABLE_NUMBERS, "score");
  plait_table_column (table, PLAIT_TABLE_NUMBERS, "low");
  plait_table_column (table, PLAIT_TABLE_NUMBERS, "high");
  for (guint i = 0; i < rows->len; i++)
    {
      const PlaitLengthRow *row = rows->pdata[i];

      plait_table_text (table, PLAIT_TABLE_PLAIN, row->metric);
      plait_table_text (table, PLAIT_TABLE_PLAIN, row->name);
      plait_table_text (table, PLAIT_TABLE_PLAIN, row->bin);
      plait_table_integer (table, PLAIT_TABLE_PLAIN, row->sentences);
      plait_table_real (table, row->score);
      plait_table_real (table, row->low);
      plait_table_real (table, row->high);
    }
  return plait_store_write_filled (store, path, table, error);
}

static gpointer
read_numbers (PlaitStore *store, const char *table, const char *column, PlaitStoreType type, gint64 n, GError **error)
{
  g_autofree char *path = g_strdup_printf ("%s/%s", table, column);
  g_autofree double *values = g_new0 (double, n + 1); /* or as many gint64 */

  return plait_store_read (store, path, type, n, values, error) ? g_steal_pointer (&values) : NULL;
}

/* NULL unless there are @n. */
static char **
read_texts (PlaitStore *store, const char *table, const char *column, gint64 n, GError **error)
{
  g_autofree char *path = g_strdup_printf ("%s/%s", table, column);
  gint64 found;
  g_auto (GStrv) texts = plait_store_read_strings (store, path, MOST_TEXT, &found, error);

  if (texts && found != n)
    plait_fail (error, PLAIT_ERROR_INPUT, "%s:%s has %jd entries, expected %jd; evaluate the run again",
                plait_store_path (store), path, found, n);
  return texts && found == n ? g_steal_pointer (&texts) : NULL;
}

GPtrArray *
plait_length_table_read (PlaitStore *store, const char *path, GError **error)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func (row_free);
  gint64 n = 0;
  g_auto (GStrv) columns = NULL;

  if (!plait_store_has (store, path))
    return g_steal_pointer (&rows);
  columns = plait_store_table_columns (store, path, &n, error);
  if (!columns)
    return NULL;
  if (n > MOST_ROWS)
    return plait_fail_null (error, PLAIT_ERROR_INPUT, "%s:%s has %jd rows, expected at most %d",
                            plait_store_path (store), path, n, MOST_ROWS);
  g_auto (GStrv) metrics = read_texts (store, path, "metric", n, error);
  g_auto (GStrv) names = metrics ? read_texts (store, path, "name", n, error) : NULL;
  g_auto (GStrv) bins = names ? read_texts (store, path, "bin", n, error) : NULL;
  g_autofree gint64 *sentences = bins ? read_numbers (store, path, "sentences", PLAIT_STORE_INT64, n, error) : NULL;
  g_autofree double *scores = sentences ? read_numbers (store, path, "score", PLAIT_STORE_DOUBLE, n, error) : NULL;
  g_autofree double *low = scores ? read_numbers (store, path, "low", PLAIT_STORE_DOUBLE, n, error) : NULL;
  g_autofree double *high = low ? read_numbers (store, path, "high", PLAIT_STORE_DOUBLE, n, error) : NULL;

  for (gint64 i = 0; high && i < n; i++)
    {
      PlaitLengthRow *row = g_new (PlaitLengthRow, 1);

      *row = (PlaitLengthRow){
        g_strdup (metrics[i]), g_strdup (names[i]), g_strdup (bins[i]), sentences[i], scores[i], low[i], high[i]
      };
      g_ptr_array_add (rows, row);
    }
  return high ? g_steal_pointer (&rows) : NULL;
}
