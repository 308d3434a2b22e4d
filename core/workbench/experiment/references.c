/* SPDX-License-Identifier: MIT */
/* Checks before training that the metrics can score translations of the references. */
#include "lines/text-file.h"
#include "metrics/metric.h"
#include "metrics/pieces.h"
#include "experiment/resolution.h"

typedef struct
{
  const char *path;
  GPtrArray *texts; /* a line each, or a document each with LF between its sentences */
  GArray *lines;    /* gint64: where each begins */
} References;

static void
references_clear (References *references)
{
  g_ptr_array_unref (references->texts);
  g_array_unref (references->lines);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (References, references_clear)

static gboolean
read_references (References *references, const PlaitDocumentSettings *settings, GError **error)
{
  g_autoptr (PlaitTextReader) reader = plait_text_reader_open (references->path, error);
  g_autoptr (PlaitDocumentReader) documents = reader ? plait_document_reader_new (reader, settings, error) : NULL;
  g_autoptr (GArray) sentences = g_array_new (FALSE, FALSE, sizeof (PlaitDocumentSentence));
  g_autoptr (GString) text = g_string_new (NULL);
  GError *fault = NULL;

  for (gint64 line = 0; documents && plait_document_reader_next (documents, text, sentences, &line, &fault);)
    {
      g_ptr_array_add (references->texts, g_strdup (text->str));
      g_array_append_val (references->lines, line);
      g_string_truncate (text, 0);
      g_array_set_size (sentences, 0);
    }
  return documents && plait_no_fault (&fault, error);
}

/* Checks @references by the @metrics that [@group] @key has. */
static void
check_metrics (const PlaitResolution *resolution, const References *references, const GPtrArray *metrics,
               const char *group, const char *key)
{
  const char *const *texts = (const char *const *)references->texts->pdata;
  const PlaitTextPairs pairs = { references->lines->len, NULL, 1, &texts, TRUE };

  for (guint m = 0; m < metrics->len; m++)
    {
      g_autoptr (GError) fault = NULL;
      gsize place;

      if (plait_metric_check_references (metrics->pdata[m], &pairs, &place, &fault))
        continue;
      if (place < references->lines->len)
        plait_resolution_problem (resolution, group, key, "%s:%jd: %s", references->path,
                                  g_array_index (references->lines, gint64, place), fault->message);
      else
        plait_resolution_problem (resolution, group, key, "%s: %s", references->path, fault->message);
    }
}

static void
check_split (const PlaitResolution *resolution, const char *split, const char *names, const char *group,
             const char *key)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  const char *target = experiment->data.target, *path = plait_experiment_data_file (experiment, split, target);
  PlaitDocumentSettings settings = plait_experiment_documents (experiment, target);
  g_autoptr (GPtrArray) metrics = plait_metric_new_list (names, NULL);
  g_autofree char *seen = g_strdup_printf ("%s\n%s\n%d %d %s", path, names, experiment->evaluate.join, settings.layout,
                                           settings.language);
  g_auto (References) references
      = { path, g_ptr_array_new_with_free_func (g_free), g_array_new (FALSE, FALSE, sizeof (gint64)) };

  if (!path || !metrics || g_hash_table_contains (resolution->resolver->scorable, seen))
    return;
  /* What cannot be read is told by whoever reads the data. */
  if (read_references (&references, &settings, NULL))
    {
      g_ptr_array_add (references.texts, NULL);
      plait_text_join ((char **)references.texts->pdata, (PlaitTextPieces)experiment->evaluate.join);
      check_metrics (resolution, &references, metrics, group, key);
    }
  g_hash_table_add (resolution->resolver->scorable, g_steal_pointer (&seen));
}

void
plait_resolution_check_references (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;

  /* Of masked text the references are pieces of a line. */
  if (experiment->predict.kind == PLAIT_PREDICT_MASKED)
    return;
  for (guint i = 0; experiment->test_splits[i]; i++)
    check_split (resolution, experiment->test_splits[i], experiment->evaluate.metrics, "evaluate", "metrics");
  if (*experiment->train.metric)
    check_split (resolution, "validation", experiment->train.metric, "train", "metric");
}
