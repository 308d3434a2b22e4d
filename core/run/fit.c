/* SPDX-License-Identifier: MIT */
#include "run/fit.h"

#include "base/memory.h"
#include "base/problems.h"
#include "train/optimizer.h"

gboolean
plait_fit_memory (const PlaitParameters *parameters, GError **error)
{
  gsize values = sizeof (PlaitScalar) * (gsize)plait_parameters_values (parameters).width;
  gsize bytes = values + plait_optimizer_bytes (parameters);

  if (plait_memory_has (bytes))
    return TRUE;
  return plait_fail (error, PLAIT_ERROR_MEMORY,
                     "the parameters and the optimizer's moments need %.1f GiB, more than this machine has free: lower "
                     "decoder.width, decoder.layers, decoder.feed_forward or data.vocabulary_size",
                     (double)bytes / 1024 / 1024 / 1024);
}

static gboolean
check_width (const PlaitModel *model, const PlaitCorpus *training, const PlaitCorpus *corpus, guint source,
             GError **error)
{
  gint64 expected = plait_corpus_width (training, source), width = plait_corpus_width (corpus, source);

  return width == expected
         || plait_fail (
             error, PLAIT_ERROR_INPUT,
             "source \"%s\": the features are %jd wide, but those of training %jd; give features of one kind",
             plait_model_specification (model)->sources[source].name, width, expected);
}

/* TRUE if the rows of stream @stream do not say by themselves what the model reads of it: documents have sentences. */
static gboolean
has_parts (const PlaitModel *model, guint stream)
{
  const PlaitModelSpecification *specification = plait_model_specification (model);

  return stream < specification->n_sources
         && (specification->sources[stream].kind == PLAIT_INPUT_DOCUMENTS
             || specification->predict.kind == PLAIT_PREDICT_CHOICE);
}

/* Checks stream @stream of tuple @tuple. */
static gboolean
check_tuple (const PlaitModel *model, const PlaitCorpus *corpus, guint stream, gint64 tuple, GError **error)
{
  g_autoptr (PlaitBatch) batch = NULL;

  if (!has_parts (model, stream))
    return plait_model_check_length (model, stream, plait_corpus_length (corpus, stream, tuple), error);
  batch = plait_corpus_batch (corpus, &tuple, 1, error);
  return batch && plait_model_check_input (model, stream, &batch->inputs[stream], error);
}

/* Adds each tuple of @corpus whose stream @stream the model cannot read to @unread. */
static void
check_stream (const PlaitModel *model, const char *split, const PlaitCorpus *corpus, guint stream,
              PlaitProblems *unread)
{
  if (!has_parts (model, stream)
      && plait_model_check_length (model, stream, plait_corpus_longest (corpus, stream), NULL))
    return;
  for (gint64 tuple = 0; tuple < plait_corpus_size (corpus); tuple++)
    {
      g_autofree char *place = NULL;
      g_autoptr (GError) cause = NULL;

      if (check_tuple (model, corpus, stream, tuple, &cause))
        continue;
      place = plait_corpus_place (corpus, stream, tuple);
      plait_problems_add (unread, "the %s corpus: %s: %s", split, place, cause->message);
    }
}

gboolean
plait_fit_corpus (const PlaitModel *model, const PlaitCorpus *training, const char *split, const PlaitCorpus *corpus,
                  GError **error)
{
  guint n_sources = plait_model_specification (model)->n_sources;
  g_autoptr (PlaitProblems) unread = plait_problems_new ();

  for (guint source = 0; training && corpus && source < n_sources; source++)
    if (!check_width (model, training, corpus, source, error))
      {
        g_prefix_error (error, "the %s corpus: ", split);
        return FALSE;
      }
  for (guint stream = 0; corpus && stream < n_sources + plait_corpus_has_target (corpus); stream++)
    check_stream (model, split, corpus, stream, unread);
  return plait_problems_report (unread, PLAIT_ERROR_INPUT, error);
}
