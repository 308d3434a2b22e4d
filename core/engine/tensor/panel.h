/* SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/kernels.h"

/*
 * The right factor of a product, packed for the register tile: panels of tile_width columns (packed_width in a packed
 * weight). Each panel is [depth][tile_width] contiguous; the last one is padded with zeros.
 */

/* Maximum depth that is multiplied at once. A deeper product is computed in rounds that add to the result. Products
 * with packed weights use the same rounds, so that the bits are equal. */
#define PLAIT_MAX_PANEL_DEPTH 512

/* A right factor up to this size stays in the caches of every thread, so each thread computes some rows of the result,
 * as in elementwise work before and after the product. If the right factor is larger, each thread computes some
 * columns. */
#define PLAIT_CACHED_FACTOR_BYTES 786432

static inline gint64
plait_panels (const PlaitKernels *kernels, gint64 width)
{
  return (width + kernels->tile_width - 1) / kernels->tile_width;
}

/* Packs rows @first .. @first + @depth - 1 and columns @column .. @column + @width - 1 of @b, or of its transpose, into
 * panels of @tile columns at @to. */
void plait_panel_pack (const PlaitKernels *kernels, gint64 tile, PlaitScalar *to, PlaitTensor b, gboolean transposed,
                       gint64 first, gint64 depth, gint64 column, gint64 width);

/* Epilogue of a product: y = activation (y + bias), applied to a block while it is in cache. */
typedef struct
{
  const PlaitScalar *bias; /* bias of all columns, or NULL */
  PlaitActivation activation;
  PlaitTensor preactivation; /* output: y + bias; not stored if its data is NULL */
} PlaitEpilogue;

/* Applies the epilogue to the @rows x @width block of @y at row @row and column @column. */
void plait_panel_epilogue (const PlaitKernels *kernels, const PlaitEpilogue *epilogue, PlaitTensor y, gint64 row,
                           gint64 rows, gint64 column, gint64 width);
