/* SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/kernels.h"

/*
 * The right factor of a product as the tile reads it: panels of tile_width columns (of a packed weight packed_width),
 * each panel [depth][tile_width] end to end, the last one filled up with zeros.
 */

/* Most depth that is multiplied in one go: what goes over it is added in further rounds, with a packed weight too, so
 * that both give the same bits. */
#define PLAIT_MAX_PANEL_DEPTH 512

/* A right factor of so many bytes stays near every thread: then a thread keeps to its rows of the result, since what
 * comes before and after goes by rows. Of a larger one it keeps to some columns. */
#define PLAIT_CACHED_FACTOR_BYTES 786432

static inline gint64
plait_panels (const PlaitKernels *kernels, gint64 width)
{
  return (width + kernels->tile_width - 1) / kernels->tile_width;
}

/* Packs rows @first .. @first + @depth - 1 of the columns @column .. @column + @width - 1 of b, or of b's transpose,
 * into @to, panel after panel of @tile columns. */
void plait_panel_pack (const PlaitKernels *kernels, gint64 tile, PlaitScalar *to, PlaitTensor b, gboolean transposed,
                       gint64 first, gint64 depth, gint64 column, gint64 width);

/* What is done to a block of a product while it is in cache: y = activation (y + bias). */
typedef struct
{
  const PlaitScalar *bias; /* of all columns, or NULL */
  PlaitActivation activation;
  PlaitTensor preactivation; /* where to leave y + bias; no data: nowhere */
} PlaitEpilogue;

/* Finishes @rows rows and @width columns of @y from row @row and column @column on. */
void plait_panel_epilogue (const PlaitKernels *kernels, const PlaitEpilogue *epilogue, PlaitTensor y, gint64 row,
                           gint64 rows, gint64 column, gint64 width);
