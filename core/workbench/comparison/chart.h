/* SPDX-License-Identifier: MIT */
#pragma once

#include "comparison/systems.h"

/*
 * Curves and charts out of runs. plait plot and plait report draw them.
 */

typedef struct
{
  char *name;
  guint n;
  double *x, *y;      /* [n]; of categories x counts from 0. A y that is no number is a gap. */
  double *low, *high; /* [n] of the band or interval; NaN: none */
  guint colour;       /* on a page: any number */
  gboolean dashed;    /* the same */
} PlaitPlotSeries;

void plait_plot_series_free (PlaitPlotSeries *series);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitPlotSeries, plait_plot_series_free)

/* One axis: from where to where, and its ticks. */
typedef struct
{
  double low, high;  /* values at its ends; NaN: none yet */
  double begin, end; /* where these are drawn */
  double step;       /* between ticks */
  int decimals;      /* of what stands at them */
} PlaitPlotAxis;

/* Lets @axis reach to @value, if that is finite. */
void plait_plot_include (PlaitPlotAxis *axis, double value);

/* Where @value is drawn. */
double plait_plot_position (const PlaitPlotAxis *axis, double value);

/* The least of 1, 2 and 5 times a power of ten that is no less than @rough: between ticks. */
double plait_plot_step (double rough);

/* The column @path of a table of training over its steps: of @system, which is one of @runs, the mean of all runs, with
 * the standard deviation around it, at the steps of the first that all have; gaps at its others. PLAIT_ERROR_INPUT
 * where a run has no value a step, unless @some will do: then NULL where none has. (transfer full) */
PlaitPlotSeries *plait_plot_series_read (const GPtrArray *runs, const PlaitRunSystem *system, const char *path,
                                         gboolean some, GError **error);

typedef enum
{
  PLAIT_PLOT_LINES,  /* over numbers, with bands */
  PLAIT_PLOT_POINTS, /* over categories, with intervals */
  PLAIT_PLOT_BARS,   /* one a category, with intervals; of one series */
} PlaitPlotKind;

typedef struct
{
  PlaitPlotKind kind;
  char *x_title, *y_title;
  char **categories; /* NULL: of lines */
  GPtrArray *series; /* (element-type PlaitPlotSeries) */
} PlaitPlotChart;

void plait_plot_chart_free (PlaitPlotChart *chart);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitPlotChart, plait_plot_chart_free)

/* What is drawn of the table column, scores or length bins at @path of @runs (element-type PlaitRunFile). Runs that
 * differ in nothing but experiment.seed are one series: their mean, with the standard deviation around it; a single run
 * has the interval that stands in its file. @metric chooses among the scores (NULL: the first). PLAIT_ERROR_INPUT if
 * nothing of it can be drawn. (transfer full) */
PlaitPlotChart *plait_plot_chart_new (GPtrArray *runs, const char *path, const char *metric, GError **error);
