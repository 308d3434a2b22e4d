/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/settings.h"
#include "model/site-pass.h"
#include "nn/attention.h"
#include "nn/norm.h"
#include "plugin/combiner.h"

/*
 * The attention site of one Transformer decoder layer: between self-attention and feed-forward, where the combiner
 * stands.
 */

/* One declared attention over memories. */
typedef struct
{
  gboolean declared;
  PlaitAttention attention;
  double output_dropout;
} PlaitSiteAttentionLayer;

/* The parameters of a site, filled while the combiner is built. */
typedef struct
{
  const PlaitMemorySpecification *memories;
  guint n_memories;
  gint64 width;
  gboolean pre_norm;
  PlaitNorm *norms;                /* [n_memories]: residual slots */
  PlaitSiteAttentionLayer *attend; /* [n_memories] */
  PlaitSiteAttentionLayer jointly;
  PlaitSiteAttentionLayer contexts;
} PlaitTransformerSite;

/* Lets @combiner declare what it will call in layer @layer, below @prefix. */
gboolean plait_transformer_site_build (PlaitTransformerSite *site, const PlaitDecoderSettings *settings,
                                       const PlaitCombinerTable *combiner, gconstpointer combiner_settings,
                                       const PlaitMemorySpecification *memories, guint n_memories,
                                       PlaitParameters *parameters, const char *prefix, GError **error);

/* Keys and values of every memory as a site's attentions see them: [n_memories] of each, keys NULL where not declared.
 */
typedef struct
{
  PlaitAttended *attend;
  PlaitAttended *jointly;
} PlaitSiteKeys;

/* Projects the memories for every declared attention. Lives in the tape's arena. */
PlaitSiteKeys plait_transformer_site_project (const PlaitTransformerSite *site, PlaitTape *tape,
                                              const PlaitMemory *memories);

/* Lays the keys out for search, which reads them at every step; in the arena of @tape. */
void plait_site_keys_keep_columns (const PlaitSiteKeys *keys, guint n_memories, PlaitTape *tape);

/* The same keys and values as constants of another @tape. */
PlaitSiteKeys plait_site_keys_on (const PlaitSiteKeys *keys, guint n_memories, PlaitTape *tape);

/* Runs the combiner on @x [queries, width]. @keys come from plait_transformer_site_project. */
PlaitNode *plait_transformer_site_combine (const PlaitTransformerSite *site, const PlaitSitePass *pass,
                                           const PlaitSiteKeys *keys, guint layer, const PlaitCombinerTable *combiner,
                                           gconstpointer combiner_settings, PlaitNode *x);
