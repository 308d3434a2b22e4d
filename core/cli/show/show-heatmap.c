/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "text/display.h"
#include "show/show.h"

/* Prints a heatmap on the terminal. Labels of rows stand at the left. Labels of columns stand above the columns, with
 * their letters one below the other. */

#define MAX_LABEL_WIDTH 24
#define MAX_LABEL_HEIGHT 14
#define UNLIMITED_WIDTH 120 /* maximum number of characters on a line */

static const char *const blocks[] = { " ", "░", "▒", "▓", "█" };

/* Colours from dark blue to light yellow, in even steps of lightness, so that they differ even in shades of grey. */
static const guint colours[] = { 234, 17, 18, 19, 25, 31, 37, 43, 79, 114, 150, 186, 222, 229 };
#define FIRST_LIGHT 7

/* Returns a text colour that is legible on colour number @step. The text colour of very small values is dim. */
static guint
ink_on (guint step)
{
  return step == 0 ? 243 : step < FIRST_LIGHT ? 231 : 16;
}

/* Returns the characters of a column's label, each with its combining marks, to print one below the other. The end of a
 * long label becomes "⋮". (transfer full) */
static GPtrArray *
stack (const char *label)
{
  GPtrArray *cells = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *clean = plait_display_sanitise (label, FALSE);

  for (const char *p = clean; *p != '\0';)
    {
      const char *start = p;

      do
        p = g_utf8_next_char (p);
      while (*p != '\0' && plait_display_character_width (g_utf8_get_char (p)) == 0);
      g_ptr_array_add (cells, g_strndup (start, (gsize)(p - start)));
    }
  if (cells->len > MAX_LABEL_HEIGHT)
    {
      g_ptr_array_set_size (cells, MAX_LABEL_HEIGHT - 1);
      g_ptr_array_add (cells, g_strdup ("⋮"));
    }
  return cells;
}

static void
print_heads (const PlaitHeatmap *heatmap, gint64 first, gint64 last, gsize label_width, guint cell_width,
             PlaitTerminal *terminal)
{
  g_autoptr (GPtrArray) stacks = g_ptr_array_new_with_free_func ((GDestroyNotify)g_ptr_array_unref);
  guint tallest = 0;

  for (gint64 c = first; c < last; c++)
    {
      GPtrArray *cells = stack (heatmap->columns[c]);

      g_ptr_array_add (stacks, cells);
      tallest = MAX (tallest, cells->len);
    }
  for (guint line = 0; line < tallest; line++)
    {
      g_autoptr (GString) text = g_string_new (NULL);

      for (guint c = 0; c < stacks->len; c++)
        {
          const GPtrArray *cells = g_ptr_array_index (stacks, c);
          guint above = tallest - cells->len; /* number of blank lines, so that labels end right above the picture */

          if (cell_width > 2)
            g_string_append_c (text, ' '); /* moves the character to the middle of the cell */
          plait_display_pad (text, line >= above ? cells->pdata[line - above] : "", MIN (cell_width, 2), FALSE);
        }
      g_strchomp (text->str);
      plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "%*s", (int)label_width + 1, "");
      plait_terminal_text (terminal, PLAIT_TERMINAL_NAME, "%s", text->str);
      plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "\n");
    }
}

/* Returns the number of the step that contains @value, if the range from 0 to @largest is divided into @n equal steps
 * numbered from 0. Returns 0 if @value is not positive. */
static guint
step_of (double value, double largest, guint n)
{
  if (!(value > 0) || !(largest > 0))
    return 0;
  return MIN ((guint)(value / largest * n), n - 1);
}

