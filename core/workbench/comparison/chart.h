/* SPDX-License-Identifier: MIT */
#pragma once

#include "comparison/systems.h"

/* Curves and charts of runs, which plait plot and plait report draw. */

typedef struct
{
  double x, y;      /* coordinates; over categories, x is the index of the category; y is not finite at a gap */
  double low, high; /* lower and upper end of the band or interval; NaN: no band or interval */
} PlaitPlotPoint;

typedef struct
{
  char *name;
  guint n;
  PlaitPlotPoint *points; /* [n] */
  guint colour;           /* index of the colour on a page; any index is valid, because colours repeat */
  gboolean dashed;        /* TRUE: drawn as a dashed line on a page */
} PlaitPlotSeries;

void plait_plot_series_free (PlaitPlotSeries *series);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitPlotSeries, plait_plot_series_free)

/* An axis of a plot: its range of values and of positions, and its ticks. */
typedef struct
{
  double low, high;  /* values at the ends of the axis; NaN until plait_plot_include() gets a finite value */
  double begin, end; /* positions of low and high in the drawing */
  double step;       /* distance between two ticks, as a difference of values */
  int decimals;      /* digits after the decimal point in the labels of ticks */
} PlaitPlotAxis;

/* Extends @axis to @value, if @value is finite. */
void plait_plot_include (PlaitPlotAxis *axis, double value);

/* Returns the position of @value on @axis. */
double plait_plot_position (const PlaitPlotAxis *axis, double value);

/* Returns a distance between ticks: the smallest of 1, 2 and 5 times a power of ten that is at least @rough. */
double plait_plot_step (double rough);

/* Returns the curve of @system, one of the systems of @runs, for the column @path of a training table. The curve is the
 * mean over the runs of @system, with a band of one standard deviation, at the steps of the first run. A step that a
 * run lacks is a gap. @some is FALSE: fails if a run lacks the column. @some is TRUE: skips such a run, and returns
 * NULL without an error if no run is left. (transfer full) */
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
  char **categories;    /* names of the categories; NULL for PLAIT_PLOT_LINES */
  double *ticks;        /* values at which the horizontal axis has ticks; NULL: the drawing chooses them */
  char **tick_names;    /* labels of these ticks, NULL-terminated */
  gboolean logarithmic; /* TRUE: each x, and each tick, is the natural logarithm of its number */
  GPtrArray *series;    /* (element-type PlaitPlotSeries) */
} PlaitPlotChart;

void plait_plot_chart_free (PlaitPlotChart *chart);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitPlotChart, plait_plot_chart_free)

/* Scale of an axis of numbers. */
typedef enum
{
  PLAIT_PLOT_SCALE_AUTO, /* logarithmic if the numbers grow by factors */
  PLAIT_PLOT_SCALE_LINEAR,
  PLAIT_PLOT_SCALE_LOG,
} PlaitPlotScale;

/* The user's selection of what a chart shows. */
typedef struct
{
  const char *metric;   /* the score to draw; NULL: the first */
  const char *by;       /* NULL, or a key whose values are numbers, such as data.share: scores are drawn as curves over
                           the values of this key, one curve for each combination of the other settings */
  PlaitPlotScale scale; /* scale of the axis of @by */
} PlaitPlotSelection;

/* Makes the chart of @runs (element-type PlaitRunFile). @path names a column of a training table, the scores of a split
 * or its length bins. Runs that differ only in experiment.seed are drawn together, as their mean with one standard
 * deviation on each side. A score of a single run has the interval that its file records. PLAIT_ERROR_INPUT if there is
 * nothing to draw. (transfer full) */
PlaitPlotChart *plait_plot_chart_new (GPtrArray *runs, const char *path, const PlaitPlotSelection *selection,
                                      GError **error);
