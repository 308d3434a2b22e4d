/* SPDX-License-Identifier: MIT */
#pragma once

#include "decoders/recurrent.h"
#include "models.h"
#include "reference.h"

/*
 * Recurrent decoders with the weights of the float64 reference. It has embeddings of 4 numbers and, where a combiner
 * has values of its own, contexts of 5; here embeddings are as wide as the readout and contexts as the memories, so
 * that the rest of both is zeros.
 */

#define STEPS 3
#define WORDS 9
#define EMBEDDING 4
#define STATE 6
#define MOST_MEMORIES 2

typedef struct
{
  const char *name; /* of the case */
  const char *combiner;
  const char *projections; /* or NULL */
  gboolean sentinel;
  const char *inputs[MOST_MEMORIES]; /* the memories */
  const char *weights[MOST_MEMORIES];
  gint64 memory_width;
  PlaitDecoderSettings settings;
} RecurrentCase;

/* A decoder with the parameters of a case, and an output layer. */
typedef struct
{
  const RecurrentCase *the_case;
  PlaitRegistry *registry;
  PlaitParameters *parameters;
  PlaitPart *combiner;
  PlaitLossColumns losses;
  PlaitMemorySpecification memories[MOST_MEMORIES];
  guint n_memories;
  PlaitDecoder *decoder;
  PlaitLinear output;
  gboolean checking; /* gradients, instead of setting values */
} RecurrentStand;

/* Builds the decoder of @the_case; all parameters are zeros. */
void recurrent_stand_build (RecurrentStand *stand, const RecurrentCase *the_case);
void recurrent_stand_clear (RecurrentStand *stand);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (RecurrentStand, recurrent_stand_clear)

const PlaitRecurrent *recurrent_stand_decoder (const RecurrentStand *stand);

/* Sets the parameters to those of the case, or checks their gradients: a plain or a conditional GRU over a combiner;
 * an LSTM with input feeding. */
void recurrent_stand_visit_gru (const RecurrentStand *stand);
void recurrent_stand_visit_luong (const RecurrentStand *stand);
