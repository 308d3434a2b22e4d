/* SPDX-License-Identifier: MIT */
#include "comparison/lengths.h"

#include <math.h>

#include "comparison/place.h"

PlaitLengthTable *
plait_length_table_begin (const char *split, const char *metric, const char *name, const char *const *systems)
{
  PlaitLengthTable *table = g_new0 (PlaitLengthTable, 1);

  table->split = g_strdup (split);
  table->metric = g_strdup (metric);
  table->name = g_strdup (name);
  table->systems = g_strdupv ((char **)systems);
  table->bins = g_ptr_array_new_with_free_func (g_free);
  table->sentences = g_array_new (FALSE, FALSE, sizeof (gint64));
  table->cells = g_ptr_array_new_with_free_func (g_free);
  return table;
}

void
plait_length_table_free (PlaitLengthTable *table)
{
  if (!table)
    return;
  g_free (table->split);
  g_free (table->metric);
  g_free (table->name);
  g_strfreev (table->systems);
  g_ptr_array_unref (table->bins);
  g_array_unref (table->sentences);
  g_ptr_array_unref (table->cells);
  g_free (table);
}

/* The cell of a system in the bin called @label, which is added behind the others if it is new. */
static char **
find_cell (PlaitLengthTable *table, const char *label, gint64 sentences, guint system, guint *bin)
{
  guint n = g_strv_length (table->systems);

  if (!g_ptr_array_find_with_equal_func (table->bins, label, g_str_equal, bin))
    {
      *bin = table->bins->len;
      g_ptr_array_add (table->bins, g_strdup (label));
      g_array_append_val (table->sentences, sentences);
      g_ptr_array_set_size (table->cells, (gint)(table->bins->len * n));
    }
  return (char **)&table->cells->pdata[*bin * n + system];
}

void
plait_length_table_set (PlaitLengthTable *table, guint system, const PlaitLengthRow *row)
{
  guint bin;
  char **cell = find_cell (table, row->bin, row->sentences, system, &bin);
  PlaitTableScore score = { row->sentences > 0 ? row->score : NAN, NAN, row->low, row->high };
  g_autofree char *text = plait_table_score_text ("%.2f", score);
  gboolean usual = g_array_index (table->sentences, gint64, bin) == row->sentences;

  g_free (*cell);
  *cell = usual ? g_steal_pointer (&text) : g_strdup_printf ("%s (%jd)", text, row->sentences);
}

char *
plait_length_table_title (const PlaitLengthTable *table)
{
  return g_strdup_printf ("By words of the source: %s%s%s", table->name, table->split ? " on " : "",
                          table->split ? table->split : "");
}

PlaitTable *
plait_length_table_shown (const PlaitLengthTable *table)
{
  PlaitTable *shown = plait_table_new ();
  guint n = g_strv_length (table->systems);

  plait_table_column (shown, PLAIT_TABLE_WORDS, "Words");
  plait_table_column (shown, PLAIT_TABLE_COUNTS, "Sentences");
  for (guint s = 0; s < n; s++)
    plait_table_column (shown, PLAIT_TABLE_NUMBERS, table->systems[s]);
  for (guint b = 0; b < table->bins->len; b++)
    {
      plait_table_text (shown, PLAIT_TABLE_NAME, table->bins->pdata[b]);
      plait_table_integer (shown, PLAIT_TABLE_PLAIN, g_array_index (table->sentences, gint64, b));
      for (guint s = 0; s < n; s++)
        plait_table_text (shown, PLAIT_TABLE_PLAIN, table->cells->pdata[b * n + s]);
    }
  return shown;
}

/*
 * Of runs
 */

static GArray *
read_rows (const PlaitRunFile *run, const char *split, GError **error)
{
  g_autofree char *path = g_strdup_printf ("/evaluation/%s/length_bins", split);

  return plait_length_table_read (run->store, path, error);
}

static PlaitLengthTable *
find_table (GPtrArray *tables, const char *split, const PlaitLengthRow *row, const char *const *systems)
{
  PlaitLengthTable *table;

  for (guint i = 0; i < tables->len; i++)
    {
      table = tables->pdata[i];
      if (g_str_equal (table->split, split) && g_str_equal (table->metric, row->metric))
        return table;
    }
  table = plait_length_table_begin (split, row->metric, row->name, systems);
  g_ptr_array_add (tables, table);
  return table;
}

/* The split with the references of @run, where runs differ in them. (transfer full) */
static char *
where_of (const PlaitRunComparison *comparison, const PlaitRunFile *run, const char *split)
{
  for (guint m = 0; m < comparison->n_measures; m++)
    if (g_str_equal (comparison->measures[m].split, split)
        && plait_measure_score (&comparison->measures[m], run->result))
      return plait_measure_where (&comparison->measures[m]);
  return g_strdup (split);
}

GPtrArray *
plait_length_tables_of_runs (const PlaitRunComparison *comparison, GError **error)
{
  g_autoptr (GPtrArray) tables = g_ptr_array_new_with_free_func ((GDestroyNotify)plait_length_table_free);
  g_autofree const char **systems = g_new0 (const char *, comparison->runs->len + 1);

  for (guint r = 0; r < comparison->runs->len; r++)
    systems[r] = plait_run_at (comparison->runs, r)->name;
  for (guint r = 0; r < comparison->runs->len; r++)
    {
      const PlaitRunFile *run = comparison->runs->pdata[r];
      g_auto (GStrv) splits = plait_place_members (run->store, "/evaluation", error);

      for (guint s = 0; splits && splits[s]; s++)
        {
          g_autoptr (GArray) rows = read_rows (run, splits[s], error);
          g_autofree char *where = where_of (comparison, run, splits[s]);

          if (!rows)
            return NULL;
          for (guint i = 0; i < rows->len; i++)
            {
              const PlaitLengthRow *row = &g_array_index (rows, PlaitLengthRow, i);

              plait_length_table_set (find_table (tables, where, row, systems), r, row);
            }
        }
      if (!splits)
        return NULL;
    }
  return g_steal_pointer (&tables);
}

void
plait_length_row_add_json (const PlaitLengthRow *row, const char *split, PlaitJson *json)
{
  plait_json_begin_object (json, NULL);
  if (split)
    plait_json_text (json, "split", split);
  plait_json_text (json, "metric", row->metric);
  plait_json_text (json, "words", row->bin);
  plait_json_integer (json, "sentences", row->sentences);
  plait_json_real (json, "score", row->score);
  plait_json_real (json, "low", row->low);
  plait_json_real (json, "high", row->high);
  plait_json_end_object (json);
}

gboolean
plait_lengths_add_json (const PlaitRunFile *run, PlaitJson *json, GError **error)
{
  g_auto (GStrv) splits = plait_place_members (run->store, "/evaluation", error);
  gboolean any = FALSE;

  for (guint s = 0; splits && splits[s]; s++)
    {
      g_autoptr (GArray) rows = read_rows (run, splits[s], error);

      if (!rows)
        return FALSE;
      if (rows->len > 0 && !any)
        plait_json_begin_array (json, "length_bins");
      any = any || rows->len > 0;
      for (guint i = 0; i < rows->len; i++)
        plait_length_row_add_json (&g_array_index (rows, PlaitLengthRow, i), splits[s], json);
    }
  if (any)
    plait_json_end_array (json);
  return splits != NULL;
}
