/* SPDX-License-Identifier: MIT */
#include "comparison/lengths.h"

#include <math.h>

#include "comparison/location.h"

/* Returns the row of @metric and @bin, or NULL. */
static const PlaitLengthRow *
find_row (const GArray *rows, const char *metric, const char *bin)
{
  for (guint i = 0; rows && i < rows->len; i++)
    {
      const PlaitLengthRow *row = &g_array_index (rows, PlaitLengthRow, i);

      if (g_str_equal (row->metric, metric) && g_str_equal (row->bin, bin))
        return row;
    }
  return NULL;
}

/* Adds a row for the bin of @first, with the scores of @n systems by the metric of @first. */
static void
add_bin (PlaitTable *table, const PlaitLengthRow *first, GArray *const *rows, guint n)
{
  plait_table_text (table, PLAIT_TABLE_NAME, first->bin);
  plait_table_integer (table, PLAIT_TABLE_PLAIN, first->sentences);
  for (guint s = 0; s < n; s++)
    {
      const PlaitLengthRow *row = find_row (rows[s], first->metric, first->bin);
      PlaitTableScore score = { NAN, NAN, NAN, NAN };
      g_autofree char *text = NULL, *counted = NULL;

      if (row)
        {
          score = (PlaitTableScore){ row->sentences > 0 ? row->score : NAN, NAN, row->low, row->high };
          text = plait_table_score_text ("%.2f", score);
          counted = g_strdup_printf ("%s (%jd)", text, row->sentences);
        }
      plait_table_text (table, PLAIT_TABLE_PLAIN, row && row->sentences != first->sentences ? counted : text);
    }
}

PlaitTable *
plait_length_table_new (const char *split, const char *metric, const char *name, const char *const *systems,
                        GArray *const *rows)
{
  PlaitTable *table = plait_table_new ();
  guint n = g_strv_length ((char **)systems);
  g_autoptr (GHashTable) bins = g_hash_table_new (g_str_hash, g_str_equal);

  table->title = g_strdup_printf ("By words of the source: %s%s%s", name, split ? " on " : "", split ? split : "");
  plait_table_column (table, PLAIT_TABLE_WORDS, "Words");
  plait_table_column (table, PLAIT_TABLE_COUNTS, "Sentences");
  for (guint s = 0; s < n; s++)
    plait_table_column (table, PLAIT_TABLE_NUMBERS, systems[s]);
  for (guint s = 0; s < n; s++)
    for (guint i = 0; rows[s] && i < rows[s]->len; i++)
      {
        const PlaitLengthRow *row = &g_array_index (rows[s], PlaitLengthRow, i);

        if (g_str_equal (row->metric, metric) && g_hash_table_add (bins, row->bin))
          add_bin (table, row, rows, n);
      }
  return table;
}

/* A split, with the rows of each run (element-type PlaitLengthRow; NULL if the run lacks the split). */
typedef struct
{
  char *name;
  GPtrArray *rows;
} Split;

static void
rows_free (gpointer rows)
{
  if (rows)
    g_array_unref (rows);
}

static void
split_free (gpointer data)
{
  Split *split = data;

  g_free (split->name);
  g_ptr_array_unref (split->rows);
  g_free (split);
}

static GArray *
read_rows (const PlaitRunFile *run, const char *split, GError **error)
{
  g_autofree char *path = g_strdup_printf ("/evaluation/%s/length_bins", split);

  return plait_length_table_read (run->store, path, error);
}

/* Returns the name of @split. If runs have different references for @split, appends the digest of the references of
 * @run. (transfer full) */
static char *
name_split (const PlaitRunComparison *comparison, const PlaitRunFile *run, const char *split)
{
  for (guint m = 0; m < comparison->n_score_columns; m++)
    if (g_str_equal (comparison->score_columns[m].split, split)
        && plait_score_column_score (&comparison->score_columns[m], run->result))
      return plait_score_column_split_text (&comparison->score_columns[m]);
  return g_strdup (split);
}

/* Returns the split called @name (transfer full) in @splits. If the split is missing, adds it for @n runs. */
static Split *
find_split (GPtrArray *splits, char *name, guint n)
{
  Split *split;

  for (guint i = 0; i < splits->len; i++)
    if (g_str_equal (((Split *)splits->pdata[i])->name, name))
      {
        g_free (name);
        return splits->pdata[i];
      }
  split = g_new0 (Split, 1);
  split->name = name;
  split->rows = g_ptr_array_new_with_free_func (rows_free);
  g_ptr_array_set_size (split->rows, (gint)n);
  g_ptr_array_add (splits, split);
  return split;
}

static void
add_tables (GPtrArray *tables, const Split *split, const char *const *systems)
{
  g_autoptr (GHashTable) metrics = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint r = 0; r < split->rows->len; r++)
    for (guint i = 0; split->rows->pdata[r] && i < ((GArray *)split->rows->pdata[r])->len; i++)
      {
        const PlaitLengthRow *row = &g_array_index ((GArray *)split->rows->pdata[r], PlaitLengthRow, i);

        if (g_hash_table_add (metrics, row->metric))
          g_ptr_array_add (tables, plait_length_table_new (split->name, row->metric, row->name, systems,
                                                           (GArray *const *)split->rows->pdata));
      }
}

GPtrArray *
plait_length_tables_of_runs (const PlaitRunComparison *comparison, GError **error)
{
  GPtrArray *tables;
  guint n = comparison->runs->len;
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (split_free);
  g_autofree const char **systems = g_new0 (const char *, n + 1);

  for (guint r = 0; r < n; r++)
    {
      const PlaitRunFile *run = comparison->runs->pdata[r];
      g_auto (GStrv) splits = plait_location_members (run->store, "/evaluation", error);

      systems[r] = run->name;
      for (guint s = 0; splits && splits[s]; s++)
        {
          GArray *rows = read_rows (run, splits[s], error);

          if (!rows)
            return NULL;
          find_split (all, name_split (comparison, run, splits[s]), n)->rows->pdata[r] = rows;
        }
      if (!splits)
        return NULL;
    }
  tables = g_ptr_array_new_with_free_func ((GDestroyNotify)plait_table_free);
  for (guint i = 0; i < all->len; i++)
    add_tables (tables, all->pdata[i], systems);
  return tables;
}

void
plait_length_row_add_json (const PlaitLengthRow *row, const char *split, PlaitJson *json)
{
  plait_json_begin_object (json, NULL);
  if (split)
    plait_json_text (json, "split", split);
  plait_json_members (json, "metric=%s words=%s sentences=%jd score=%g low=%g high=%g", row->metric, row->bin,
                      row->sentences, row->score, row->low, row->high);
  plait_json_end_object (json);
}

gboolean
plait_lengths_add_json (const PlaitRunFile *run, PlaitJson *json, GError **error)
{
  g_auto (GStrv) splits = plait_location_members (run->store, "/evaluation", error);
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
