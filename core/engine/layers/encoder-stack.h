/* SPDX-License-Identifier: MIT */
#pragma once

#include "layers/positions.h"

/*
 * The layers of a Transformer encoder (Vaswani et al. 2017, section 3). Self-attention and the feed-forward layer are
 * sublayers f with a residual connection and layer normalisation:
 *
 *     pre-norm    x <- x + dropout (f (norm (x)))
 *     post-norm   x <- norm (x + dropout (f (x)))
 *
 * A pre-norm stack ends in a layer normalisation unless final_norm is FALSE. There are two options for documents. With
 * readers, a layer has another sublayer between these two: attention to the first rows of the document's sentences
 * (Rohde et al. 2021, section 7). With groups, a row sees only the rows of its sentence in self-attention (Bao et al.
 * 2021, section 4). In the @global_layers top layers, a gate then combines attention within the sentence with attention
 * within the document:
 *
 *     H_L = attention within sentences (eq. 5-6);  H_G = attention within documents
 *     f (x) = g * H_L + (1 - g) * H_G,  g = sigmoid ([H_L, H_G] W + b)  (eq. 7-8)
 */

/* The rows that attend to the first rows of sentences in the second attention of a layer. */
typedef enum
{
  PLAIT_READERS_NONE,   /* no rows: the layers have no attention to the first rows of sentences */
  PLAIT_READERS_STARTS, /* the first rows of sentences attend to each other */
  PLAIT_READERS_ALL,    /* all rows attend to the first rows of sentences */
} PlaitReaders;

/* Activations that users can choose for a feed-forward layer. */
typedef enum
{
  PLAIT_FEED_FORWARD_RELU,
  PLAIT_FEED_FORWARD_GELU,
  PLAIT_FEED_FORWARD_GELU_TANH,
  PLAIT_FEED_FORWARD_SWISH,
} PlaitFeedForwardActivation;

typedef enum
{
  PLAIT_ENCODER_NORM_DECODER, /* pre-norm or post-norm like the decoder (key decoder.norm) */
  PLAIT_ENCODER_NORM_PRE,
  PLAIT_ENCODER_NORM_POST,
} PlaitEncoderNorm;

typedef struct
{
  gint64 layers;
  gint64 heads;
  gint64 feed_forward; /* width of the hidden layer of feed-forward layers */
  double dropout;      /* dropout rate on the output of each sublayer */
  double attention_dropout;
  double feed_forward_dropout; /* dropout rate on the hidden layer */
  PlaitFeedForwardActivation activation;
  PlaitEncoderNorm norm;
  gboolean attention_bias;
  gboolean final_norm; /* TRUE: a pre-norm stack ends in a layer normalisation */
  gint64 width;        /* d, width of rows */
  gboolean pre_norm;   /* TRUE if the decoder is pre-norm; used with PLAIT_ENCODER_NORM_DECODER */
  PlaitReaders readers;
  gboolean zero_output; /* TRUE: the output projection of the second attention starts at zero */
  gboolean groups;      /* TRUE: self-attention within sentences of documents; @readers must be PLAIT_READERS_NONE */
  gint64 global_layers; /* number of top layers that also attend to the whole document; only with @groups */
  /* Relative positions and window of self-attention (PlaitAttentionDeclaration); the second attention has neither. */
  PlaitPositionKind positions;
  gint64 window;
} PlaitEncoderStackDeclaration;

/* Initialises those fields of a PlaitEncoderStackDeclaration whose values users choose. Reads the fields with equal
 * names in @settings, the settings struct of a plugin. */
#define PLAIT_ENCODER_STACK_SETTINGS(settings)                                                                         \
  .layers = (settings)->layers, .heads = (settings)->heads, .feed_forward = (settings)->feed_forward,                  \
  .dropout = (settings)->dropout, .attention_dropout = (settings)->attention_dropout,                                  \
  .feed_forward_dropout = (settings)->feed_forward_dropout, .activation = (settings)->activation,                      \
  .norm = (settings)->norm, .attention_bias = (settings)->attention_bias, .final_norm = (settings)->final_norm

typedef struct PlaitEncoderLayer PlaitEncoderLayer;

/* An encoder stack. It refers to parameters and memory of the registry and owns nothing. */
typedef struct
{
  gboolean pre_norm;
  double dropout;
  PlaitReaders readers;
  gboolean groups;
  gint64 n;
  PlaitEncoderLayer *layers;
  PlaitNorm norm; /* normalisation at the end, named PREFIX + "norm"; gain is NULL if the stack has no such norm */
} PlaitEncoderStack;

/* Declares the parameters of a stack under names that begin with @prefix, such as "source/english/", and fills *stack.
 * Returns FALSE with PLAIT_ERROR_INPUT if the number of heads does not divide the width or, with rotary positions, half
 * the width. After a faulty declaration, returns TRUE and may leave *stack unchanged. */
PLAIT_API gboolean plait_encoder_stack_declare (PlaitEncoderStack *stack, PlaitParameters *parameters,
                                                const char *prefix, const PlaitEncoderStackDeclaration *declaration,
                                                GError **error);

/*
 * Returns a node [rows, d]: the output of the stack for x [rows, d]. @starts: the first row of each sentence. A stack
 * with readers needs @starts for its second attention, and a stack with groups needs @starts for the bounds of its
 * groups. In other stacks, self-attention sees only the rows in @starts; NULL: all rows of the sequence.
 */
PLAIT_API PlaitNode *plait_encoder_stack_apply (PlaitTape *tape, const PlaitEncoderStack *stack, PlaitNode *x,
                                                PlaitRagged rows, const PlaitSentenceStarts *starts);
