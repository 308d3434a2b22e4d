/* SPDX-License-Identifier: MIT */
#include "canvas.h"

#include <math.h>
#include <string.h>

/* Heatmaps side by side with one scale. */

#define TALLEST 620. /* maximum height of all rows of cells together, in points, to fit on a page */
#define WORD "\u2581"

/* The layout of a figure of heatmaps. */
typedef struct
{
  const GPtrArray *maps; /* (element-type PlaitHeatmap) */
  gboolean shared;       /* TRUE if all maps have equal row labels, which are drawn once */
  double rows_width;     /* width of row labels */
  double columns_height; /* height of column labels, above the cells */
  gboolean upright;      /* TRUE if column labels fit above their cells without turning them */
  double cell_width, cell_height;
  double gap, scale_width;
  double left;    /* left margin, which centres a figure narrower than the width */
  double highest; /* value of the darkest cell */
} Layout;

/* Sets a colour from white to dark blue. Larger values are always darker, so the order survives printing in grey. */
static void
set_colour (cairo_t *cairo, double share)
{
  static const double stops[][3]
      = { { 1, 1, 1 }, { .776, .859, .937 }, { .42, .682, .839 }, { .129, .443, .71 }, { .031, .188, .42 } };
  double place = CLAMP (share, 0, 1) * (G_N_ELEMENTS (stops) - 1);
  guint i = MIN ((guint)place, G_N_ELEMENTS (stops) - 2);
  double part = place - i;

  cairo_set_source_rgb (cairo, stops[i][0] + part * (stops[i + 1][0] - stops[i][0]),
                        stops[i][1] + part * (stops[i + 1][1] - stops[i][1]),
                        stops[i][2] + part * (stops[i + 1][2] - stops[i][2]));
}

static gboolean
same_rows (const PlaitHeatmap *a, const PlaitHeatmap *b)
{
  return g_strv_equal ((const char *const *)a->rows, (const char *const *)b->rows);
}

/* Returns the labels of an axis as drawn; an empty list for no labels. (transfer full) */
static char **
shown_labels (const PlaitPlotCanvas *canvas, char *const *labels)
{
  guint n = g_strv_length ((char **)labels);
  char **shown = g_new0 (char *, n + 1);

  /* Drop the mark for the beginning of a word, which takes space and overlaps the neighbouring labels. */
  for (guint i = 0; canvas->settings->labels == PLAIT_PLOT_TOKENS && i < n; i++)
    shown[i] = g_strdup (
        g_str_has_prefix (labels[i], WORD) && labels[i][strlen (WORD)] != '\0' ? labels[i] + strlen (WORD) : labels[i]);
  for (guint i = 0; canvas->settings->labels == PLAIT_PLOT_NUMBERS && i < n; i++)
    shown[i] = g_strdup_printf ("%u", i + 1);
  return shown;
}

static double
widest_of (PlaitPlotCanvas *canvas, char *const *labels)
{
  g_auto (GStrv) shown = shown_labels (canvas, labels);

  return plait_plot_widest (canvas, shown);
}

static char *
scale_label (double value)
{
  return g_strdup_printf ("%.2g", value);
}

static void
arrange (PlaitPlotCanvas *canvas, Layout *layout)
{
  gint64 columns = 0, rows = 1;
  double widest = 0, space;
  guint label_columns;

  layout->shared = TRUE;
  layout->highest = canvas->highest;
  for (guint m = 0; m < layout->maps->len; m++)
    {
      const PlaitHeatmap *map = layout->maps->pdata[m];

      layout->shared = layout->shared && same_rows (layout->maps->pdata[0], map);
      layout->rows_width = MAX (layout->rows_width, widest_of (canvas, map->rows));
      widest = MAX (widest, widest_of (canvas, map->columns));
      columns += map->n_columns;
      rows = MAX (rows, map->n_rows);
    }
  label_columns = layout->shared ? 1 : layout->maps->len;
  layout->rows_width = MIN (layout->rows_width, .3 * canvas->width / label_columns);
  layout->gap = canvas->size;
  g_autofree char *top = scale_label (layout->highest);
  layout->scale_width = 1.7 * canvas->size + plait_plot_text_width (canvas, top);
  space = canvas->width - layout->scale_width - label_columns * (layout->rows_width + .3 * canvas->size)
          - (layout->maps->len - 1) * layout->gap;
  layout->cell_width = MIN (MAX (space, .2 * canvas->width) / (double)columns, 2.2 * canvas->line);
  layout->left = MAX (0, space - layout->cell_width * (double)columns) / 2;
  layout->cell_height = CLAMP (layout->cell_width, canvas->line, 1.5 * canvas->line);
  layout->cell_height = MIN (layout->cell_height, TALLEST / (double)rows);
  layout->upright = widest <= layout->cell_width - .2 * canvas->size;
  layout->columns_height = widest <= 0 ? 0 : layout->upright ? canvas->line : MIN (widest, 9 * canvas->size);
}

