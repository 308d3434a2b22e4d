/* SPDX-License-Identifier: MIT */
#pragma once

#include "decoders/decoding.h"
#include "models.h"
#include "reference.h"
#include "recurrent.h"

/*
 * Recurrent decoders with the weights of the float64 reference. The reference has embeddings of 4 numbers, and contexts
 * of 5 if a combiner has its own values. Here embeddings are as wide as the readout and contexts as the memories; the
 * additional numbers are zeros.
 */

#define STEPS 3
#define WORDS 9
#define EMBEDDING 4
#define STATE 6
#define MAX_MEMORIES 2

typedef struct
{
  const char *name; /* name of the case */
  const char *combiner;
  const char *projections; /* value of projections=, or NULL */
  gboolean sentinel;
  const char *inputs[MAX_MEMORIES]; /* names of the memories */
  const char *weights[MAX_MEMORIES];
  gint64 memory_width;
  PlaitDecoderSettings settings;
  const char *parameters; /* settings of the decoder plugin */
} RecurrentCase;

/* A decoder with the parameters of a case, and an output layer. */
typedef struct
{
  const RecurrentCase *the_case;
  PlaitRegistry *registry;
  PlaitParameters *parameters;
  PlaitComponent *plugin; /* the decoder plugin */
  PlaitComponent *combiner;
  PlaitLossColumns losses;
  PlaitMemorySpecification memories[MAX_MEMORIES];
  guint n_memories;
  PlaitDecoder *decoder;
  PlaitLinear output;
  gboolean checking; /* TRUE: check gradients; FALSE: set values */
} RecurrentFixture;

/* Builds the decoder of @the_case, with all parameters zero. */
void recurrent_fixture_build (RecurrentFixture *fixture, const RecurrentCase *the_case);
void recurrent_fixture_clear (RecurrentFixture *fixture);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (RecurrentFixture, recurrent_fixture_clear)

/* Return the state of the plugin, and its cross-attention. */
const Recurrent *recurrent_fixture_state (const RecurrentFixture *fixture);
const PlaitCrossAttentionLayer *recurrent_fixture_cross (const RecurrentFixture *fixture);

/* Sets the parameters to those of the case, or checks their gradients: plain and conditional GRU over a combiner, LSTM
 * with input feeding. */
void recurrent_fixture_visit_gru (const RecurrentFixture *fixture);
void recurrent_fixture_visit_luong (const RecurrentFixture *fixture);
