/* SPDX-License-Identifier: MIT */
#include "canvas.h"

#include <math.h>

/* Charts: curves, points over categories, and bars. */

/* A colour of Okabe and Ito. Dashes and marks distinguish series without colour. */
typedef struct
{
  double colour[3];
  double dashes[4];
  int n_dashes;
} Style;

static const Style styles[] = {
  { { 0, 0, 0 }, { 0 }, 0 },
  { { .902, .624, 0 }, { 4, 1.5 }, 2 },
  { { 0, .447, .698 }, { 1.2, 1.2 }, 2 },
  { { .835, .369, 0 }, { 5, 1.5, 1, 1.5 }, 4 },
  { { 0, .62, .451 }, { 8, 2 }, 2 },
  { { .8, .475, .655 }, { 2.5, 2.5 }, 2 },
  { { .337, .706, .914 }, { 1, 2.5 }, 2 },
};

/* Chooses ticks of @axis, with at most @max_width steps between the first and the last. */
static void
choose_ticks (PlaitPlotAxis *axis, double max_width)
{
  axis->step = plait_plot_step ((axis->high - axis->low) / MAX (max_width, 1));
  axis->decimals = (int)MAX (0, -floor (log10 (axis->step) + 1e-9));
}

static char *
tick_text (const PlaitPlotAxis *axis, double value)
{
  if (fabs (value) < axis->step / 2)
    value = 0;
  if (axis->decimals > 6 || fabs (value) >= 1e7)
    return g_strdup_printf ("%.3g", value);
  return g_strdup_printf ("%.*f", axis->decimals, value);
}

static double
first_tick (const PlaitPlotAxis *axis)
{
  return ceil (axis->low / axis->step - 1e-9) * axis->step;
}

static double
widest_tick (PlaitPlotCanvas *canvas, const PlaitPlotAxis *axis)
{
  double widest = 0;

  for (double value = first_tick (axis); value <= axis->high + axis->step * 1e-9; value += axis->step)
    {
      g_autofree char *text = tick_text (axis, value);

      widest = MAX (widest, plait_plot_text_width (canvas, text));
    }
  return widest;
}

static void
stroke (cairo_t *cairo, double x0, double y0, double x1, double y1, double width, double grey)
{
  cairo_set_source_rgb (cairo, grey, grey, grey);
  cairo_set_line_width (cairo, width);
  cairo_move_to (cairo, x0, y0);
  cairo_line_to (cairo, x1, y1);
  cairo_stroke (cairo);
}

/* Returns an axis that covers all values, with some margin. For bars, the axis contains 0 and has no margin. */
static PlaitPlotAxis
span_values (const PlaitPlotChart *chart)
{
  PlaitPlotAxis axis = { NAN, NAN };
  double room;

  for (guint s = 0; s < chart->series->len; s++)
    {
      const PlaitPlotSeries *series = chart->series->pdata[s];

      for (guint i = 0; i < series->n; i++)
        {
          plait_plot_include (&axis, series->points[i].y);
          plait_plot_include (&axis, series->points[i].low);
          plait_plot_include (&axis, series->points[i].high);
        }
    }
  room = axis.high > axis.low ? .04 * (axis.high - axis.low) : MAX (fabs (axis.high) * .1, 1e-3);
  if (chart->kind == PLAIT_PLOT_BARS)
    {
      /* Bars begin at 0. */
      axis.low = MIN (axis.low, 0);
      axis.high = MAX (axis.high, 0);
      axis.high = MAX (axis.high, axis.low + room);
    }
  else
    {
      axis.low -= room;
      axis.high += room;
    }
  return axis;
}

