/* SPDX-License-Identifier: MIT */
#pragma once

#include "settings/settings.h"
#include "layers/embedding.h"
#include "loading/call.h"

/* The parts that a decoder is built from. They outlive the decoder. */
typedef struct
{
  const PlaitDecoderSettings *settings;
  const PlaitPredictSettings *predict;
  const PlaitComponent *combiner; /* NULL: no sequence is predicted */
  const PlaitComponent *coverage; /* NULL: none */
  PlaitLossColumns *losses;       /* of the model */
  const PlaitMemorySpecification *memories;
  guint n_memories;
  const PlaitMemorySpecification *summaries; /* a row a sentence that an encoder gives, called as its source */
  guint n_summaries;
  const PlaitEmbedding *embedding; /* of the target; NULL: it is no sequence */
  const PlaitEmbedding *roles;     /* of its sentences, or NULL */
  PlaitParameters *parameters;
} PlaitDecoderBuild;
