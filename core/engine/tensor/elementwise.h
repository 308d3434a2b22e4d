/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/arena.h"
#include "process/pool.h"
#include "process/random.h"
#include "types/tensor.h"
#include "kernels/activation.h"

/*
 * Kernels that work element by element. All tensors of one call have the same rows and width; strides may differ. An
 * output may be an input. Where there is a beta it is 0 (the output may be uninitialised) or 1 (add to it).
 */

/* y = beta * y + alpha * x. Copies (1, 0), adds (1, 1), scales. */
void plait_tensor_accumulate (PlaitPool *pool, PlaitTensor y, PlaitScalar beta, PlaitScalar alpha, PlaitTensor x);

/* y = the sum of @n tensors (n >= 1), in their order; y may be the first or the second, no later one. */
void plait_tensor_add_n (PlaitPool *pool, PlaitTensor y, const PlaitTensor *terms, guint n);

/* z = beta * z + x * y. */
void plait_tensor_multiply (PlaitPool *pool, PlaitTensor z, PlaitScalar beta, PlaitTensor x, PlaitTensor y);

/* z = the greater of x and y, or with the @sign -1 the lesser; NaN if either is. */
void plait_tensor_maximum (PlaitPool *pool, PlaitTensor z, PlaitScalar sign, PlaitTensor x, PlaitTensor y);

/* dx = beta * dx + the part of dz that belongs to x: dz where z is x, and half of it where x equals y. */
void plait_tensor_maximum_backward (PlaitPool *pool, PlaitTensor dx, PlaitScalar beta, PlaitScalar sign, PlaitTensor dz,
                                    PlaitTensor x, PlaitTensor y);

/* y = beta * y + value. */
void plait_tensor_fill (PlaitPool *pool, PlaitTensor y, PlaitScalar beta, PlaitScalar value);

/*
 * Inverted dropout: y = beta * y + x * mask / (1 - rate), where element i (row * width + column) is dropped if
 * plait_random_hash32 (key, i) < rate * 2^32; plain accumulation at rate 0. Its backward is the same call on the
 * gradients.
 */
void plait_tensor_dropout (PlaitPool *pool, PlaitTensor y, PlaitScalar beta, PlaitTensor x, PlaitRandomKey key,
                           double rate);

/* z = x + dropout (y), with the mask of plait_tensor_dropout. */
void plait_residual_forward (PlaitPool *pool, PlaitTensor z, PlaitTensor x, PlaitTensor y, PlaitRandomKey key,
                             double rate);

/* The sum of all elements, in an order fixed by the shape, summed in double. */
double plait_tensor_reduce_sum (PlaitPool *pool, PlaitArena *arena, PlaitTensor x);

/* y = activation (x), element by element; y may be x. NaN stays NaN. */
void plait_activation_forward (PlaitPool *pool, PlaitActivation activation, PlaitTensor y, PlaitTensor x);

/*
 * dx = beta * dx + dy * activation' (x). @saved is the input x for the GELUs, swish and the logarithm, and the output y
 * for the others, whose derivative follows from their output: see plait_activation_saves_input. dx may be dy
 * when @beta is 0.
 */
void plait_activation_backward (PlaitPool *pool, PlaitActivation activation, PlaitTensor dx, PlaitScalar beta,
                                PlaitTensor dy, PlaitTensor saved);

/* TRUE if backward needs the input, FALSE if it needs the output. */
static inline gboolean
plait_activation_saves_input (PlaitActivation activation)
{
  return activation == PLAIT_ACTIVATION_GELU || activation == PLAIT_ACTIVATION_GELU_TANH
         || activation == PLAIT_ACTIVATION_SWISH || activation == PLAIT_ACTIVATION_LOG;
}
