/* SPDX-License-Identifier: MIT */
#include "report/report-data.h"

#include <math.h>
#include <string.h>

#include "comparison/location.h"

#define MAX_TEXT_BYTES ((gsize)2 << 20) /* maximum bytes of translations and references, before packing */

/* Maximum characters of the previous packs, for each level of detail. A sentence gets the first level whose maximum is
 * not exceeded. If all maxima are exceeded, the sentence gets no heatmaps. */
static const gsize most_packed[] = {
  [PLAIT_REPORT_HEADS] = (gsize)3 << 20,
  [PLAIT_REPORT_LAYERS] = (gsize)5 << 20,
  [PLAIT_REPORT_LAST] = (gsize)8 << 20,
};

typedef struct
{
  const PlaitRunComparison *comparison;
  PlaitJson *index;
  GString *packs; /* packs as JSON strings, with commas between them */
  guint n_packs;
  gsize text; /* bytes of translations and references on the page so far */
  gboolean any;
} Data;

/* Adds the scores of the first @n sentences by each metric that scores sentences. */
static void
add_scores (PlaitJson *json, const PlaitRunFile *run, const char *split, gint64 n)
{
  plait_json_begin_array (json, "scores");
  for (guint s = 0; s < run->result->scores->len; s++)
    {
      const PlaitRunScore *score = run->result->scores->pdata[s];
      const PlaitStatistics *statistics = score->statistics;

      if (strcmp (score->split, split) != 0 || !score->scorer || !statistics || statistics->lines
          || (gint64)statistics->sentences < n)
        continue;
      plait_json_begin_object (json, NULL);
      plait_report_json_text (json, "name", score->name);
      plait_json_boolean (json, "larger", plait_metric_larger_is_better (score->scorer));
      plait_json_begin_array (json, "values");
      for (gint64 i = 0; i < n; i++)
        plait_json_real (json, NULL,
                         round (plait_metric_score (score->scorer, statistics->values + i * statistics->width) * 100)
                             / 100);
      plait_json_end_array (json);
      plait_json_end_object (json);
    }
  plait_json_end_array (json);
}

typedef struct
{
  guint run;
  gint64 n, n_references;
  char **hypotheses, **references;
} System;

static void
system_clear (gpointer item)
{
  System *system = item;

  g_strfreev (system->hypotheses);
  g_strfreev (system->references);
}

/* Returns the number of sentences whose texts in @systems fit into the page. Adds the bytes of the texts to @data. */
static gint64
count_sentences (Data *data, const GArray *systems)
{
  gint64 n = 0;

  for (; data->text < MAX_TEXT_BYTES; n++)
    {
      gboolean any = FALSE;

      for (guint s = 0; s < systems->len; s++)
        {
          const System *system = &g_array_index (systems, System, s);

          if (n >= system->n)
            continue;
          any = TRUE;
          data->text += strlen (system->hypotheses[n])
                        + (s == 0 && n < system->n_references ? strlen (system->references[n]) : 0);
        }
      if (!any)
        break;
    }
  return n;
}

/* Adds the first @n lines of every source of @split that a run of @systems stores. */
static void
add_sources (Data *data, const GArray *systems, const char *split, gint64 n)
{
  g_autofree char *path = g_strdup_printf ("/evaluation/%s/sources", split);
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  plait_json_begin_array (data->index, "sources");
  for (guint s = 0; s < systems->len; s++)
    {
      PlaitStore *store = plait_run_at (data->comparison->runs, g_array_index (systems, System, s).run)->store;
      g_auto (GStrv) names = plait_location_members (store, path, NULL);

      for (guint i = 0; names && names[i]; i++)
        {
          g_autofree char *name = g_strconcat ("sources/", names[i], NULL);
          gint64 found;
          g_auto (GStrv) lines = NULL;

          if (!g_hash_table_add (seen, g_strdup (names[i])))
            continue;
          lines = plait_run_lines (store, split, name, &found);
          if (!lines)
            continue;
          plait_json_begin_object (data->index, NULL);
          plait_report_json_text (data->index, "name", names[i]);
          plait_report_json_texts (data->index, "lines", lines, MIN (n, found));
          plait_json_end_object (data->index);
        }
    }
  plait_json_end_array (data->index);
}

static void
add_split_texts (Data *data, const char *split)
{
  g_autoptr (GArray) systems = g_array_new (FALSE, TRUE, sizeof (System));
  PlaitJson *json = data->index;
  gint64 n;

  g_array_set_clear_func (systems, system_clear);
  for (guint r = 0; r < data->comparison->runs->len; r++)
    {
      System system = { .run = r };

      system.hypotheses
          = plait_run_lines (plait_run_at (data->comparison->runs, r)->store, split, "hypotheses", &system.n);
      if (system.hypotheses)
        system.references = plait_run_lines (plait_run_at (data->comparison->runs, r)->store, split, "references",
                                             &system.n_references);
      if (system.hypotheses)
        g_array_append_val (systems, system);
    }
  n = count_sentences (data, systems);
  if (n == 0)
    return;
  const System *first = &g_array_index (systems, System, 0);
  plait_json_begin_object (json, NULL);
  plait_report_json_text (json, "split", split);
  plait_json_integer (json, "sentences", first->n);
  plait_report_json_texts (json, "references", first->references, MIN (n, first->n_references));
  add_sources (data, systems, split, n);
  plait_json_begin_array (json, "systems");
  for (guint s = 0; s < systems->len; s++)
    {
      const System *system = &g_array_index (systems, System, s);
      gint64 kept = MIN (n, system->n);

      plait_json_begin_object (json, NULL);
      plait_json_integer (json, "run", system->run);
      plait_report_json_texts (json, "hypotheses", system->hypotheses, kept);
      if (first->references && system->references
          && !g_strv_equal ((const char *const *)first->references, (const char *const *)system->references))
        plait_report_json_texts (json, "references", system->references, MIN (kept, system->n_references));
      add_scores (json, plait_run_at (data->comparison->runs, system->run), split, kept);
      plait_json_end_object (json);
    }
  plait_json_end_array (json);
  plait_json_end_object (json);
  data->any = TRUE;
}

