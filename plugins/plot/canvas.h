/* SPDX-License-Identifier: MIT */
#pragma once

#include <pango/pangocairo.h>

#include "plot/plot.h"

/*
 * The drawing surface of a figure and its measures. Lengths are in points of the printed figure.
 */
typedef struct
{
  cairo_t *cairo;
  PangoFontDescription *font;
  const PlaitPlotSettings *settings;
  double width;
  double size; /* size of letters */
  double line; /* height of a line of text */
  PlaitPlotLosses *losses;
  double highest; /* value of the darkest cell of heatmaps */
} PlaitPlotCanvas;

typedef struct
{
  double across, down; /* part of the text that is placed at x, y: 0, 0: left top corner; 1, 1: right bottom */
  double max_width;    /* width beyond which the text is cut with an ellipsis; 0: never */
  gboolean vertical;   /* TRUE: the text runs from bottom to top */
} PlaitPlotPlacement;

/* Returns the width of @text on one line, in points. */
double plait_plot_text_width (PlaitPlotCanvas *canvas, const char *text);
double plait_plot_widest (PlaitPlotCanvas *canvas, char *const *texts);
void plait_plot_text (PlaitPlotCanvas *canvas, const char *text, double x, double y, PlaitPlotPlacement placement);

/* Returns the title to draw: @set if the settings give one, else @own; NULL for no title. (transfer none) */
const char *plait_plot_title (const char *set, const char *own);

/* Returns the name of series, bar or map @i: from the settings, else @own. (transfer none) */
const char *plait_plot_name (const PlaitPlotCanvas *canvas, guint i, const char *own);

/* Draw at the top of @canvas. Return the height of the drawing in points. */
double plait_plot_draw_heatmaps (PlaitPlotCanvas *canvas, const GPtrArray *maps);
double plait_plot_draw_chart (PlaitPlotCanvas *canvas, const PlaitPlotChart *chart);
