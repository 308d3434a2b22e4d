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
  PlaitNode **summaries; /* summaries of the sources that give one: [n_summaries], each [sentences, width] */
  guint n_summaries;
  double *multiplications;          /* [n_sources]: multiplications done by each encoder (plait_tape_multiplications) */
  PlaitRagged candidates;           /* [documents]: sentences of each document, each read by itself; set for choices */
  PlaitRagged tagged;               /* [sentences]: the tokens of the first source that get a tag; set for tags */
  const gint64 *tagged_tokens;      /* [rows of tagged]: position of each in its sentence */
  PlaitLossPass *losses;            /* losses of encoders, combiner and coverage; NULL: not wanted */
  PlaitAttentionCost *rows_weighed; /* cost to add to, or NULL */
  PlaitReadings *readings[PLAIT_READERS]; /* what is read of the decoder's run; NULL: nothing */
  const PlaitCopyableWords *words;        /* words that the output copies; NULL: none */
  const PlaitDocuments *documents;        /* documents of the source that gives the target its roles, or NULL */
} PlaitEncoderOutputs;
