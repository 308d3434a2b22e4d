/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"

/*
 * The BLAS of this build (the option blas): its cblas, and what every library has a name of its own for. blas-NAME.c is
 * the one of them that is compiled.
 */
#if defined(PLAIT_BLAS_BLIS)
#include <blis.h>
#elif defined(PLAIT_BLAS_MKL)
#include <mkl_cblas.h>
#else
#include <cblas.h>
#endif

/* Calls of this thread take one thread, and their results do not follow from where the matrices lie. Once in each
 * thread, before its first product. */
void plait_blas_library_prepare (void);

/* Takes what calls from @threads threads at once need, where the library cannot do without. FALSE with
 * PLAIT_ERROR_MEMORY. */
gboolean plait_blas_library_reserve (guint threads, GError **error);

/* Name, version and the kind of processor that it computes for: "OpenBLAS 0.3.21 core Haswell". (transfer full) */
char *plait_blas_library_describe (void);
