/* SPDX-License-Identifier: MIT */
#include "report/html.h"

#include <math.h>
#include <string.h>

#include "text/display.h"
#include "command/embedded.h"

#define CLASS_LENGTH 32

/* Appends @text with HTML escaped and control characters replaced (text/display.h). */
static void
add_text (GString *html, const char *text)
{
  static const char *const escapes[G_MAXUINT8 + 1]
      = { ['<'] = "&lt;", ['>'] = "&gt;", ['&'] = "&amp;", ['"'] = "&quot;" };
  g_autofree char *clean = plait_display_sanitise (text, TRUE);

  for (const char *p = clean; *p != '\0'; p++)
    if (escapes[(guchar)*p])
      g_string_append (html, escapes[(guchar)*p]);
    else
      g_string_append_c (html, *p);
}

void
plait_html_format (GString *html, const char *format, ...)
{
  va_list texts;

  va_start (texts, format);
  for (const char *position; (position = strstr (format, "%s")); format = position + strlen ("%s"))
    {
      g_string_append_len (html, format, position - format);
      add_text (html, va_arg (texts, const char *));
    }
  va_end (texts);
  g_string_append (html, format);
}

void
plait_html_element (GString *html, const char *tag, const char *attributes, const char *text)
{
  g_string_append_printf (html, "<%s%s%s>", tag, attributes ? " " : "", attributes ? attributes : "");
  add_text (html, text);
  g_string_append_printf (html, "</%s>\n", tag);
}

const char *
plait_html_real (char text[G_ASCII_DTOSTR_BUF_SIZE], double value, guint digits)
{
  char format[16];

  g_snprintf (format, sizeof format, "%%.%uf", digits);
  g_ascii_formatd (text, G_ASCII_DTOSTR_BUF_SIZE, format, fabs (value) < 1e12 ? value : 0);
  if (strchr (text, '.'))
    {
      char *end = text + strlen (text);

      while (end[-1] == '0')
        *--end = '\0';
      if (end[-1] == '.')
        end[-1] = '\0';
    }
  return strcmp (text, "-0") == 0 ? "0" : text;
}

static const char *const styles[] = { "report.css", "report-look.css" };
static const char *const scripts[] = { "report-data.js", "report-pictures.js", "report-descent.js", "report.js" };

static char *
embedded_texts (const char *const *names, guint n)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append (text, plait_embedded_text (names[i]));
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* Returns the digest of @script for the page's security policy, which allows only this script. (transfer full) */
static char *
digest_of (const char *script)
{
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  guint8 digest[32];
  gsize length = sizeof digest;

  g_checksum_update (checksum, (const guchar *)script, -1);
  g_checksum_get_digest (checksum, digest, &length);
  return g_base64_encode (digest, length);
}

