/* SPDX-License-Identifier: MIT */
#include "comparison/choice.h"

/* Returns the items of @list without white space around them. (transfer full) */
static GStrv
items_of (const char *list)
{
  GStrv items = g_strsplit (list, ";", -1);

  for (guint i = 0; items[i]; i++)
    g_strstrip (items[i]);
  return items;
}

gboolean
plait_choice_take_runs (const PlaitComparisonChoice *choice, GPtrArray *runs, GError **error)
{
  g_auto (GStrv) patterns = choice->runs ? items_of (choice->runs) : NULL;
  g_autofree gboolean *matches = g_new0 (gboolean, runs->len + 1);

  if (!patterns)
    return TRUE;
  for (guint p = 0; patterns[p]; p++)
    {
      gboolean any = FALSE;

      for (guint r = 0; r < runs->len; r++)
        if (g_pattern_match_simple (patterns[p], plait_run_at (runs, r)->name))
          any = matches[r] = TRUE;
      if (!any)
        {
          g_autoptr (GPtrArray) names = g_ptr_array_new_null_terminated (8, NULL, TRUE);

          for (guint r = 0; r < runs->len && r < 8; r++)
            g_ptr_array_add (names, plait_run_at (runs, r)->name);
          g_autofree char *known = g_strjoinv (", ", (char **)names->pdata);
          return plait_fail (error, PLAIT_ERROR_INPUT, "--runs: no run has a name like \"%s\"; the names are %s%s",
                             patterns[p], known, runs->len > 8 ? " and others" : "");
        }
    }
  for (guint r = runs->len; r-- > 0;)
    if (!matches[r])
      g_ptr_array_remove_index (runs, r);
  return TRUE;
}

gboolean
plait_choice_take_columns (const PlaitComparisonChoice *choice, GArray *columns, GError **error)
{
  g_auto (GStrv) names = choice->metrics ? items_of (choice->metrics) : NULL;
  g_autofree gboolean *matches = g_new0 (gboolean, columns->len + 1);

  if (!names)
    return TRUE;
  for (guint k = 0; names[k]; k++)
    {
      g_autoptr (GPtrArray) known = g_ptr_array_new_null_terminated (8, NULL, TRUE);
      gboolean any = FALSE;

      for (guint m = 0; m < columns->len; m++)
        {
          const PlaitScoreColumn *column = &g_array_index (columns, PlaitScoreColumn, m);

          if (!g_ptr_array_find_with_equal_func (known, column->name, g_str_equal, NULL))
            g_ptr_array_add (known, (gpointer)column->name);
          if (g_str_equal (column->name, names[k]) || g_str_equal (column->metric, names[k]))
            any = matches[m] = TRUE;
        }
      if (!any)
        {
          g_autofree char *text = g_strjoinv (", ", (char **)known->pdata);

          return plait_fail (error, PLAIT_ERROR_INPUT, "--metrics: no score is called \"%s\"; the scores are %s",
                             names[k], text);
        }
    }
  for (guint m = columns->len; m-- > 0;)
    if (!matches[m])
      g_array_remove_index (columns, m);
  return TRUE;
}

gboolean
plait_choice_name_systems (const PlaitComparisonChoice *choice, GArray *systems, const GPtrArray *runs, GError **error)
{
  g_auto (GStrv) names = choice->names ? items_of (choice->names) : NULL;
  guint n = names ? g_strv_length (names) : 0;

  if (!names)
    return TRUE;
  if (n != systems->len)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "--names gives %u names, but there are %u rows or curves; give one name for each", n,
                       systems->len);
  for (guint s = 0; s < n; s++)
    {
      PlaitRunSystem *system = plait_run_system_at (systems, s);
      PlaitRunFile *run = runs->pdata[system->runs[0]];

      if (*names[s] == '\0' || g_strv_contains ((const char *const *)names + s + 1, names[s])
          || !g_utf8_validate (names[s], -1, NULL))
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "--names: name %u, \"%s\", is empty, given twice or not UTF-8; give different names", s + 1,
                           names[s]);
      g_free (system->name);
      system->name = g_strdup (names[s]);
      if (system->n > 1)
        continue;
      g_free (run->name);
      run->name = g_strdup (names[s]);
    }
  return TRUE;
}
