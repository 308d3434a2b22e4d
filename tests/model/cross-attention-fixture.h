/* SPDX-License-Identifier: MIT */
#pragma once

#include "models.h"

/* The cross-attention of one combiner, without a model around it. */
typedef struct
{
  PlaitRegistry *registry;
  PlaitParameters *parameters;
  PlaitComponent *combiner;
  PlaitComponent *coverage; /* NULL: no coverage */
  PlaitDecoderSettings decoder;
  PlaitLossColumns losses;
  PlaitMemorySpecification memory; /* the memory that is read, unless build has others */
  PlaitDecoderComponents build;
  PlaitCrossDeclaration declaration;
  PlaitCrossAttentionLayer cross;
} CrossAttentionFixture;

/* Opens @combiner with small settings and @keys ("beam", "3", ..., NULL), in the decoder @decoder, over
 * fixture->memory. */
void cross_attention_fixture_begin (CrossAttentionFixture *fixture, PlaitFixtureDecoder decoder, const char *combiner,
                                    const char *const *keys);

/* Builds the combiner in a cross-attention of @width and allocates the parameters. */
gboolean cross_attention_fixture_build (CrossAttentionFixture *fixture, gint64 width, GError **error);

void cross_attention_fixture_clear (CrossAttentionFixture *fixture);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CrossAttentionFixture, cross_attention_fixture_clear)
