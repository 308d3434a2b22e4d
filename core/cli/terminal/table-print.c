/* SPDX-License-Identifier: MIT */
#include "terminal/table-print.h"

#include <string.h>

#include "text/display.h"

#define INDENT 2
#define BETWEEN 2
#define MIN_WIDTH 12

/* A column with its width in the terminal. */
typedef struct
{
  const PlaitTableColumn *column;
  char *title;
  gsize width; /* width of the texts, without the space for marks */
  gsize mark;  /* width of the marks after numbers; 0: no number is marked */
} Column;

typedef struct
{
  const PlaitTable *table;
  PlaitTerminal *terminal;
  GArray *columns;  /* (element-type Column) */
  GPtrArray *texts; /* texts of the cells; unsafe characters are replaced (text/display.h) */
} Print;

static void
column_clear (gpointer column)
{
  g_free (((Column *)column)->title);
}

static Column *
column_of (const Print *print, guint c)
{
  return &g_array_index (print->columns, Column, c);
}

static gsize
width_of_column (const Print *print, guint c)
{
  return column_of (print, c)->width + column_of (print, c)->mark;
}

static void
measure (Print *print)
{
  const PlaitTable *table = print->table;

  for (guint c = 0; c < table->columns->len; c++)
    {
      Column column = { .column = plait_table_get_column (table, c) };

      column.title = plait_display_sanitise (column.column->title, FALSE);
      column.width = plait_display_width (column.title);
      g_array_append_val (print->columns, column);
    }
  for (guint i = 0, c = 0; i < table->cells->len; i++)
    {
      const PlaitTableCell *cell = &g_array_index (table->cells, PlaitTableCell, i);
      g_autofree char *text = plait_table_cell_text (plait_table_get_column (table, c), cell);
      char *clean = g_strdelimit (plait_display_sanitise (text, TRUE), "\n\t", ' ');
      Column *column = column_of (print, c);

      g_ptr_array_add (print->texts, clean);
      if (cell->kind == PLAIT_TABLE_CELL_GAP)
        continue;
      column->width = MAX (column->width, plait_display_width (clean));
      column->mark = MAX (column->mark, strlen (plait_table_cell_mark (cell)));
      c = (c + 1) % table->columns->len;
    }
}

/* Narrows columns of text, each time the widest, until all columns fit into @width_left or none can be narrowed. Does
 * not narrow the first column, which every part repeats, below two fifths of @width_left. */
static void
fit (Print *print, gsize width_left)
{
  guint n = print->columns->len;
  gsize total = INDENT;

  for (guint c = 0; c < n; c++)
    total += width_of_column (print, c) + (c > 0 ? BETWEEN : 0);
  while (total > width_left)
    {
      Column *widest = NULL;

      for (guint c = 0; c < n; c++)
        {
          Column *column = column_of (print, c);

          if (!plait_table_is_number (column->column)
              && column->width > (c == 0 ? MAX (width_left / 5 * 2, MIN_WIDTH) : MIN_WIDTH)
              && (!widest || column->width > widest->width))
            widest = column;
        }
      if (!widest)
        return;
      widest->width--;
      total--;
    }
}

static void
print_cell (const Print *print, guint c, PlaitTerminalStyle style, const char *text, const char *mark, gboolean last)
{
  const Column *column = column_of (print, c);
  g_autofree char *cut = plait_display_truncate_middle (text, column->width);
  g_autoptr (GString) padded = g_string_new (NULL);
  gboolean right = plait_table_is_number (column->column);

  /* Print no blanks at the end of a line. */
  plait_display_pad (padded, cut, last && (!right || *cut == '\0') ? 0 : column->width, right);
  if (padded->len > 0)
    plait_terminal_text (print->terminal, PLAIT_TERMINAL_PLAIN, "%*s", c == 0 ? INDENT : BETWEEN, "");
  plait_terminal_text (print->terminal, style, "%s", padded->str);
  if (*mark)
    plait_terminal_text (print->terminal, PLAIT_TERMINAL_NAME, "%s", mark);
  if (!last)
    plait_terminal_text (print->terminal, PLAIT_TERMINAL_PLAIN, "%*s", (int)(column->mark - strlen (mark)), "");
  if (last)
    plait_terminal_text (print->terminal, PLAIT_TERMINAL_PLAIN, "\n");
}

/* Prints the first column and columns @first .. @end - 1. */
static void
print_part (const Print *print, guint first, guint end)
{
  static const PlaitTerminalStyle styles[] = {
    [PLAIT_TABLE_PLAIN] = PLAIT_TERMINAL_PLAIN, [PLAIT_TABLE_HEADING] = PLAIT_TERMINAL_HEADING,
    [PLAIT_TABLE_NAME] = PLAIT_TERMINAL_NAME,   [PLAIT_TABLE_DIM] = PLAIT_TERMINAL_DIM,
    [PLAIT_TABLE_BAD] = PLAIT_TERMINAL_ERROR,
  };
  const PlaitTable *table = print->table;
  guint n = table->columns->len;

  for (guint c = 0; c < n && plait_table_is_titled (table); c++)
    if (c == 0 || (c >= first && c < end))
      print_cell (print, c, PLAIT_TERMINAL_HEADING, column_of (print, c)->title, "", c + 1 == end || n == 1);
  for (guint i = 0, c = 0; i < table->cells->len; i++)
    {
      const PlaitTableCell *cell = &g_array_index (table->cells, PlaitTableCell, i);
      const char *text = print->texts->pdata[i];

      if (cell->kind == PLAIT_TABLE_CELL_GAP)
        {
          plait_terminal_text (print->terminal, styles[cell->style], "%*s%s\n", INDENT, "", text);
          continue;
        }
      if (c == 0 || (c >= first && c < end))
        print_cell (print, c, styles[cell->style], text, plait_table_cell_mark (cell), c + 1 == end || n == 1);
      c = (c + 1) % n;
    }
}

void
plait_table_print (const PlaitTable *table, PlaitTerminal *terminal)
{
  g_autoptr (GArray) columns = g_array_new (FALSE, FALSE, sizeof (Column));
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);
  Print print = { table, terminal, columns, texts };
  guint n = table->columns->len;
  gsize width_left = plait_terminal_width (terminal);

  if (table->title)
    plait_terminal_heading (terminal, table->title);
  g_array_set_clear_func (columns, column_clear);
  measure (&print);
  fit (&print, width_left);
  for (guint first = 1, end; first < MAX (n, 2); first = end)
    {
      gsize total = INDENT + width_of_column (&print, 0);

      for (end = first; end < n && (end == first || total + BETWEEN + width_of_column (&print, end) <= width_left);
           end++)
        total += BETWEEN + width_of_column (&print, end);
      if (first > 1)
        plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "\n");
      print_part (&print, first, end);
      if (n < 2)
        break;
    }
  for (guint i = 0; i < table->notes->len; i++)
    {
      plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "\n%*s", INDENT, "");
      plait_terminal_paragraph (terminal, INDENT, INDENT, table->notes->pdata[i]);
    }
}
