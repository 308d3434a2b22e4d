/* SPDX-License-Identifier: MIT */
#include "layers/feed-forward.h"

#include "autograd/internal.h"
#include "layers/parameter-set.h"

PlaitActivation
plait_feed_forward_activation (PlaitFeedForwardActivation choice)
{
  static const PlaitActivation activations[] = {
    [PLAIT_FEED_FORWARD_RELU] = PLAIT_ACTIVATION_RELU,
    [PLAIT_FEED_FORWARD_GELU] = PLAIT_ACTIVATION_GELU,
    [PLAIT_FEED_FORWARD_GELU_TANH] = PLAIT_ACTIVATION_GELU_TANH,
    [PLAIT_FEED_FORWARD_SWISH] = PLAIT_ACTIVATION_SWISH,
  };

  /* plait_feed_forward_declare refuses PLAIT_ACTIVATION_NONE. */
  return choice < G_N_ELEMENTS (activations) ? activations[choice] : PLAIT_ACTIVATION_NONE;
}

PlaitFeedForward
plait_feed_forward_declare (PlaitParameters *parameters, const char *name, gint64 width, gint64 inner,
                            PlaitActivation activation, double dropout)
{
  g_autofree char *inner_name = g_strconcat (name, "/inner", NULL);
  g_autofree char *outer_name = g_strconcat (name, "/outer", NULL);
  PlaitFeedForward feed_forward = { .activation = activation, .dropout = dropout };

  plait_parameters_expect (parameters, activation >= PLAIT_ACTIVATION_RELU && activation <= PLAIT_ACTIVATION_SWISH);
  plait_parameters_expect (parameters, dropout >= 0 && dropout < 1);
  feed_forward.inner = plait_linear_declare (parameters, inner_name, width, inner, TRUE);
  feed_forward.outer = plait_linear_declare (parameters, outer_name, inner, width, TRUE);
  return feed_forward;
}

PlaitNode *
plait_feed_forward_apply (PlaitTape *tape, const PlaitFeedForward *feed_forward, PlaitNode *x)
{
  const PlaitLinear *first = &feed_forward->inner;
  PlaitNode *inner = plait_linear_dropout (tape, x, plait_parameter_node (tape, first->weight),
                                           plait_parameter_node (tape, first->bias), feed_forward->activation,
                                           feed_forward->dropout);

  return plait_linear_apply (tape, &feed_forward->outer, inner, PLAIT_ACTIVATION_NONE);
}
