/* SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/bfloat16-factors.h"
#include "kernels/attention-piece.h"

/*
 * Products of attention whose factors are rounded to bfloat16. Keys and values are rounded once. The factors of a tile
 * of queries are rounded when the tile is computed. Scores, softmax and sums stay in full precision.
 */

G_STATIC_ASSERT (sizeof (PlaitBfloat16Pair) <= sizeof (PlaitScalar));

/* The right factor of a product in bfloat16: packed panels of columns (kernels/bfloat16-factors.h). */
typedef struct
{
  PlaitBfloat16Pair *panels;
  gint64 bfloat16_pairs; /* depth of the product, in pairs of elements */
} Right;

/* Returns the size of a right factor [depth, width] in pairs. */
static inline gint64
right_size (gint64 width, gint64 depth)
{
  return (gint64)(plait_bfloat16_panel_bytes (width, depth) / sizeof (PlaitBfloat16Pair));
}

static inline PlaitBfloat16Pair *
take_bfloat16 (Scratch *scratch, gint64 n)
{
  return (PlaitBfloat16Pair *)take_block (scratch, n);
}

static inline PlaitTensor
tensor_of (Rows rows, gint64 n, gint64 width)
{
  return (PlaitTensor){ .data = (PlaitScalar *)rows.data, .rows = n, .width = width, .stride = rows.stride };
}

/* Rounds @n rows of the head, or their transpose, to bfloat16 in @to, packed as the right factor of a product. */
static inline Right
round_right (const Piece *piece, PlaitBfloat16Pair *to, Rows rows, gint64 n, gboolean transposed)
{
  gint64 depth = transposed ? piece->width : n, width = transposed ? n : piece->width;

  plait_bfloat16_right (piece->bfloat16, to, tensor_of (rows, n, piece->width), transposed, 0, depth, 0, width);
  return (Right){ to, plait_bfloat16_pairs (depth) };
}

/* Rounds @n rows of @width scalars, or their transpose, to bfloat16 in @to, for use as the left factor of a product. */
static inline PlaitBfloat16Panel
round_left (const Piece *piece, PlaitBfloat16Pair *to, Rows rows, gint64 n, gint64 width, gboolean transposed)
{
  return plait_bfloat16_left (piece->bfloat16, to, tensor_of (rows, n, width), transposed, 0, transposed ? width : n, 0,
                              transposed ? n : width);
}

/* Returns keys (or values, if @values) @from .. @end - 1, in place if contiguous, else copies in @workspace. */
static inline Rows
rows_of_block (const Piece *piece, gboolean values, gint64 from, gint64 end, PlaitScalar *workspace)
{
  KeyRange whole = key_range_at (piece, from, end);

  if (whole.n == end - from && !piece->job->memories[whole.memory].gather)
    return rows_of_key_range (piece, whole, values, TRUE, NULL);
  EACH_KEY_RANGE (part, piece, from, end)
  rows_of_key_range (piece, part, values, FALSE, workspace + (part.key - from) * piece->padded);
  return (Rows){ workspace, piece->padded };
}

/* Writes @left times @right to y [rows of left, width], or adds it to y if @add. The depth of @left may be less than
 * that of @right. */
static inline void
multiply_bfloat16 (const Piece *piece, PlaitBfloat16Panel left, Right right, PlaitScalar *y, gint64 stride,
                   gint64 width, gboolean add)
{
  plait_bfloat16_multiply (piece->bfloat16, &left, right.panels, right.bfloat16_pairs, y, stride, width, add);
}
