/* SPDX-License-Identifier: MIT */
#pragma once

#include "comparison/chart.h"

/* The horizontal axis of a chart that shows scores over the values of a setting. */

/* Sets *@value to the number that @run has for the key @by, such as data.share. Fails if it is not a number. */
gboolean plait_plot_value_of (const PlaitRunFile *run, const char *by, double *value, GError **error);

/* Sorts the points of each series of @chart by x and sets the ticks to the values of x. If @scale makes the axis
 * logarithmic, replaces each x and tick by its logarithm. PLAIT_ERROR_INPUT if a value has no logarithm. */
gboolean plait_plot_order (PlaitPlotChart *chart, PlaitPlotScale scale, GError **error);
