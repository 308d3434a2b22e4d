/* SPDX-License-Identifier: MIT */
#pragma once

#include "comparison/chart.h"
#include "comparison/heatmap.h"

/* Figures for papers: settings of plait plot. The module plot/cairo draws the figures. */

typedef enum
{
  PLAIT_PLOT_TOKENS,
  PLAIT_PLOT_NUMBERS, /* numbers, counted from 1, as labels in place of tokens */
  PLAIT_PLOT_NOTHING,
} PlaitPlotLabels;

typedef struct
{
  double width; /* width of the printed figure, in centimetres */
  double size;  /* size of letters in the printed figure, in points */
  PlaitPlotLabels labels;
  const char *font;              /* name of a font, for fontconfig */
  const char *x_title, *y_title; /* titles of the axes; NULL: the chart's own; "": no title */
  char **names; /* new names of series, bar categories or heatmaps, from the first on, NULL-terminated; or NULL */
} PlaitPlotSettings;

/* Format of a figure. */
typedef enum
{
  PLAIT_PLOT_SVG,
  PLAIT_PLOT_PDF,
  PLAIT_PLOT_PNG, /* 300 dots per inch */
} PlaitPlotFormat;

/* Parts of the data that a figure could not show. */
typedef struct
{
  guint left_out;  /* number of labels left out because there was no space for them */
  GArray *missing; /* (element-type gunichar): letters without a font, each once; the caller sets the array */
} PlaitPlotLosses;

/* Returns a text which says that no installed font has @letters [@n], n > 0, and names Debian packages with such fonts.
 * (transfer full) */
char *plait_plot_missing_text (const gunichar *letters, guint n);

/* Table of functions of a module of the kind plot. */
typedef struct
{
  /* Returns the bytes of a figure of @chart; if @chart is NULL, of @heatmaps (element-type PlaitHeatmap). @highest is
   * the value that the darkest cell stands for. Sets @losses. NULL with PLAIT_ERROR_FAILED. (transfer full) */
  GBytes *(*draw) (const PlaitPlotChart *chart, const GPtrArray *heatmaps, double highest,
                   const PlaitPlotSettings *settings, PlaitPlotFormat format, PlaitPlotLosses *losses, GError **error);
} PlaitPlotTable;