static void
print_cell (double value, double largest, guint cell_width, PlaitTerminal *terminal)
{
  if (plait_terminal_has_colour (terminal))
    {
      guint step = step_of (value, largest, G_N_ELEMENTS (colours));
      g_autofree char *text = !isfinite (value) ? g_strdup_printf ("%*s", (int)cell_width, "?")
                              : cell_width >= 3 && largest <= 1 && value >= .005
                                  ? g_strdup_printf ("%*d", (int)cell_width, (int)(value * 100 + .5))
                                  : g_strdup_printf ("%*s", (int)cell_width, "");

      plait_terminal_shade (terminal, colours[step], ink_on (step), text);
      return;
    }
  const char *block = isfinite (value) ? blocks[step_of (value, largest, G_N_ELEMENTS (blocks))] : "?";
  for (guint i = 0; i < cell_width; i++)
    plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "%s", block);
}

static void
print_part (const PlaitHeatmap *heatmap, gint64 first, gint64 last, double largest, gsize label_width, guint cell_width,
            PlaitTerminal *terminal)
{
  print_heads (heatmap, first, last, label_width, cell_width, terminal);
  for (gint64 r = 0; r < heatmap->n_rows; r++)
    {
      g_autofree char *clean = plait_display_sanitise (heatmap->rows[r], FALSE);
      g_autofree char *cut = plait_display_truncate (clean, label_width);
      g_autoptr (GString) label = g_string_new (NULL);

      plait_display_pad (label, cut, label_width, TRUE);
      plait_terminal_text (terminal, PLAIT_TERMINAL_NAME, "%s", label->str);
      plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, " ");
      for (gint64 c = first; c < last; c++)
        print_cell (heatmap->values[r * heatmap->n_columns + c], largest, cell_width, terminal);
      plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "\n");
    }
}

/* Prints "0 ░▒▓█ 0.87", and below it "layer 5, mean of 8 heads; target down, row across". */
static void
print_legend (const PlaitHeatmap *heatmap, double largest, gsize indent, PlaitTerminal *terminal)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE];

  plait_terminal_text (terminal, PLAIT_TERMINAL_DIM, "%*s0 ", (int)indent + 1, "");
  if (plait_terminal_has_colour (terminal))
    for (guint i = 0; i < G_N_ELEMENTS (colours); i++)
      plait_terminal_shade (terminal, colours[i], ink_on (i), " ");
  else
    for (guint i = 1; i < G_N_ELEMENTS (blocks); i++)
      plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "%s", blocks[i]);
  plait_terminal_text (terminal, PLAIT_TERMINAL_DIM, " %s\n%*s%s%s%s down, %s across\n",
                       g_ascii_formatd (digits, sizeof digits, "%.3g", largest), (int)indent + 1, "", heatmap->choice,
                       *heatmap->choice != '\0' ? "; " : "", heatmap->row_axis, heatmap->column_axis);
}

void
plait_heatmap_print (const PlaitHeatmap *heatmap, PlaitTerminal *terminal)
{
  gsize width_left = MIN (plait_terminal_width (terminal), UNLIMITED_WIDTH), label_width = 0;
  double largest = plait_heatmap_max (heatmap);

  for (gint64 r = 0; r < heatmap->n_rows; r++)
    {
      g_autofree char *clean = plait_display_sanitise (heatmap->rows[r], FALSE);
      label_width = MAX (label_width, plait_display_width (clean));
    }
  label_width = MIN (label_width, MIN (MAX_LABEL_WIDTH, width_left / 3)) + 2;

  gsize free_width = width_left - label_width - 1;
  guint cell_width = plait_terminal_has_colour (terminal) && free_width / 3 >= (gsize)heatmap->n_columns ? 3 : 2;
  gint64 fitting = MAX ((gint64)(free_width / cell_width), 1);
  if (heatmap->title)
    {
      plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "%*s", (int)label_width + 1, "");
      plait_terminal_text (terminal, PLAIT_TERMINAL_HEADING, "%s\n", heatmap->title);
    }
  for (gint64 first = 0; first < heatmap->n_columns; first += fitting)
    print_part (heatmap, first, MIN (first + fitting, heatmap->n_columns), largest, label_width, cell_width, terminal);
  print_legend (heatmap, largest, label_width, terminal);
}
