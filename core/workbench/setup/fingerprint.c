/* SPDX-License-Identifier: MIT */
#include "setup/fingerprint.h"

#include <string.h>

#include "metrics/metric.h"

static gboolean
append_digest (const char *name, const char *path, const char *digest, gpointer data, GError **error)
{
  g_autofree char *key = plait_digest_key (name);

  g_string_append_printf (data, "%s=%s\n", key, digest);
  return TRUE;
}

static gboolean
append_plugin (PlaitPlugin *plugin, gpointer data, GError **error)
{
  if (!plait_plugin_digest (plugin, error))
    return FALSE;
  g_string_append_printf (data, "plugin.%s.%s=%s %s\n", plait_plugin_kind_name (plugin->kind), plugin->name,
                          plugin->schema_digest, plugin->module_digest);
  return TRUE;
}

/* Appends to @text the digest of each model file that a tokeniser of @metrics reads. */
static gboolean
append_models (const char *metrics, PlaitDigests *digests, GString *text, GError **error)
{
  g_autoptr (GPtrArray) list = *metrics ? plait_metric_new_list (metrics, error) : g_ptr_array_new ();

  for (guint i = 0; list && i < list->len; i++)
    {
      const char *path = plait_metric_model (list->pdata[i]);
      const PlaitKnownText *known = path ? plait_digests_known (digests, path, error) : NULL;

      if (known)
        g_string_append_printf (text, "%s=%s\n", plait_metric_text (list->pdata[i]), known->digest);
      else if (path)
        return FALSE;
    }
  return list != NULL;
}

/* Appends to @text the digest of the dictionary, if translations are made with it. */
static gboolean
append_dictionary (const PlaitExperiment *experiment, PlaitDigests *digests, GString *text, GError **error)
{
  const char *path = experiment->decode.dictionary;
  const PlaitKnownText *known;

  if (*path == '\0' || experiment->decode.unknown != PLAIT_DECODE_UNKNOWN_REPLACE)
    return TRUE;
  known = plait_digests_known (digests, path, error);
  if (known)
    g_string_append_printf (text, "decode.dictionary=%s\n", known->digest);
  return known != NULL;
}

/* Appends to @text the digests of the files of external scores. */
static gboolean
append_scores (const PlaitExperiment *experiment, PlaitDigests *digests, GString *text, GError **error)
{
  for (guint i = 0; i < experiment->n_scores; i++)
    {
      const PlaitExperimentScore *score = &experiment->scores[i];
      const PlaitKnownText *known = score->path ? plait_digests_known (digests, score->path, error) : NULL;

      if (score->path && !known)
        return FALSE;
      if (known)
        g_string_append_printf (text, "evaluate.scores.%s=%s\n", score->name, known->digest);
    }
  return TRUE;
}

char *
plait_training_fingerprint (const PlaitExperiment *experiment, PlaitDigests *digests, GError **error)
{
  g_autofree char *settings = plait_experiment_training_fingerprint_text (experiment, PLAIT_FINGERPRINT_BRIEF);
  g_autoptr (GString) text = g_string_new (settings);

  if ((experiment->train.best_by == PLAIT_TRAIN_BEST_BY_METRIC
       && !(append_dictionary (experiment, digests, text, error)
            && append_models (experiment->train.metric, digests, text, error)))
      || !plait_digests_visit_training (digests, experiment, append_digest, text, error)
      || !plait_experiment_each_plugin (experiment, append_plugin, text, error))
    return NULL;
  return plait_digest_bytes (text->str, text->len);
}

char *
plait_evaluation_fingerprint (const PlaitExperiment *experiment, const char *split, const char *training_fingerprint,
                              PlaitDigests *digests, GError **error)
{
  g_autofree char *settings = plait_experiment_evaluation_fingerprint_text (experiment, PLAIT_FINGERPRINT_BRIEF);
  g_autoptr (GString) text = g_string_new (training_fingerprint);

  g_string_append_printf (text, "\n%s\n%s", split, settings);
  if (!append_dictionary (experiment, digests, text, error) || !append_scores (experiment, digests, text, error)
      || !append_models (experiment->evaluate.metrics, digests, text, error)
      || !plait_digests_visit_split (digests, experiment, split, append_digest, text, error))
    return NULL;
  return plait_digest_bytes (text->str, text->len);
}

char **
plait_fingerprint_other_files (const PlaitExperiment *experiment, PlaitDigests *digests, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  gboolean validates = experiment->train.best_by == PLAIT_TRAIN_BEST_BY_METRIC;
  g_auto (GStrv) lines = NULL;

  if (!append_dictionary (experiment, digests, text, error) || !append_scores (experiment, digests, text, error)
      || !append_models (experiment->evaluate.metrics, digests, text, error)
      || (validates && !append_models (experiment->train.metric, digests, text, error)))
    return NULL;
  g_string_truncate (text, MAX (text->len, 1) - 1); /* the last line break */
  lines = g_strsplit (text->str, "\n", -1);
  for (guint i = 0; lines[i]; i++)
    *strrchr (lines[i], '=') = '\0';
  return g_steal_pointer (&lines);
}

char *
plait_run_fingerprint (const PlaitExperiment *experiment, const char *training_fingerprint, PlaitDigests *digests,
                       GError **error)
{
  g_autoptr (GString) text = g_string_new (training_fingerprint);

  for (guint i = 0; experiment->test_splits[i]; i++)
    {
      g_autofree char *key
          = plait_evaluation_fingerprint (experiment, experiment->test_splits[i], training_fingerprint, digests, error);

      if (!key)
        return NULL;
      g_string_append_printf (text, "\n%s", key);
    }
  return plait_digest_bytes (text->str, text->len);
}
