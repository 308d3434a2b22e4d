/* SPDX-License-Identifier: MIT */
#include "experiment/grid-table.h"

#include <math.h>

#include "base/number.h"

/* The table of a grid as text: cells for people, CSV, Markdown. */

#define SIGNIFICANT 0.05

static void
append_decimals (GString *text, double value)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append (text, g_ascii_formatd (digits, sizeof digits, "%.2f", value));
}

char *
plait_grid_measure_title (const PlaitGridTable *table, const PlaitMeasure *measure)
{
  return table->one_split ? g_strdup (measure->name) : g_strdup_printf ("%s %s", measure->split, measure->name);
}

char *
plait_grid_value_text (const PlaitGridValue *value)
{
  GString *text = g_string_new (NULL);

  if (value->n == 0)
    g_string_append (text, "–");
  else
    append_decimals (text, value->mean);
  if (value->n > 1)
    {
      g_string_append (text, " ± ");
      append_decimals (text, value->deviation);
    }
  else if (value->n == 1 && value->low < value->high)
    {
      g_string_append (text, " [");
      append_decimals (text, value->low);
      g_string_append (text, ", ");
      append_decimals (text, value->high);
      g_string_append (text, "]");
    }
  return g_string_free (text, FALSE);
}

char *
plait_grid_value_p (const PlaitGridValue *value)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE];

  if (!value->compared)
    return g_strdup ("–");
  g_ascii_formatd (digits, sizeof digits, "%.4f", value->comparison.p);
  return g_strconcat (digits, value->comparison.adjusted_p < SIGNIFICANT ? " *" : "", NULL);
}

const char *
plait_grid_table_legend (void)
{
  return "± is the standard deviation over seeds, [low, high] the 95 % bootstrap interval of a single seed. p is of "
         "approximate randomisation against the first row, sentences changing sides with all seeds; * where it stays "
         "below .05 after Holm's adjustment over the rows.";
}

/*
 * CSV
 */

/* RFC 4180: quoted where a comma, a quote or a line break stands inside. */
static void
append_field (GString *text, const char *field)
{
  if (text->len > 0 && text->str[text->len - 1] != '\n')
    g_string_append_c (text, ',');
  if (!strpbrk (field, ",\"\r\n"))
    {
      g_string_append (text, field);
      return;
    }
  g_string_append_c (text, '"');
  for (; *field; field++)
    {
      if (*field == '"')
        g_string_append_c (text, '"');
      g_string_append_c (text, *field);
    }
  g_string_append_c (text, '"');
}

char *
plait_grid_table_csv (const PlaitGridTable *table)
{
  GString *text = g_string_new (NULL);
  g_autoptr (GPtrArray) columns = plait_grid_table_columns (table);
  char digits[PLAIT_NUMBER_LENGTH];

  for (guint a = 0; a < table->n_axes; a++)
    append_field (text, table->axes[a]);
  for (guint c = 0; c < columns->len; c++)
    append_field (text, ((PlaitGridColumn *)columns->pdata[c])->name);
  g_string_append_c (text, '\n');
  for (guint r = 0; r < table->n_rows; r++)
    {
      for (guint a = 0; a < table->n_axes; a++)
        append_field (text, table->rows[r].values[a]);
      for (guint c = 0; c < columns->len; c++)
        {
          double value = ((PlaitGridColumn *)columns->pdata[c])->values[r];

          append_field (text, isnan (value) ? "" : plait_format_double (digits, value));
        }
      g_string_append_c (text, '\n');
    }
  return g_string_free (text, FALSE);
}

/*
 * Markdown
 */

static void
append_cell (GString *text, const char *cell)
{
  g_string_append (text, "| ");
  for (; *cell; cell++)
    {
      if (strchr ("|\\*_`<[", *cell))
        g_string_append_c (text, '\\');
      g_string_append_c (text, *cell);
    }
  g_string_append_c (text, ' ');
}

static void
append_rule (GString *text, guint n_left, guint n_right)
{
  for (guint i = 0; i < n_left; i++)
    g_string_append (text, "| --- ");
  for (guint i = 0; i < n_right; i++)
    g_string_append (text, "| ---: ");
  g_string_append (text, "|\n");
}

static void
append_row (GString *text, const PlaitGridTable *table, const PlaitGridRow *row)
{
  g_autofree char *n = g_strdup_printf ("%u", row->n);
  g_autofree char *parameters
      = row->parameters < 0 ? g_strdup ("–") : g_strdup_printf ("%" G_GINT64_FORMAT, row->parameters);
  char digits[G_ASCII_DTOSTR_BUF_SIZE];

  for (guint a = 0; a < table->n_axes; a++)
    append_cell (text, row->values[a]);
  append_cell (text, n);
  for (guint m = 0; m < table->n_measures; m++)
    {
      g_autofree char *value = plait_grid_value_text (&row->measured[m]);
      g_autofree char *p = plait_grid_value_p (&row->measured[m]);

      append_cell (text, value);
      if (table->measures[m].tested)
        append_cell (text, p);
    }
  append_cell (text, parameters);
  append_cell (text, isnan (row->rate) ? "–" : g_ascii_formatd (digits, sizeof digits, "%.0f", row->rate));
  g_string_append (text, "|\n");
}

char *
plait_grid_table_markdown (const PlaitGridTable *table, const char *title)
{
  GString *text = g_string_new (NULL);
  guint n_right = 3;

  g_string_append_printf (text, "# %s\n\n", title);
  for (guint a = 0; a < table->n_axes; a++)
    append_cell (text, table->axes[a]);
  append_cell (text, "n");
  for (guint m = 0; m < table->n_measures; m++)
    {
      g_autofree char *name = plait_grid_measure_title (table, &table->measures[m]);

      append_cell (text, name);
      if (table->measures[m].tested)
        append_cell (text, "p");
      n_right += 1 + table->measures[m].tested;
    }
  append_cell (text, "parameters");
  append_cell (text, "target tokens/s");
  g_string_append (text, "|\n");
  append_rule (text, table->n_axes, n_right);
  for (guint r = 0; r < table->n_rows; r++)
    append_row (text, table, &table->rows[r]);
  g_string_append_printf (text, "\n%s\n", plait_grid_table_legend ());
  return g_string_free (text, FALSE);
}
