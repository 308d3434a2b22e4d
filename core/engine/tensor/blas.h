/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/pool.h"
#include "types/tensor.h"
#include "kernels/kernels.h"

/*
 * Products by a library: OpenBLAS, BLIS or MKL, the first of these that has a module which can be loaded, or the one
 * that the environment variable PLAIT_BLAS names. The library is opened when it is first wanted. Products of many rows
 * are its own unless our kernels are faster there (PlaitKernels.blas_rows); the rate of its large products is also the
 * measure that a whole program is held against.
 */

/* Returns from how many rows on products are the library's, 0: never. @transpose_a: of their left factor. */
gint64 plait_blas_rows (const PlaitKernels *kernels, gboolean transpose_a);

/* Opens the library if products are left to it, and has it take what calls from all threads of @pool at once need:
 * where OpenBLAS cannot have that at the first call, it tries again for ever. FALSE with PLAIT_ERROR_MEMORY if there is
 * not so much, and with PLAIT_ERROR_INPUT if PLAIT_BLAS names a library that cannot be loaded; without that variable
 * the kernels do the work of a missing library. To be called by everything that computes, before it begins; @pool must
 * be idle. */
gboolean plait_blas_reserve (PlaitPool *pool, GError **error);

/* TRUE if a product of such a shape is BLAS's; @transpose_a: of its left factor. */
gboolean plait_blas_is_used (const PlaitKernels *kernels, gboolean transpose_a, gint64 rows, gint64 width,
                             gint64 depth);

/* c = (@add: c +) factor * op (a) op (b), where op transposes if asked. No dimension may be zero. One call of cblas, in
 * the calling thread: to be used on pieces that are cut by the shapes alone, and that the library serves. */
void plait_blas_multiply (PlaitTensor c, gboolean add, PlaitScalar factor, PlaitTensor a, gboolean transpose_a,
                          PlaitTensor b, gboolean transpose_b);

/* Returns what computes here: BLAS, its core type, the variant of our own kernels and which of the two the products
 * take, such as "OpenBLAS 0.3.21 core Haswell, kernels v1, products of many rows by BLAS". Two timings compare only
 * under the same one. NULL as in plait_blas_reserve. (transfer full) */
char *plait_blas_description (GError **error);

/* @rate is that of the machine's own matrix product in FLOP/s: every thread of @pool multiplies square matrices by
 * plain cblas calls for about @seconds; the best of several rounds. FALSE as above, and if there is no library. */
gboolean plait_blas_rate (PlaitPool *pool, double seconds, double *rate, GError **error);
