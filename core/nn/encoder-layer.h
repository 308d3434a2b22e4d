/* SPDX-License-Identifier: MIT */
#pragma once

#include "nn/attention.h"
#include "nn/feed-forward.h"
#include "nn/norm.h"

/*
 * The layer of a Transformer encoder: self-attention and a feed-forward layer (Vaswani et al. 2017, section 3), each a
 * sub-layer f with its residual connection and layer norm:
 *
 *     pre-norm    x <- x + dropout (f (norm (x)))
 *     post-norm   x <- norm (x + dropout (f (x)))
 *
 * Over documents a second attention can stand between the two, to the first rows of the document's sentences (Rohde et
 * al. 2021, section 7).
 */

/* Whose rows the second attention changes. */
typedef enum
{
  PLAIT_READERS_NONE,   /* there is none */
  PLAIT_READERS_STARTS, /* the first rows of sentences read each other */
  PLAIT_READERS_ALL,    /* all rows read them */
} PlaitReaders;

typedef struct
{
  gint64 width; /* d; a multiple of heads */
  guint heads;
  gint64 feed_forward; /* width of the feed-forward layer's hidden layer */
  PlaitActivation activation;
  gboolean pre_norm;
  double dropout; /* of what each sub-layer gives */
  double attention_dropout;
  double feed_forward_dropout; /* of the hidden layer */
  gboolean attention_bias;
  PlaitReaders readers;
  gboolean zero_output; /* the second attention's output projection starts as zeros */
} PlaitEncoderLayerDeclaration;

/* A value of this type refers to parameters and owns nothing. */
typedef struct
{
  gboolean pre_norm;
  double dropout;
  PlaitReaders readers;
  PlaitNorm attention_norm; /* NAME/self_attention_norm */
  PlaitAttention attention; /* NAME/self_attention */
  PlaitNorm sentence_norm;  /* NAME/sentence_attention_norm, with readers */
  PlaitAttention sentence;  /* NAME/sentence_attention, likewise */
  PlaitNorm feed_forward_norm;
  PlaitFeedForward feed_forward;
} PlaitEncoderLayer;

PLAIT_API PlaitEncoderLayer plait_encoder_layer_declare (PlaitParameters *parameters, const char *name,
                                                         const PlaitEncoderLayerDeclaration *declaration);

/*
 * x [rows, d] -> [rows, d]. A layer with readers needs @starts. In one without, @starts are all that self-attention
 * sees of a document, the other rows being masked; NULL: it sees each row of the sentence.
 */
PLAIT_API PlaitNode *plait_encoder_layer_apply (PlaitTape *tape, const PlaitEncoderLayer *layer, PlaitNode *x,
                                                PlaitRagged rows, const PlaitStarts *starts);
