/* SPDX-License-Identifier: MIT */
#pragma once

#include <pango/pangocairo.h>

#include "plot/plot.h"

/*
 * What a figure is drawn on. Lengths are points as printed.
 */
typedef struct
{
  cairo_t *cairo;
  PangoFontDescription *font;
  const PlaitPlotSettings *settings;
  double width;
  double size; /* of letters */
  double line; /* height of a line of text */
  PlaitPlotLosses *losses;
  double highest; /* value of the darkest cell of maps */
} PlaitPlotCanvas;

typedef struct
{
  double across, down; /* which point of the text stands at its place: 0 is left and top, 1 right and bottom */
  double max_width;    /* width at which it is cut with an ellipsis; 0: never */
  gboolean vertical;   /* reads from bottom to top */
} PlaitPlotPlacement;

/* How wide @text is on one line, whatever its script. */
double plait_plot_text_width (PlaitPlotCanvas *canvas, const char *text);
double plait_plot_widest (PlaitPlotCanvas *canvas, char *const *texts);
void plait_plot_text (PlaitPlotCanvas *canvas, const char *text, double x, double y, PlaitPlotPlacement placement);

/* What @own of the figure is called by the settings: NULL where they want no title. (transfer none) */
const char *plait_plot_title (const char *set, const char *own);

/* The name of series or map @i. (transfer none) */
const char *plait_plot_name (const PlaitPlotCanvas *canvas, guint i, const char *own);

/* Draw from the top of @canvas on; the height that was taken. */
double plait_plot_draw_heatmaps (PlaitPlotCanvas *canvas, const GPtrArray *maps);
double plait_plot_draw_chart (PlaitPlotCanvas *canvas, const PlaitPlotChart *chart);
