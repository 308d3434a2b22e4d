/* SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/bfloat16.h"

/*
 * Rounds the factors of products to bfloat16, and packs the right factor in panels of columns. tensor/panel.h packs
 * factors of full precision.
 */

/* Returns the size in bytes of a rounded left factor [rows, depth]. */
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

/* Rounds rows @row .. @row + @rows - 1 and columns @first .. @first + @depth - 1 of @a, or of its transpose, into @to.
 * Returns a job whose left factor is @to; the fields from @panel on are 0. */
PlaitBfloat16Panel plait_bfloat16_left (const PlaitBfloat16Kernels *kernels, PlaitBfloat16Pair *to, PlaitTensor a,
                                        gboolean transposed, gint64 row, gint64 rows, gint64 first, gint64 depth);

/* Rounds rows @first .. @first + @depth - 1 and columns @column .. @column + @width - 1 of @b, or of its transpose,
 * into panels at @to. The last panel is padded with zeros. */
void plait_bfloat16_right (const PlaitBfloat16Kernels *kernels, PlaitBfloat16Pair *to, PlaitTensor b,
                           gboolean transposed, gint64 first, gint64 depth, gint64 column, gint64 width);

/* Computes y = (@add: y +) left times panels [bfloat16_pairs, width]. The depth of @left may be less than that of the
 * panels. */
void plait_bfloat16_multiply (const PlaitBfloat16Kernels *kernels, const PlaitBfloat16Panel *left,
                              const PlaitBfloat16Pair *panels, gint64 bfloat16_pairs, PlaitScalar *y, gint64 y_stride,
                              gint64 width, gboolean add);
