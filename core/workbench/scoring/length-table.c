/* SPDX-License-Identifier: MIT */
#include "scoring/length-table.h"

#include "metrics/outside.h"
#include "tables/table.h"

#include <math.h>

#define MAX_ROWS 100000

static const PlaitStoreField fields[] = {
  PLAIT_STORE_FIELD (PlaitLengthRow, metric, STRING, NULL), PLAIT_STORE_FIELD (PlaitLengthRow, name, STRING, NULL),
  PLAIT_STORE_FIELD (PlaitLengthRow, bin, STRING, NULL),    PLAIT_STORE_FIELD (PlaitLengthRow, sentences, INT64, NULL),
  PLAIT_STORE_FIELD (PlaitLengthRow, score, DOUBLE, NULL),  PLAIT_STORE_FIELD (PlaitLengthRow, low, DOUBLE, NULL),
  PLAIT_STORE_FIELD (PlaitLengthRow, high, DOUBLE, NULL),
};

static void
row_clear (gpointer data)
{
  PlaitLengthRow *row = data;

  g_free (row->metric);
  g_free (row->name);
  g_free (row->bin);
}

GArray *
plait_length_rows_new (void)
{
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (PlaitLengthRow));

  g_array_set_clear_func (rows, row_clear);
  return rows;
}

static void
add_row (GArray *rows, const PlaitMetric *metric, char *bin, const PlaitResult *result)
{
  gboolean interval = result && result->interval.resamples > 0;
  double value = result ? result->score : NAN;
  PlaitLengthRow row = {
    .metric = g_strdup (plait_metric_text (metric)),
    .name = g_strdup (plait_metric_title (metric)),
    .bin = bin,
    .sentences = result ? (gint64)result->sentences : 0,
    .score = value,
    .low = interval ? result->interval.low : value,
    .high = interval ? result->interval.high : value,
  };

  g_array_append_val (rows, row);
}

gboolean
plait_length_rows_add (GArray *rows, const PlaitLengthBins *bins, const PlaitMetric *metric,
                       const PlaitStatistics *statistics, const gint64 *words, guint resamples, guint64 seed,
                       GError **error)
{
  g_autoptr (GPtrArray) results = plait_length_bins_score (bins, metric, statistics, words, resamples, seed, error);

  for (guint i = 0; results && i < bins->n; i++)
    add_row (rows, metric, plait_length_bins_label (bins, i), results->pdata[i]);
  return results != NULL;
}

static gboolean
larger_is_better (const char *text)
{
  g_autofree char *name = NULL;
  g_autoptr (PlaitMetric) outside = plait_metric_read_outside (text, &name);
  g_autoptr (PlaitMetric) metric = outside ? NULL : plait_metric_new (text, NULL);

  return (outside || metric) && plait_metric_larger_is_better (outside ? outside : metric);
}

gboolean
plait_length_table_write (const GArray *rows, PlaitStore *store, const char *path, GError **error)
{
  g_autofree char *scores = g_strconcat (path, "/score", NULL);
  g_autofree gint64 *larger = g_new (gint64, rows->len);

  for (guint i = 0; i < rows->len; i++)
    larger[i] = larger_is_better (g_array_index (rows, PlaitLengthRow, i).metric);
  return plait_store_write_rows (store, path, rows, fields, G_N_ELEMENTS (fields), NULL, NULL, error)
         && plait_store_set_list (store, scores, "larger_is_better", PLAIT_STORE_INT64, rows->len, larger, error);
}

GArray *
plait_length_table_read (PlaitStore *store, const char *path, GError **error)
{
  g_autoptr (GArray) rows = plait_length_rows_new ();
  gboolean good = !plait_store_has (store, path)
                  || plait_store_read_table (store, path, fields, G_N_ELEMENTS (fields), MAX_ROWS, rows, error);

  return good ? g_steal_pointer (&rows) : NULL;
}
