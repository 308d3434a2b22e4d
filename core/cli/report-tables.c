/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "cli/html.h"
#include "cli/lengths.h"
#include "cli/report.h"
#include "store/table.h"

/* Scores and settings as tables. */

#define MOST_ROWS ((gint64)1 << 16)
#define MOST_TEXT ((gsize)64 << 20)

/* What the names of a grid's columns end in that tell more of another column. */
static const char *const parts[] = { " standard deviation", " low", " high", " p", " adjusted p" };

/* Metrics that are not of text, such as perplexity, are the better the smaller. */
static gboolean
is_larger_better (const PlaitCellScore *score)
{
  return score->scorer != NULL && plait_metric_larger_is_better (score->scorer);
}

/* Where the intervals of one measure lie over all runs. */
static void
range_of (const PlaitRunComparison *comparison, guint m, double *least, double *most, double *best)
{
  *least = INFINITY;
  *most = -INFINITY;
  *best = NAN;
  for (guint r = 0; r < comparison->runs->len; r++)
    {
      const PlaitCellScore *score = plait_run_comparison_value (comparison, r, m)->score;

      if (score == NULL || !isfinite (score->score))
        continue;
      *least = MIN (*least, score->low);
      *most = MAX (*most, score->high);
      if (!isfinite (*best) || (is_larger_better (score) ? score->score > *best : score->score < *best))
        *best = score->score;
    }
}

static void
add_split (GString *html, const PlaitRunComparison *comparison, guint first, guint last)
{
  gboolean several = comparison->runs->len > 1;

  plait_html_element (html, "h3", NULL, comparison->measures[first].split);
  g_string_append (html, "\n<div class=\"scroll\"><table>\n<tr><th>Run</th>");
  for (guint m = first; m < last; m++)
    {
      plait_html_element (html, "th", "class=\"number\"", comparison->measures[m].name);
      if (several && comparison->measures[m].tested)
        g_string_append (html, "<th></th><th class=\"number\">p</th>");
    }
  g_string_append (html, "</tr>\n");
  for (guint r = 0; r < comparison->runs->len; r++)
    {
      const PlaitRunFile *run = comparison->runs->pdata[r];

      plait_html_add (html, "<tr><td class=\"run\"><span class=\"swatch\" style=\"background:var(--c%u)\"></span>",
                      r % PLAIT_HTML_COLOURS);
      plait_html_text (html, run->name);
      g_string_append (html, "</td>");
      for (guint m = first; m < last; m++)
        {
          const PlaitRunValue *value = plait_run_comparison_value (comparison, r, m);
          g_autofree char *text = plait_run_value_text (value, 2);
          double least, most, best;

          range_of (comparison, m, &least, &most, &best);
          plait_html_element (html, "td",
                              several && value->score != NULL && value->score->score == best ? "class=\"number best\""
                                                                                             : "class=\"number\"",
                              text);
          if (!several || !comparison->measures[m].tested)
            continue;
          g_string_append (html, "<td class=\"interval\">");
          if (value->score != NULL)
            plait_html_interval (html, value->score->score, value->score->low, value->score->high, least, most, r);
          g_string_append (html, "</td>");
          g_autofree char *p = plait_run_value_p (value);
          g_autofree char *marked = g_strconcat (p, plait_run_value_is_significant (value) ? " *" : "", NULL);
          plait_html_element (html, "td", "class=\"number\"", marked);
        }
      g_string_append (html, "</tr>\n");
    }
  g_string_append (html, "</table></div>\n");
}

void
plait_report_scores (GString *html, const PlaitRunComparison *comparison)
{
  g_string_append (html, "<h2>Scores</h2>\n");
  if (comparison->n_measures == 0)
    {
      g_string_append (html, "<p>No test split has been scored yet.</p>\n");
      return;
    }
  for (guint first = 0, last; first < comparison->n_measures; first = last)
    {
      for (last = first + 1; last < comparison->n_measures
                             && strcmp (comparison->measures[first].split, comparison->measures[last].split) == 0;)
        last++;
      add_split (html, comparison, first, last);
    }
  g_autofree char *legend = plait_run_comparison_legend (comparison);
  plait_html_element (html, "p", "class=\"dim small\"", legend);
  g_string_append_c (html, '\n');
}

