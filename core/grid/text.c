/* SPDX-License-Identifier: MIT */
#include "grid/table.h"

#include "evaluate/report.h"

#include <math.h>

/* The table of a grid for people, and its numbers for programs. */

static const char apart[] = "Cells over other references of a split have columns of their own, and are not compared.";

/* The last part of the key @axis, the whole where another axis ends alike. (transfer none) */
static const char *
axis_title (const PlaitGridTable *table, guint axis)
{
  const char *key = table->axes[axis], *dot = strrchr (key, '.');

  for (guint a = 0; dot && a < table->n_axes; a++)
    if (a != axis && g_str_has_suffix (table->axes[a], dot))
      return key;
  return dot ? dot + 1 : key;
}

static void
add_columns (PlaitTable *shown, const PlaitGridTable *table)
{
  for (guint a = 0; a < table->n_axes; a++)
    plait_table_column (shown, PLAIT_TABLE_WORDS, axis_title (table, a));
  plait_table_column (shown, PLAIT_TABLE_COUNTS, "n");
  for (guint m = 0; m < table->n_measures; m++)
    {
      const PlaitMeasure *measure = &table->measures[m];
      g_autofree char *where = plait_measure_where (measure);
      g_autofree char *title = g_strdup_printf ("%s %s", where, measure->name);

      plait_table_column (shown, PLAIT_TABLE_NUMBERS, table->one_split ? measure->name : title);
      if (measure->tested)
        plait_comparison_columns (shown);
    }
  plait_table_column (shown, PLAIT_TABLE_COUNTS, "parameters");
  plait_table_column (shown, PLAIT_TABLE_NUMBERS, "target tokens/s")->format = "%.0f";
}

static void
add_row (PlaitTable *shown, const PlaitGridTable *table, const PlaitGridRow *row)
{
  for (guint a = 0; a < table->n_axes; a++)
    plait_table_text (shown, PLAIT_TABLE_NAME, row->values[a]);
  plait_table_integer (shown, row->n < row->n_cells ? PLAIT_TABLE_BAD : PLAIT_TABLE_PLAIN, row->n);
  for (guint m = 0; m < table->n_measures; m++)
    {
      const PlaitMeasured *value = &row->measured[m];

      plait_table_score (shown, plait_measured_shown (value));
      if (table->measures[m].tested)
        plait_comparison_cells (shown, value->compared ? &value->comparison : NULL);
    }
  if (row->parameters < 0)
    plait_table_none (shown);
  else
    plait_table_integer (shown, PLAIT_TABLE_PLAIN, row->parameters);
  plait_table_known (shown, row->rate);
}

PlaitTable *
plait_grid_table_shown (const PlaitGridTable *table)
{
  PlaitTable *shown = plait_table_new ();
  g_autofree char *legend = plait_comparison_note ("the first row", PLAIT_TEST_PERMUTATION, 0, 0, TRUE);

  add_columns (shown, table);
  for (guint r = 0; r < table->n_rows; r++)
    add_row (shown, table, &table->rows[r]);
  plait_table_note (shown, legend);
  for (guint m = 0; m < table->n_measures; m++)
    if (table->measures[m].apart)
      {
        plait_table_note (shown, apart);
        break;
      }
  return shown;
}

/*
 * Numbers
 */

static void
add_number_columns (PlaitTable *numbers, const PlaitMeasure *measure)
{
  static const char *const parts[] = { "", " standard deviation", " low", " high", " p", " adjusted p" };
  g_autofree char *where = plait_measure_where (measure);

  for (guint i = 0; i < (measure->tested ? 6 : 4); i++)
    {
      g_autofree char *name = g_strdup_printf ("%s %s%s", where, measure->name, parts[i]);

      plait_table_column (numbers, PLAIT_TABLE_NUMBERS, name);
    }
}

static void
add_numbers (PlaitTable *numbers, const PlaitMeasure *measure, const PlaitMeasured *value)
{
  plait_table_known (numbers, value->mean);
  plait_table_known (numbers, value->deviation);
  plait_table_known (numbers, value->low);
  plait_table_known (numbers, value->high);
  if (!measure->tested)
    return;
  plait_table_known (numbers, value->compared ? value->comparison.p : NAN);
  plait_table_known (numbers, value->compared ? value->comparison.adjusted_p : NAN);
}

PlaitTable *
plait_grid_table_numbers (const PlaitGridTable *table)
{
  PlaitTable *numbers = plait_table_new ();

  for (guint a = 0; a < table->n_axes; a++)
    plait_table_column (numbers, PLAIT_TABLE_CODE, table->axes[a]);
  plait_table_column (numbers, PLAIT_TABLE_COUNTS, "n");
  for (guint m = 0; m < table->n_measures; m++)
    add_number_columns (numbers, &table->measures[m]);
  plait_table_column (numbers, PLAIT_TABLE_COUNTS, "parameters");
  plait_table_column (numbers, PLAIT_TABLE_NUMBERS, "target tokens per second");
  for (guint r = 0; r < table->n_rows; r++)
    {
      const PlaitGridRow *row = &table->rows[r];

      for (guint a = 0; a < table->n_axes; a++)
        plait_table_text (numbers, PLAIT_TABLE_PLAIN, row->values[a]);
      plait_table_integer (numbers, PLAIT_TABLE_PLAIN, row->n);
      for (guint m = 0; m < table->n_measures; m++)
        add_numbers (numbers, &table->measures[m], &row->measured[m]);
      if (row->parameters < 0)
        plait_table_none (numbers);
      else
        plait_table_integer (numbers, PLAIT_TABLE_PLAIN, row->parameters);
      plait_table_known (numbers, row->rate);
    }
  return numbers;
}
