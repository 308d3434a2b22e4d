/* SPDX-License-Identifier: MIT */
#pragma once

#include "layers/norm.h"

/*
 * The layers of a Transformer encoder: self-attention and a feed-forward layer (Vaswani et al. 2017, section 3), each a
 * sub-layer f with its residual connection and layer norm:
 *
 *     pre-norm    x <- x + dropout (f (norm (x)))
 *     post-norm   x <- norm (x + dropout (f (x)))
 *
 * Pre-norm stacks end in a layer norm, as the paper's own code has it, unless told otherwise.
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

/* The activations that a key offers for a feed-forward layer. */
typedef enum
{
  PLAIT_FEED_FORWARD_RELU,
  PLAIT_FEED_FORWARD_GELU,
  PLAIT_FEED_FORWARD_GELU_TANH,
  PLAIT_FEED_FORWARD_SWISH,
} PlaitFeedForwardActivation;

typedef enum
{
  PLAIT_ENCODER_NORM_DECODER, /* as the decoder's */
  PLAIT_ENCODER_NORM_PRE,
  PLAIT_ENCODER_NORM_POST,
} PlaitEncoderNorm;

typedef struct
{
  gint64 layers;
  gint64 heads;
  gint64 feed_forward; /* width of the feed-forward layers' hidden layer */
  double dropout;      /* of what each sub-layer gives */
  double attention_dropout;
  double feed_forward_dropout; /* of the hidden layer */
  PlaitFeedForwardActivation activation;
  PlaitEncoderNorm norm;
  gboolean attention_bias;
  gboolean final_norm; /* of a pre-norm stack */
  gint64 width;        /* d */
  gboolean pre_norm;   /* the decoder's is */
  PlaitReaders readers;
  gboolean zero_output; /* the second attention's output projection starts as zeros */
} PlaitEncoderStackDeclaration;

/* Those of a declaration's fields that are settings of plugins, from @settings, whose fields have their names. */
#define PLAIT_ENCODER_STACK_SETTINGS(settings)                                                                         \
  .layers = (settings)->layers, .heads = (settings)->heads, .feed_forward = (settings)->feed_forward,                  \
  .dropout = (settings)->dropout, .attention_dropout = (settings)->attention_dropout,                                  \
  .feed_forward_dropout = (settings)->feed_forward_dropout, .activation = (settings)->activation,                      \
  .norm = (settings)->norm, .attention_bias = (settings)->attention_bias, .final_norm = (settings)->final_norm

typedef struct PlaitEncoderLayer PlaitEncoderLayer;

/* A value of this type refers to parameters and owns nothing. */
typedef struct
{
  gboolean pre_norm;
  double dropout;
  PlaitReaders readers;
  gint64 n;
  PlaitEncoderLayer *layers;
  PlaitNorm norm; /* PREFIXnorm; gain NULL without */
} PlaitEncoderStack;

/* Declares a stack below @prefix ("source/english/"). PLAIT_ERROR_INPUT where the heads do not divide the width. */
PLAIT_API gboolean plait_encoder_stack_declare (PlaitEncoderStack *stack, PlaitParameters *parameters,
                                                const char *prefix, const PlaitEncoderStackDeclaration *declaration,
                                                GError **error);

/*
 * x [rows, d] -> [rows, d]. A stack with readers needs @starts. In one without, @starts are all that self-attention
 * sees of a document, the other rows being masked; NULL: it sees each row of the sentence.
 */
PLAIT_API PlaitNode *plait_encoder_stack_apply (PlaitTape *tape, const PlaitEncoderStack *stack, PlaitNode *x,
                                                PlaitRagged rows, const PlaitSentenceStarts *starts);
