/* SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/bfloat16-factors.h"
#include "processor/int8.h"
#include "tensor/packed.h"

struct PlaitPacked
{
  const PlaitKernels *kernels;
  PlaitPrecision precision;
  const PlaitInt8Kernels *int8;         /* of bytes */
  const PlaitBfloat16Kernels *bfloat16; /* of bfloat16 */
  gint64 depth;
  gint64 width;
  gpointer panels;     /* [panel][depth][packed_width], or as int8.h and halves.h say */
  PlaitScalar *scales; /* of bytes: [width] */
};

/* What is multiplied by a packed weight. */
typedef struct
{
  PlaitTensor x;
  gint8 *bytes; /* where the weight is of bytes: [rows][stride] */
  gint64 stride;
  PlaitBfloat16Pair *bfloat16_pairs; /* where it is of bfloat16: [rows][plait_bfloat16_pairs (depth)] */
  PlaitScalar *scales;               /* [rows] */
  gint32 *sums;                      /* [rows] */
} PlaitPackedRows;

/* @x for products with @packed. Bytes and halves stand in the caller's scratch (plait_pool_scratch) until it is used
 * again. */
PlaitPackedRows plait_packed_rows (PlaitPool *pool, const PlaitPacked *packed, PlaitTensor x);

/* y = the @n rows from @first on of @rows times the @width columns from @column on, where a panel begins; (@add) added
 * to y, which begins at that row and column. In the calling thread. */
void plait_packed_multiply (const PlaitPacked *packed, PlaitScalar *y, gint64 y_stride, gboolean add,
                            const PlaitPackedRows *rows, gint64 first, gint64 n, gint64 column, gint64 width);
