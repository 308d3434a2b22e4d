/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/tensor.h"

/*
 * Products of bfloat16, which is the upper half of a float: 8 bits of precision and the range of a float. Scalars are
 * rounded to nearest, ties to even. Magnitudes below the least normal float become zero; NaN stays NaN. Two scalars
 * that are neighbours along the depth form a pair. For each pair, two products are added to a sum, which is a float:
 *
 *     sum = sum + x[2k + 1] w[2k + 1];   sum = sum + x[2k] w[2k]
 *
 * Each product is exact. Each sum is rounded to nearest even, and becomes zero below the least normal float. The
 * instruction VDPBF16PS (AVX512-BF16) works like this. The emulation gives the same bits, except for tiny numbers: x86
 * kernels without fused multiply-adds lose digits of products below 1e-38, which can change sums below 1e-30; on
 * processors other than x86, small sums do not become zero.
 */

/* Two bfloat16 that are neighbours along the depth; the first one is the lower half. */
typedef guint32 PlaitBfloat16Pair;

/* Number of columns of a panel of a right factor. */
#define PLAIT_BFLOAT16_WIDTH 64

/* Returns the number of pairs that hold @depth bfloat16. With an odd depth the last pair is filled up with zero. */
static inline gint64
plait_bfloat16_pairs (gint64 depth)
{
  return (depth + 1) / 2;
}

/* Job of one product: some rows times one panel. */
typedef struct
{
  gint64 rows;
  gint64 bfloat16_pairs;      /* depth of the product in pairs */
  const PlaitBfloat16Pair *x; /* left factor: pair k of row i is x[i * row + k * step] */
  gint64 row;
  gint64 step;
  const PlaitBfloat16Pair *panel; /* right factor: [bfloat16_pairs][PLAIT_BFLOAT16_WIDTH] */
  PlaitScalar *y;
  gint64 y_stride;
  gint64 width; /* number of columns of the panel that are written to @y */
  gboolean add;
} PlaitBfloat16Panel;

typedef struct
{
  /* Computes y = (@add: y +) x panel. The product is summed first and added to y last. */
  void (*multiply) (const PlaitBfloat16Panel *panel);
  /* Rounds @n consecutive scalars: x[2 k] and x[2 k + 1] become pair k. */
  void (*round_along) (PlaitBfloat16Pair *to, const PlaitScalar *x, gint64 n);
  /* Rounds two rows of @n scalars: first[i] and second[i] become pair i; @second NULL: zeros. */
  void (*round_across) (PlaitBfloat16Pair *to, const PlaitScalar *first, const PlaitScalar *second, gint64 n);
} PlaitBfloat16Kernels;

/* Returns the kernels for products in @precision. Returns NULL for precisions other than bfloat16 and emulated
 * bfloat16. Also returns NULL for bfloat16 if the processor has no AVX512-BF16, if the kernels for AVX-512 are not
 * selected, or if scalars are double. */
const PlaitBfloat16Kernels *plait_bfloat16_kernels (PlaitPrecision precision);