/* Returns the smallest k for which labels at every k-th cell do not touch, if a cell has @extent points. */
static gint64
step_of (const PlaitPlotCanvas *canvas, double extent)
{
  return MAX (1, (gint64)ceil (.95 * canvas->size / extent));
}

static void
draw_row_labels (PlaitPlotCanvas *canvas, const Layout *layout, const PlaitHeatmap *map, double x, double y)
{
  g_auto (GStrv) shown = shown_labels (canvas, map->rows);
  gint64 step = step_of (canvas, layout->cell_height), n = g_strv_length (shown);

  for (gint64 r = 0; r < n; r += step)
    plait_plot_text (canvas, shown[r], x, y + ((double)r + .5) * layout->cell_height,
                     (PlaitPlotPlacement){ 1, .5, layout->rows_width, FALSE });
  canvas->losses->left_out += (guint)(n - (n + step - 1) / step);
}

static void
draw_column_labels (PlaitPlotCanvas *canvas, const Layout *layout, const PlaitHeatmap *map, double x, double y)
{
  g_auto (GStrv) shown = shown_labels (canvas, map->columns);
  gint64 step = layout->upright ? 1 : step_of (canvas, layout->cell_width), n = g_strv_length (shown);

  for (gint64 c = 0; c < n; c += step)
    {
      double at = x + ((double)c + .5) * layout->cell_width;

      plait_plot_text (canvas, shown[c], at, y - .2 * canvas->size,
                       layout->upright ? (PlaitPlotPlacement){ .5, 1, 0, FALSE }
                                       : (PlaitPlotPlacement){ 0, .5, layout->columns_height, TRUE });
    }
  canvas->losses->left_out += (guint)(n - (n + step - 1) / step);
}

/* Draws a cell. Draws a cross if @value is not finite, and nothing if @value is near 0. */
static void
draw_cell (cairo_t *cairo, double value, double highest, double x, double y, double width, double height)
{
  if (!isfinite (value))
    {
      cairo_set_source_rgb (cairo, .5, .5, .5);
      cairo_set_line_width (cairo, .4);
      cairo_move_to (cairo, x, y);
      cairo_line_to (cairo, x + width, y + height);
      cairo_move_to (cairo, x + width, y);
      cairo_line_to (cairo, x, y + height);
      cairo_stroke (cairo);
    }
  else if (highest > 0 && value > highest / 250)
    {
      set_colour (cairo, value / highest);
      cairo_rectangle (cairo, x, y, width, height);
      cairo_fill (cairo);
    }
}

static void
draw_frame (cairo_t *cairo, double x, double y, double width, double height)
{
  cairo_rectangle (cairo, x, y, width, height);
  cairo_set_source_rgb (cairo, .3, .3, .3);
  cairo_set_line_width (cairo, .5);
  cairo_stroke (cairo);
}

