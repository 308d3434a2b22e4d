/* SPDX-License-Identifier: MIT */
#include "layers/norm.h"
#include "layers/parameter-set.h"

PlaitNorm
plait_norm_declare (PlaitParameters *parameters, const char *name, gint64 width)
{
  g_autofree char *gain = g_strconcat (name, "/gain", NULL);
  g_autofree char *bias = g_strconcat (name, "/bias", NULL);
  PlaitNorm norm;

  norm.gain = plait_parameters_declare (parameters, gain, 1, width, PLAIT_ONES);
  norm.bias = plait_parameters_declare (parameters, bias, 1, width, PLAIT_ZEROS);
  norm.epsilon = plait_parameters_norm_epsilon (parameters);
  return norm;
}

PlaitNode *
plait_norm_apply (PlaitTape *tape, const PlaitNorm *norm, PlaitNode *x)
{
  return plait_layer_norm (tape, x, plait_parameter_node (tape, norm->gain), plait_parameter_node (tape, norm->bias),
                           norm->epsilon);
}
