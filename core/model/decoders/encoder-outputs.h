/* SPDX-License-Identifier: MIT */
#pragma once

#include "attention/copied-words.h"
#include "cross-attention/attention-record.h"
#include "cross-attention/readings.h"
#include "loading/call.h"

/* Outputs of all encoders for one batch, in the order of the sources, in the tape's arena. */
typedef struct
{
  PlaitMemory *memories;
  guint n_memories;
  PlaitMemory *own;      /* [n_sources]: first memory of each source, before its projection to the decoder's width */
  gint32 *const *tags;   /* [tags of the model]: predicted tag of each row of its source; NULL: no tags are predicted */
  PlaitNode **summaries; /* [n_summaries]: summary [sentences, width] of each source that has one */
  guint n_summaries;
  double *multiplications; /* [n_sources]: number of multiplications in each encoder (plait_tape_multiplications) */
  PlaitRagged candidates; /* [documents]: sentences of each document, which the encoder reads separately; set if choices
                             are predicted */
  PlaitRagged tagged;     /* [sentences]: tokens of the first source that receive a tag; set if tags are the target */
  const gint64 *tagged_tokens;            /* [rows of tagged]: position of each token in its sentence */
  PlaitLossPass *losses;                  /* losses of plugins and of guided alignment; NULL: not computed */
  PlaitAttentionCost *rows_weighed;       /* cost to which the decoder adds, or NULL */
  PlaitReadings *readings[PLAIT_READERS]; /* where the decoder stores the values that each reader reads; NULL:
                                             nothing */
  const PlaitCopyableWords *words;        /* words that the output can copy; NULL: no words */
  const PlaitDocuments *documents;        /* source documents that give the target its roles, or NULL */
} PlaitEncoderOutputs;