gboolean
plait_report_lengths (GString *html, const PlaitRunComparison *comparison, GError **error)
{
  g_autoptr (GPtrArray) tables = plait_length_tables_of_runs (comparison, error);

  if (tables == NULL)
    return FALSE;
  for (guint i = 0; i < tables->len; i++)
    {
      const PlaitLengthTable *table = tables->pdata[i];
      g_autofree char *title = g_strdup_printf ("By words of the source: %s on %s", table->name, table->split);

      plait_html_element (html, "h3", NULL, title);
      g_string_append (html, "\n<div class=\"scroll\"><table>\n<tr><th>Words</th><th class=\"number\">Sentences</th>");
      for (guint r = 0; r < table->n_systems; r++)
        plait_html_element (html, "th", "class=\"number\"", ((const PlaitRunFile *)comparison->runs->pdata[r])->name);
      g_string_append (html, "</tr>\n");
      for (guint b = 0; b < table->bins->len; b++)
        {
          g_string_append (html, "<tr>");
          plait_html_element (html, "td", NULL, table->bins->pdata[b]);
          plait_html_add (html, "<td class=\"number\">%" G_GINT64_FORMAT "</td>",
                          g_array_index (table->sentences, gint64, b));
          for (guint r = 0; r < table->n_systems; r++)
            plait_html_element (html, "td", "class=\"number\"", plait_length_table_cell (table, b, r));
          g_string_append (html, "</tr>\n");
        }
      g_string_append (html, "</table></div>\n");
    }
  return TRUE;
}

/* A cell a row of one column of a table. (transfer full) (element-type utf8) */
static GPtrArray *
read_column (PlaitStore *store, const char *path, gboolean *number, GError **error)
{
  g_autoptr (GPtrArray) cells = g_ptr_array_new_with_free_func (g_free);
  PlaitStoreObject object;
  gint64 n;

  if (!plait_store_describe (store, path, &object, error))
    return NULL;
  *number = object.kind == PLAIT_STORE_DATASET && object.type != PLAIT_STORE_STRING;
  if (*number)
    {
      g_autofree double *values = plait_store_read_array (store, path, PLAIT_STORE_DOUBLE, MOST_ROWS, &n, error);
      gboolean real = object.type == PLAIT_STORE_DOUBLE || object.type == PLAIT_STORE_FLOAT;
      const char *format = !real ? "%.0f" : g_str_has_suffix (path, " p") ? "%.4f" : "%.2f";
      char text[G_ASCII_DTOSTR_BUF_SIZE];

      if (values == NULL)
        return NULL;
      for (gint64 i = 0; i < n; i++)
        {
          const char *fitting = fabs (values[i]) < 1000 ? format : "%.0f"; /* a rate has no hundredths */

          g_ptr_array_add (
              cells, g_strdup (isfinite (values[i]) ? g_ascii_formatd (text, sizeof text, fitting, values[i]) : "–"));
        }
      return g_steal_pointer (&cells);
    }
  g_auto (GStrv) strings = plait_store_read_strings (store, path, MOST_TEXT, &n, error);
  if (strings == NULL)
    return NULL;
  for (gint64 i = 0; i < n; i++)
    g_ptr_array_add (cells, g_strdup (strings[i]));
  return g_steal_pointer (&cells);
}

/* A column of a table by its name. */
typedef struct
{
  const char *name;
  gboolean number;
  GPtrArray *cells;
} Column;

static void
clear_column (gpointer column)
{
  g_ptr_array_unref (((Column *)column)->cells);
}

/* The cell of row @row in the column "@name@ending", or NULL if there is no such column or no number. */
static const char *
cell (const GArray *columns, const char *name, const char *ending, guint row)
{
  g_autofree char *wanted = g_strconcat (name, ending, NULL);

  for (guint c = 0; c < columns->len; c++)
    {
      const Column *column = &g_array_index (columns, Column, c);

      if (strcmp (column->name, wanted) == 0)
        return row < column->cells->len && strcmp (column->cells->pdata[row], "–") != 0 ? column->cells->pdata[row]
                                                                                        : NULL;
    }
  return NULL;
}

/* Whether @name is a part of what another column tells: a spread, a bound, a p. */
static gboolean
is_part (const GArray *columns, const char *name)
{
  for (guint c = 0; c < columns->len; c++)
    for (guint e = 0; e < G_N_ELEMENTS (parts); e++)
      {
        g_autofree char *part = g_strconcat (g_array_index (columns, Column, c).name, parts[e], NULL);

        if (strcmp (name, part) == 0)
          return TRUE;
      }
  return FALSE;
}

/* "34.5 ± 0.3 (p 0.01)" */
static void
add_summary_cell (GString *html, const GArray *columns, const Column *column, guint row)
{
  const char *deviation = cell (columns, column->name, " standard deviation", row);
  const char *low = cell (columns, column->name, " low", row), *high = cell (columns, column->name, " high", row);
  const char *p = cell (columns, column->name, " adjusted p", row);

  plait_html_add (html, "<td%s>", column->number ? " class=\"number\"" : "");
  plait_html_text (html, row < column->cells->len ? column->cells->pdata[row] : "");
  if (deviation != NULL)
    plait_html_add (html, " ± %s", deviation);
  else if (low != NULL && high != NULL && strcmp (low, high) != 0) /* perplexity has no interval */
    plait_html_add (html, " [%s, %s]", low, high);
  if (p != NULL)
    plait_html_add (html, " <span class=\"dim small\">p %s</span>", p);
  g_string_append (html, "</td>");
}

