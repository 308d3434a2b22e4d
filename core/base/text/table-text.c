/* SPDX-License-Identifier: MIT */
#include "text/table.h"

#include <math.h>
#include <string.h>

#include "text/number.h"

/* Tables as Markdown, LaTeX, CSV and JSON. */

/* Appends a cell and the mark of its p value. */
typedef void (*AppendCell) (GString *text, const char *cell, const char *mark);

/* Appends the row of titles, then @below, then all rows: @between separates cells, @end ends a row. */
static void
append_rows (GString *text, const PlaitTable *table, AppendCell append, const char *between, const char *end,
             const char *below)
{
  guint n = table->columns->len;

  for (gint64 row = -1; row < plait_table_rows (table); row++)
    {
      for (guint c = 0; c < n; c++)
        {
          const PlaitTableColumn *column = plait_table_get_column (table, c);
          const PlaitTableCell *cell = row < 0 ? NULL : plait_table_cell (table, (guint)row, c);
          g_autofree char *shown = cell ? plait_table_cell_text (column, cell) : g_strdup (column->title);

          g_string_append (text, c > 0 ? between : "");
          append (text, shown, cell ? plait_table_cell_mark (cell) : "");
        }
      g_string_append (text, end);
      g_string_append (text, row < 0 ? below : "");
    }
}

static void
append_markdown (GString *text, const char *cell, const char *mark)
{
  g_autofree char *whole = g_strconcat (cell, mark, NULL);

  g_string_append (text, "| ");
  for (const char *p = whole; *p; p++)
    {
      if (strchr ("|\\*_`<[", *p))
        g_string_append_c (text, '\\');
      g_string_append_c (text, *p);
    }
  g_string_append_c (text, ' ');
}

char *
plait_table_markdown (const PlaitTable *table)
{
  GString *text = g_string_new (NULL);
  g_autoptr (GString) line = g_string_new (NULL);

  for (guint c = 0; c < table->columns->len; c++)
    g_string_append (line, plait_table_is_number (plait_table_get_column (table, c)) ? "| ---: " : "| --- ");
  g_string_append (line, "|\n");
  append_rows (text, table, append_markdown, "", "|\n", line->str);
  for (guint i = 0; i < table->notes->len; i++)
    g_string_append_printf (text, "\n%s\n", (const char *)table->notes->pdata[i]);
  return g_string_free (text, FALSE);
}

static void
append_latex (GString *text, const char *cell, const char *mark)
{
  static const struct
  {
    gunichar character;
    const char *written;
  } special[] = {
    { '\\', "\\textbackslash{}" },
    { '~', "\\textasciitilde{}" },
    { '^', "\\textasciicircum{}" },
    { '<', "$<$" },
    { '>', "$>$" },
    { '|', "$|$" },
    { 0xb1, "$\\pm$" },
    { 0x2013, "--" },
  };

  /* After the end of a row, "[" or "*" would be read as an option of the line break. */
  if (*cell == '[' || *cell == '*')
    g_string_append (text, "{}");
  for (const char *at = cell; *at; at = g_utf8_next_char (at))
    {
      gunichar character = g_utf8_get_char (at);
      const char *written = NULL;

      for (guint i = 0; i < G_N_ELEMENTS (special) && !written; i++)
        if (special[i].character == character)
          written = special[i].written;
      if (written)
        {
          g_string_append (text, written);
          continue;
        }
      if (character < 128 && strchr ("&%$#_{}", (int)character))
        g_string_append_c (text, '\\');
      g_string_append_unichar (text, character == '\n' ? ' ' : character);
    }
  if (*mark == ' ')
    g_string_append_printf (text, "$^{*}$%s", mark + strlen (" *"));
}

