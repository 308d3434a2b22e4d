/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/pool.h"
#include "types/tensor.h"
#include "kernels/kernels.h"

/*
 * The only code that calls cblas. Products of many rows are BLAS's unless our own kernels are faster there
 * (PlaitKernels.blas_rows); the rate of its large products is also the measure that a whole program is held against.
 */

/* Sets BLAS to one thread for the calling thread. Safe to call often and from any thread; the functions below do. */
void plait_blas_prepare (void);

/* Has the BLAS take what it needs to be called from all threads of @pool at once, if products are left to it: where
 * OpenBLAS cannot have that at the first call, it tries again for ever. FALSE with PLAIT_ERROR_MEMORY if
 * there is not so much. To be called by everything that computes, before it begins; @pool must be idle. */
gboolean plait_blas_reserve (PlaitPool *pool, GError **error);

/* Whether a product of such a shape is BLAS's; @transpose_a: of its left factor. */
gboolean plait_blas_serves (const PlaitKernels *kernels, gboolean transpose_a, gint64 rows, gint64 width, gint64 depth);

/* c = (@add: c +) factor * op (a) op (b), where op transposes if asked. No dimension may be zero. One call of cblas, in
 * the calling thread: to be used on pieces that are cut by the shapes alone. */
void plait_blas_multiply (PlaitTensor c, gboolean add, PlaitScalar factor, PlaitTensor a, gboolean transpose_a,
                          PlaitTensor b, gboolean transpose_b);

/* What computes here: BLAS, its core type, the variant of our own kernels and which of the two the products take, such
 * as "OpenBLAS 0.3.21 core Haswell, kernels v1, products of many rows by BLAS". Two timings compare only under the same
 * one. (transfer none) */
const char *plait_blas_description (void);

/* @rate is that of the machine's own matrix product in FLOP/s: every thread of @pool multiplies square matrices by
 * plain cblas calls for about @seconds; the best of several rounds. FALSE as above. */
gboolean plait_blas_rate (PlaitPool *pool, double seconds, double *rate, GError **error);