/* Returns the names of the members of the group @path in all runs, each once. (transfer full) */
static GPtrArray *
members_of_runs (const Data *data, const char *path, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint r = 0; r < data->comparison->runs->len; r++)
    {
      g_autofree char **members = plait_location_members (plait_run_at (data->comparison->runs, r)->store, path, error);

      if (!members)
        return NULL;
      for (guint i = 0; members[i]; i++)
        if (g_hash_table_contains (seen, members[i]))
          g_free (members[i]);
        else
          {
            g_ptr_array_add (names, members[i]);
            g_hash_table_add (seen, members[i]);
          }
    }
  return g_steal_pointer (&names);
}

/* Compares two names for sorting: sentences by number; chunks by document and then by their own number. */
static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strverscmp (*(const char *const *)a, *(const char *const *)b);
}

static gboolean
add_sentence (Data *data, const char *split, const char *name, GError **error)
{
  PlaitReportDetail detail = PLAIT_REPORT_HEADS;

  while (detail < PLAIT_REPORT_LAST && data->packs->len > most_packed[detail])
    detail++;
  plait_json_begin_object (data->index, NULL);
  plait_report_json_text (data->index, "name", name);
  plait_json_begin_array (data->index, "maps");
  for (guint r = 0; r < data->comparison->runs->len; r++)
    {
      g_autofree char *packed = NULL;

      if (data->packs->len <= most_packed[PLAIT_REPORT_LAST]
          && !plait_report_heatmaps (plait_run_at (data->comparison->runs, r)->store, split, name, detail, &packed,
                                     error))
        return FALSE;
      if (!packed)
        {
          plait_json_text (data->index, NULL, NULL);
          continue;
        }
      plait_json_integer (data->index, NULL, data->n_packs);
      g_string_append_printf (data->packs, "%s\"%s\"", data->n_packs > 0 ? ",\n" : "", packed);
      data->n_packs++;
    }
  plait_json_end_array (data->index);
  plait_json_end_object (data->index);
  return TRUE;
}

static gboolean
add_split_attention (Data *data, const char *split, GError **error)
{
  g_autofree char *path = plait_location_join ("/attention", split);
  g_autoptr (GPtrArray) names = members_of_runs (data, path, error);

  if (!names)
    return FALSE;
  g_ptr_array_sort (names, compare_names);
  plait_json_begin_object (data->index, NULL);
  plait_report_json_text (data->index, "split", split);
  plait_json_begin_array (data->index, "sentences");
  for (guint i = 0; i < names->len; i++)
    if (!add_sentence (data, split, names->pdata[i], error))
      return FALSE;
  plait_json_end_array (data->index);
  plait_json_end_object (data->index);
  data->any = data->any || names->len > 0;
  return TRUE;
}

static gboolean
add_index (Data *data, GError **error)
{
  const PlaitRunComparison *comparison = data->comparison;
  g_autoptr (GPtrArray) splits = members_of_runs (data, "/attention", error);

  if (!splits)
    return FALSE;
  plait_json_begin_object (data->index, NULL);
  plait_json_begin_array (data->index, "runs");
  for (guint r = 0; r < comparison->runs->len; r++)
    plait_report_json_text (data->index, NULL, plait_run_at (data->comparison->runs, r)->name);
  plait_json_end_array (data->index);
  plait_json_begin_array (data->index, "texts");
  for (guint m = 0; m < comparison->n_score_columns; m = plait_run_comparison_split_end (comparison, m))
    add_split_texts (data, comparison->score_columns[m].split);
  plait_json_end_array (data->index);
  plait_json_begin_array (data->index, "attention");
  for (guint i = 0; i < splits->len; i++)
    if (!add_split_attention (data, splits->pdata[i], error))
      return FALSE;
  plait_json_end_array (data->index);
  plait_json_end_object (data->index);
  return TRUE;
}

gboolean
plait_report_data (GString *html, const PlaitRunComparison *comparison, GError **error)
{
  g_autoptr (PlaitJson) index = plait_json_new ();
  g_autoptr (GString) packs = g_string_new (NULL);
  Data data = { .comparison = comparison, .index = index, .packs = packs };

  if (!add_index (&data, error))
    return FALSE;
  if (!data.any)
    return TRUE;
  g_autofree char *packed = plait_report_pack (plait_json_string (index), NULL);
  g_string_append (html, "<section id=\"look\" hidden></section>\n<p id=\"unscripted\" class=\"dim small\">A script in "
                         "this page shows every sentence, with its heatmaps; this browser does not run it. plait show "
                         "and plait plot draw heatmaps too.</p>\n");
  g_string_append_printf (html, "<script type=\"application/json\" id=\"data\">\n{ \"index\": \"%s\",\n\"maps\": [\n",
                          packed);
  g_string_append_len (html, packs->str, (gssize)packs->len);
  g_string_append (html, "\n] }\n</script>\n");
  return TRUE;
}
