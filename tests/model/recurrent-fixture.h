/* SPDX-License-Identifier: MIT */
#pragma once

#include "decoders/decoding.h"
#include "models.h"
#include "reference.h"
#include "recurrent.h"

/*
 * Recurrent decoders with the weights of the float64 reference. The reference has embeddings of width 4, and contexts
 * of width 5 if a combiner has its own values. Here, embeddings are as wide as the readout, and contexts are as wide as
 * the memories; the additional columns are zeros.
 */

#define STEPS 3
#define WORDS 9
#define EMBEDDING 4
#define STATE 6
#define MAX_MEMORIES 2

typedef struct
{
  const char *name; /* name of the reference's case */
  const char *combiner;
  const char *projections; /* value of the combiner's key projections, or NULL */
  gboolean sentinel;
  const char *inputs[MAX_MEMORIES]; /* names of the memories in the reference */
  const char *weights[MAX_MEMORIES];
  gint64 memory_width;
  PlaitDecoderSettings settings;
  const char *parameters; /* settings of the decoder plugin, as text */
} RecurrentCase;

/* A decoder with the parameters of one case, and an output layer. */
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
  gboolean checking; /* TRUE: visit functions check gradients; FALSE: they set values */
} RecurrentFixture;

/* Builds the decoder of @the_case. All parameters are zero. */
void recurrent_fixture_build (RecurrentFixture *fixture, const RecurrentCase *the_case);
void recurrent_fixture_clear (RecurrentFixture *fixture);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (RecurrentFixture, recurrent_fixture_clear)

/* Return the state of the decoder plugin, and its cross-attention. */
const Recurrent *recurrent_fixture_state (const RecurrentFixture *fixture);
const PlaitCrossAttentionLayer *recurrent_fixture_cross (const RecurrentFixture *fixture);

/* Visit the parameters of the case, as fixture->checking says: for a plain or conditional GRU over a combiner, and for
 * an LSTM with input feeding. */
void recurrent_fixture_visit_gru (const RecurrentFixture *fixture);
void recurrent_fixture_visit_luong (const RecurrentFixture *fixture);
