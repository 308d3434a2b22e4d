/* SPDX-License-Identifier: MIT */
#include "grid/table.h"

#include "significance/report.h"

#include <math.h>

static const char apart[] = "Cells with other references of a split have a table of their own; scores of different "
                            "tables cannot be compared.";

/* The score columns of one table: columns first .. end - 1 whose field apart is part->apart. */
typedef struct
{
  guint first, end;
  gboolean apart;
} Part;

/* TRUE if the table @part shows score column @m. */
static gboolean
is_column (const PlaitGridTable *table, const Part *part, guint m)
{
  return m >= part->first && m < part->end && table->score_columns[m].apart == part->apart;
}

/* Returns the last word of the key of @axis, or the whole key if the key of another axis ends with this word. (transfer
 * none) */
static const char *
axis_title (const PlaitGridTable *table, guint axis)
{
  const char *key = table->axes[axis], *dot = strrchr (key, '.');

  for (guint a = 0; dot && a < table->n_axes; a++)
    if (a != axis && g_str_has_suffix (table->axes[a], dot))
      return key;
  return dot ? dot + 1 : key;
}

/* Returns the note on seeds for the heading of the p column of score column @m, such as "one seed"; NULL if no test
 * compared single seeds. */
static const char *
seeds_of (const PlaitGridTable *table, guint m)
{
  guint n[2] = { 0, 0 };

  for (guint r = 0; r < table->n_rows; r++)
    plait_seed_statistics_count_seeds (&table->rows[r].seed_statistics[m], n);
  return plait_comparison_seeds (n[0], n[1]);
}

static void
add_columns (PlaitTable *shown, const PlaitGridTable *table, const Part *part)
{
  for (guint a = 0; a < table->n_axes; a++)
    plait_table_column (shown, PLAIT_TABLE_WORDS, axis_title (table, a));
  plait_table_column (shown, PLAIT_TABLE_COUNTS, "n");
  for (guint m = 0; m < table->n_score_columns; m++)
    {
      const PlaitScoreColumn *score_column = &table->score_columns[m];
      if (!is_column (table, part, m))
        continue;
      g_autofree char *split = plait_score_column_split_text (score_column);
      g_autofree char *title = g_strdup_printf ("%s %s", split, score_column->name);

      plait_table_column (shown, PLAIT_TABLE_NUMBERS, table->one_split ? score_column->name : title);
      if (score_column->tested)
        plait_comparison_columns (shown, seeds_of (table, m));
    }
  plait_table_column (shown, PLAIT_TABLE_COUNTS, "parameters");
  plait_table_column (shown, PLAIT_TABLE_NUMBERS, "target tokens/s")->format = "%.0f";
}

/* Adds to @table the number of parameters and the training speed of @row. */
static void
add_size_and_rate (PlaitTable *table, const PlaitGridRow *row)
{
  if (row->parameters < 0)
    plait_table_none (table);
  else
    plait_table_integer (table, PLAIT_TABLE_PLAIN, row->parameters);
  plait_table_real_or_none (table, row->rate);
}

static void
add_row (PlaitTable *shown, const PlaitGridTable *table, const Part *part, const PlaitGridRow *row)
{
  gboolean any = !part->apart;

  for (guint m = part->first; m < part->end; m++)
    any |= row->seed_statistics[m].n > 0;
  if (!any)
    return;
  for (guint a = 0; a < table->n_axes; a++)
    plait_table_text (shown, PLAIT_TABLE_NAME, row->values[a]);
  plait_table_integer (shown, row->n < row->n_cells ? PLAIT_TABLE_BAD : PLAIT_TABLE_PLAIN, row->n);
  for (guint m = 0; m < table->n_score_columns; m++)
    {
      const PlaitSeedStatistics *value = &row->seed_statistics[m];

      if (!is_column (table, part, m))
        continue;
      plait_table_score (shown, plait_seed_statistics_shown (value));
      if (table->score_columns[m].tested)
        plait_comparison_cells (shown, value->compared ? &value->comparison : NULL);
    }
  add_size_and_rate (shown, row);
}

