/* SPDX-License-Identifier: MIT */
#pragma once

#include "models.h"

/* The site of one combiner, without a model around it. */
typedef struct
{
  PlaitRegistry *registry;
  PlaitParameters *parameters;
  PlaitPart *combiner;
  PlaitPart *coverage; /* NULL: none */
  PlaitDecoderSettings decoder;
  PlaitLossColumns losses;
  PlaitMemorySpecification memory; /* what is read, unless build has others */
  PlaitDecoderBuild build;
  PlaitDeclaredSite site;
} SiteStand;

/* Opens @combiner with small settings and @keys ("beam", "3", ..., NULL), in a decoder as @decoder says, over
 * stand->memory. */
void site_stand_begin (SiteStand *stand, PlaitDecoderSettings decoder, const char *combiner, const char *const *keys);

/* Lets the combiner declare what it reads at a site of @width, and makes room for the parameters. */
gboolean site_stand_build (SiteStand *stand, gint64 width, GError **error);

void site_stand_clear (SiteStand *stand);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SiteStand, site_stand_clear)