static PlaitPlotAxis
span_places (const PlaitPlotChart *chart)
{
  PlaitPlotAxis axis = { NAN, NAN };

  if (chart->categories)
    return (PlaitPlotAxis){ -.5, g_strv_length (chart->categories) - .5 };
  for (guint s = 0; s < chart->series->len; s++)
    {
      const PlaitPlotSeries *series = chart->series->pdata[s];

      for (guint i = 0; i < series->n; i++)
        if (isfinite (series->points[i].y))
          plait_plot_include (&axis, series->points[i].x);
    }
  if (!(axis.high > axis.low))
    {
      axis.low -= 1;
      axis.high += 1;
    }
  return axis;
}

static void
set_style (cairo_t *cairo, guint s, double opacity)
{
  guint n = G_N_ELEMENTS (styles);
  const double *colour = styles[s % n].colour;
  const Style *dashed = &styles[(s + s / n) % n]; /* when colours repeat, dashes differ */

  cairo_set_source_rgba (cairo, colour[0], colour[1], colour[2], opacity);
  cairo_set_dash (cairo, dashed->dashes, dashed->n_dashes, 0);
  cairo_set_line_width (cairo, 1);
}

/* Draws a filled circle, square, triangle or diamond; @s, the index of the series, selects the shape. */
static void
draw_mark (cairo_t *cairo, guint s, double x, double y, double radius)
{
  static const double corners[][4]
      = { { 0, 0, 0, 0 }, { .25, .75, 1.25, 1.75 }, { .5, 7 / 6., 11 / 6. }, { 0, .5, 1, 1.5 } };
  static const guint n_corners[] = { 0, 4, 3, 4 };
  guint shape = s % G_N_ELEMENTS (n_corners);

  cairo_new_path (cairo);
  if (shape == 0)
    cairo_arc (cairo, x, y, radius * .9, 0, 2 * G_PI);
  for (guint i = 0; i < n_corners[shape]; i++)
    cairo_line_to (cairo, x + 1.15 * radius * cos (corners[shape][i] * G_PI),
                   y - 1.15 * radius * sin (corners[shape][i] * G_PI));
  cairo_close_path (cairo);
  cairo_fill (cairo);
}

static void
draw_band (cairo_t *cairo, const PlaitPlotSeries *series, guint s, const PlaitPlotAxis *x, const PlaitPlotAxis *y)
{
  for (guint i = 0; i + 1 < series->n; i++)
    if (isfinite (series->points[i].low) && isfinite (series->points[i + 1].low))
      {
        guint first = i;

        cairo_move_to (cairo, plait_plot_position (x, series->points[i].x),
                       plait_plot_position (y, series->points[i].high));
        while (i + 1 < series->n && isfinite (series->points[i + 1].low))
          {
            i++;
            cairo_line_to (cairo, plait_plot_position (x, series->points[i].x),
                           plait_plot_position (y, series->points[i].high));
          }
        for (guint k = i + 1; k-- > first;)
          cairo_line_to (cairo, plait_plot_position (x, series->points[k].x),
                         plait_plot_position (y, series->points[k].low));
        cairo_close_path (cairo);
        set_style (cairo, s, .18);
        cairo_fill (cairo);
      }
}

static void
draw_interval (cairo_t *cairo, double x, double low, double high, double reach)
{
  cairo_set_dash (cairo, NULL, 0, 0);
  cairo_set_line_width (cairo, .7);
  cairo_move_to (cairo, x, low);
  cairo_line_to (cairo, x, high);
  cairo_move_to (cairo, x - reach, low);
  cairo_line_to (cairo, x + reach, low);
  cairo_move_to (cairo, x - reach, high);
  cairo_line_to (cairo, x + reach, high);
  cairo_stroke (cairo);
}

