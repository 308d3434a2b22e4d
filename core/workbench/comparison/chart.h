/* SPDX-License-Identifier: MIT */
#pragma once

#include "comparison/systems.h"

/* Curves and charts of runs, which plait plot and plait report draw. */

typedef struct
{
  char *name;
  guint n;
  double *x, *y;      /* [n]; over categories x counts from 0; a y that is not finite is a gap */
  double *low, *high; /* [n] ends of the band or interval; NaN: no band */
  guint colour;       /* number of the colour on a page; any number, because colours repeat */
  gboolean dashed;    /* TRUE: drawn as a dashed line on a page */
} PlaitPlotSeries;

void plait_plot_series_free (PlaitPlotSeries *series);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitPlotSeries, plait_plot_series_free)

/* An axis of a plot: its range of values and of positions, and its ticks. */
typedef struct
{
  double low, high;  /* values at the ends; NaN before plait_plot_include() */
  double begin, end; /* positions of low and high */
  double step;       /* distance of ticks */
  int decimals;      /* digits after the decimal point at ticks */
} PlaitPlotAxis;

/* Extends @axis to @value, if @value is finite. */
void plait_plot_include (PlaitPlotAxis *axis, double value);

/* Returns the position of @value on @axis. */
double plait_plot_position (const PlaitPlotAxis *axis, double value);

/* Returns the smallest of 1, 2 and 5 times a power of ten that is at least @rough, as the distance of ticks. */
double plait_plot_step (double rough);

/* Reads the column @path of a training table for @system, one of the systems of @runs: the mean over its runs with a
 * band of one standard deviation, at the steps of the first run. A step that a run lacks is a gap. PLAIT_ERROR_INPUT if
 * a run has no such column; with @some such runs are skipped, and NULL is returned without an error if no run is left.
 * (transfer full) */
PlaitPlotSeries *plait_plot_series_read (const GPtrArray *runs, const PlaitRunSystem *system, const char *path,
                                         gboolean some, GError **error);

typedef enum
{
  PLAIT_PLOT_LINES,  /* curves over numbers, with bands */
  PLAIT_PLOT_POINTS, /* points over categories, with intervals */
  PLAIT_PLOT_BARS,   /* one bar for each category, with intervals; one series */
} PlaitPlotKind;

typedef struct
{
  PlaitPlotKind kind;
  char *x_title, *y_title;
  char **categories; /* names of the categories; NULL for PLAIT_PLOT_LINES */
  double *ticks;     /* positions of the horizontal ticks, or NULL: the drawing chooses them */
  char **tick_names; /* names of @ticks, NULL-terminated */
  GPtrArray *series; /* (element-type PlaitPlotSeries) */
} PlaitPlotChart;

void plait_plot_chart_free (PlaitPlotChart *chart);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitPlotChart, plait_plot_chart_free)

/* Makes the chart of the table column, scores or length bins at @path of @runs (element-type PlaitRunFile). Runs that
 * differ only in experiment.seed are one series: their mean, with one standard deviation on each side. A single run has
 * the interval that its file records. @metric selects a score (NULL: the first). With @by (may be NULL), a key such as
 * data.share whose values are numbers, scores are curves over it, one for each value of the other settings; positions
 * are logarithms if the values grow by factors. PLAIT_ERROR_INPUT if there is nothing to draw. (transfer full) */
PlaitPlotChart *plait_plot_chart_new (GPtrArray *runs, const char *path, const char *metric, const char *by,
                                      GError **error);
