/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "report/html.h"
#include "comparison/lengths.h"
#include "comparison/location.h"
#include "report/report.h"
#include "comparison/stored-table.h"

#define SUMMARY "/summary"

void
plait_report_scores (GString *html, const PlaitRunComparison *comparison)
{
  g_string_append (html, "<h2>Scores</h2>\n");
  if (comparison->n_score_columns == 0)
    g_string_append (html, "<p>No test split has been scored yet.</p>\n");
  for (guint first = 0; first < comparison->n_score_columns; first = plait_run_comparison_split_end (comparison, first))
    {
      g_autoptr (PlaitTable) scores = plait_run_comparison_scores (comparison, first);

      g_autofree char *where = plait_score_column_split_text (&comparison->score_columns[first]);

      plait_html_element (html, "h3", NULL, where);
      plait_html_table (html, scores);
    }
}

gboolean
plait_report_lengths (GString *html, const PlaitRunComparison *comparison, GError **error)
{
  g_autoptr (GPtrArray) tables = plait_length_tables_of_runs (comparison, error);

  if (!tables)
    return FALSE;
  for (guint i = 0; i < tables->len; i++)
    plait_html_table (html, tables->pdata[i]);
  return TRUE;
}

/*
 * Endings of columns in the summary of a grid, such as "test BLEU low" and "test BLEU p". The page shows their values
 * in the cells of the column "test BLEU", and in the columns p and p (Holm) after it.
 */

static const char *const parts[] = { " standard deviation", " low", " high", " p", " adjusted p", " better" };

/* Returns the index of the column whose name is @name followed by @ending; -1 if there is none. */
static gint
find_column (const PlaitTable *table, const char *name, const char *ending)
{
  g_autofree char *wanted = g_strconcat (name, ending, NULL);

  for (guint c = 0; c < table->columns->len; c++)
    if (g_str_equal (plait_table_get_column (table, c)->title, wanted))
      return (gint)c;
  return -1;
}

static gboolean
is_part (const PlaitTable *table, const char *name)
{
  for (guint e = 0; e < G_N_ELEMENTS (parts); e++)
    if (g_str_has_suffix (name, parts[e]))
      {
        g_autofree char *whole = g_strndup (name, strlen (name) - strlen (parts[e]));

        if (find_column (table, whole, "") >= 0)
          return TRUE;
      }
  return FALSE;
}

/* Returns the number in row @row of the column named @name followed by @ending; NaN if there is no such number. */
static double
part_of (const PlaitTable *table, guint row, const char *name, const char *ending)
{
  gint c = find_column (table, name, ending);
  const PlaitTableCell *cell = c >= 0 ? plait_table_cell (table, row, (guint)c) : NULL;

  return cell && cell->kind == PLAIT_TABLE_CELL_REAL && isfinite (cell->real) ? cell->real : NAN;
}

/* Returns the printf format of column @c. A column with large numbers, such as rates, has no decimals. */
static const char *
format_of (const PlaitTable *table, guint c)
{
  double max = 0;

  for (guint r = 0; r < plait_table_rows (table); r++)
    if (plait_table_cell (table, r, c)->kind == PLAIT_TABLE_CELL_REAL)
      max = fmax (max, fabs (plait_table_cell (table, r, c)->real));
  return max < 1000 ? "%.2f" : "%.0f";
}

static void
add_summary_cell (PlaitTable *summary, const PlaitTable *stored, guint r, guint c)
{
  const PlaitTableCell *cell = plait_table_cell (stored, r, c);
  const char *name = plait_table_get_column (stored, c)->title;

  if (cell->kind == PLAIT_TABLE_CELL_TEXT)
    plait_table_text (summary, PLAIT_TABLE_PLAIN, cell->text);
  else if (cell->kind == PLAIT_TABLE_CELL_INTEGER)
    plait_table_integer (summary, PLAIT_TABLE_PLAIN, cell->integer);
  else
    plait_table_score (
        summary, (PlaitTableScore){ part_of (stored, r, name, ""), part_of (stored, r, name, " standard deviation"),
                                    part_of (stored, r, name, " low"), part_of (stored, r, name, " high") });
  if (find_column (stored, name, " adjusted p") < 0)
    return;
  double better = part_of (stored, r, name, " better"); /* NaN if an older version of plait wrote the grid */
  PlaitComparison comparison = { .p = part_of (stored, r, name, " p"),
                                 .adjusted_p = part_of (stored, r, name, " adjusted p"),
                                 .better = (better > 0) - (better < 0) };
  plait_comparison_cells (summary, isnan (comparison.adjusted_p) ? NULL : &comparison);
}

/* Returns the note on seeds, such as "one seed", that the p columns of metric @name have in their headings; NULL if no
 * test compared single seeds. */
