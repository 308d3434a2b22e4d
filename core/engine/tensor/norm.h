/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/arena.h"
#include "process/pool.h"
#include "types/tensor.h"

/* y = gain * (x - mean) * inverse + bias row by row, inverse = 1 / sqrt (biased variance + epsilon). @gain
 * and @bias hold width numbers. Leaves each row's @mean and @inverse (rows numbers each, may be NULL) for
 * backward. y may be x. */
void plait_layer_norm_forward (PlaitPool *pool, PlaitTensor y, PlaitTensor x, const PlaitScalar *gain,
                               const PlaitScalar *bias, double epsilon, PlaitScalar *mean, PlaitScalar *inverse);

/* dx = dx_beta * dx + the gradient; dgain and dbias [1, w] likewise. A gradient whose data is NULL is not computed.
 * @arena gives workspace. dx may be dy when dx_beta is 0. */
void plait_layer_norm_backward (PlaitPool *pool, PlaitArena *arena, PlaitTensor dx, PlaitScalar dx_beta,
                                PlaitTensor dgain, PlaitScalar dgain_beta, PlaitTensor dbias, PlaitScalar dbias_beta,
                                PlaitTensor dy, PlaitTensor x, const PlaitScalar *gain, const PlaitScalar *mean,
                                const PlaitScalar *inverse);