static void
draw_series (PlaitPlotCanvas *canvas, const PlaitPlotChart *chart, guint s, const PlaitPlotAxis *x,
             const PlaitPlotAxis *y)
{
  enum
  {
    MOST_MARKED = 24,
  };
  const PlaitPlotSeries *series = chart->series->pdata[s];
  cairo_t *cairo = canvas->cairo;
  double radius = .28 * canvas->size, aside = 0;
  gboolean drawing = FALSE;

  /* Shift each series by another distance, so that the intervals over a category do not overlap. */
  if (chart->kind == PLAIT_PLOT_POINTS)
    aside = (s - (chart->series->len - 1) / 2.)
            * MIN (2.2 * radius, fabs (x->end - x->begin) / (x->high - x->low) * .6 / chart->series->len);
  for (guint i = 0; i < series->n; i++)
    if (!isfinite (series->points[i].y))
      drawing = FALSE;
    else
      {
        double at = plait_plot_position (x, series->points[i].x) + aside,
               value = plait_plot_position (y, series->points[i].y);

        if (drawing)
          cairo_line_to (cairo, at, value);
        else
          cairo_move_to (cairo, at, value);
        drawing = TRUE;
      }
  set_style (cairo, s, 1);
  cairo_set_line_join (cairo, CAIRO_LINE_JOIN_ROUND);
  cairo_stroke (cairo);
  for (guint i = 0; i < series->n; i++)
    if (isfinite (series->points[i].y) && (chart->kind == PLAIT_PLOT_POINTS || series->n <= MOST_MARKED))
      {
        double at = plait_plot_position (x, series->points[i].x) + aside;

        draw_mark (cairo, s, at, plait_plot_position (y, series->points[i].y), radius);
        if (chart->kind == PLAIT_PLOT_POINTS && isfinite (series->points[i].low))
          draw_interval (cairo, at, plait_plot_position (y, series->points[i].low),
                         plait_plot_position (y, series->points[i].high), .6 * radius);
      }
  cairo_set_dash (cairo, NULL, 0, 0);
}

/* Draws the line and the name of each series below the figure, on as many lines as needed; draws nothing for one series
 * that the settings do not name. Returns the height. */
static double
draw_legend (PlaitPlotCanvas *canvas, const PlaitPlotChart *chart, double y)
{
  double swatch = 2.6 * canvas->size, gap = .5 * canvas->size, x = 0, top = y;

  if (chart->series->len < 2 && !canvas->settings->names)
    return 0;
  for (guint s = 0; s < chart->series->len; s++)
    {
      const PlaitPlotSeries *series = chart->series->pdata[s];
      const char *name = plait_plot_name (canvas, s, series->name);
      double width = MIN (swatch + gap + plait_plot_text_width (canvas, name), canvas->width);

      if (x > 0 && x + width > canvas->width)
        {
          x = 0;
          y += 1.1 * canvas->line;
        }
      set_style (canvas->cairo, s, 1);
      cairo_move_to (canvas->cairo, x, y + canvas->line / 2);
      cairo_line_to (canvas->cairo, x + swatch, y + canvas->line / 2);
      cairo_stroke (canvas->cairo);
      draw_mark (canvas->cairo, s, x + swatch / 2, y + canvas->line / 2, .28 * canvas->size);
      cairo_set_dash (canvas->cairo, NULL, 0, 0);
      plait_plot_text (canvas, name, x + swatch + gap, y,
                       (PlaitPlotPlacement){ 0, 0, canvas->width - swatch - gap, FALSE });
      x += width + 1.5 * canvas->size;
    }
  return y + canvas->line - top;
}

