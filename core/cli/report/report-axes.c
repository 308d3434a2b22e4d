/* SPDX-License-Identifier: MIT */
#include "report/report.h"

#include "comparison/chart-axis.h"
#include "report/html.h"

/* Draws scores as curves over each numeric setting that differs between runs, except the seed. */

#define SEED "experiment.seed"
#define DECADE 10

/* Sets *@span to the largest value of @key divided by the smallest; 0 if a value is not positive. Returns FALSE if a
 * run has no number for @key. */
static gboolean
find_span (const PlaitRunComparison *comparison, const char *key, double *span)
{
  double low = INFINITY, high = -INFINITY;

  for (guint r = 0; r < comparison->runs->len; r++)
    {
      double value;

      if (!plait_plot_value_of (plait_run_at (comparison->runs, r), key, &value, NULL))
        return FALSE;
      low = MIN (low, value);
      high = MAX (high, value);
    }
  *span = low > 0 ? high / low : 0;
  return TRUE;
}

/* Returns the charts of all scores over @key, on an axis of @scale. Leaves out scores that a run lacks. (transfer full)
 * (element-type PlaitPlotChart) */
static GPtrArray *
charts_of (const PlaitRunComparison *comparison, const char *key, PlaitPlotScale scale)
{
  GPtrArray *charts = g_ptr_array_new_with_free_func ((GDestroyNotify)plait_plot_chart_free);

  for (guint m = 0; m < comparison->n_score_columns; m++)
    {
      const PlaitScoreColumn *column = &comparison->score_columns[m];
      g_autofree char *path = g_strdup_printf ("/evaluation/%s/metrics", column->split);
      const PlaitPlotSelection selection = { column->metric, key, scale };
      PlaitPlotChart *chart = plait_plot_chart_new (comparison->runs, path, &selection, NULL);

      if (!chart)
        continue;
      for (guint s = 0; s < chart->series->len; s++)
        ((PlaitPlotSeries *)chart->series->pdata[s])->colour = s;
      g_free (chart->y_title);
      chart->y_title = g_strdup_printf ("%s on %s", column->name, column->split);
      g_ptr_array_add (charts, chart);
    }
  return charts;
}

static void
add_charts (GString *html, const GPtrArray *charts)
{
  g_string_append (html, "<div class=\"plots\">\n");
  for (guint i = 0; i < charts->len; i++)
    plait_html_plot (html, ((const PlaitPlotChart *)charts->pdata[i])->y_title, charts->pdata[i]);
  g_string_append (html, "</div>\n");
}

static void
add_legend (GString *html, const PlaitPlotChart *chart)
{
  g_string_append (html, "<p class=\"small\">");
  for (guint s = 0; s < chart->series->len && chart->series->len > 1; s++)
    plait_html_key (html, ((const PlaitPlotSeries *)chart->series->pdata[s])->name, s, FALSE);
  g_string_append (html, "</p>\n");
}

/* Adds the curves over the setting @key. If the axis is logarithmic or @span is at least a decade, adds a box that
 * switches between a logarithmic and a linear axis. */
static void
add_axis (GString *html, const PlaitRunComparison *comparison, const char *key, guint number, double span)
{
  g_autoptr (GPtrArray) charts = charts_of (comparison, key, PLAIT_PLOT_SCALE_AUTO);
  const PlaitPlotChart *first = charts->len > 0 ? charts->pdata[0] : NULL;

  if (!first)
    return;
  plait_html_format (html, "<h2>Scores by %s</h2>\n", key);
  add_legend (html, first);
  if (!first->logarithmic && span < DECADE)
    {
      add_charts (html, charts);
      return;
    }
  g_autoptr (GPtrArray) others
      = charts_of (comparison, key, first->logarithmic ? PLAIT_PLOT_SCALE_LINEAR : PLAIT_PLOT_SCALE_LOG);
  g_string_append_printf (html,
                          "<div class=\"scales\"><input type=\"checkbox\" id=\"log-%u\"%s><label for=\"log-%u\"> "
                          "logarithmic axis</label>\n",
                          number, first->logarithmic ? " checked" : "", number);
  add_charts (html, first->logarithmic ? charts : others);
  add_charts (html, first->logarithmic ? others : charts);
  g_string_append (html, "</div>\n");
}

void
plait_report_axes (GString *html, const PlaitRunComparison *comparison)
{
  for (guint d = 0; d < comparison->differences->len; d++)
    {
      const PlaitSettingDifference *difference = comparison->differences->pdata[d];
      double span;

      if (!g_str_equal (difference->key, SEED) && find_span (comparison, difference->key, &span))
        add_axis (html, comparison, difference->key, d, span);
    }
}
