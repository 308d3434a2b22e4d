/* SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/bfloat16.h"

/*
 * The factors of products of bfloat16: the left one's rows, and panels of the right one, as panel.h has them of
 * numbers.
 */

/* Bytes of @rows rows of a left factor, and of the panels of @width columns of a right one. */
static inline gsize
plait_bfloat16_left_bytes (gint64 rows, gint64 depth)
{
  return sizeof (PlaitBfloat16Pair) * (gsize)(rows * plait_bfloat16_pairs (depth));
}

static inline gsize
plait_bfloat16_panel_bytes (gint64 width, gint64 depth)
{
  gint64 panels = (width + PLAIT_BFLOAT16_WIDTH - 1) / PLAIT_BFLOAT16_WIDTH;

  return plait_bfloat16_left_bytes (panels * PLAIT_BFLOAT16_WIDTH, depth);
}

/* Rounds rows @row .. @row + @rows - 1 and columns @first .. @first + @depth - 1 of a, or of a's transpose, into @to.
 * They stand in what comes back, which lacks the panel and where its product goes. */
PlaitBfloat16Panel plait_bfloat16_left (const PlaitBfloat16Kernels *kernels, PlaitBfloat16Pair *to, PlaitTensor a,
                                        gboolean transposed, gint64 row, gint64 rows, gint64 first, gint64 depth);

/* Rounds rows @first .. @first + @depth - 1 of the columns @column .. @column + @width - 1 of b, or of b's transpose,
 * into @to, panel after panel, the last one filled up with zeros. */
void plait_bfloat16_right (const PlaitBfloat16Kernels *kernels, PlaitBfloat16Pair *to, PlaitTensor b,
                           gboolean transposed, gint64 first, gint64 depth, gint64 column, gint64 width);

/* y = (@add: y +) the rows of @left times panels of @width columns, from @panels on, which are @bfloat16_pairs deep;
 * the left factor may lack the end of that. */
void plait_bfloat16_multiply (const PlaitBfloat16Kernels *kernels, const PlaitBfloat16Panel *left,
                              const PlaitBfloat16Pair *panels, gint64 bfloat16_pairs, PlaitScalar *y, gint64 y_stride,
                              gint64 width, gboolean add);
