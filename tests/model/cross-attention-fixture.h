/* SPDX-License-Identifier: MIT */
#pragma once

#include "models.h"

/* The cross-attention of one combiner without a model. */
typedef struct
{
  PlaitRegistry *registry;
  PlaitParameters *parameters;
  PlaitComponent *combiner;
  PlaitComponent *coverage; /* coverage of the cross-attention, or NULL */
  PlaitDecoderSettings decoder;
  PlaitLossColumns losses;
  PlaitMemorySpecification memory; /* the memory that is read; a test may build with other memories */
  PlaitDecoderComponents build;
  PlaitCrossDeclaration declaration;
  PlaitCrossAttentionLayer cross;
} CrossAttentionFixture;

/* Opens @combiner in the decoder @decoder, over fixture->memory, with small settings and @keys, a list of keys and
 * values ("beam", "3", ..., NULL). */
void cross_attention_fixture_begin (CrossAttentionFixture *fixture, PlaitFixtureDecoder decoder, const char *combiner,
                                    const char *const *keys);

/* Builds the combiner in a cross-attention of width @width, and allocates its parameters. */
gboolean cross_attention_fixture_build (CrossAttentionFixture *fixture, gint64 width, GError **error);

void cross_attention_fixture_clear (CrossAttentionFixture *fixture);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CrossAttentionFixture, cross_attention_fixture_clear)
