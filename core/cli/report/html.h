/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/table.h"
#include "comparison/chart.h"

/*
 * Writing one HTML page that needs nothing else: its style and its script stand in it, pictures are SVG in it. It lets
 * no other script run and asks for nothing. The same calls give the same bytes.
 */

/* Curves and runs have one of so many colours, --c0 and so on, and those beyond them one of so many dashes too, the
 * classes d1 and so on of the style sheet. */
#define PLAIT_HTML_COLOURS 8
#define PLAIT_HTML_DASHES 12

/* The beginning and the end of the page. */
void plait_html_begin (GString *html, const char *title);
void plait_html_end (GString *html);

/* @format with a text for each "%s" in it, in which what means something to HTML, and what would confuse a reader
 * (text/display.h), is replaced. */
void plait_html_format (GString *html, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* "<TAG>text</TAG>", a line; @attributes such as "class=number", or NULL. */
void plait_html_element (GString *html, const char *tag, const char *attributes, const char *text);

/* @value with at most @digits behind the point, no zeros at its end: for coordinates, which must not depend on the
 * locale as %f does. It lasts as long as the block. */
#define PLAIT_HTML_REAL(value, digits) plait_html_real ((char[G_ASCII_DTOSTR_BUF_SIZE]){ 0 }, value, digits)
const char *plait_html_real (char text[G_ASCII_DTOSTR_BUF_SIZE], double value, guint digits);

/* A plot of @curves (element-type PlaitPlotSeries) and the bands around them, with axes; nothing if there is no point.
 * A value that is not finite is left out. */
void plait_html_plot (GString *html, const char *title, const char *x_title, const GPtrArray *curves);

/* The colour of run @number as a curve of it has it, with its dashes. */
void plait_html_swatch (GString *html, guint number);

/* The name of such curves beside their colour, in a legend. */
void plait_html_key (GString *html, const char *name, guint colour, gboolean dashed);

/* @table below its title, and its notes. A run's name stands beside its colour, and beside a score that is pictured
 * its interval on the scale of the column. */
void plait_html_table (GString *html, const PlaitTable *table);
