/* SPDX-License-Identifier: MIT */
#include "cli/columns.h"

#include "base/display.h"

#define INDENT 2
#define BETWEEN 2
#define NARROWEST 12

typedef struct
{
  char *title;
  PlaitColumnSide side;
  gsize width;
} Column;

typedef struct
{
  char *text;
  PlaitPageStyle style;
  gboolean gap;
} Cell;

struct PlaitColumns
{
  GArray *columns;
  GArray *cells; /* a gap is one cell that takes a row */
};

static void
clear_column (gpointer column)
{
  g_free (((Column *)column)->title);
}

static void
clear_cell (gpointer cell)
{
  g_free (((Cell *)cell)->text);
}

PlaitColumns *
plait_columns_new (void)
{
  PlaitColumns *columns = g_new0 (PlaitColumns, 1);

  columns->columns = g_array_new (FALSE, FALSE, sizeof (Column));
  g_array_set_clear_func (columns->columns, clear_column);
  columns->cells = g_array_new (FALSE, FALSE, sizeof (Cell));
  g_array_set_clear_func (columns->cells, clear_cell);
  return columns;
}

void
plait_columns_free (PlaitColumns *columns)
{
  if (columns == NULL)
    return;
  g_array_unref (columns->columns);
  g_array_unref (columns->cells);
  g_free (columns);
}

void
plait_columns_add (PlaitColumns *columns, const char *title, PlaitColumnSide side)
{
  Column column = { plait_display_clean (title, FALSE), side, 0 };

  column.width = plait_display_width (column.title);
  g_array_append_val (columns->columns, column);
}

void
plait_columns_cell (PlaitColumns *columns, PlaitPageStyle style, const char *text)
{
  Cell cell = { plait_display_clean (text != NULL ? text : "", FALSE), style, FALSE };

  g_array_append_val (columns->cells, cell);
}

void
plait_columns_gap (PlaitColumns *columns, const char *text)
{
  Cell cell = { plait_display_clean (text, FALSE), PLAIT_PAGE_DIM, TRUE };

  g_array_append_val (columns->cells, cell);
}

/* Takes from the widest column of text until all fit into @room, or none can give. Numbers are never cut; the first
 * column, which names the rows and is repeated in every part, keeps two fifths of the room. */
static void
fit (const Column *columns, gsize *widths, guint n, gsize room)
{
  gsize total = INDENT;

  for (guint c = 0; c < n; c++)
    total += widths[c] + (c > 0 ? BETWEEN : 0);
  while (total > room)
    {
      gint widest = -1;

      for (guint c = 0; c < n; c++)
        if (columns[c].side == PLAIT_COLUMN_LEFT && widths[c] > (c == 0 ? MAX (room / 5 * 2, NARROWEST) : NARROWEST)
            && (widest < 0 || widths[c] > widths[widest]))
          widest = (gint)c;
      if (widest < 0)
        return;
      widths[widest]--;
      total--;
    }
}

static void
print_cell (PlaitPage *page, PlaitPageStyle style, const char *text, gsize width, PlaitColumnSide side, gboolean first,
            gboolean last)
{
  g_autofree char *cut = plait_display_cut_middle (text, width);
  g_autoptr (GString) padded = g_string_new (NULL);

  /* No blanks at the end of a line. */
  plait_display_pad (padded, cut, last && side == PLAIT_COLUMN_LEFT ? 0 : width, side == PLAIT_COLUMN_RIGHT);
  if (padded->len > 0)
    plait_page_text (page, PLAIT_PAGE_PLAIN, "%*s", first ? INDENT : BETWEEN, "");
  plait_page_text (page, style, "%s", padded->str);
  if (last)
    plait_page_text (page, PLAIT_PAGE_PLAIN, "\n");
}

/* Prints the first column and @first .. @last - 1. */
static void
print_part (const PlaitColumns *columns, const gsize *widths, guint first, guint last, PlaitPage *page)
{
  guint n = columns->columns->len;
  const Column *column = (const Column *)columns->columns->data;
  const Cell *cells = (const Cell *)columns->cells->data;
  gboolean titled = FALSE;

  for (guint c = 0; c < n; c++)
    titled = titled || *column[c].title != '\0';
  for (guint c = 0; c < n && titled; c++)
    if (c == 0 || (c >= first && c < last))
      print_cell (page, PLAIT_PAGE_HEADING, column[c].title, widths[c], column[c].side, c == 0,
                  c + 1 == last || n == 1);
  for (guint i = 0, c = 0; i < columns->cells->len; i++)
    if (cells[i].gap)
      plait_page_text (page, cells[i].style, "%*s%s\n", INDENT, "", cells[i].text);
    else
      {
        if (c == 0 || (c >= first && c < last))
          print_cell (page, cells[i].style, cells[i].text, widths[c], column[c].side, c == 0, c + 1 == last || n == 1);
        c = (c + 1) % n;
      }
}

void
plait_columns_print (const PlaitColumns *columns, PlaitPage *page)
{
  guint n = columns->columns->len;
  gsize room = plait_page_room (page);
  const Column *column = (const Column *)columns->columns->data;
  const Cell *cells = (const Cell *)columns->cells->data;
  g_autofree gsize *widths = g_new (gsize, n + 1);

  for (guint c = 0; c < n; c++)
    widths[c] = column[c].width;
  for (guint i = 0, c = 0; i < columns->cells->len; i++)
    if (!cells[i].gap)
      {
        widths[c] = MAX (widths[c], plait_display_width (cells[i].text));
        c = (c + 1) % n;
      }
  fit (column, widths, n, room);

  for (guint first = 1, last; first < MAX (n, 2); first = last)
    {
      gsize total = INDENT + widths[0];

      for (last = first; last < n && (last == first || total + BETWEEN + widths[last] <= room); last++)
        total += BETWEEN + widths[last];
      /* A column without a title belongs to the one before it. */
      while (last < n && last > first + 1 && *column[last].title == '\0')
        last--;
      if (first > 1)
        plait_page_text (page, PLAIT_PAGE_PLAIN, "\n");
      print_part (columns, widths, first, last, page);
      if (n < 2)
        break;
    }
}