void
plait_html_begin (GString *html, const char *title)
{
  g_autofree char *style = embedded_texts (styles, G_N_ELEMENTS (styles));
  g_autofree char *script = embedded_texts (scripts, G_N_ELEMENTS (scripts));
  g_autofree char *digest = digest_of (script);

  g_string_append (html, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
  g_string_append_printf (html,
                          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                          "'unsafe-inline'; script-src 'sha256-%s'; base-uri 'none'; form-action 'none'\">\n",
                          digest);
  plait_html_element (html, "title", NULL, title);
  g_string_append_printf (html, "<style>\n%s</style>\n</head>\n<body>\n", style);
}

void
plait_html_end (GString *html)
{
  g_autofree char *script = embedded_texts (scripts, G_N_ELEMENTS (scripts));

  g_string_append_printf (html, "<script>%s</script>\n</body>\n</html>\n", script);
}

#define PLOT_WIDTH 460
#define PLOT_HEIGHT 240
#define LEFT 52
#define RIGHT 12
#define TOP 10
#define BOTTOM 36
#define BAND_ROOM .5 /* bands extend the vertical axis at each end by at most this part of the range of the curves */

/* Puts the ends of @axis at the positions @begin and @end. Widens an axis whose values are all equal. Unless @exact,
 * chooses about @ticks ticks and extends the axis so that both ends are ticks. */
static void
lay_axis (PlaitPlotAxis *axis, double begin, double end, guint ticks, gboolean exact)
{
  double step;

  axis->begin = begin;
  axis->end = end;
  if (!(axis->high > axis->low))
    {
      double room = fabs (axis->low) > 0 ? fabs (axis->low) * .1 : 1;

      axis->high = axis->low + room;
      axis->low -= room;
    }
  if (exact)
    return;
  step = axis->step = plait_plot_step ((axis->high - axis->low) / ticks);
  axis->low = floor (axis->low / step + 1e-9) * step;
  axis->high = ceil (axis->high / step - 1e-9) * step;
}

/* Returns the label of a tick, stored in @text. (transfer none) */
static const char *
tick_text (char text[G_ASCII_DTOSTR_BUF_SIZE], double value, double step)
{
  return g_ascii_formatd (text, G_ASCII_DTOSTR_BUF_SIZE, "%.6g", fabs (value) < step / 1e6 ? 0 : value);
}

/* Adds a label of the horizontal axis at position @at. */
static void
add_tick (GString *html, double at, const char *label)
{
  g_string_append_printf (html, "<text class=\"tick\" text-anchor=\"middle\" x=\"%s\" y=\"%d\">%s</text>\n",
                          PLAIT_HTML_REAL (at, 1), PLOT_HEIGHT - BOTTOM + 16, label);
}

/* Adds the labels of a logarithmic axis. Leaves out a label that would overlap the previous one. */
static void
add_factors (GString *html, const PlaitPlotAxis *x, const PlaitPlotChart *chart)
{
  double free = 0; /* position after the previous label */

  for (guint i = 0; chart->tick_names[i]; i++)
    {
      double at = plait_plot_position (x, chart->ticks[i]), half = 3.5 * (double)strlen (chart->tick_names[i]);

      if (at - half < free)
        continue;
      add_tick (html, at, chart->tick_names[i]);
      free = at + half;
    }
}

static void
add_axes (GString *html, const PlaitPlotAxis *x, const PlaitPlotAxis *y, const PlaitPlotChart *chart)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  for (guint i = 0; i < 100; i++)
    {
      double value = y->low + i * y->step;
      const char *height = PLAIT_HTML_REAL (plait_plot_position (y, value), 1);

      if (value > y->high + y->step / 2)
        break;
      g_string_append_printf (html,
                              "<line class=\"rule\" x1=\"%d\" x2=\"%d\" y1=\"%s\" y2=\"%s\"/><text class=\"tick\" "
                              "text-anchor=\"end\" x=\"%d\" y=\"%s\">%s</text>\n",
                              LEFT, PLOT_WIDTH - RIGHT, height, height, LEFT - 6,
                              PLAIT_HTML_REAL (plait_plot_position (y, value) + 4, 1),
                              tick_text (text, value, y->step));
    }
  for (guint i = 0; i < 100 && !chart->logarithmic; i++)
    {
      double value = x->low + i * x->step;

      if (value > x->high + x->step / 2)
        break;
      add_tick (html, plait_plot_position (x, value), tick_text (text, value, x->step));
    }
  if (chart->logarithmic)
    add_factors (html, x, chart);
  g_string_append_printf (html, "<text class=\"tick\" text-anchor=\"end\" x=\"%d\" y=\"%d\">", PLOT_WIDTH - RIGHT,
                          PLOT_HEIGHT - 4);
  plait_html_format (html, "%s%s</text>\n", chart->x_title, chart->logarithmic ? " (logarithmic)" : "");
}

static gboolean
is_point (const PlaitPlotSeries *series, guint i)
{
  return isfinite (series->points[i].x) && isfinite (series->points[i].y);
}

/* Appends a corner of a band or curve: @at on the axis @x, and @value, clipped, on the axis @y. */
static void
add_corner (GString *html, const PlaitPlotAxis *x, const PlaitPlotAxis *y, double at, double value, gboolean first)
{
  g_string_append_printf (html, "%s%s,%s", first ? "" : " ", PLAIT_HTML_REAL (plait_plot_position (x, at), 1),
                          PLAIT_HTML_REAL (plait_plot_position (y, CLAMP (value, y->low, y->high)), 1));
}

/* Returns the class attribute of curves of @colour that are dashed; "" if they are solid. */
static const char *
dash_class (char text[CLASS_LENGTH], guint colour)
{
  guint dash = colour / PLAIT_HTML_COLOURS % PLAIT_HTML_DASHES;

  if (dash == 0)
    return "";
  g_snprintf (text, CLASS_LENGTH, " class=\"d%u\"", dash);
  return text;
}

/* TRUE if x, y and the ends of the band are finite at point @i. */
static gboolean
has_band (const PlaitPlotSeries *series, guint i)
{
  return is_point (series, i) && isfinite (series->points[i].low) && isfinite (series->points[i].high);
}

