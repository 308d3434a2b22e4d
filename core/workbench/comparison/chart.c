/* SPDX-License-Identifier: MIT */
#include "comparison/chart.h"

#include <math.h>

#include "comparison/location.h"
#include "scoring/length-table.h"
#include "tables/table.h"
#include "comparison/chart-axis.h"

#define MAX_POINTS ((gint64)1 << 20)
#define SEED "experiment.seed"

void
plait_plot_series_free (PlaitPlotSeries *series)
{
  g_free (series->name);
  g_free (series->points);
  g_free (series);
}

void
plait_plot_chart_free (PlaitPlotChart *chart)
{
  g_free (chart->x_title);
  g_free (chart->y_title);
  g_strfreev (chart->categories);
  g_strfreev (chart->tick_names);
  g_free (chart->ticks);
  g_ptr_array_unref (chart->series);
  g_free (chart);
}

static PlaitPlotChart *
chart_new (PlaitPlotKind kind, const char *x_title, const char *y_title)
{
  PlaitPlotChart *chart = g_new0 (PlaitPlotChart, 1);

  chart->kind = kind;
  chart->x_title = g_strdup (x_title);
  chart->y_title = g_strdup (y_title);
  chart->series = g_ptr_array_new_with_free_func ((GDestroyNotify)plait_plot_series_free);
  return chart;
}

static PlaitPlotSeries *
series_new (const char *name, guint n)
{
  PlaitPlotSeries *series = g_new0 (PlaitPlotSeries, 1);

  series->name = g_strdup (name);
  series->n = n;
  series->points = g_new (PlaitPlotPoint, n + 1);
  for (guint i = 0; i < n; i++)
    series->points[i] = (PlaitPlotPoint){ i, NAN, NAN, NAN };
  return series;
}

static PlaitPlotSeries *
add_series (PlaitPlotChart *chart, const char *name, guint n)
{
  PlaitPlotSeries *series = series_new (name, n);

  g_ptr_array_add (chart->series, series);
  return series;
}

typedef struct
{
  GPtrArray *runs;
  GArray *systems; /* (element-type PlaitRunSystem): systems of the runs, with the names that the chart shows */
} Runs;

static const char *
setting_of (const PlaitRunSystem *system, const PlaitSettingDifference *difference)
{
  return plait_setting_difference_text (difference, system->runs[0]);
}

static void
rename_system (PlaitRunSystem *system, char *name)
{
  g_free (system->name);
  system->name = name;
}

/* TRUE if two systems whose names are equal so far have different values of @difference. */
static gboolean
distinguishes_systems (const Runs *runs, const PlaitSettingDifference *difference)
{
  for (guint i = 0; i < runs->systems->len; i++)
    for (guint k = 0; k < i; k++)
      {
        const PlaitRunSystem *a = plait_run_system_at (runs->systems, i), *b = plait_run_system_at (runs->systems, k);

        if (g_str_equal (a->name, b->name) && !g_str_equal (setting_of (a, difference), setting_of (b, difference)))
          return TRUE;
      }
  return FALSE;
}

/* Names each system by its values of the settings in which systems differ, except @by (may be NULL). Uses a setting
 * only if it separates systems whose names are equal so far. If @by is NULL, a system whose name is still empty gets
 * the name of its first run. */
static void
name_systems (const Runs *runs, const char *by)
{
  g_autoptr (GPtrArray) differences = plait_setting_differences (runs->runs);

  for (guint s = 0; s < runs->systems->len; s++)
    rename_system (plait_run_system_at (runs->systems, s), g_strdup (""));
  for (guint d = 0; d < differences->len; d++)
    {
      const PlaitSettingDifference *difference = differences->pdata[d];

      if (g_str_equal (difference->key, SEED) || g_strcmp0 (difference->key, by) == 0
          || !distinguishes_systems (runs, difference))
        continue;
      for (guint s = 0; s < runs->systems->len; s++)
        {
          PlaitRunSystem *system = plait_run_system_at (runs->systems, s);

          rename_system (system, g_strconcat (system->name, *system->name == '\0' ? "" : ", ",
                                              setting_of (system, difference), NULL));
        }
    }
  for (guint s = 0; s < runs->systems->len && !by; s++)
    if (*plait_run_system_at (runs->systems, s)->name == '\0')
      rename_system (plait_run_system_at (runs->systems, s),
                     g_strdup (plait_run_at (runs->runs, plait_run_system_at (runs->systems, s)->runs[0])->name));
}

/* Sets @point to the mean of @values. Several values get a band of one standard deviation on each side. A single value
 * gets the band from @low to @high if @low is less than @high, else no band. Without values, does nothing. */
