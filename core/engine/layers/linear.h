/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/operators.h"
#include "layers/parameter.h"

/* A linear layer x W + b. It refers to parameters and owns nothing. */
typedef struct
{
  PlaitParameter *weight; /* W [in, out], NAME/weight; NULL if the layer was not declared */
  PlaitParameter *bias;   /* b [1, out], NAME/bias; NULL for a layer without bias */
} PlaitLinear;

/* Declares NAME/weight [in, out] with Glorot uniform initial values and, if @bias, NAME/bias [1, out] with zeros. */
PLAIT_API PlaitLinear plait_linear_declare (PlaitParameters *parameters, const char *name, gint64 in, gint64 out,
                                            gboolean bias);

/* Like plait_linear_declare, but the weight is @blocks weights [in, out / blocks] side by side, and each gets the
 * initial values of a weight of its own size. */
PLAIT_API PlaitLinear plait_linear_declare_blocks (PlaitParameters *parameters, const char *name, gint64 in, gint64 out,
                                                   guint blocks, gboolean bias);

/* Returns a node [r, out]: activation (x W + b) for x [r, in]. */
PLAIT_API PlaitNode *plait_linear_apply (PlaitTape *tape, const PlaitLinear *linear, PlaitNode *x,
                                         PlaitActivation activation);

/*
 * A gate between two vectors (Bao et al. 2021, eq. 7-8):
 *
 *     g = sigmoid ([x, y] W + b);  sum = g * x + (1 - g) * y
 *
 * It refers to parameters and owns nothing.
 */
typedef struct
{
  PlaitLinear gate; /* [2 d, d], NAME/weight and NAME/bias */
} PlaitGatedSum;

PLAIT_API PlaitGatedSum plait_gated_sum_declare (PlaitParameters *parameters, const char *name, gint64 width);

/* Returns a node [r, d]: the gated sum of @x and @y [r, d]. */
PLAIT_API PlaitNode *plait_gated_sum_apply (PlaitTape *tape, const PlaitGatedSum *sum, PlaitNode *x, PlaitNode *y);
