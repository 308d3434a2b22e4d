/* SPDX-License-Identifier: MIT */
#pragma once

#include "models.h"

/* The site of one combiner, without a model around it. */
typedef struct
{
  PlaitRegistry *registry;
  PlaitParameters *parameters;
  PlaitComponent *combiner;
  PlaitComponent *coverage; /* NULL: none */
  PlaitDecoderSettings decoder;
  PlaitLossColumns losses;
  PlaitMemorySpecification memory; /* what is read, unless build has others */
  PlaitDecoderBuild build;
  PlaitCrossAttentionLayer cross;
} CrossAttentionFixture;

/* Opens @combiner with small settings and @keys ("beam", "3", ..., NULL), in a decoder as @decoder says, over
 * stand->memory. */
void cross_attention_fixture_begin (CrossAttentionFixture *fixture, PlaitDecoderSettings decoder, const char *combiner,
                                    const char *const *keys);

/* Lets the combiner declare what it reads at a site of @width, and makes room for the parameters. */
gboolean cross_attention_fixture_build (CrossAttentionFixture *fixture, gint64 width, GError **error);

void cross_attention_fixture_clear (CrossAttentionFixture *fixture);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CrossAttentionFixture, cross_attention_fixture_clear)
