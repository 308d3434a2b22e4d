/* SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/bfloat16-factors.h"
#include "processor/int8.h"
#include "tensor/packed.h"

struct PlaitPacked
{
  const PlaitKernels *kernels;
  PlaitPrecision precision;
  const PlaitInt8Kernels *int8;         /* kernels for bytes, or NULL */
  const PlaitBfloat16Kernels *bfloat16; /* kernels for bfloat16, or NULL */
  gint64 depth;
  gint64 width;
  gpointer
      panels; /* [panel][depth][packed_width]; for bytes and bfloat16 as in processor/int8.h and kernels/bfloat16.h */
  PlaitScalar *scales; /* scales of the columns of bytes: [width] */
};

/* Left factor of products with a packed weight, in the precision of the weight. */
typedef struct
{
  PlaitTensor x;
  gint8 *bytes; /* rows as bytes: [rows][stride]; else NULL */
  gint64 stride;
  PlaitBfloat16Pair *bfloat16_pairs; /* rows as bfloat16: [rows][plait_bfloat16_pairs (depth)]; else NULL */
  PlaitScalar *scales;               /* scales of the bytes: [rows] */
  gint32 *sums;                      /* sums of the bytes: [rows] */
} PlaitPackedRows;

/* Returns @x in the precision of @packed. The result is valid until the caller's scratch memory (plait_pool_scratch) is
 * used again. */
PlaitPackedRows plait_packed_rows (PlaitPool *pool, const PlaitPacked *packed, PlaitTensor x);

/* Computes y = (@add: y +) rows @first .. @first + @n - 1 times columns @column .. @column + @width - 1 of the weight,
 * in the calling thread. A panel must begin at @column. @y points to the result for row @first and column @column. */
void plait_packed_multiply (const PlaitPacked *packed, PlaitScalar *y, gint64 y_stride, gboolean add,
                            const PlaitPackedRows *rows, gint64 first, gint64 n, gint64 column, gint64 width);