static void
add_part (GPtrArray *shown, const PlaitGridTable *table, const Part *part)
{
  PlaitTable *made = plait_table_new ();

  add_columns (made, table, part);
  for (guint r = 0; r < table->n_rows; r++)
    add_row (made, table, part, &table->rows[r]);
  g_ptr_array_add (shown, made);
}

GPtrArray *
plait_grid_tables_shown (const PlaitGridTable *table)
{
  g_autofree char *legend = plait_comparison_note ("the first row", PLAIT_TEST_PERMUTATION, 0, 0, TRUE);
  GPtrArray *shown = g_ptr_array_new_with_free_func ((GDestroyNotify)plait_table_free);
  const Part together = { 0, table->n_score_columns, FALSE };
  gboolean any_apart = FALSE, any_together = table->n_score_columns == 0;

  for (guint m = 0; m < table->n_score_columns; m++)
    *(table->score_columns[m].apart ? &any_apart : &any_together) = TRUE;
  if (any_together)
    add_part (shown, table, &together);
  for (guint m = 0; m < table->n_score_columns; m++)
    if (table->score_columns[m].apart
        && (m == 0 || !plait_score_column_has_same_references (&table->score_columns[m], &table->score_columns[m - 1])))
      {
        Part part = { m, m + 1, TRUE };

        while (part.end < table->n_score_columns
               && plait_score_column_has_same_references (&table->score_columns[part.end], &table->score_columns[m]))
          part.end++;
        add_part (shown, table, &part);
      }
  plait_table_note (shown->pdata[shown->len - 1], legend);
  if (any_apart)
    plait_table_note (shown->pdata[shown->len - 1], apart);
  for (guint i = 0; table->notes[i]; i++)
    plait_table_note (shown->pdata[shown->len - 1], table->notes[i]);
  return shown;
}

static void
add_number_columns (PlaitTable *numbers, const PlaitScoreColumn *score_column)
{
  static const char *const parts[] = { "", " standard deviation", " low", " high", " p", " adjusted p", " better" };
  g_autofree char *split = plait_score_column_split_text (score_column);

  for (guint i = 0; i < (score_column->tested ? 7 : 4); i++)
    {
      g_autofree char *name = g_strdup_printf ("%s %s%s", split, score_column->name, parts[i]);

      plait_table_column (numbers, PLAIT_TABLE_NUMBERS, name);
    }
}

static void
add_numbers (PlaitTable *numbers, const PlaitScoreColumn *score_column, const PlaitSeedStatistics *value)
{
  plait_table_real_or_none (numbers, value->mean);
  plait_table_real_or_none (numbers, value->deviation);
  plait_table_real_or_none (numbers, value->low);
  plait_table_real_or_none (numbers, value->high);
  if (!score_column->tested)
    return;
  plait_table_real_or_none (numbers, value->compared ? value->comparison.p : NAN);
  plait_table_real_or_none (numbers, value->compared ? value->comparison.adjusted_p : NAN);
  plait_table_real_or_none (numbers, value->compared ? value->comparison.better : NAN);
}

PlaitTable *
plait_grid_table_numbers (const PlaitGridTable *table)
{
  PlaitTable *numbers = plait_table_new ();

  for (guint a = 0; a < table->n_axes; a++)
    plait_table_column (numbers, PLAIT_TABLE_CODE, table->axes[a]);
  plait_table_column (numbers, PLAIT_TABLE_COUNTS, "n");
  for (guint m = 0; m < table->n_score_columns; m++)
    add_number_columns (numbers, &table->score_columns[m]);
  plait_table_column (numbers, PLAIT_TABLE_COUNTS, "parameters");
  plait_table_column (numbers, PLAIT_TABLE_NUMBERS, "target tokens per second");
  for (guint r = 0; r < table->n_rows; r++)
    {
      const PlaitGridRow *row = &table->rows[r];

      for (guint a = 0; a < table->n_axes; a++)
        plait_table_text (numbers, PLAIT_TABLE_PLAIN, row->values[a]);
      plait_table_integer (numbers, PLAIT_TABLE_PLAIN, row->n);
      for (guint m = 0; m < table->n_score_columns; m++)
        add_numbers (numbers, &table->score_columns[m], &row->seed_statistics[m]);
      add_size_and_rate (numbers, row);
    }
  return numbers;
}
