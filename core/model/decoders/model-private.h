/* SPDX-License-Identifier: MIT */
#pragma once

#include "decoders/model.h"
#include "layers/embedding.h"

/* A source and its encoder. */
typedef struct
{
  const PlaitSourceSpecification *specification;
  PlaitEmbedding *embedding; /* embedding of tokens; NULL for features */
  PlaitEmbedding roles;      /* role embeddings; declared if documents have roles */
  PlaitEmbedding *factors;   /* [specification->n_factors] embedding of each factor */
  PlaitInstance encoder;
  PlaitLinear projections[PLAIT_ENCODER_MAX_MEMORIES]; /* projection of each memory to the width that the decoder reads;
                                                          not declared if the memory has this width, or if a head reads
                                                          the memory */
} PlaitModelSource;

struct PlaitModel
{
  PlaitModelSpecification specification;
  PlaitParameters *parameters;
  GHashTable *embeddings;    /* name -> PlaitEmbedding */
  PlaitModelSource *sources; /* [specification.n_sources] */
  PlaitMemorySpecification *memories;
  guint n_memories;
  PlaitMemorySpecification *summaries; /* name and width of each summary, for the sources that have one:
                                          [n_summaries] */
  guint n_summaries;
  PlaitLossColumns losses;
  gint64 update; /* number of the update whose loss is computed; 0: not set, so that losses count from the beginning */
  PlaitEmbedding *target;              /* embedding of target tokens; NULL if no sequence is predicted */
  const PlaitModelSource *role_source; /* source that gives the target its roles, or NULL */
  PlaitEmbedding roles;                /* role embeddings in the decoder */
  PlaitDecoder *decoder;               /* NULL if there is a head */
  PlaitHead *head;                     /* takes the place of the decoder; NULL if there is a decoder */
  PlaitCrossAttentionLayer *cross;     /* the decoder's last cross-attention, or NULL */
  PlaitModelOutput *output;            /* NULL if states are logits or numbers */
  PlaitOutputMemory *copyable; /* name of each memory, and whether the output can copy its words: [n_memories] */
  PlaitGuidedAlignment guided; /* the loss on word alignments */
  PlaitSourceTags *tags;       /* tags that the model predicts: [n_tags] */
  guint n_tags;
};

/* Returns @input as the encoder reads it. For predict.kind=choice, the encoder reads each sentence of a document as if
 * it were alone. */
PlaitInput plait_model_input_read (const PlaitModel *model, const PlaitInput *input);
