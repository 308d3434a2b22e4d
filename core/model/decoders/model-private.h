/* SPDX-License-Identifier: MIT */
#pragma once

#include "decoders/model.h"
#include "layers/embedding.h"

/* A source and its encoder. */
typedef struct
{
  const PlaitSourceSpecification *specification;
  PlaitEmbedding *embedding; /* embedding of tokens; NULL for features */
  PlaitEmbedding roles;      /* declared if documents have roles */
  PlaitInstance encoder;
  PlaitLinear projections[PLAIT_ENCODER_MAX_MEMORIES]; /* [memories]: projections to the decoder's width; not declared
                                                          if a memory has this width */
} PlaitModelSource;

struct PlaitModel
{
  PlaitModelSpecification specification;
  PlaitParameters *parameters;
  GHashTable *embeddings;    /* name -> PlaitEmbedding */
  PlaitModelSource *sources; /* [specification.n_sources] */
  PlaitMemorySpecification *memories;
  guint n_memories;
  PlaitMemorySpecification *summaries; /* [n_summaries]: summaries of the sources that give one */
  guint n_summaries;
  PlaitLossColumns losses;
  gint64 update;                       /* number of the update that is computed; 0: every loss has its weight */
  PlaitEmbedding *target;              /* target tokens; NULL if no sequence is predicted */
  const PlaitModelSource *role_source; /* source whose roles the target takes, or NULL */
  PlaitEmbedding roles;                /* role embeddings in the decoder */
  PlaitDecoder *decoder;               /* or NULL */
  PlaitHead *head;                     /* takes the place of the decoder; NULL if there is a decoder */
  PlaitCrossAttentionLayer *cross;     /* the decoder's last cross-attention, or NULL */
  PlaitModelOutput *output;            /* NULL if states are logits */
  PlaitOutputMemory *copyable;         /* [n_memories]: what the output may know of each memory */
  PlaitGuidedAlignment guided;         /* the loss on word alignments */
};

/* Returns @input as the encoder reads it. For choices, each sentence of a document is read by itself. */
PlaitInput plait_model_input_read (const PlaitModel *model, const PlaitInput *input);
