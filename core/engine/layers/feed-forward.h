/* SPDX-License-Identifier: MIT */
#pragma once

#include "layers/linear.h"

/* The activations of a feed-forward layer, as keys name them. */
#define PLAIT_FEED_FORWARD_ACTIVATIONS "relu;gelu;gelu_tanh;swish"

/* The one at place @choice there. */
PLAIT_API PlaitActivation plait_feed_forward_activation (gint choice);

/* The position-wise feed-forward layer (Vaswani et al. 2017, 3.3): W2 dropout (activation (x W1 + b1)) + b2. A value of
 * this type owns nothing. */
typedef struct
{
  PlaitLinear inner; /* [d, inner], NAME/inner */
  PlaitLinear outer; /* [inner, d], NAME/outer */
  PlaitActivation activation;
  double dropout; /* of the inner activations */
} PlaitFeedForward;

/* Declares NAME/inner and NAME/outer with biases. @activation is ReLU, a GELU or swish. */
PLAIT_API PlaitFeedForward plait_feed_forward_declare (PlaitParameters *parameters, const char *name, gint64 width,
                                                       gint64 inner, PlaitActivation activation, double dropout);

/* x [r, d] -> [r, d], without the residual connection and its dropout. */
PLAIT_API PlaitNode *plait_feed_forward_apply (PlaitTape *tape, const PlaitFeedForward *feed_forward, PlaitNode *x);
