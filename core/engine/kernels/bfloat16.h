/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/tensor.h"

/*
 * Products of bfloat16, the upper half of a float: eight bits of precision and a float's range. Numbers are rounded to
 * nearest, ties to even; what is less than the least normal float becomes zero, NaN stays NaN. Two that follow one
 * another in the depth are multiplied in one go, and their products are added to a float, the second one first:
 *
 *     sum = sum + x[2k + 1] w[2k + 1];   sum = sum + x[2k] w[2k]
 *
 * each product being exact, each sum rounded to nearest even, and zero where it is less than the least normal float.
 * That is how VDPBF16PS is defined (AVX512-BF16). The emulation does the same with the kernels of this processor, so
 * that both give the same bits. (Kernels without fused multiply-adds lose more of products below 1e-38, which
 * sums below 1e-30 may notice; processors other than x86 keep them all.)
 */

/* Two numbers, the first of them in the lower half. */
typedef guint32 PlaitBfloat16Pair;

/* Columns of a panel. */
#define PLAIT_BFLOAT16_WIDTH 64

/* How many of them a depth takes; an odd one is filled up with zero. */
static inline gint64
plait_bfloat16_pairs (gint64 depth)
{
  return (depth + 1) / 2;
}

/* Some rows times one panel. */
typedef struct
{
  gint64 rows;
  gint64 bfloat16_pairs;      /* of the depth */
  const PlaitBfloat16Pair *x; /* number k of row i at x[i * row + k * step] */
  gint64 row;
  gint64 step;
  const PlaitBfloat16Pair *panel; /* [halves][PLAIT_BFLOAT16_WIDTH] */
  PlaitScalar *y;
  gint64 y_stride;
  gint64 width; /* columns of the panel that are wanted */
  gboolean add;
} PlaitBfloat16Panel;

typedef struct
{
  /* y = (@add: y +) x panel, the sums being made apart from y. */
  void (*multiply) (const PlaitBfloat16Panel *panel);
  /* Two by two, @n numbers that follow one another. */
  void (*round_along) (PlaitBfloat16Pair *to, const PlaitScalar *x, gint64 n);
  /* @n numbers of a row, each with that below it; no @second: zeros. */
  void (*round_across) (PlaitBfloat16Pair *to, const PlaitScalar *first, const PlaitScalar *second, gint64 n);
} PlaitBfloat16Kernels;

/* NULL where @precision is none of bfloat16, or where this processor has no AVX512-BF16, other kernels than those for
 * AVX-512 are chosen, or scalars are double, and emulation is not asked for. */
const PlaitBfloat16Kernels *plait_bfloat16_kernels (PlaitPrecision precision);
