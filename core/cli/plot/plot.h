/* SPDX-License-Identifier: MIT */
#pragma once

#include "comparison/chart.h"
#include "comparison/heatmap.h"

/* Figures for papers: how plait plot draws charts and heatmaps. The module plot/cairo draws them. */

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

/* Parts of the data that a figure leaves out. */
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
  /* Returns the bytes of a figure of @chart, or of @heatmaps (element-type PlaitHeatmap), whose darkest cell has the
   * value @highest, if @chart is NULL. NULL with PLAIT_ERROR_FAILED. (transfer full) */
  GBytes *(*draw) (const PlaitPlotChart *chart, const GPtrArray *heatmaps, double highest,
                   const PlaitPlotSettings *settings, PlaitPlotFormat format, PlaitPlotLosses *losses, GError **error);
} PlaitPlotTable;