static const char *
seeds_of (const PlaitTable *stored, const char *name)
{
  gint c = find_column (stored, "n", "");
  guint n[2] = { 0, 0 };

  for (guint r = 1; c >= 0 && r < plait_table_rows (stored); r++)
    if (!isnan (part_of (stored, r, name, " adjusted p")))
      n[plait_table_cell (stored, 0, (guint)c)->integer + plait_table_cell (stored, r, (guint)c)->integer > 2]++;
  return plait_comparison_seeds (n[0], n[1]);
}

gboolean
plait_report_summary (GString *html, PlaitStore *store, GError **error)
{
  g_autoptr (PlaitTable) stored = plait_stored_table (store, SUMMARY, 0, error);
  g_autoptr (PlaitTable) summary = plait_table_new ();
  gboolean has_notes = plait_store_has_attribute (store, SUMMARY, "notes");
  gint64 n;
  g_auto (GStrv) notes
      = has_notes ? plait_store_get_list (store, SUMMARY, "notes", PLAIT_STORE_STRING, &n, error) : NULL;

  if (!stored || (has_notes && !notes))
    return FALSE;
  for (guint c = 0; c < stored->columns->len; c++)
    {
      const PlaitTableColumn *column = plait_table_get_column (stored, c);

      if (is_part (stored, column->title))
        continue;
      plait_table_column (summary, column->kind, column->title)->format = format_of (stored, c);
      if (find_column (stored, column->title, " adjusted p") >= 0)
        plait_comparison_columns (summary, seeds_of (stored, column->title));
    }
  for (guint r = 0; r < plait_table_rows (stored); r++)
    for (guint c = 0; c < stored->columns->len; c++)
      if (!is_part (stored, plait_table_get_column (stored, c)->title))
        add_summary_cell (summary, stored, r, c);
  plait_html_table (html, summary);
  for (guint i = 0; notes && notes[i]; i++)
    plait_html_element (html, "p", "class=\"dim small\"", notes[i]);
  return TRUE;
}

static void
add_differences (GString *html, const PlaitRunComparison *comparison)
{
  if (comparison->runs->len < 2)
    return;
  if (comparison->differences->len == 0)
    {
      g_string_append (html, "<p>All settings are equal.</p>\n");
      return;
    }
  g_autoptr (PlaitTable) settings = plait_run_comparison_settings (comparison);
  g_string_append (html, "<p>What differs:</p>\n");
  plait_html_table (html, settings);
}

/* Adds a row for each attribute of @path and of all groups below it. */
static gboolean
add_attributes (PlaitTable *table, PlaitStore *store, const char *path, GError **error)
{
  PlaitStoreObject object;

  if (!plait_store_has (store, path))
    return TRUE;
  if (!plait_store_describe (store, path, &object, error))
    return FALSE;
  if (object.kind != PLAIT_STORE_GROUP)
    return TRUE;
  g_auto (GStrv) names = plait_store_attributes (store, path, error);
  if (!names)
    return FALSE;
  for (guint i = 0; names[i]; i++)
    {
      g_autofree char *value = plait_store_attribute_text (store, path, names[i], 4096, error);

      if (!value)
        return FALSE;
      plait_table_text (table, PLAIT_TABLE_PLAIN, path);
      plait_table_text (table, PLAIT_TABLE_PLAIN, names[i]);
      plait_table_text (table, PLAIT_TABLE_PLAIN, value);
    }
  g_auto (GStrv) members = plait_store_members (store, path, error);
  if (!members)
    return FALSE;
  for (guint i = 0; members[i]; i++)
    {
      g_autofree char *place = plait_location_join (path, members[i]);

      if (!add_attributes (table, store, place, error))
        return FALSE;
    }
  return TRUE;
}

gboolean
plait_report_settings (GString *html, const PlaitRunComparison *comparison, GError **error)
{
  static const char *const origins[] = { "/environment", "/plugins", "/data" };

  g_string_append (html, "<h2>Settings</h2>\n");
  add_differences (html, comparison);
  for (guint r = 0; r < comparison->runs->len; r++)
    {
      const PlaitRunFile *run = comparison->runs->pdata[r];
      g_autofree char *text = plait_key_file_text (run->experiment);
      g_autoptr (PlaitTable) origin = plait_table_new ();

      if (run->dump)
        continue;
      plait_html_format (html,
                         "<details><summary>%s: the whole experiment</summary>\n<pre>%s</pre>\n</details>\n"
                         "<details><summary>%s: environment, plugins and data</summary>\n",
                         run->name, text, run->name);
      plait_table_column (origin, PLAIT_TABLE_CODE, "Path");
      plait_table_column (origin, PLAIT_TABLE_CODE, "Attribute");
      plait_table_column (origin, PLAIT_TABLE_CODE, "Value");
      for (guint i = 0; i < G_N_ELEMENTS (origins); i++)
        if (!add_attributes (origin, run->store, origins[i], error))
          return FALSE;
      plait_html_table (html, origin);
      g_string_append (html, "</details>\n");
    }
  return TRUE;
}
