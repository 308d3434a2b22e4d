/* SPDX-License-Identifier: MIT */
#include "dumps/text-scores.h"

#include "significance/report.h"

#define MAX_BYTES ((gsize)1 << 30)
#define MAX_METRICS 3

/* The metrics of a kind of texts. A run names a metric KIND/NAME/METRIC: Kind.name, PlaitTextScores.name and the name
 * in Kind.metrics. */
typedef struct
{
  const char *name;
  const char *folder; /* group of the texts in the group of an evaluation */
  struct
  {
    const char *name, *metric, *title; /* tables show @title, then PlaitTextScores.name */
  } metrics[MAX_METRICS];
} Kind;

static const Kind kinds[] = {
  [PLAIT_TEXT_SCORES_ALIGNMENT] = { "alignment",
                                    "alignments",
                                    { { "aer", "aer", "AER" },
                                      { "alignment-precision", "alignment-precision", "alignment precision" },
                                      { "alignment-recall", "alignment-recall", "alignment recall" } } },
  [PLAIT_TEXT_SCORES_TAGS] = { "tags", "tags", { { "accuracy", "accuracy:words", "accuracy" } } },
};

static PlaitStatistics *
count (const PlaitMetric *metric, char *const *hypotheses, char *const *references, GError **error)
{
  const char *const *sets[] = { (const char *const *)references };
  const PlaitTextPairs pairs = { g_strv_length ((char **)references), (const char *const *)hypotheses, 1, sets, TRUE };

  return plait_metric_statistics (metric, &pairs, error);
}

gboolean
plait_text_scores_add_results (const PlaitTextScores *texts, const PlaitEvaluateSettings *settings, GPtrArray *results,
                               GError **error)
{
  const Kind *kind = &kinds[texts->kind];

  for (guint k = 0; k < MAX_METRICS && kind->metrics[k].name; k++)
    {
      g_autofree char *text = g_strdup_printf ("%s/%s/%s", kind->name, texts->name, kind->metrics[k].name);
      g_autofree char *title = g_strdup_printf ("%s %s", kind->metrics[k].title, texts->name);
      g_autoptr (PlaitMetric) metric = plait_metric_new_as (kind->metrics[k].metric, text, title);
      g_autoptr (PlaitStatistics) statistics = count (metric, texts->hypotheses, texts->references, error);
      PlaitResult *result = statistics ? plait_result_new (metric, statistics, (guint)settings->resamples,
                                                           (guint64)settings->seed, error)
                                       : NULL;

      if (!result)
        return FALSE;
      g_ptr_array_add (results, result);
    }
  return TRUE;
}

gboolean
plait_text_scores_write (const PlaitTextScores *texts, PlaitStore *store, const char *group, GError **error)
{
  g_autofree char *path = g_strdup_printf ("%s/%s/%s", group, kinds[texts->kind].folder, texts->name);
  g_autofree char *hypotheses = g_strconcat (path, "/hypotheses", NULL);
  g_autofree char *references = g_strconcat (path, "/references", NULL);
  gint64 n = g_strv_length (texts->references);

  return plait_store_write_strings (store, hypotheses, (const char *const *)texts->hypotheses, n, error)
         && plait_store_write_strings (store, references, (const char *const *)texts->references, n, error);
}

/* Returns the metric with the name KIND/NAME/METRIC, split into @parts, and sets *@folder to the group of its texts.
 * NULL if no kind of texts has this metric. */
static const char *
metric_of (char *const *parts, const char **folder)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds) && g_strv_length ((char **)parts) == 3; i++)
    for (guint k = 0; k < MAX_METRICS && kinds[i].metrics[k].name; k++)
      if (g_str_equal (parts[0], kinds[i].name) && g_str_equal (parts[2], kinds[i].metrics[k].name))
        {
          *folder = kinds[i].folder;
          return kinds[i].metrics[k].metric;
        }
  return NULL;
}

PlaitStatistics *
plait_text_scores_read (PlaitStore *store, const char *group, const char *metric, const char *title,
                        PlaitMetric **scorer, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (metric, "/", -1);
  const char *folder = NULL, *kind = metric_of (parts, &folder);
  g_autofree char *path = kind ? g_strdup_printf ("%s/%s/%s", group, folder, parts[1]) : NULL;
  g_autofree char *hypotheses_path = g_strconcat (kind ? path : "", "/hypotheses", NULL);
  g_autofree char *references_path = g_strconcat (kind ? path : "", "/references", NULL);
  g_auto (GStrv) hypotheses = NULL, references = NULL;
  gint64 n_hypotheses, n_references;
  PlaitStatistics *statistics;

  if (!kind)
    return NULL;
  hypotheses = plait_store_read_strings (store, hypotheses_path, MAX_BYTES, &n_hypotheses, error);
  references = hypotheses ? plait_store_read_strings (store, references_path, MAX_BYTES, &n_references, error) : NULL;
  if (!references)
    return NULL;
  if (n_hypotheses != n_references)
    return plait_fail_null (error, PLAIT_ERROR_INPUT, "%s:%s has %jd lines, but %s has %jd; run the experiment again",
                            plait_store_path (store), hypotheses_path, n_hypotheses, references_path, n_references);
  *scorer = plait_metric_new_as (kind, metric, title);
  statistics = count (*scorer, hypotheses, references, error);
  if (!statistics)
    g_clear_pointer (scorer, plait_metric_free);
  return statistics;
}
