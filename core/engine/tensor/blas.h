/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/pool.h"
#include "types/tensor.h"
#include "kernels/kernels.h"

/*
 * Matrix products by a BLAS library: the one that PLAIT_BLAS names, else the first of OpenBLAS, BLIS and MKL whose
 * module can be loaded. The first use opens the library. The library computes products of many rows, unless our kernels
 * are faster (PlaitKernels.blas_rows).
 */

/* Returns the minimum number of rows of a product that uses BLAS; 0: no product does. @transpose_a: TRUE for a
 * transposed left factor. */
gint64 plait_blas_rows (const PlaitKernels *kernels, gboolean transpose_a);

/* Opens the library if products use BLAS or PLAIT_BLAS is set. If products use BLAS, also makes the library allocate
 * the buffers of all threads of @pool, because OpenBLAS retries forever if memory runs out later. Returns FALSE with
 * PLAIT_ERROR_MEMORY if there is not enough memory, or with PLAIT_ERROR_INPUT if PLAIT_BLAS names a library that cannot
 * be loaded. Without PLAIT_BLAS, the kernels replace a missing library. Call it before any computation, with @pool
 * idle. */
gboolean plait_blas_reserve (PlaitPool *pool, GError **error);

/* TRUE if a product of this shape uses BLAS. @transpose_a: if the left factor is transposed. */
gboolean plait_blas_is_used (const PlaitKernels *kernels, gboolean transpose_a, gint64 rows, gint64 width,
                             gint64 depth);

/* Computes c = (@add: c +) factor * op (a) op (b) by one call of cblas in the calling thread; op transposes if
 * @transpose_a or @transpose_b is TRUE. No dimension may be zero. The library must have been opened. A caller that cuts
 * a product into several calls must cut it by the shapes alone, so that the bits do not depend on the number of
 * threads. */
void plait_blas_multiply (PlaitTensor c, gboolean add, PlaitScalar factor, PlaitTensor a, gboolean transpose_a,
                          PlaitTensor b, gboolean transpose_b);

/* Returns a description of the BLAS library, the variant of our kernels, and the products that use BLAS, such as
 * "OpenBLAS 0.3.21 core Haswell, kernels v1, products of many rows by BLAS". Timings can be compared only if their
 * descriptions are equal. NULL on the errors of plait_blas_reserve. (transfer full) */
char *plait_blas_description (GError **error);

/* Measures the rate of the library's matrix product in FLOP/s: every thread of @pool multiplies square matrices for
 * about @seconds; *rate is the best of several rounds. FALSE on the errors of plait_blas_reserve, and if there is no
 * library. */
gboolean plait_blas_rate (PlaitPool *pool, double seconds, double *rate, GError **error);
