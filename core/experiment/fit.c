/* SPDX-License-Identifier: MIT */
#include "experiment/fit.h"

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

gboolean
plait_fit_lengths (const PlaitModel *model, const char *split, const PlaitCorpus *corpus, GError **error)
{
  for (guint stream = 0; corpus && stream <= plait_model_n_sources (model); stream++)
    if (!plait_model_check_length (model, stream, plait_corpus_longest (corpus, stream), error))
      {
        g_prefix_error (error, "the %s corpus: ", split);
        return FALSE;
      }
  return TRUE;
}
