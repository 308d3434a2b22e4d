/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/pool.h"
#include "tensor/tensor.h"

/* Sets the BLAS that was loaded to one thread, whichever build of OpenBLAS it is, and chooses this processor's kernels.
 * Safe to call often and from any thread; every product calls it. */
void plait_blas_prepare (void);

/* What computes here: BLAS, its core type and the level of our own kernels, such as
 * "OpenBLAS 0.3.21 core Cooperlake, kernels x86-64-v4". Two timings compare only under the same one. (transfer none) */
const char *plait_blas_description (void);

/* Rate of the machine's own matrix product in FLOP/s: every thread of @pool multiplies square matrices by plain cblas
 * calls for about @seconds; the best of several rounds. */
double plait_blas_rate (PlaitPool *pool, double seconds);
