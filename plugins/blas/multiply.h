/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/module.h"
#include "tensor/blas-library.h"

/* Code shared by all BLAS modules. Include a cblas.h before it. */

#ifdef PLAIT_SCALAR_DOUBLE
#define GEMM cblas_dgemm
#else
#define GEMM cblas_sgemm
#endif

static void
multiply (PlaitTensor c, gboolean add, PlaitScalar factor, PlaitTensor a, gboolean transpose_a, PlaitTensor b,
          gboolean transpose_b)
{
  gint64 depth = transpose_a ? a.rows : a.width;

  GEMM (CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans, transpose_b ? CblasTrans : CblasNoTrans, (int)c.rows,
        (int)c.width, (int)depth, factor, a.data, (int)a.stride, b.data, (int)b.stride, add ? 1 : 0, c.data,
        (int)c.stride);
}