static void
set_point (PlaitPlotPoint *point, const GArray *values, double low, double high)
{
  const double *numbers = (const double *)(gpointer)values->data;
  double deviation = values->len > 1 ? plait_standard_deviation (numbers, values->len) : NAN;

  if (values->len == 0)
    return;
  point->y = plait_mean (numbers, values->len);
  point->low = values->len > 1 ? point->y - deviation : low < high ? low : NAN;
  point->high = values->len > 1 ? point->y + deviation : low < high ? high : NAN;
}

/* Returns a curve without bands: y is the column @path of a table, x is the column step of this table. (transfer
 * full) */
static PlaitPlotSeries *
read_curve (PlaitStore *store, const char *path, GError **error)
{
  g_autofree char *table = g_path_get_dirname (path), *steps = plait_location_join (table, "step");
  gint64 n_x = 0, n_y = 0;
  g_autofree double *x = plait_store_read_array (store, steps, PLAIT_STORE_DOUBLE, MAX_POINTS, &n_x, error);
  g_autofree double *y = x ? plait_store_read_array (store, path, PLAIT_STORE_DOUBLE, MAX_POINTS, &n_y, error) : NULL;
  PlaitPlotSeries *curve;

  if (!y)
    return NULL;
  if (n_y != n_x || n_y == 0)
    return plait_fail_null (error, PLAIT_ERROR_INPUT,
                            "%s: %s has %jd values and %s has %jd; a curve needs equally many, and at least one: name "
                            "a column of a training table",
                            plait_store_path (store), path, n_y, steps, n_x);
  curve = series_new (NULL, (guint)n_y);
  for (gint64 i = 0; i < n_y; i++)
    curve->points[i] = (PlaitPlotPoint){ x[i], y[i], NAN, NAN };
  return curve;
}

/* Returns the value of @curve at @x; NaN if it has no point there. The search starts at index *@at and advances it, so
 * @x must not decrease between calls. */
static double
value_at (const PlaitPlotSeries *curve, double x, guint *at)
{
  while (*at < curve->n && curve->points[*at].x < x)
    ++*at;
  return *at < curve->n && curve->points[*at].x <= x ? curve->points[*at].y : NAN;
}

static PlaitPlotSeries *
mean_of (const char *name, const GPtrArray *curves)
{
  const PlaitPlotSeries *first = curves->pdata[0];
  PlaitPlotSeries *series = series_new (name, first->n);
  g_autofree guint *at = g_new0 (guint, curves->len);
  g_autoptr (GArray) values = g_array_new (FALSE, FALSE, sizeof (double));

  for (guint i = 0; i < first->n; i++)
    {
      g_array_set_size (values, 0);
      series->points[i].x = first->points[i].x;
      for (guint c = 0; c < curves->len; c++)
        {
          double value = value_at (curves->pdata[c], first->points[i].x, &at[c]);

          if (isfinite (value))
            g_array_append_val (values, value);
        }
      /* Leave a gap where a run lacks the step: a mean over fewer runs would not be comparable. */
      if (values->len == curves->len)
        set_point (&series->points[i], values, NAN, NAN);
    }
  return series;
}

PlaitPlotSeries *
plait_plot_series_read (const GPtrArray *runs, const PlaitRunSystem *system, const char *path, gboolean some,
                        GError **error)
{
  g_autoptr (GPtrArray) curves = g_ptr_array_new_with_free_func ((GDestroyNotify)plait_plot_series_free);

  for (guint i = 0; i < system->n; i++)
    {
      PlaitPlotSeries *curve = read_curve (plait_run_at (runs, system->runs[i])->store, path, some ? NULL : error);

      if (curve)
        g_ptr_array_add (curves, curve);
      else if (!some)
        return NULL;
    }
  return curves->len > 0 ? mean_of (system->name, curves) : NULL;
}

static PlaitPlotChart *
curves_new (const Runs *runs, const char *path, GError **error)
{
  g_autofree char *title = g_strdelimit (g_path_get_basename (path), "_", ' ');
  g_autoptr (PlaitPlotChart) chart = chart_new (PLAIT_PLOT_LINES, "updates", title);

  for (guint s = 0; s < runs->systems->len; s++)
    {
      PlaitPlotSeries *series
          = plait_plot_series_read (runs->runs, plait_run_system_at (runs->systems, s), path, FALSE, error);

      if (!series)
        return NULL;
      g_ptr_array_add (chart->series, series);
    }
  return g_steal_pointer (&chart);
}

static gpointer
fail_metric (const PlaitRunFile *run, const char *path, const char *metric, GError **error)
{
  return plait_fail_null (error, PLAIT_ERROR_INPUT, "%s: %s has no score%s%s; plait show lists the scores of a file",
                          plait_store_path (run->store), path, metric ? " for the metric " : "", metric ? metric : "");
}

