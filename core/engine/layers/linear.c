/* SPDX-License-Identifier: MIT */
#include "layers/linear.h"
#include "layers/parameter-set.h"

PlaitLinear
plait_linear_declare_blocks (PlaitParameters *parameters, const char *name, gint64 in, gint64 out, guint blocks,
                             gboolean bias)
{
  g_autofree char *weight_name = g_strconcat (name, "/weight", NULL);
  g_autofree char *bias_name = g_strconcat (name, "/bias", NULL);
  PlaitLinear linear;

  plait_parameters_expect (parameters, blocks > 0 && out % blocks == 0);
  linear.weight = plait_parameters_declare (parameters, weight_name, in, out, PLAIT_GLOROT_BLOCKS (blocks));
  plait_parameters_use (parameters, linear.weight, PLAIT_USE_WEIGHT);
  linear.bias = bias ? plait_parameters_declare (parameters, bias_name, 1, out, PLAIT_ZEROS) : NULL;
  return linear;
}

PlaitLinear
plait_linear_declare (PlaitParameters *parameters, const char *name, gint64 in, gint64 out, gboolean bias)
{
  return plait_linear_declare_blocks (parameters, name, in, out, 1, bias);
}

PlaitNode *
plait_linear_apply (PlaitTape *tape, const PlaitLinear *linear, PlaitNode *x, PlaitActivation activation)
{
  PlaitNode *bias = plait_parameter_node_if_any (tape, linear->bias);

  return plait_linear (tape, x, plait_parameter_node (tape, linear->weight), bias, activation);
}

PlaitGatedSum
plait_gated_sum_declare (PlaitParameters *parameters, const char *name, gint64 width)
{
  return (PlaitGatedSum){ plait_linear_declare (parameters, name, 2 * width, width, TRUE) };
}

PlaitNode *
plait_gated_sum_apply (PlaitTape *tape, const PlaitGatedSum *sum, PlaitNode *x, PlaitNode *y)
{
  PlaitNode *both[] = { x, y }, *difference[] = { x, plait_scale (tape, y, -1) }, *terms[] = { y, NULL };
  PlaitNode *gate
      = plait_linear_apply (tape, &sum->gate, plait_concatenate_columns (tape, both, 2), PLAIT_ACTIVATION_SIGMOID);

  /* g x + (1 - g) y = y + g (x - y) */
  terms[1] = plait_multiply (tape, gate, plait_add_n (tape, difference, 2));
  return plait_add_n (tape, terms, 2);
}
