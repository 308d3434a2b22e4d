/* SPDX-License-Identifier: MIT */
#pragma once

#include "comparison/chart.h"
#include "comparison/heatmap.h"

/* Figures for papers: settings of plait plot. The module plot/cairo draws them. */

typedef enum
{
  PLAIT_PLOT_TOKENS,
  PLAIT_PLOT_NUMBERS, /* numbers, counted from 1, in place of the tokens */
  PLAIT_PLOT_NOTHING,
} PlaitPlotLabels;

typedef struct
{
  double width; /* centimetres as printed */
  double size;  /* size of letters, points as printed */
  PlaitPlotLabels labels;
  const char *font;              /* name for fontconfig */
  const char *x_title, *y_title; /* NULL: title of the chart; "": no title */
  char **names; /* names of series or heatmaps, NULL-terminated; those without one keep their own; or NULL */
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
  GArray *missing; /* letters that no installed font has, each once (element-type gunichar); set by the caller */
} PlaitPlotLosses;

/* Returns a sentence about @letters [@n], n > 0, which no installed font has, with the Debian packages to install.
 * (transfer full) */
char *plait_plot_missing_text (const gunichar *letters, guint n);

/* Table of functions of a module of the kind plot. */
typedef struct
{
  /* Returns the bytes of a figure of @chart or, if that is NULL, of @heatmaps (element-type PlaitHeatmap). @highest is
   * the value of the darkest cell. NULL with PLAIT_ERROR_FAILED. (transfer full) */
  GBytes *(*draw) (const PlaitPlotChart *chart, const GPtrArray *heatmaps, double highest,
                   const PlaitPlotSettings *settings, PlaitPlotFormat format, PlaitPlotLosses *losses, GError **error);
} PlaitPlotTable;
