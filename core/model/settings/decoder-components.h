/* SPDX-License-Identifier: MIT */
#pragma once

#include "settings/settings.h"
#include "layers/embedding.h"
#include "loading/call.h"

/* Components and settings from which a decoder or a head is built. They must outlive the decoder or head. */
typedef struct
{
  const PlaitDecoderSettings *settings;
  const PlaitPredictSettings *predict;
  const PlaitComponent *decoder; /* opened decoder; NULL, like @combiner, if no sequence is predicted */
  const PlaitComponent *combiner;
  const PlaitComponent *coverage; /* opened coverage; NULL: no coverage */
  PlaitLossColumns *losses;       /* loss columns of the model */
  const PlaitMemorySpecification *memories;
  guint n_memories;
  const PlaitMemorySpecification *summaries; /* name and width of the summary of each encoder that has one; a summary
                                                has one row for each sentence */
  guint n_summaries;
  const PlaitEmbedding *embedding; /* embedding of target tokens; NULL if no sequence is predicted */
  const PlaitEmbedding *roles;     /* embedding of the roles of target sentences, or NULL */
  PlaitParameters *parameters;
  struct PlaitCrossAttentionLayer **last_cross; /* where to store the cross-attention that is built last, or NULL */
} PlaitDecoderComponents;
