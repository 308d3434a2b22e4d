/* SPDX-License-Identifier: MIT */
#include "canvas.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>

#include "process/module.h"

#define POINTS_A_CENTIMETRE (72 / 2.54)
#define DOTS_A_POINT (300 / 72.)
#define MARGIN 2

static PangoLayout *
layout_new (PlaitPlotCanvas *canvas, const char *text, PangoRectangle *extents)
{
  PangoLayout *layout = pango_cairo_create_layout (canvas->cairo);

  pango_layout_set_font_description (layout, canvas->font);
  pango_layout_set_single_paragraph_mode (layout, TRUE);
  pango_layout_set_text (layout, text, -1);
  pango_layout_get_extents (layout, NULL, extents);
  return layout;
}

double
plait_plot_text_width (PlaitPlotCanvas *canvas, const char *text)
{
  PangoRectangle extents;

  g_object_unref (layout_new (canvas, text, &extents));
  return (double)extents.width / PANGO_SCALE;
}

double
plait_plot_widest (PlaitPlotCanvas *canvas, char *const *texts)
{
  double widest = 0;

  for (guint i = 0; texts[i]; i++)
    widest = MAX (widest, plait_plot_text_width (canvas, texts[i]));
  return widest;
}

/* Adds the characters of @layout that no font has to the missing letters of the canvas, each once. */
static void
note_missing (const PlaitPlotCanvas *canvas, PangoLayout *layout)
{
  GArray *missing = canvas->losses->missing;
  PangoLayoutIter *iter;

  if (pango_layout_get_unknown_glyphs_count (layout) == 0)
    return;
  iter = pango_layout_get_iter (layout);
  do
    {
      const PangoLayoutRun *run = pango_layout_iter_get_run_readonly (iter);

      for (int i = 0; run && i < run->glyphs->num_glyphs; i++)
        {
          PangoGlyph glyph = run->glyphs->glyphs[i].glyph;
          gunichar letter = glyph & ~PANGO_GLYPH_UNKNOWN_FLAG;
          gboolean known = !(glyph & PANGO_GLYPH_UNKNOWN_FLAG);

          for (guint k = 0; !known && k < missing->len; k++)
            known = g_array_index (missing, gunichar, k) == letter;
          if (!known)
            g_array_append_val (missing, letter);
        }
    }
  while (pango_layout_iter_next_run (iter));
  pango_layout_iter_free (iter);
}

void
plait_plot_text (PlaitPlotCanvas *canvas, const char *text, double x, double y, PlaitPlotPlacement placement)
{
  PangoRectangle extents;
  g_autoptr (PangoLayout) layout = layout_new (canvas, text, &extents);

  note_missing (canvas, layout);
  if (placement.max_width > 0 && extents.width > placement.max_width * PANGO_SCALE)
    {
      pango_layout_set_ellipsize (layout, PANGO_ELLIPSIZE_END);
      pango_layout_set_width (layout, (int)(placement.max_width * PANGO_SCALE));
      pango_layout_get_extents (layout, NULL, &extents);
    }
  cairo_save (canvas->cairo);
  cairo_translate (canvas->cairo, x, y);
  if (placement.vertical)
    cairo_rotate (canvas->cairo, -G_PI / 2);
  /* Subtract extents.x, because right-to-left text does not begin at 0 in its layout. */
  cairo_move_to (canvas->cairo, (-placement.across * extents.width - extents.x) / PANGO_SCALE,
                 (-placement.down * extents.height - extents.y) / PANGO_SCALE);
  cairo_set_source_rgb (canvas->cairo, 0, 0, 0);
  pango_cairo_show_layout (canvas->cairo, layout);
  cairo_restore (canvas->cairo);
}

const char *
plait_plot_title (const char *set, const char *own)
{
  const char *title = set ? set : own;

  return title && *title != '\0' ? title : NULL;
}

const char *
plait_plot_name (const PlaitPlotCanvas *canvas, guint i, const char *own)
{
  return canvas->settings->names && i < g_strv_length (canvas->settings->names) ? canvas->settings->names[i] : own;
}

