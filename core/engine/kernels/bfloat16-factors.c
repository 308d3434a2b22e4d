/* SPDX-License-Identifier: MIT */
#include "kernels/bfloat16-factors.h"

#include <string.h>

#include "kernels/kernels.h"

#define WIDTH PLAIT_BFLOAT16_WIDTH

PlaitBfloat16Panel
plait_bfloat16_left (const PlaitBfloat16Kernels *kernels, PlaitBfloat16Pair *to, PlaitTensor a, gboolean transposed,
                     gint64 row, gint64 rows, gint64 first, gint64 depth)
{
  gint64 bfloat16_pairs = plait_bfloat16_pairs (depth);

  if (transposed)
    for (gint64 k = 0; k < depth; k += 2)
      kernels->round_across (to + k / 2 * rows, plait_tensor_row (a, first + k) + row,
                             k + 1 < depth ? plait_tensor_row (a, first + k + 1) + row : NULL, rows);
  else
    for (gint64 i = 0; i < rows; i++)
      kernels->round_along (to + i * bfloat16_pairs, plait_tensor_row (a, row + i) + first, depth);
  return (PlaitBfloat16Panel){ .rows = rows,
                               .bfloat16_pairs = bfloat16_pairs,
                               .x = to,
                               .row = transposed ? 1 : bfloat16_pairs,
                               .step = transposed ? rows : 1 };
}

/* Rounds columns @column .. @column + @width - 1 of the transpose of @b into one panel. */
static void
round_transposed (const PlaitBfloat16Kernels *kernels, PlaitBfloat16Pair *to, PlaitTensor b, gint64 first, gint64 depth,
                  gint64 column, gint64 width)
{
  PlaitScalar square[WIDTH * WIDTH];

  for (gint64 done = 0, n; done < depth; done += n)
    {
      n = MIN (WIDTH, depth - done);
      plait_kernels ()->transpose (square, WIDTH, WIDTH, plait_tensor_row (b, column) + first + done, b.stride, width,
                                   n);
      for (gint64 k = 0; k < n; k += 2, to += WIDTH)
        kernels->round_across (to, square + k * WIDTH, k + 1 < n ? square + (k + 1) * WIDTH : NULL, WIDTH);
    }
}

void
plait_bfloat16_right (const PlaitBfloat16Kernels *kernels, PlaitBfloat16Pair *to, PlaitTensor b, gboolean transposed,
                      gint64 first, gint64 depth, gint64 column, gint64 width)
{
  for (gint64 j = 0; j < width; j += WIDTH)
    {
      gint64 wide = MIN (WIDTH, width - j);

      if (transposed)
        {
          round_transposed (kernels, to, b, first, depth, column + j, wide);
          to += plait_bfloat16_pairs (depth) * WIDTH;
          continue;
        }
      for (gint64 k = 0; k < depth; k += 2, to += WIDTH)
        {
          kernels->round_across (to, plait_tensor_row (b, first + k) + column + j,
                                 k + 1 < depth ? plait_tensor_row (b, first + k + 1) + column + j : NULL, wide);
          memset (to + wide, 0, sizeof *to * (gsize)(WIDTH - wide));
        }
    }
}

void
plait_bfloat16_multiply (const PlaitBfloat16Kernels *kernels, const PlaitBfloat16Panel *left,
                         const PlaitBfloat16Pair *panels, gint64 bfloat16_pairs, PlaitScalar *y, gint64 y_stride,
                         gint64 width, gboolean add)
{
  PlaitBfloat16Panel panel = *left;

  panel.y_stride = y_stride;
  panel.add = add;
  for (gint64 j = 0; j < width; j += WIDTH)
    {
      panel.panel = panels + j * bfloat16_pairs;
      panel.y = y + j;
      panel.width = MIN (WIDTH, width - j);
      kernels->multiply (&panel);
    }
}