static gboolean
is_metric (const char *asked, const char *metric, const char *name)
{
  return !asked || g_ascii_strcasecmp (asked, metric) == 0 || g_ascii_strcasecmp (asked, name) == 0;
}

/* Returns the first score of @split in @run by @metric (NULL: any), or NULL. */
static const PlaitRunScore *
find_score (const PlaitRunFile *run, const char *split, const char *metric)
{
  for (guint i = 0; i < run->result->scores->len; i++)
    {
      const PlaitRunScore *score = run->result->scores->pdata[i];

      if (g_str_equal (score->split, split) && is_metric (metric, score->metric, score->name))
        return score;
    }
  return NULL;
}

/* Sets @point to the mean score of the runs of @system. Sets *@title to the name of the score, unless it is already
 * set. */
static gboolean
set_score (const Runs *runs, const PlaitRunSystem *system, const char *path, const char *split, const char *metric,
           PlaitPlotPoint *point, char **title, GError **error)
{
  g_autoptr (GArray) values = g_array_new (FALSE, FALSE, sizeof (double));
  const PlaitRunScore *score = NULL;

  for (guint r = 0; r < system->n; r++)
    {
      const PlaitRunFile *run = plait_run_at (runs->runs, system->runs[r]);

      const PlaitRunScore *found = find_score (run, split, metric);

      if (!found)
        return fail_metric (run, path, metric, error) != NULL;
      if (!score || isfinite (found->score))
        score = found;
      if (isfinite (found->score))
        g_array_append_val (values, found->score);
    }
  if (!*title)
    *title = g_strdup (score->name);
  set_point (point, values, score->low, score->high);
  return TRUE;
}

static PlaitPlotChart *
bars_new (const Runs *runs, const char *path, const char *split, const char *metric, GError **error)
{
  g_autoptr (PlaitPlotChart) chart = chart_new (PLAIT_PLOT_BARS, NULL, NULL);
  PlaitPlotSeries *series = add_series (chart, "", runs->systems->len);

  chart->categories = g_new0 (char *, runs->systems->len + 1);
  for (guint s = 0; s < runs->systems->len; s++)
    {
      const PlaitRunSystem *system = plait_run_system_at (runs->systems, s);

      chart->categories[s] = g_strdup (system->name);
      if (!set_score (runs, system, path, split, metric, &series->points[s], &chart->x_title, error))
        return NULL;
    }
  return g_steal_pointer (&chart);
}

/* Returns the series of @chart with the name @name. If it is missing, adds it without points, but with space for @n
 * points. */
static PlaitPlotSeries *
find_series (PlaitPlotChart *chart, const char *name, guint n)
{
  PlaitPlotSeries *series;

  for (guint s = 0; s < chart->series->len; s++)
    if (g_str_equal (((PlaitPlotSeries *)chart->series->pdata[s])->name, name))
      return chart->series->pdata[s];
  series = add_series (chart, name, n);
  series->n = 0;
  return series;
}

static PlaitPlotChart *
scores_by (const Runs *runs, const char *path, const char *split, const PlaitPlotSelection *selection, GError **error)
{
  g_autoptr (PlaitPlotChart) chart = chart_new (PLAIT_PLOT_LINES, selection->by, NULL);

  for (guint s = 0; s < runs->systems->len; s++)
    {
      const PlaitRunSystem *system = plait_run_system_at (runs->systems, s);
      PlaitPlotSeries *series = find_series (chart, system->name, runs->systems->len);

      if (!plait_plot_value_of (plait_run_at (runs->runs, system->runs[0]), selection->by, &series->points[series->n].x,
                                error)
          || !set_score (runs, system, path, split, selection->metric, &series->points[series->n], &chart->y_title,
                         error))
        return NULL;
      series->n++;
    }
  return plait_plot_order (chart, selection->scale, error) ? g_steal_pointer (&chart) : NULL;
}

/* Returns the rows at @path for @metric, or for the first metric in the table if @metric is NULL. (transfer full) */
static GArray *
read_lengths (const PlaitRunFile *run, const char *path, const char *metric, GError **error)
{
  g_autoptr (GArray) rows = plait_length_table_read (run->store, path, error);
  const char *first = NULL;

  for (guint i = 0; rows && i < rows->len;)
    {
      const PlaitLengthRow *row = &g_array_index (rows, PlaitLengthRow, i);

      if (!first && is_metric (metric, row->metric, row->name))
        first = row->metric;
      if (first && g_str_equal (first, row->metric))
        i++;
      else
        g_array_remove_index (rows, i);
    }
  return !rows || rows->len > 0 ? g_steal_pointer (&rows) : fail_metric (run, path, metric, error);
}