/* Draws on @surface, in the width that the settings ask for, and returns the height of the figure in points. */
static double
draw_on (PlaitPlotCanvas *canvas, cairo_surface_t *surface, const PlaitPlotChart *chart, const GPtrArray *maps)
{
  const PlaitPlotSettings *settings = canvas->settings;
  cairo_font_options_t *options = cairo_font_options_create ();
  PangoRectangle extents;
  double height;

  canvas->cairo = cairo_create (surface);
  /* Draw letters without hinting, which would fit their shapes to the pixels of one screen. */
  cairo_font_options_set_hint_style (options, CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics (options, CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_antialias (options, CAIRO_ANTIALIAS_GRAY);
  cairo_set_font_options (canvas->cairo, options);
  cairo_font_options_destroy (options);
  canvas->font = pango_font_description_from_string (settings->font);
  pango_font_description_set_absolute_size (canvas->font, settings->size * PANGO_SCALE);
  g_object_unref (layout_new (canvas, "Ag", &extents));
  canvas->line = (double)extents.height / PANGO_SCALE;
  canvas->width = settings->width * POINTS_A_CENTIMETRE - 2 * MARGIN;
  cairo_translate (canvas->cairo, MARGIN, MARGIN);
  canvas->losses->left_out = 0;
  height = (chart ? plait_plot_draw_chart (canvas, chart) : plait_plot_draw_heatmaps (canvas, maps)) + 2 * MARGIN;
  pango_font_description_free (canvas->font);
  cairo_destroy (canvas->cairo);
  return height;
}

static cairo_status_t
append (void *bytes, const unsigned char *data, unsigned int length)
{
  g_byte_array_append (bytes, data, length);
  return CAIRO_STATUS_SUCCESS;
}

static cairo_surface_t *
surface_new (PlaitPlotFormat format, double width, double height, GByteArray *bytes)
{
  cairo_surface_t *surface;

  switch (format)
    {
    case PLAIT_PLOT_SVG:
      surface = cairo_svg_surface_create_for_stream (append, bytes, width, height);
      cairo_svg_surface_set_document_unit (surface, CAIRO_SVG_UNIT_PT);
      return surface;
    case PLAIT_PLOT_PDF:
      surface = cairo_pdf_surface_create_for_stream (append, bytes, width, height);
      /* A fixed date makes equal figures equal byte by byte. */
      cairo_pdf_surface_set_metadata (surface, CAIRO_PDF_METADATA_CREATE_DATE, "2000-01-01T00:00:00Z");
      return surface;
    case PLAIT_PLOT_PNG:
    default:
      surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, (int)(width * DOTS_A_POINT + .5),
                                            (int)(height * DOTS_A_POINT + .5));
      cairo_surface_set_device_scale (surface, DOTS_A_POINT, DOTS_A_POINT);
      return surface;
    }
}

static GBytes *
draw (const PlaitPlotChart *chart, const GPtrArray *maps, double highest, const PlaitPlotSettings *settings,
      PlaitPlotFormat format, PlaitPlotLosses *losses, GError **error)
{
  cairo_surface_t *record = cairo_recording_surface_create (CAIRO_CONTENT_COLOR_ALPHA, NULL);
  PlaitPlotCanvas canvas = { .settings = settings, .size = settings->size, .losses = losses, .highest = highest };
  double width = settings->width * POINTS_A_CENTIMETRE, height = draw_on (&canvas, record, chart, maps);
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  cairo_surface_t *surface = surface_new (format, width, height, bytes);
  cairo_t *background = cairo_create (surface);
  cairo_status_t status;

  if (format == PLAIT_PLOT_PNG)
    {
      cairo_set_source_rgb (background, 1, 1, 1);
      cairo_paint (background);
    }
  cairo_destroy (background);
  draw_on (&canvas, surface, chart, maps);
  status = cairo_surface_status (surface);
  if (status == CAIRO_STATUS_SUCCESS && format == PLAIT_PLOT_PNG)
    status = cairo_surface_write_to_png_stream (surface, append, bytes);
  cairo_surface_finish (surface);
  if (status == CAIRO_STATUS_SUCCESS)
    status = cairo_surface_status (surface);
  cairo_surface_destroy (surface);
  cairo_surface_destroy (record);
  if (status == CAIRO_STATUS_SUCCESS)
    return g_byte_array_free_to_bytes (g_steal_pointer (&bytes));
  return plait_fail_null (error, PLAIT_ERROR_FAILED, "the figure of %.0f x %.0f points cannot be drawn: %s", width,
                          height, cairo_status_to_string (status));
}

static const PlaitPlotTable table = { draw };

PLAIT_MODULE_DEFINE ("plot", table)
