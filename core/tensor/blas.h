/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/pool.h"
#include "tensor/tensor.h"

/*
 * The BLAS beside our kernels. Products are computed by the kernels (they pack once for all threads, finish a block
 * while it is in cache, and give a row the same bits alone and among others); BLAS is the measure that they are held
 * against.
 */

/* Sets the BLAS that was loaded to one thread, whichever build of OpenBLAS it is. Safe to call often and from any
 * thread; plait_blas_rate does. */
void plait_blas_prepare (void);

/* What computes here: BLAS, its core type and the level of our own kernels, such as
 * "OpenBLAS 0.3.21 core Cooperlake, kernels x86-64-v4". Two timings compare only under the same one. (transfer none) */
const char *plait_blas_description (void);

/* Rate of the machine's own matrix product in FLOP/s: every thread of @pool multiplies square matrices by plain cblas
 * calls for about @seconds; the best of several rounds. */
double plait_blas_rate (PlaitPool *pool, double seconds);
