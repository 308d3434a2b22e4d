/* SPDX-License-Identifier: MIT */
#pragma once

#include "comparison/map.h"
#include "comparison/systems.h"

/*
 * Figures for papers: what plait plot draws. The models here know no drawing library; the module plot/cairo draws them.
 */

typedef struct
{
  char *name;
  guint n;
  double *x, *y;      /* [n]; of categories x counts from 0. A y that is no number is a gap. */
  double *low, *high; /* [n] of the band or interval; NaN: none */
  guint colour;       /* on a page (report/html.h): any number */
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
double plait_plot_place (const PlaitPlotAxis *axis, double value);

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

typedef enum
{
  PLAIT_PLOT_TOKENS,
  PLAIT_PLOT_NUMBERS, /* from 1 on, in the place of tokens */
  PLAIT_PLOT_NOTHING,
} PlaitPlotLabels;

typedef struct
{
  double width; /* centimetres as printed */
  double size;  /* points as printed */
  PlaitPlotLabels labels;
  const char *font;              /* as fontconfig knows it */
  const char *x_title, *y_title; /* NULL: what the figure calls them; empty: none */
  char **names;                  /* of series or maps, NULL-terminated; NULL, or too few: their own */
} PlaitPlotSettings;

/* How a figure is written, by the ending of its name. PLAIT_ERROR_INPUT for another one. */
typedef enum
{
  PLAIT_PLOT_SVG,
  PLAIT_PLOT_PDF,
  PLAIT_PLOT_PNG, /* 300 dots an inch */
} PlaitPlotFormat;

/* What a figure does not show. */
typedef struct
{
  guint left_out;  /* labels that found no place, at least */
  GArray *missing; /* the letters that no installed font has, each once (element-type gunichar); set by the caller */
} PlaitPlotLosses;

/* A sentence about @letters [@n], n > 0, that names the Debian packages of fonts that have them. (transfer full) */
char *plait_plot_missing_text (const gunichar *letters, guint n);

/* The table of modules of the kind plot. */
typedef struct
{
  /* Returns the bytes of a figure of @chart, or of @maps (element-type PlaitMap), whose darkest cell has the value
   * @highest, if @chart is NULL. NULL with PLAIT_ERROR_FAILED. (transfer full) */
  GBytes *(*draw) (const PlaitPlotChart *chart, const GPtrArray *maps, double highest,
                   const PlaitPlotSettings *settings, PlaitPlotFormat format, PlaitPlotLosses *losses, GError **error);
} PlaitPlotTable;
