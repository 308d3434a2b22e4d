/* SPDX-License-Identifier: MIT */
#include "comparison/chart.h"

#include <math.h>

/* Computes positions on the axis of a plot. This file is compiled into plait, which writes plots into HTML, and into
 * the plot module. */

void
plait_plot_include (PlaitPlotAxis *axis, double value)
{
  if (!isfinite (value))
    return;
  axis->low = isnan (axis->low) ? value : MIN (axis->low, value);
  axis->high = isnan (axis->high) ? value : MAX (axis->high, value);
}

double
plait_plot_position (const PlaitPlotAxis *axis, double value)
{
  return axis->begin + (value - axis->low) / (axis->high - axis->low) * (axis->end - axis->begin);
}

double
plait_plot_step (double rough)
{
  double power = pow (10, floor (log10 (rough))), times = rough / power;

  return power * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
}