gboolean
plait_report_summary (GString *html, PlaitStore *store, const char *path, GError **error)
{
  g_autoptr (GArray) columns = g_array_new (FALSE, FALSE, sizeof (Column));
  gint64 rows;
  g_auto (GStrv) names = plait_store_table_columns (store, path, &rows, error);

  g_array_set_clear_func (columns, clear_column);
  if (names == NULL)
    return FALSE;
  for (guint c = 0; names[c] != NULL; c++)
    {
      g_autofree char *place = plait_place_below (path, names[c]);
      Column column = { .name = names[c] };

      column.cells = read_column (store, place, &column.number, error);
      if (column.cells == NULL)
        return FALSE;
      g_array_append_val (columns, column);
    }
  g_string_append (html, "<div class=\"scroll\"><table>\n<tr>");
  for (guint c = 0; c < columns->len; c++)
    if (!is_part (columns, names[c]))
      plait_html_element (html, "th", g_array_index (columns, Column, c).number ? "class=\"number\"" : NULL, names[c]);
  g_string_append (html, "</tr>\n");
  for (gint64 r = 0; r < rows; r++)
    {
      g_string_append (html, "<tr>");
      for (guint c = 0; c < columns->len; c++)
        if (!is_part (columns, names[c]))
          add_summary_cell (html, columns, &g_array_index (columns, Column, c), (guint)r);
      g_string_append (html, "</tr>\n");
    }
  g_string_append (html, "</table></div>\n");
  return TRUE;
}

static void
add_differences (GString *html, const PlaitRunComparison *comparison)
{
  if (comparison->runs->len < 2)
    return;
  if (comparison->differences->len == 0)
    {
      g_string_append (html, "<p>All settings are the same.</p>\n");
      return;
    }
  g_string_append (html, "<p>What differs:</p>\n<div class=\"scroll\"><table>\n<tr><th>Key</th>");
  for (guint r = 0; r < comparison->runs->len; r++)
    plait_html_element (html, "th", NULL, ((const PlaitRunFile *)comparison->runs->pdata[r])->name);
  g_string_append (html, "</tr>\n");
  for (guint d = 0; d < comparison->differences->len; d++)
    {
      const PlaitRunDifference *difference = comparison->differences->pdata[d];

      g_string_append (html, "<tr>");
      plait_html_element (html, "td", "class=\"mono\"", difference->key);
      for (guint r = 0; r < comparison->runs->len; r++)
        plait_html_element (html, "td", "class=\"mono\"", difference->values[r]);
      g_string_append (html, "</tr>\n");
    }
  g_string_append (html, "</table></div>\n");
}

/* The attributes of @path as rows. */
static gboolean
add_attributes (GString *html, PlaitStore *store, const char *path, GError **error)
{
  PlaitStoreObject object;

  if (!plait_store_has (store, path))
    return TRUE;
  if (!plait_store_describe (store, path, &object, error))
    return FALSE;
  if (object.kind != PLAIT_STORE_GROUP)
    return TRUE;
  g_auto (GStrv) names = plait_store_attributes (store, path, error);
  if (names == NULL)
    return FALSE;
  for (guint i = 0; names[i] != NULL; i++)
    {
      g_autofree char *value = plait_store_attribute_text (store, path, names[i], 4096, error);

      if (value == NULL)
        return FALSE;
      g_string_append (html, "<tr>");
      plait_html_element (html, "td", "class=\"mono\"", path);
      plait_html_element (html, "td", "class=\"mono\"", names[i]);
      plait_html_element (html, "td", "class=\"mono\"", value);
      g_string_append (html, "</tr>\n");
    }
  g_auto (GStrv) members = plait_store_members (store, path, error);
  if (members == NULL)
    return FALSE;
  for (guint i = 0; members[i] != NULL; i++)
    {
      g_autofree char *place = plait_place_below (path, members[i]);

      if (!add_attributes (html, store, place, error))
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

      g_string_append (html, "<details><summary>");
      plait_html_text (html, run->name);
      g_string_append (html, ": the whole experiment</summary>\n");
      plait_html_element (html, "pre", NULL, text);
      g_string_append (html, "</details>\n<details><summary>");
      plait_html_text (html, run->name);
      g_string_append (html, ": environment, plugins and data</summary>\n<div class=\"scroll\"><table>\n"
                             "<tr><th>Path</th><th>Attribute</th><th>Value</th></tr>\n");
      for (guint i = 0; i < G_N_ELEMENTS (origins); i++)
        if (!add_attributes (html, run->store, origins[i], error))
          return FALSE;
      g_string_append (html, "</table></div></details>\n");
    }
  return TRUE;
}
