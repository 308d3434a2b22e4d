/* SPDX-License-Identifier: MIT */
#include "comparison/chart-axis.h"

#include <math.h>

#include "experiment/groups.h"
#include "text/number.h"

/* PLAIT_PLOT_SCALE_AUTO makes the axis logarithmic if all values are positive, each value is at least FACTOR times the
 * previous one, and the last value is at least RANGE times the first. */
#define FACTOR 1.5
#define RANGE 4

gboolean
plait_plot_value_of (const PlaitRunFile *run, const char *by, double *value, GError **error)
{
  g_autofree char *group = NULL, *key = NULL;
  const PlaitSettingSpecification *setting;
  const char *text;

  if (!plait_experiment_split_key (by, &group, &key))
    return plait_fail (error, PLAIT_ERROR_INPUT, "--by %s is not a key; write it like data.share", by);
  setting = plait_experiment_setting (group, key);
  text = plait_key_file_value (run->experiment, group, key);
  if (!text && setting)
    text = setting->standard;
  return (text && plait_parse_double (text, value) && isfinite (*value))
         || plait_fail (
             error, PLAIT_ERROR_INPUT,
             "%s: --by %s needs numbers, but the value of this run is %s; name a key with a number in each run",
             plait_store_path (run->store), by, text ? text : "missing");
}

static int
compare_x (gconstpointer a, gconstpointer b, gpointer unused)
{
  const PlaitPlotPoint *x = a, *y = b;

  return x->x < y->x ? -1 : x->x > y->x;
}

/* Returns the values of x of all series, sorted, each once. (transfer full) (element-type double) */
static GArray *
list_values (const PlaitPlotChart *chart)
{
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (PlaitPlotPoint));
  GArray *values = g_array_new (FALSE, FALSE, sizeof (double));

  for (guint s = 0; s < chart->series->len; s++)
    {
      const PlaitPlotSeries *series = chart->series->pdata[s];

      g_array_append_vals (all, series->points, series->n);
    }
  g_array_sort_with_data (all, compare_x, NULL);
  for (guint i = 0; i < all->len; i++)
    if (i == 0 || g_array_index (all, PlaitPlotPoint, i - 1).x < g_array_index (all, PlaitPlotPoint, i).x)
      g_array_append_val (values, g_array_index (all, PlaitPlotPoint, i).x);
  return values;
}

/* TRUE if PLAIT_PLOT_SCALE_AUTO makes the axis of the sorted @values logarithmic. */
static gboolean
grow_by_factors (const GArray *values)
{
  double before = g_array_index (values, double, 0), first = before;

  for (guint i = 1; i < values->len; i++)
    {
      double value = g_array_index (values, double, i);

      if (before <= 0 || value < FACTOR * before)
        return FALSE;
      before = value;
    }
  return first > 0 && before >= RANGE * first;
}

gboolean
plait_plot_order (PlaitPlotChart *chart, PlaitPlotScale scale, GError **error)
{
  g_autoptr (GArray) values = list_values (chart);
  gboolean factors = scale == PLAIT_PLOT_SCALE_AUTO ? grow_by_factors (values) : scale == PLAIT_PLOT_SCALE_LOG;

  if (factors && g_array_index (values, double, 0) <= 0)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "a logarithmic axis needs positive numbers, but one value is %s=%g; choose --scale linear",
                       chart->x_title, g_array_index (values, double, 0));
  chart->logarithmic = factors;
  chart->ticks = g_new (double, values->len);
  chart->tick_names = g_new0 (char *, values->len + 1);
  for (guint i = 0; i < values->len; i++)
    {
      double value = g_array_index (values, double, i);

      chart->ticks[i] = factors ? log (value) : value;
      chart->tick_names[i] = g_strdup_printf ("%g", value);
    }
  for (guint s = 0; s < chart->series->len; s++)
    {
      PlaitPlotSeries *series = chart->series->pdata[s];

      g_qsort_with_data (series->points, (gint)series->n, sizeof (PlaitPlotPoint), compare_x, NULL);
      for (guint i = 0; i < series->n && factors; i++)
        series->points[i].x = log (series->points[i].x);
    }
  return TRUE;
}