/* Draws ticks and labels of the horizontal axis at @y. Returns the height. */
static double
draw_x_axis (PlaitPlotCanvas *canvas, const PlaitPlotChart *chart, const PlaitPlotAxis *x, double y)
{
  double slot, widest, tick = .4 * canvas->size, free = -INFINITY;

  for (guint i = 0; chart->tick_names && chart->tick_names[i]; i++)
    {
      double at = plait_plot_position (x, chart->ticks[i]);
      double half = plait_plot_text_width (canvas, chart->tick_names[i]) / 2;

      stroke (canvas->cairo, at, y, at, y + tick, .5, .3);
      if (at - half < free)
        continue;
      plait_plot_text (canvas, chart->tick_names[i], at, y + tick, (PlaitPlotPlacement){ .5, 0, 0, FALSE });
      free = at + half + .5 * canvas->size;
    }
  if (chart->tick_names)
    return tick + canvas->line;
  if (!chart->categories || chart->kind == PLAIT_PLOT_BARS)
    {
      for (double value = first_tick (x); value <= x->high + x->step * 1e-9; value += x->step)
        {
          g_autofree char *text = tick_text (x, value);

          stroke (canvas->cairo, plait_plot_position (x, value), y, plait_plot_position (x, value), y + tick, .5, .3);
          plait_plot_text (canvas, text, plait_plot_position (x, value), y + tick,
                           (PlaitPlotPlacement){ .5, 0, 0, FALSE });
        }
      return tick + canvas->line;
    }
  slot = (x->end - x->begin) / (x->high - x->low);
  widest = plait_plot_widest (canvas, chart->categories);
  for (guint i = 0; chart->categories[i]; i++)
    plait_plot_text (canvas, chart->categories[i], plait_plot_position (x, i), y + tick,
                     widest < .95 * slot ? (PlaitPlotPlacement){ .5, 0, 0, FALSE }
                                         : (PlaitPlotPlacement){ 1, .5, 0, TRUE });
  return tick + (widest < .95 * slot ? canvas->line : widest);
}

static double
draw_plane (PlaitPlotCanvas *canvas, const PlaitPlotChart *chart)
{
  const char *x_title = plait_plot_title (canvas->settings->x_title, chart->x_title);
  const char *y_title = plait_plot_title (canvas->settings->y_title, chart->y_title);
  PlaitPlotAxis x = span_places (chart), y = span_values (chart);
  double height = .58 * canvas->width, top = .5 * canvas->line, bottom = top + height;

  choose_ticks (&y, height / (2 * canvas->line));
  x.begin = (y_title ? 1.3 * canvas->line : 0) + widest_tick (canvas, &y) + .7 * canvas->size;
  x.end = canvas->width - 1.2 * canvas->size;
  y.begin = bottom;
  y.end = top;
  if (!chart->categories && !chart->tick_names)
    {
      choose_ticks (&x, (x.end - x.begin) / (4 * canvas->size));
      while (widest_tick (canvas, &x) + canvas->size > (x.end - x.begin) * x.step / (x.high - x.low))
        x.step *= 2;
    }
  for (double value = first_tick (&y); value <= y.high + y.step * 1e-9; value += y.step)
    {
      g_autofree char *text = tick_text (&y, value);

      stroke (canvas->cairo, x.begin, plait_plot_position (&y, value), x.end, plait_plot_position (&y, value), .4, .85);
      plait_plot_text (canvas, text, x.begin - .4 * canvas->size, plait_plot_position (&y, value),
                       (PlaitPlotPlacement){ 1, .5, 0, FALSE });
    }
  for (guint s = 0; s < chart->series->len && chart->kind == PLAIT_PLOT_LINES; s++)
    draw_band (canvas->cairo, chart->series->pdata[s], s, &x, &y);
  for (guint s = 0; s < chart->series->len; s++)
    draw_series (canvas, chart, s, &x, &y);
  stroke (canvas->cairo, x.begin, top, x.begin, bottom, .6, .3);
  stroke (canvas->cairo, x.begin, bottom, x.end, bottom, .6, .3);
  if (y_title)
    plait_plot_text (canvas, y_title, 0, (top + bottom) / 2, (PlaitPlotPlacement){ .5, 0, height, TRUE });
  bottom += draw_x_axis (canvas, chart, &x, bottom);
  if (x_title)
    {
      plait_plot_text (canvas, x_title, (x.begin + x.end) / 2, bottom + .1 * canvas->line,
                       (PlaitPlotPlacement){ .5, 0, x.end, FALSE });
      bottom += 1.1 * canvas->line;
    }
  bottom += .5 * canvas->size;
  return bottom + draw_legend (canvas, chart, bottom);
}