/* Adds the tooltip of point @i: the name of the curve, x, y and, if there is a band, its ends. */
static void
add_tooltip (GString *html, const PlaitPlotChart *chart, const PlaitPlotSeries *series, guint i)
{
  char x[G_ASCII_DTOSTR_BUF_SIZE], y[G_ASCII_DTOSTR_BUF_SIZE], low[G_ASCII_DTOSTR_BUF_SIZE],
      high[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (x, sizeof x, "%.6g", chart->logarithmic ? exp (series->points[i].x) : series->points[i].x);
  g_ascii_formatd (y, sizeof y, "%.6g", series->points[i].y);
  plait_html_format (html, "<title>%s%s%s %s: %s", series->name, *series->name == '\0' ? "" : ", ", chart->x_title, x,
                     y);
  if (has_band (series, i))
    plait_html_format (html, " (%s to %s)", g_ascii_formatd (low, sizeof low, "%.6g", series->points[i].low),
                       g_ascii_formatd (high, sizeof high, "%.6g", series->points[i].high));
  g_string_append (html, "</title>");
}

static void
add_curve (GString *html, const PlaitPlotChart *chart, const PlaitPlotSeries *series, const PlaitPlotAxis *x,
           const PlaitPlotAxis *y)
{
  char class[CLASS_LENGTH];
  guint n_points = 0;

  g_string_append_printf (
      html, "<polyline fill=\"none\" stroke=\"var(--c%u)\" stroke-width=\"1.8\" stroke-linejoin=\"round\"%s points=\"",
      series->colour % PLAIT_HTML_COLOURS,
      series->dashed ? " stroke-dasharray=\"5 4\"" : dash_class (class, series->colour));
  for (guint i = 0; i < series->n; i++)
    if (is_point (series, i))
      add_corner (html, x, y, series->points[i].x, series->points[i].y, n_points++ == 0);
  plait_html_format (html, "\"><title>%s</title></polyline>\n", series->name);
  /* Mark the points of a curve that has few points, because a single point would be invisible. */
  for (guint i = 0; i < series->n && n_points <= 30; i++)
    if (is_point (series, i))
      {
        g_string_append_printf (html, "<circle r=\"2.4\" cx=\"%s\" cy=\"%s\" fill=\"var(--c%u)\">",
                                PLAIT_HTML_REAL (plait_plot_position (x, series->points[i].x), 1),
                                PLAIT_HTML_REAL (plait_plot_position (y, series->points[i].y), 1),
                                series->colour % PLAIT_HTML_COLOURS);
        add_tooltip (html, chart, series, i);
        g_string_append (html, "</circle>");
      }
}

static void
add_band (GString *html, const PlaitPlotSeries *series, const PlaitPlotAxis *x, const PlaitPlotAxis *y)
{
  guint n = 0;

  for (guint i = 0; i < series->n; i++)
    n += has_band (series, i);
  if (n < 2)
    return;
  g_string_append_printf (html, "<polygon class=\"band\" fill=\"var(--c%u)\" points=\"",
                          series->colour % PLAIT_HTML_COLOURS);
  n = 0;
  for (guint i = 0; i < series->n; i++)
    if (has_band (series, i))
      add_corner (html, x, y, series->points[i].x, series->points[i].high, n++ == 0);
  for (guint i = series->n; i-- > 0;)
    if (has_band (series, i))
      add_corner (html, x, y, series->points[i].x, series->points[i].low, FALSE);
  g_string_append (html, "\"/>\n");
}

void
plait_html_plot (GString *html, const char *title, const PlaitPlotChart *chart)
{
  const GPtrArray *curves = chart->series;
  PlaitPlotAxis x = { NAN, NAN }, y = { NAN, NAN };

  for (guint c = 0; c < curves->len; c++)
    {
      const PlaitPlotSeries *series = curves->pdata[c];

      for (guint i = 0; i < series->n; i++)
        if (is_point (series, i))
          {
            plait_plot_include (&x, series->points[i].x);
            plait_plot_include (&y, series->points[i].y);
          }
    }
  if (isnan (x.low))
    return;
  double room = (y.high - y.low) * BAND_ROOM, min = y.low - room, max = y.high + room;
  for (guint c = 0; c < curves->len; c++)
    {
      const PlaitPlotSeries *series = curves->pdata[c];

      for (guint i = 0; i < series->n; i++)
        if (has_band (series, i))
          {
            plait_plot_include (&y, MAX (series->points[i].low, min));
            plait_plot_include (&y, MIN (series->points[i].high, max));
          }
    }
  lay_axis (&x, LEFT, PLOT_WIDTH - RIGHT, 6, chart->logarithmic);
  lay_axis (&y, PLOT_HEIGHT - BOTTOM, TOP, 5, FALSE);

  plait_html_format (html, "<figure><figcaption>%s</figcaption>\n", title);
  g_string_append_printf (html, "<svg role=\"img\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n", PLOT_WIDTH,
                          PLOT_HEIGHT, PLOT_WIDTH, PLOT_HEIGHT);
  plait_html_element (html, "title", NULL, title);
  add_axes (html, &x, &y, chart);
  for (guint c = 0; c < curves->len; c++)
    add_band (html, curves->pdata[c], &x, &y);
  for (guint c = 0; c < curves->len; c++)
    add_curve (html, chart, curves->pdata[c], &x, &y);
  g_string_append (html, "</svg>\n</figure>\n");
}

void
plait_html_swatch (GString *html, guint number)
{
  char class[CLASS_LENGTH];
  guint colour = number % PLAIT_HTML_COLOURS;

  if (*dash_class (class, number) == '\0')
    g_string_append_printf (html, "<span class=\"swatch\" style=\"background:var(--c%u)\"></span>", colour);
  else
    g_string_append_printf (
        html, "<svg class=\"curve\" viewBox=\"0 0 30 10\"><path%s stroke=\"var(--c%u)\" d=\"M0 5h30\"/></svg>", class,
        colour);
}

void
plait_html_key (GString *html, const char *name, guint colour, gboolean dashed)
{
  g_string_append (html, "<span class=\"key\">");
  if (dashed)
    g_string_append_printf (html, "<span class=\"swatch\" style=\"background:var(--c%u);opacity:.45\"></span>",
                            colour % PLAIT_HTML_COLOURS);
  else
    plait_html_swatch (html, colour);
  plait_html_format (html, dashed ? "%s (dashed)</span>\n" : "%s</span>\n", name);
}
