/* SPDX-License-Identifier: MIT */
#pragma once

#include "layers/encoder-stack.h"
#include "layers/linear.h"

/* Returns the activation that @choice names; PLAIT_ACTIVATION_NONE if it names none. */
PlaitActivation plait_feed_forward_activation (PlaitFeedForwardActivation choice);

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
PlaitFeedForward plait_feed_forward_declare (PlaitParameters *parameters, const char *name, gint64 width, gint64 inner,
                                             PlaitActivation activation, double dropout);

/* x [r, d] -> [r, d], without the residual connection and its dropout. */
PlaitNode *plait_feed_forward_apply (PlaitTape *tape, const PlaitFeedForward *feed_forward, PlaitNode *x);
