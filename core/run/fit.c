/* SPDX-License-Identifier: MIT */
#include "run/fit.h"

#include "base/memory.h"
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
check_stream (const PlaitModel *model, const PlaitCorpus *training, const PlaitCorpus *corpus, guint stream,
              GError **error)
{
  const PlaitModelSpecification *specification = plait_model_specification (model);
  gboolean is_source = stream < specification->n_sources;
  gint64 expected = is_source ? plait_corpus_width (training, stream) : 0;
  gint64 width = is_source ? plait_corpus_width (corpus, stream) : 0;

  if (width != expected)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "source \"%s\": the features are %jd wide, but those of training %jd; give features of one kind",
                       specification->sources[stream].name, width, expected);
  return plait_model_check_length (model, stream, plait_corpus_longest (corpus, stream), error);
}

gboolean
plait_fit_corpus (const PlaitModel *model, const PlaitCorpus *training, const char *split, const PlaitCorpus *corpus,
                  GError **error)
{
  guint n_sources = plait_model_specification (model)->n_sources;

  for (guint stream = 0; corpus && stream < n_sources + plait_corpus_has_target (corpus); stream++)
    if (!check_stream (model, training, corpus, stream, error))
      {
        g_prefix_error (error, "the %s corpus: ", split);
        return FALSE;
      }
  return TRUE;
}