static void
draw_cells (PlaitPlotCanvas *canvas, const Layout *layout, const PlaitHeatmap *map, double x, double y)
{
  cairo_t *cairo = canvas->cairo;

  cairo_save (cairo);
  /* Antialiasing would leave white seams between neighbouring cells. */
  cairo_set_antialias (cairo, CAIRO_ANTIALIAS_NONE);
  for (gint64 r = 0; r < map->n_rows; r++)
    for (gint64 c = 0; c < map->n_columns; c++)
      draw_cell (cairo, map->values[r * map->n_columns + c], layout->highest, x + (double)c * layout->cell_width,
                 y + (double)r * layout->cell_height, layout->cell_width, layout->cell_height);
  cairo_restore (cairo);
  draw_frame (cairo, x, y, (double)map->n_columns * layout->cell_width, (double)map->n_rows * layout->cell_height);
}

static void
draw_scale (PlaitPlotCanvas *canvas, const Layout *layout, double x, double y, double height)
{
  enum
  {
    STEPS = 32,
  };
  double width = .7 * canvas->size, text = x + width + .3 * canvas->size;
  g_autofree char *top = scale_label (layout->highest);

  height = MAX (height, 2.4 * canvas->line);
  cairo_save (canvas->cairo);
  cairo_set_antialias (canvas->cairo, CAIRO_ANTIALIAS_NONE);
  for (int i = 0; i < STEPS; i++)
    {
      set_colour (canvas->cairo, 1 - (i + .5) / STEPS);
      cairo_rectangle (canvas->cairo, x, y + height * i / STEPS, width, height / STEPS);
      cairo_fill (canvas->cairo);
    }
  cairo_restore (canvas->cairo);
  draw_frame (canvas->cairo, x, y, width, height);
  plait_plot_text (canvas, top, text, y, (PlaitPlotPlacement){ 0, 0, 0, FALSE });
  plait_plot_text (canvas, "0", text, y + height, (PlaitPlotPlacement){ 0, 1, 0, FALSE });
}

double
plait_plot_draw_heatmaps (PlaitPlotCanvas *canvas, const GPtrArray *maps)
{
  Layout layout = { .maps = maps };
  const char *x_title = plait_plot_title (canvas->settings->x_title, NULL);
  const char *y_title = plait_plot_title (canvas->settings->y_title, NULL);
  double x = 0, y, tallest = 0, left, wide = canvas->width;

  if (y_title)
    canvas->width -= 1.2 * canvas->line;
  arrange (canvas, &layout);
  left = layout.left + (y_title ? 1.2 * canvas->line : 0);
  x = left;
  y = layout.columns_height + (layout.columns_height > 0 ? .3 * canvas->size : 0);
  for (guint m = 0; m < layout.maps->len; m++)
    {
      const PlaitHeatmap *map = layout.maps->pdata[m];
      double width = (double)map->n_columns * layout.cell_width, height = (double)map->n_rows * layout.cell_height;

      if (m == 0 || !layout.shared)
        {
          x += layout.rows_width + .3 * canvas->size;
          draw_row_labels (canvas, &layout, map, x - .3 * canvas->size, y);
        }
      draw_column_labels (canvas, &layout, map, x, y);
      draw_cells (canvas, &layout, map, x, y);
      if (layout.maps->len > 1 || canvas->settings->names)
        plait_plot_text (canvas, plait_plot_name (canvas, m, map->title), x + width / 2, y + height + .4 * canvas->size,
                         (PlaitPlotPlacement){ .5, 0, width + .8 * layout.gap, FALSE });
      x += width + layout.gap;
      tallest = MAX (tallest, height);
    }
  draw_scale (canvas, &layout, x - layout.gap + .7 * canvas->size, y, MIN (tallest, 10 * canvas->line));
  if (y_title)
    plait_plot_text (canvas, y_title, layout.left, y + tallest / 2,
                     (PlaitPlotPlacement){ .5, 0, MAX (tallest, y), TRUE });
  tallest = MAX (tallest, 2.4 * canvas->line);
  y += tallest;
  if (layout.maps->len > 1 || canvas->settings->names)
    y += .4 * canvas->size + canvas->line;
  if (x_title)
    {
      y += .3 * canvas->size;
      plait_plot_text (canvas, x_title, left + (x - left) / 2, y, (PlaitPlotPlacement){ .5, 0, wide, FALSE });
      y += canvas->line;
    }
  return y;
}
