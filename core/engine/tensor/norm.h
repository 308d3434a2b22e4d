/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/arena.h"
#include "process/pool.h"
#include "types/tensor.h"

/* Layer normalisation of each row: y = gain * (x - mean) * inverse + bias with inverse = 1 / sqrt (biased variance +
 * epsilon). @gain, @bias: [width]. Writes @mean and @inverse, [rows] each, for backward, unless they are NULL. y may be
 * x. */
void plait_layer_norm_forward (PlaitPool *pool, PlaitTensor y, PlaitTensor x, const PlaitScalar *gain,
                               const PlaitScalar *bias, double epsilon, PlaitScalar *mean, PlaitScalar *inverse);

/* Backward of layer normalisation: dx = dx_beta * dx + gradient of x, and in the same way dgain and dbias [1, w]. A
 * gradient whose data is NULL is not computed. @arena is used for workspace. dx may be dy if dx_beta is 0. */
void plait_layer_norm_backward (PlaitPool *pool, PlaitArena *arena, PlaitTensor dx, PlaitScalar dx_beta,
                                PlaitTensor dgain, PlaitScalar dgain_beta, PlaitTensor dbias, PlaitScalar dbias_beta,
                                PlaitTensor dy, PlaitTensor x, const PlaitScalar *gain, const PlaitScalar *mean,
                                const PlaitScalar *inverse);
