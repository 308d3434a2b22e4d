/* SPDX-License-Identifier: MIT */
#include "report/html.h"

#include <math.h>

typedef struct
{
  double min, max; /* lowest and highest end of the intervals in the column */
  double best;     /* best score of the column; NaN: no score is marked as best */
} Range;

static Range
range_of (const PlaitTable *table, guint c)
{
  const PlaitTableColumn *column = plait_table_get_column (table, c);
  Range range = { INFINITY, -INFINITY, NAN };
  guint rows = plait_table_rows (table);

  for (guint r = 0; r < rows; r++)
    {
      const PlaitTableCell *cell = plait_table_cell (table, r, c);
      double value = cell->kind == PLAIT_TABLE_CELL_SCORE ? cell->score->value : NAN;

      if (!isfinite (value))
        continue;
      range.min = MIN (range.min, cell->score->low);
      range.max = MAX (range.max, cell->score->high);
      if (column->best != PLAIT_TABLE_NO_BEST
          && (isnan (range.best) || (column->best == PLAIT_TABLE_LARGEST ? value > range.best : value < range.best)))
        range.best = value;
    }
  return range;
}

#define INTERVAL_WIDTH 80
#define INTERVAL_HEIGHT 16

static void
add_picture (GString *html, const PlaitTableScore *score, const Range *range, guint colour)
{
  double numbers[] = { score->low, score->high, score->value };
  double places[3];

  for (guint i = 0; i < 3; i++)
    places[i] = range->max > range->min
                    ? 5 + (numbers[i] - range->min) / (range->max - range->min) * (INTERVAL_WIDTH - 10)
                    : INTERVAL_WIDTH / 2.;
  colour %= PLAIT_HTML_COLOURS;
  g_string_append_printf (
      html,
      "<svg width=\"%d\" height=\"%d\"><line class=\"rule\" x1=\"0\" x2=\"%d\" y1=\"8\" y2=\"8\"/><line "
      "stroke=\"var(--c%u)\" stroke-width=\"3\" stroke-linecap=\"round\" y1=\"8\" y2=\"8\" x1=\"%s\" "
      "x2=\"%s\"/><circle r=\"4.5\" cy=\"8\" cx=\"%s\" fill=\"var(--c%u)\"/></svg>",
      INTERVAL_WIDTH, INTERVAL_HEIGHT, INTERVAL_WIDTH, colour, PLAIT_HTML_REAL (places[0], 1),
      PLAIT_HTML_REAL (places[1], 1), PLAIT_HTML_REAL (places[2], 1), colour);
}

/* Returns the CSS classes of a cell; "" for none. (transfer none) */
static const char *
class_of (const PlaitTableColumn *column, const PlaitTableCell *cell, gboolean best)
{
  static const char *const classes[]
      = { [PLAIT_TABLE_WORDS] = "",    [PLAIT_TABLE_COUNTS] = "number",   [PLAIT_TABLE_NUMBERS] = "number",
          [PLAIT_TABLE_CODE] = "mono", [PLAIT_TABLE_PATHS] = "mono file", [PLAIT_TABLE_PROSE] = "text" };
  gboolean number = plait_table_is_number (column);

  if (cell->kind == PLAIT_TABLE_CELL_EMPTY && !number)
    return "";
  if (cell->run >= 0)
    return "run";
  return number && best ? "number best" : classes[column->kind];
}

static void
begin_element (GString *html, const char *tag, const char *class)
{
  g_string_append_printf (html, *class ? "<%s class=\"%s\">" : "<%s%s>", tag, class);
}

static void
add_cell (GString *html, const PlaitTable *table, guint r, guint c, const Range *range)
{
  const PlaitTableColumn *column = plait_table_get_column (table, c);
  const PlaitTableCell *cell = plait_table_cell (table, r, c);
  gboolean score = cell->kind == PLAIT_TABLE_CELL_SCORE;
  const char *tag = cell->style == PLAIT_TABLE_HEADING ? "th" : "td";
  g_autofree char *text = plait_table_cell_text (column, cell);

  begin_element (html, tag, class_of (column, cell, score && cell->score->value == range->best));
  if (cell->run >= 0)
    plait_html_swatch (html, (guint)cell->run);
  plait_html_format (html, "%s%s</%s>", text, plait_table_cell_mark (cell), tag);
  if (!column->has_plots)
    return;
  begin_element (html, "td", "interval");
  if (score)
    add_picture (html, cell->score, range, r);
  g_string_append (html, "</td>");
}

void
plait_html_table (GString *html, const PlaitTable *table)
{
  guint n = table->columns->len, rows = plait_table_rows (table);
  g_autofree Range *ranges = g_new (Range, n + 1);

  if (table->title)
    plait_html_element (html, "h3", NULL, table->title);
  g_string_append (html, "<div class=\"scroll\"><table>\n");
  if (plait_table_is_titled (table))
    {
      g_string_append (html, "<tr>");
      for (guint c = 0; c < n; c++)
        {
          const PlaitTableColumn *column = plait_table_get_column (table, c);

          begin_element (html, "th", plait_table_is_number (column) ? "number" : "");
          plait_html_format (html, column->has_plots ? "%s</th><th></th>" : "%s</th>", column->title);
        }
      g_string_append (html, "</tr>\n");
    }
  for (guint c = 0; c < n; c++)
    ranges[c] = range_of (table, c);
  for (guint r = 0; r < rows; r++)
    {
      g_string_append (html, "<tr>");
      for (guint c = 0; c < n; c++)
        add_cell (html, table, r, c, &ranges[c]);
      g_string_append (html, "</tr>\n");
    }
  g_string_append (html, "</table></div>\n");
  for (guint i = 0; i < table->notes->len; i++)
    plait_html_element (html, "p", "class=\"dim small\"", table->notes->pdata[i]);
}
