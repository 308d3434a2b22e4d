/* SPDX-License-Identifier: MIT */
#pragma once

#include "plugin/settings.h"

/* [decoder]: the decoder and what it shares with the sources. */

typedef enum
{
  PLAIT_DECODER_TRANSFORMER,
} PlaitDecoderType;

typedef enum
{
  PLAIT_NORM_PRE,
  PLAIT_NORM_POST,
} PlaitNormPlace;

typedef struct
{
  gint type; /* PlaitDecoderType */
  gint64 layers;
  gint64 width;
  gint64 heads;
  gint64 feed_forward;
  gint activation; /* 0 relu, 1 gelu */
  gint norm;       /* PlaitNormPlace */
  double dropout;
  double attention_dropout;
  double feed_forward_dropout;
  gboolean attention_bias;
  gint positions; /* PlaitPositionKind */
  gint64 position_limit;
  gboolean scale_embeddings;
  gboolean share_embeddings;
  gboolean tie_output;
  gboolean output_bias;
  const char *combiner;
} PlaitDecoderSettings;

extern const PlaitSettingGroup plait_decoder_group;

/* [decode]: search. */

typedef enum
{
  PLAIT_NORMALISE_WU,      /* ((5 + length) / 6)^alpha (Wu et al. 2016, eq. 14) */
  PLAIT_NORMALISE_AVERAGE, /* length^alpha */
  PLAIT_NORMALISE_NONE,
} PlaitLengthNormalisation;

typedef enum
{
  PLAIT_RANK_PARTIAL, /* every step ranks by the normalised score */
  PLAIT_RANK_FINAL,   /* steps rank by log-probability, only finished hypotheses by the normalised score */
} PlaitRanking;

typedef struct
{
  gint64 beam;
  gint64 n_best;
  gint length_normalisation; /* PlaitLengthNormalisation */
  double alpha;
  gint ranking; /* PlaitRanking */
  gint64 minimum_length;
  gint64 maximum_length;
  double maximum_ratio;
  gint64 batch;
} PlaitDecodeSettings;

extern const PlaitSettingGroup plait_decode_group;

/* alpha and kind applied: what a hypothesis of @length tokens (EOS counts) divides its log-probability by. */
double plait_length_penalty (const PlaitDecodeSettings *settings, gint64 length);
