/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/operators.h"
#include "layers/parameter.h"

/* Layer normalisation (Ba et al. 2016). It refers to parameters and owns nothing. */
typedef struct
{
  PlaitParameter *gain; /* [1, w], NAME/gain, initially ones */
  PlaitParameter *bias; /* [1, w], NAME/bias, initially zeros */
  double epsilon;       /* added to the variance; 1e-6 unless the model sets another value */
} PlaitNorm;

/* Declares NAME/gain and NAME/bias for rows of width @width. */
PLAIT_API PlaitNorm plait_norm_declare (PlaitParameters *parameters, const char *name, gint64 width);

/* Returns a node [r, w]: layer normalisation of each row of x [r, w]. */
PLAIT_API PlaitNode *plait_norm_apply (PlaitTape *tape, const PlaitNorm *norm, PlaitNode *x);
