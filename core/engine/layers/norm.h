/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/operators.h"
#include "layers/parameter.h"

/* Layer normalisation (Ba et al. 2016). A value of this type owns nothing. */
typedef struct
{
  PlaitParameter *gain; /* [1, w], NAME/gain, ones */
  PlaitParameter *bias; /* [1, w], NAME/bias, zeros */
  double epsilon;       /* is added to the variance: the model's, 1e-6 unless told otherwise */
} PlaitNorm;

/* Declares NAME/gain and NAME/bias for rows of width @width. */
PLAIT_API PlaitNorm plait_norm_declare (PlaitParameters *parameters, const char *name, gint64 width);

/* x [r, w] -> [r, w]. */
PLAIT_API PlaitNode *plait_norm_apply (PlaitTape *tape, const PlaitNorm *norm, PlaitNode *x);
