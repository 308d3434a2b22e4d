/* SPDX-License-Identifier: MIT */
/* This file checks before training that the metrics can score the references. */
#include "documents/documents.h"
#include "metrics/metric.h"
#include "metrics/pieces.h"
#include "experiment/resolution.h"

/* Adds a problem for each of @metrics that cannot score the references @texts of the file @path. @metrics are the value
 * of [@group] @key. @lines has for each text the number of its first line. */
static void
check_metrics (const PlaitResolution *resolution, const char *path, const char *const *texts, const GArray *lines,
               const GPtrArray *metrics, const char *group, const char *key)
{
  const PlaitTextPairs pairs = { lines->len, NULL, 1, &texts, TRUE };

  for (guint m = 0; m < metrics->len; m++)
    {
      g_autoptr (GError) fault = NULL;
      gsize place;

      if (plait_metric_check_references (metrics->pdata[m], &pairs, &place, &fault))
        continue;
      if (place < lines->len)
        plait_resolution_problem (resolution, group, key, "%s:%jd: %s", path, g_array_index (lines, gint64, place),
                                  fault->message);
      else
        plait_resolution_problem (resolution, group, key, "%s: %s", path, fault->message);
    }
}

/* Checks the references of @stream in @split. @first is the number of texts in the target's file; 0: unknown. Returns
 * the number of texts of @stream, or @first if they cannot be read, which another check reports. */
static guint
check_stream (const PlaitResolution *resolution, const char *split, const char *stream, guint first,
              const GPtrArray *metrics, const char *group, const char *key)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  const char *path = *plait_experiment_data_files (experiment, split, stream);
  PlaitDocumentSettings settings = plait_experiment_documents (experiment, experiment->data.target);
  g_autoptr (GArray) lines = g_array_new (FALSE, FALSE, sizeof (gint64));
  g_autoptr (GPtrArray) texts = path ? plait_document_texts (path, &settings, lines, NULL) : NULL;
  guint n = texts ? texts->len : first;

  if (first > 0 && n != first)
    {
      g_autofree char *name = g_strdup_printf ("%s.%s", split, stream);

      plait_resolution_problem (resolution, "data", name,
                                "%s has %u %s, but the target's file has %u; give equally many", path, n,
                                settings.layout == PLAIT_LAYOUT_SENTENCES ? "lines" : "documents", first);
    }
  else if (texts)
    {
      plait_text_join_pieces ((char **)texts->pdata, experiment->evaluate.join);
      check_metrics (resolution, path, (const char *const *)texts->pdata, lines, metrics, group, key);
    }
  return n;
}

static void
check_split (const PlaitResolution *resolution, const char *split, const char *names, const char *group,
             const char *key)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  const char *target = experiment->data.target, *path = *plait_experiment_data_files (experiment, split, target);
  PlaitDocumentSettings settings = plait_experiment_documents (experiment, target);
  g_autoptr (GPtrArray) metrics = plait_metric_new_list (names, NULL);
  g_autofree const char **references = plait_experiment_references (experiment, split);
  g_autoptr (GString) seen = g_string_new (NULL);
  guint first;

  g_string_printf (seen, "%s\n%s\n%d %d %s", path, names, experiment->evaluate.join, settings.layout,
                   settings.language);
  for (guint i = 0; references[i]; i++)
    g_string_append_printf (seen, "\n%s", *plait_experiment_data_files (experiment, split, references[i]));
  if (!path || !metrics || g_hash_table_contains (resolution->resolver->scorable, seen->str))
    return;
  first = check_stream (resolution, split, target, 0, metrics, group, key);
  for (guint i = 0; references[i]; i++)
    check_stream (resolution, split, references[i], first, metrics, group, key);
  g_hash_table_add (resolution->resolver->scorable, g_string_free (g_steal_pointer (&seen), FALSE));
}

void
plait_resolution_check_references (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;

  /* The references of masked text are parts of lines, so they cannot be checked here. */
  if (experiment->predict.kind == PLAIT_PREDICT_MASKED)
    return;
  for (guint i = 0; experiment->test_splits[i]; i++)
    check_split (resolution, experiment->test_splits[i], experiment->evaluate.metrics, "evaluate", "metrics");
  if (*experiment->train.metric)
    check_split (resolution, "validation", experiment->train.metric, "train", "metric");
}
