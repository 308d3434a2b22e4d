/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/arena.h"
#include "process/pool.h"
#include "types/tensor.h"
#include "kernels/activation.h"
#include "tensor/packed.h"

/*
 * Matrix products by BLAS or by our own kernels (tensor/README.md says when). The work is cut into pieces by the shapes
 * alone, and each piece is one single-threaded call, so the bits do not depend on the number of threads. The bits may
 * depend on the number of rows multiplied together. Any dimension may be zero (an empty sum is zero). Outputs must not
 * overlap inputs.
 */

/* Computes c = beta * c + op (a) op (b); op transposes if @transpose_a or @transpose_b is TRUE. @beta is 0 (c may be
 * uninitialised) or 1. @precision is full or a bfloat16 that runs here (plait_precision_runs_here). */
void plait_product (PlaitPool *pool, PlaitTensor c, PlaitScalar beta, PlaitTensor a, gboolean transpose_a,
                    PlaitTensor b, gboolean transpose_b, PlaitPrecision precision);

/*
 * Computes y = activation (x W + b): x [r, in], weight W [in, out], bias b [out] or NULL, y [r, out]. @preactivation is
 * NULL or receives x W + b (for activations that keep their input); it must not be y. @packed is NULL or the packed
 * weight (plait_pack (weight, FALSE)), which is read in its own precision. A weight packed in full precision is not
 * read if the product uses BLAS.
 */
void plait_linear_forward (PlaitPool *pool, PlaitTensor y, PlaitTensor x, PlaitTensor weight, const PlaitPacked *packed,
                           PlaitPrecision precision, const PlaitScalar *bias, PlaitActivation activation,
                           const PlaitTensor *preactivation);

/*
 * Backward of z = x W + b. Gradients whose data is NULL are not computed; dbias is summed in full precision.
 *
 *   dx = dx_beta * dx + dz W^T
 *   dweight = dweight_beta * dweight + x^T dz
 *   dbias = dbias_beta * dbias + sum of the rows of dz
 */
typedef struct
{
  PlaitTensor dz;            /* gradient of z, after plait_activation_backward: [r, out] */
  PlaitTensor x;             /* [r, in] */
  PlaitTensor weight;        /* [in, out] */
  const PlaitPacked *packed; /* packed transposed weight, or NULL; read in the cases of plait_linear_forward */
  PlaitPrecision precision;
  PlaitTensor dx;
  PlaitScalar dx_beta;
  PlaitTensor dweight;
  PlaitScalar dweight_beta;
  PlaitTensor dbias; /* [1, out] */
  PlaitScalar dbias_beta;
} PlaitLinearBackward;

void plait_linear_backward (PlaitPool *pool, const PlaitLinearBackward *work);
