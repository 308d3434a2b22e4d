/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/table.h"
#include "comparison/chart.h"

/*
 * Writes one self-contained HTML page: style, script and SVG pictures are inside. The page allows no other script and
 * loads nothing. Equal calls give equal bytes.
 */

/* PLAIT_HTML_COLOURS is the number of colours of curves and runs, --c0 to --c7 in CSS. If there are more curves,
 * colours repeat with other dashes. The first of the PLAIT_HTML_DASHES patterns is solid; the others are the CSS
 * classes d1 to d11. */
#define PLAIT_HTML_COLOURS 8
#define PLAIT_HTML_DASHES 12

/* plait_html_begin() appends the beginning of the page, plait_html_end() its end. */
void plait_html_begin (GString *html, const char *title);
void plait_html_end (GString *html);

/* Appends @format, with each "%s" replaced by a text. HTML in the texts is escaped and control characters are replaced
 * (text/display.h). */
void plait_html_format (GString *html, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* Appends "<TAG>text</TAG>" as a line. @attributes are HTML attributes such as "class=number", or NULL. */
void plait_html_element (GString *html, const char *tag, const char *attributes, const char *text);

/* Returns the coordinate @value as text with at most @digits decimals, without zeros at the end, independent of the
 * locale. The text lives until the enclosing block ends. */
#define PLAIT_HTML_REAL(value, digits) plait_html_real ((char[G_ASCII_DTOSTR_BUF_SIZE]){ 0 }, value, digits)
const char *plait_html_real (char text[G_ASCII_DTOSTR_BUF_SIZE], double value, guint digits);

/* Appends a plot of the finite points of @chart, with bands and axes; appends nothing if there are no such points. */
void plait_html_plot (GString *html, const char *title, const PlaitPlotChart *chart);

/* Appends a sample of the curve of run @number: its colour and its dashes. */
void plait_html_swatch (GString *html, guint number);

/* Appends an entry of a legend: a sample of @colour and the name of its curves. */
void plait_html_key (GString *html, const char *name, guint colour, gboolean dashed);

/* Appends @table with its title and notes. A sample of a run's colour stands before the name of the run. In a column
 * with has_plots, a small plot of the interval follows each score; all plots of a column have one scale. */
void plait_html_table (GString *html, const PlaitTable *table);
