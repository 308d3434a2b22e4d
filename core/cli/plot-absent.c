/* SPDX-License-Identifier: MIT */
#include "cli/plot.h"

/* In the place of plot-draw.c in a build without cairo and Pango. */

gboolean
plait_plot_available (GError **error)
{
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "this plait was built without cairo and Pango, which draw figures; install libcairo2-dev and "
                     "libpango1.0-dev and build it again");
}

GBytes *
plait_plot_draw (const PlaitPlotChart *chart, const GPtrArray *maps, const PlaitPlotSettings *settings,
                 PlaitPlotFormat format, PlaitPlotLosses *losses, GError **error)
{
  plait_plot_available (error);
  return NULL;
}
