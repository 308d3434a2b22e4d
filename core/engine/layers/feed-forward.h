/* SPDX-License-Identifier: MIT */
#pragma once

#include "layers/encoder-stack.h"
#include "layers/linear.h"

/* Returns the activation that @choice names; PLAIT_ACTIVATION_NONE for any other number. */
PLAIT_API PlaitActivation plait_feed_forward_activation (PlaitFeedForwardActivation choice);

/* The position-wise feed-forward layer: dropout (activation (x W1 + b1)) W2 + b2 (Vaswani et al. 2017, section 3.3). It
 * refers to parameters and owns nothing. */
typedef struct
{
  PlaitLinear inner; /* W1 [d, inner] and b1, NAME/inner */
  PlaitLinear outer; /* W2 [inner, d], NAME/outer */
  PlaitActivation activation;
  double dropout; /* dropout rate on the inner activations */
} PlaitFeedForward;

/* Declares NAME/inner and NAME/outer with biases. @activation must be ReLU, GELU, GELU with tanh, or swish. */
PLAIT_API PlaitFeedForward plait_feed_forward_declare (PlaitParameters *parameters, const char *name, gint64 width,
                                                       gint64 inner, PlaitActivation activation, double dropout);

/* Returns a node [r, d]: the layer's output for x [r, d], without residual connection. */
PLAIT_API PlaitNode *plait_feed_forward_apply (PlaitTape *tape, const PlaitFeedForward *feed_forward, PlaitNode *x);
