/* SPDX-License-Identifier: MIT */
#include "kernels/variant.h"
#include "kernels/tile.h"

extern const PlaitKernels KERNEL (kernels);

/* Variants whose own kernels were slower than BLAS in measurements use BLAS from this many rows on. The v1 variant is
 * compiled without wide vectors; BLAS uses them if the processor has them. */
#define MANY_ROWS 64
#if defined(__AVX512F__)
#define BLAS_ROWS 0, 0
#elif defined(__AVX2__)
#define BLAS_ROWS 0, MANY_ROWS
#else
#define BLAS_ROWS MANY_ROWS, MANY_ROWS
#endif

#define ENTRY(name) .name = KERNEL (name),

const PlaitKernels KERNEL (kernels) = { .variant = G_STRINGIFY (PLAIT_KERNEL_VARIANT),
                                        .vector_length = VECTOR_BYTES / sizeof (PlaitScalar),
                                        .tile_width = TILE_VECTORS * VECTOR_BYTES / sizeof (PlaitScalar),
                                        .packed_width = PACKED_VECTORS * VECTOR_BYTES / sizeof (PlaitScalar),
                                        .blas_rows = { BLAS_ROWS },
                                        EACH_KERNEL (ENTRY) };
