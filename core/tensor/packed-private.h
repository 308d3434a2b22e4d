/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/packed.h"
#include "tensor/panel.h"

struct PlaitPacked
{
  const PlaitKernels *kernels;
  gint64 depth;
  gint64 width;
  PlaitScalar *panels; /* [panel][depth][tile_width] */
};

/* y = x times the columns @column (of a panel's beginning) .. @column + @width - 1, (@add) added to y; y begins at that
 * column. In the calling thread. */
void plait_packed_multiply (const PlaitPacked *packed, PlaitScalar *y, gint64 y_stride, gboolean add,
                            const PlaitScalar *x, gint64 x_stride, gint64 rows, gint64 column, gint64 width);

/* plait_packed_product with any finish. */
void plait_packed_product_finish (PlaitPool *pool, PlaitTensor y, PlaitScalar beta, PlaitTensor x,
                                  const PlaitPacked *packed, const PlaitFinish *finish);