static void
add_lengths (PlaitPlotChart *chart, const char *name, const GPtrArray *tables)
{
  const GArray *first = tables->pdata[0];
  PlaitPlotSeries *series = add_series (chart, name, first->len);
  g_autoptr (GArray) values = g_array_new (FALSE, FALSE, sizeof (double));

  for (guint bin = 0; bin < first->len; bin++)
    {
      const PlaitLengthRow *row = &g_array_index (first, PlaitLengthRow, bin);

      g_array_set_size (values, 0);
      for (guint t = 0; t < tables->len; t++)
        {
          const GArray *table = tables->pdata[t];

          if (bin >= table->len || !isfinite (g_array_index (table, PlaitLengthRow, bin).score))
            continue;
          row = &g_array_index (table, PlaitLengthRow, bin);
          g_array_append_val (values, row->score);
        }
      set_point (&series->points[bin], values, row->low, row->high);
    }
}

static gboolean
same_bins (char *const *categories, const GArray *rows)
{
  for (guint i = 0; i < rows->len; i++)
    if (!categories[i] || !g_str_equal (categories[i], g_array_index (rows, PlaitLengthRow, i).bin))
      return FALSE;
  return !categories[rows->len];
}

static PlaitPlotChart *
lengths_new (const Runs *runs, const char *path, const char *metric, GError **error)
{
  g_autoptr (PlaitPlotChart) chart = chart_new (PLAIT_PLOT_POINTS, "words of the source", NULL);

  for (guint s = 0; s < runs->systems->len; s++)
    {
      const PlaitRunSystem *system = plait_run_system_at (runs->systems, s);
      g_autoptr (GPtrArray) tables = g_ptr_array_new_with_free_func ((GDestroyNotify)g_array_unref);

      for (guint r = 0; r < system->n; r++)
        {
          const PlaitRunFile *run = plait_run_at (runs->runs, system->runs[r]);
          GArray *rows = read_lengths (run, path, metric, error);

          if (!rows)
            return NULL;
          g_ptr_array_add (tables, rows);
          if (!chart->categories)
            {
              chart->y_title = g_strdup (g_array_index (rows, PlaitLengthRow, 0).name);
              chart->categories = g_new0 (char *, rows->len + 1);
              for (guint i = 0; i < rows->len; i++)
                chart->categories[i] = g_strdup (g_array_index (rows, PlaitLengthRow, i).bin);
            }
          if (!same_bins (chart->categories, rows))
            return plait_fail_null (error, PLAIT_ERROR_INPUT,
                                    "%s: %s has other length bins than the earlier runs; plot this run separately",
                                    plait_store_path (run->store), path);
        }
      add_lengths (chart, system->name, tables);
    }
  return g_steal_pointer (&chart);
}

static gboolean
has_values (const PlaitPlotChart *chart)
{
  for (guint s = 0; s < chart->series->len; s++)
    {
      const PlaitPlotSeries *series = chart->series->pdata[s];

      for (guint i = 0; i < series->n; i++)
        if (isfinite (series->points[i].y))
          return TRUE;
    }
  return FALSE;
}

PlaitPlotChart *
plait_plot_chart_new (GPtrArray *runs, const char *path, const PlaitPlotSelection *selection, GError **error)
{
  const char *metric = selection->metric, *by = selection->by;
  g_autoptr (GArray) systems = plait_run_systems_new (runs);
  const Runs all = { runs, systems };
  g_auto (GStrv) parts = g_strsplit (path, "/", -1);
  guint n = g_strv_length (parts);
  gboolean evaluation = n == 4 && g_str_equal (parts[1], "evaluation");
  g_autoptr (PlaitPlotChart) chart = NULL;

  name_systems (&all, by);
  if (by && !(evaluation && g_str_equal (parts[3], "metrics")))
    plait_fail (error, PLAIT_ERROR_INPUT,
                "--by %s draws scores, but %s is something else; name /evaluation/SPLIT/metrics", by, path);
  else if (by)
    chart = scores_by (&all, path, parts[2], selection, error);
  else if (evaluation && g_str_equal (parts[3], "metrics"))
    chart = bars_new (&all, path, parts[2], metric, error);
  else if (evaluation && g_str_equal (parts[3], "length_bins"))
    chart = lengths_new (&all, path, metric, error);
  else if (n == 4 && g_str_equal (parts[1], "training"))
    chart = curves_new (&all, path, error);
  else
    plait_fail (
        error, PLAIT_ERROR_INPUT,
        "%s cannot be drawn; expected a heatmap such as /attention/test/0/SOURCE, a curve such as "
        "/training/validation/perplexity, or the scores in /evaluation/SPLIT/metrics or /evaluation/SPLIT/length_bins",
        path);
  if (!chart)
    return NULL;
  if (!has_values (chart))
    return plait_fail_null (error, PLAIT_ERROR_INPUT, "%s has no finite number to draw; name another path", path);
  return g_steal_pointer (&chart);
}
