/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/arena.h"
#include "process/pool.h"
#include "process/random.h"
#include "types/tensor.h"
#include "kernels/activation.h"

/*
 * Elementwise functions. All tensors of a call have equal rows and width; their strides may differ. An output may be an
 * input, except where a comment restricts it. beta is 0 (the output may be uninitialised) or 1 (add to it).
 */

/* y = beta * y + alpha * x: copies, adds or scales. */
void plait_tensor_accumulate (PlaitPool *pool, PlaitTensor y, PlaitScalar beta, PlaitScalar alpha, PlaitTensor x);

/* y = sum of @n tensors (n >= 1), added in their order. y may be the first or second term, not a later one. */
void plait_tensor_add_n (PlaitPool *pool, PlaitTensor y, const PlaitTensor *terms, guint n);

/* z = beta * z + x * y. */
void plait_tensor_multiply (PlaitPool *pool, PlaitTensor z, PlaitScalar beta, PlaitTensor x, PlaitTensor y);

/* z = maximum of x and y; with @sign -1 the minimum. NaN if x or y is NaN. */
void plait_tensor_maximum (PlaitPool *pool, PlaitTensor z, PlaitScalar sign, PlaitTensor x, PlaitTensor y);

/* Backward of plait_tensor_maximum for x: dx = beta * dx + f * dz; f is 1/2 where x = y, else 1 where x = z, else 0. */
void plait_tensor_maximum_backward (PlaitPool *pool, PlaitTensor dx, PlaitScalar beta, PlaitScalar sign, PlaitTensor dz,
                                    PlaitTensor x, PlaitTensor y);

/* y = beta * y + value. */
void plait_tensor_fill (PlaitPool *pool, PlaitTensor y, PlaitScalar beta, PlaitScalar value);

/*
 * Inverted dropout: y = beta * y + x * mask / (1 - rate). Element i (row * width + column) is dropped as in the mask
 * plait_mask (key, rate). If rate is 0, y = beta * y + x. Backward is this function on the gradients.
 */
void plait_tensor_dropout (PlaitPool *pool, PlaitTensor y, PlaitScalar beta, PlaitTensor x, PlaitRandomKey key,
                           double rate);

/* z = x + dropout (y), with the mask of plait_tensor_dropout. */
void plait_residual_forward (PlaitPool *pool, PlaitTensor z, PlaitTensor x, PlaitTensor y, PlaitRandomKey key,
                             double rate);

/* Returns the sum of all elements, computed in double, in an order fixed by the shape. */
double plait_tensor_reduce_sum (PlaitPool *pool, PlaitArena *arena, PlaitTensor x);

/* y = activation (x). NaN stays NaN. */
void plait_activation_forward (PlaitPool *pool, PlaitActivation activation, PlaitTensor y, PlaitTensor x);

/*
 * dx = beta * dx + dy * activation' (x). @saved is x if plait_activation_saves_input (both GELUs, swish, log), else the
 * output y. dx may be dy if @beta is 0.
 */
void plait_activation_backward (PlaitPool *pool, PlaitActivation activation, PlaitTensor dx, PlaitScalar beta,
                                PlaitTensor dy, PlaitTensor saved);

/* TRUE if backward needs the input of the activation, FALSE if it needs the output. */
static inline gboolean
plait_activation_saves_input (PlaitActivation activation)
{
  return activation == PLAIT_ACTIVATION_GELU || activation == PLAIT_ACTIVATION_GELU_TANH
         || activation == PLAIT_ACTIVATION_SWISH || activation == PLAIT_ACTIVATION_LOG;
}
