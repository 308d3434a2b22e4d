/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/arena.h"
#include "process/pool.h"
#include "types/tensor.h"
#include "kernels/activation.h"
#include "tensor/packed.h"

/*
 * Matrix products, by BLAS or by our own kernels (README.md says when). The work is cut into pieces by the shapes
 * alone, and each piece is one single-threaded call, so the bits do not depend on the number of threads. They may
 * depend on how many rows are multiplied together. Any dimension may be zero (an empty sum is zero). Outputs must not
 * overlap inputs.
 */

/* c = beta * c + op (a) op (b), where op transposes if asked. @beta is 0 (c may be uninitialised) or 1. @precision is
 * that of numbers or of bfloat16, which runs here (plait_precision_runs_here). */
void plait_product (PlaitPool *pool, PlaitTensor c, PlaitScalar beta, PlaitTensor a, gboolean transpose_a,
                    PlaitTensor b, gboolean transpose_b, PlaitPrecision precision);

/*
 * y = activation (x W + b): x [r, in], weight [in, out], @bias out numbers or NULL, y [r, out].
 * @preactivation is NULL or where to leave x W + b too (for activations that keep their input); it may not be y.
 * @packed is NULL or @weight packed (plait_pack (weight, FALSE)); then it is read instead, with its own precision,
 * unless the product is BLAS's, which has numbers alone.
 */
void plait_linear_forward (PlaitPool *pool, PlaitTensor y, PlaitTensor x, PlaitTensor weight, const PlaitPacked *packed,
                           PlaitPrecision precision, const PlaitScalar *bias, PlaitActivation activation,
                           const PlaitTensor *preactivation);

/*
 * The backward of z = x W + b, all of it in one run of the pool. Gradients whose data is NULL are not computed.
 * Sums of dz's rows are sums of numbers with every precision.
 *   dx = dx_beta * dx + dz W^T;   dweight = dweight_beta * dweight + x^T dz;   dbias = dbias_beta * dbias + sum of dz's
 * rows.
 */
typedef struct
{
  PlaitTensor dz;            /* [r, out], after plait_activation_backward */
  PlaitTensor x;             /* [r, in] */
  PlaitTensor weight;        /* [in, out] */
  const PlaitPacked *packed; /* NULL, or its transpose packed: read instead unless the product is BLAS's */
  PlaitPrecision precision;
  PlaitTensor dx;
  PlaitScalar dx_beta;
  PlaitTensor dweight;
  PlaitScalar dweight_beta;
  PlaitTensor dbias; /* [1, out] */
  PlaitScalar dbias_beta;
} PlaitLinearBackward;

void plait_linear_backward (PlaitPool *pool, const PlaitLinearBackward *work);
