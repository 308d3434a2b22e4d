/* SPDX-License-Identifier: MIT */
#include "tensor/panel.h"

#include <string.h>

void
plait_panel_pack (const PlaitKernels *kernels, gint64 tile, PlaitScalar *to, PlaitTensor b, gboolean transposed,
                  gint64 first, gint64 depth, gint64 column, gint64 width)
{
  for (gint64 j = 0; j < width; j += tile, to += depth * tile)
    {
      gint64 wide = MIN (tile, width - j);

      if (transposed)
        {
          kernels->transpose (to, tile, tile, b.data + (column + j) * b.stride + first, b.stride, wide, depth);
          continue;
        }
      for (gint64 k = 0; k < depth; k++)
        {
          memcpy (to + k * tile, b.data + (first + k) * b.stride + column + j, sizeof (PlaitScalar) * (gsize)wide);
          if (wide < tile)
            memset (to + k * tile + wide, 0, sizeof (PlaitScalar) * (gsize)(tile - wide));
        }
    }
}

void
plait_panel_epilogue (const PlaitKernels *kernels, const PlaitEpilogue *epilogue, PlaitTensor y, gint64 row,
                      gint64 rows, gint64 column, gint64 width)
{
  if (!epilogue->bias && epilogue->activation == PLAIT_ACTIVATION_NONE && !epilogue->preactivation.data)
    return;
  for (gint64 i = row; i < row + rows; i++)
    {
      PlaitScalar *at = plait_tensor_row (y, i) + column;

      if (epilogue->bias)
        kernels->accumulate (at, 1, 1, epilogue->bias + column, width);
      if (epilogue->preactivation.data)
        memcpy (plait_tensor_row (epilogue->preactivation, i) + column, at, sizeof (PlaitScalar) * (gsize)width);
      if (epilogue->activation != PLAIT_ACTIVATION_NONE)
        kernels->activate (epilogue->activation, at, at, width);
    }
}