char *
plait_table_latex (const PlaitTable *table)
{
  GString *text = g_string_new ("\\begin{tabular}{");

  for (guint c = 0; c < table->columns->len; c++)
    g_string_append_c (text, plait_table_is_number (plait_table_get_column (table, c)) ? 'r' : 'l');
  g_string_append (text, "}\n\\hline\n");
  append_rows (text, table, append_latex, " & ", " \\\\\n", "\\hline\n");
  g_string_append (text, "\\hline\n\\end{tabular}\n");
  for (guint i = 0; i < table->notes->len; i++)
    {
      g_autofree char *line = g_strdelimit (g_strdup (table->notes->pdata[i]), "\n\r", ' ');

      g_string_append_printf (text, "%% %s\n", line);
    }
  return g_string_free (text, FALSE);
}

/* Appends a field, in quotes if it contains a comma, a quote or a line break (RFC 4180). */
static void
append_field (GString *text, gboolean first, const char *field)
{
  if (!first)
    g_string_append_c (text, ',');
  g_auto (GStrv) parts = g_strsplit (field, "\"", -1);
  g_autofree char *doubled = g_strjoinv ("\"\"", parts);
  g_string_append_printf (text, strpbrk (field, ",\"\r\n") ? "\"%s\"" : "%s", doubled);
}

/* Appends a text. Puts an apostrophe before it if a spreadsheet would run it as a formula. */
static void
append_word (GString *text, gboolean first, const char *word)
{
  gboolean formula = *word && strchr ("=+-@\t\r", *word);
  double number;
  g_autofree char *field = g_strconcat (formula && !plait_parse_double (word, &number) ? "'" : "", word, NULL);

  append_field (text, first, field);
}

/* Returns the real number, p value or score in a cell; NaN for other cells, also for integers. */
static double
number_of (const PlaitTableCell *cell)
{
  switch ((PlaitTableCellKind)cell->kind)
    {
    case PLAIT_TABLE_CELL_REAL:
    case PLAIT_TABLE_CELL_P:
      return cell->real;
    case PLAIT_TABLE_CELL_SCORE:
      return cell->score->value;
    default:
      return NAN;
    }
}

static void
append_csv (GString *text, gboolean first, const PlaitTableCell *cell)
{
  char digits[PLAIT_NUMBER_LENGTH];
  g_autofree char *integer = NULL;

  if (cell->kind == PLAIT_TABLE_CELL_TEXT)
    append_word (text, first, cell->text);
  else if (cell->kind == PLAIT_TABLE_CELL_INTEGER)
    {
      integer = g_strdup_printf ("%jd", cell->integer);
      append_field (text, first, integer);
    }
  else
    append_field (text, first, isnan (number_of (cell)) ? "" : plait_format_double (digits, number_of (cell)));
}

char *
plait_table_csv (const PlaitTable *table)
{
  GString *text = g_string_new (NULL);
  guint n = table->columns->len, rows = plait_table_rows (table);

  for (guint c = 0; c < n; c++)
    append_word (text, c == 0, plait_table_get_column (table, c)->title);
  g_string_append_c (text, '\n');
  for (guint r = 0; r < rows; r++)
    {
      for (guint c = 0; c < n; c++)
        append_csv (text, c == 0, plait_table_cell (table, r, c));
      g_string_append_c (text, '\n');
    }
  return g_string_free (text, FALSE);
}

void
plait_table_add_json (const PlaitTable *table, PlaitJson *json)
{
  guint rows = plait_table_rows (table);

  plait_json_integer (json, "rows", rows);
  plait_json_begin_object (json, "columns");
  for (guint c = 0; c < table->columns->len; c++)
    {
      plait_json_begin_array (json, plait_table_get_column (table, c)->title);
      for (guint r = 0; r < rows; r++)
        {
          const PlaitTableCell *cell = plait_table_cell (table, r, c);

          if (cell->kind == PLAIT_TABLE_CELL_TEXT)
            plait_json_text (json, NULL, cell->text);
          else if (cell->kind == PLAIT_TABLE_CELL_INTEGER)
            plait_json_integer (json, NULL, cell->integer);
          else
            plait_json_real (json, NULL, number_of (cell));
        }
      plait_json_end_array (json);
    }
  plait_json_end_object (json);
}