static double
draw_bars (PlaitPlotCanvas *canvas, const PlaitPlotChart *chart)
{
  const PlaitPlotSeries *series = chart->series->pdata[0];
  const char *x_title = plait_plot_title (canvas->settings->x_title, chart->x_title);
  double slot = 1.6 * canvas->line, bottom = slot * series->n, names = 0;
  PlaitPlotAxis x = span_values (chart);

  for (guint i = 0; i < series->n; i++)
    names = MAX (names, plait_plot_text_width (canvas, plait_plot_name (canvas, i, chart->categories[i])));
  names = MIN (names, .45 * canvas->width);
  x.begin = names + .6 * canvas->size;
  x.end = canvas->width - plait_plot_text_width (canvas, "000.00") - .5 * canvas->size;
  choose_ticks (&x, (x.end - x.begin) / (3 * canvas->size));
  for (double value = first_tick (&x); value <= x.high + x.step * 1e-9; value += x.step)
    stroke (canvas->cairo, plait_plot_position (&x, value), 0, plait_plot_position (&x, value), bottom, .4, .85);
  for (guint i = 0; i < series->n; i++)
    {
      double middle = (i + .5) * slot, end = x.begin;
      g_autofree char *text
          = isfinite (series->points[i].y) ? g_strdup_printf ("%.2f", series->points[i].y) : g_strdup ("–");

      plait_plot_text (canvas, plait_plot_name (canvas, i, chart->categories[i]), names, middle,
                       (PlaitPlotPlacement){ 1, .5, names, FALSE });
      if (isfinite (series->points[i].y))
        {
          cairo_rectangle (canvas->cairo, plait_plot_position (&x, 0), middle - .32 * slot,
                           plait_plot_position (&x, series->points[i].y) - plait_plot_position (&x, 0), .64 * slot);
          cairo_set_source_rgb (canvas->cairo, .62, .79, .88);
          cairo_fill_preserve (canvas->cairo);
          cairo_set_source_rgb (canvas->cairo, .2, .2, .2);
          cairo_set_line_width (canvas->cairo, .4);
          cairo_stroke (canvas->cairo);
          end = plait_plot_position (&x, MAX (series->points[i].y, 0));
        }
      if (isfinite (series->points[i].low))
        {
          cairo_save (canvas->cairo);
          cairo_translate (canvas->cairo, 0, middle);
          cairo_rotate (canvas->cairo, -G_PI / 2);
          cairo_set_source_rgb (canvas->cairo, 0, 0, 0);
          draw_interval (canvas->cairo, 0, plait_plot_position (&x, series->points[i].low),
                         plait_plot_position (&x, series->points[i].high), .16 * slot);
          cairo_restore (canvas->cairo);
          end = MAX (end, plait_plot_position (&x, series->points[i].high));
        }
      plait_plot_text (canvas, text, end + .4 * canvas->size, middle, (PlaitPlotPlacement){ 0, .5, 0, FALSE });
    }
  stroke (canvas->cairo, plait_plot_position (&x, 0), 0, plait_plot_position (&x, 0), bottom, .6, .3);
  bottom += draw_x_axis (canvas, chart, &x, bottom);
  if (x_title)
    {
      plait_plot_text (canvas, x_title, (x.begin + x.end) / 2, bottom, (PlaitPlotPlacement){ .5, 0, x.end, FALSE });
      bottom += 1.1 * canvas->line;
    }
  return bottom;
}

double
plait_plot_draw_chart (PlaitPlotCanvas *canvas, const PlaitPlotChart *chart)
{
  return chart->kind == PLAIT_PLOT_BARS ? draw_bars (canvas, chart) : draw_plane (canvas, chart);
}
