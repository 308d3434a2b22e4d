/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/operators.h"
#include "layers/parameter.h"

/* x W + b. A value of this type refers to parameters and owns nothing. */
typedef struct
{
  PlaitParameter *weight; /* [in, out], NAME/weight; NULL in a layer that was not declared */
  PlaitParameter *bias;   /* [1, out], NAME/bias, or NULL */
} PlaitLinear;

/* Declares NAME/weight, Glorot uniform, and with @bias NAME/bias, zeros. */
PLAIT_API PlaitLinear plait_linear_declare (PlaitParameters *parameters, const char *name, gint64 in, gint64 out,
                                            gboolean bias);

/* The same with @blocks weights [in, out / blocks] side by side, each started as if it stood alone. */
PlaitLinear plait_linear_declare_blocks (PlaitParameters *parameters, const char *name, gint64 in, gint64 out,
                                         guint blocks, gboolean bias);

/* activation (x W + b): x [r, in] -> [r, out]. */
PLAIT_API PlaitNode *plait_linear_apply (PlaitTape *tape, const PlaitLinear *linear, PlaitNode *x,
                                         PlaitActivation activation);
