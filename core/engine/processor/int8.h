/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/tensor.h"

/*
 * Products of bytes, whose sums are exact in 32 bits: of rows, each of which is quantised by itself, with columns that
 * are, each by itself, too.
 *
 *     x[k] = row_scale * byte[k],  -127 .. 127;   w[k] = scale * (byte[k] - 128),  1 .. 255
 *     x . w = row_scale * scale * (sum of byte * byte - 128 * sum of x's bytes)
 */

/* Columns of a panel. */
#define PLAIT_INT8_WIDTH 64
/* Bytes that are multiplied and added in one go: rows and panels are filled up to a multiple of it. */
#define PLAIT_INT8_GROUP 4
/* Deepest product whose sums fit. */
#define PLAIT_INT8_MAX_DEPTH 65536

#define PLAIT_INT8_ZERO_POINT 128
#define PLAIT_INT8_MAX 127

/* Some rows times one panel. */
typedef struct
{
  gint64 rows;
  gint64 groups; /* of the depth */
  const gint8 *x;
  gint64 x_stride;
  const PlaitScalar *row_scales;
  const gint32 *row_sums;
  const guint8 *panel; /* [groups][PLAIT_INT8_WIDTH][PLAIT_INT8_GROUP] */
  const PlaitScalar *scales;
  PlaitScalar *y;
  gint64 y_stride;
  gint64 width; /* columns of the panel that are wanted */
  gboolean add;
} PlaitInt8Panel;

typedef struct
{
  void (*multiply) (const PlaitInt8Panel *panel);
  /* @n numbers as bytes, and zeros up to @padded; gives their sum and their scale. A row with NaN or an infinity has
   * the scale NaN and zeros. */
  gint32 (*quantise) (gint8 *to, gint64 padded, PlaitScalar *scale, const PlaitScalar *x, gint64 n);
} PlaitInt8Kernels;

/* NULL where this processor does not multiply bytes (AVX-512 VNNI), or other kernels than those for AVX-512 are
 * chosen. */
const PlaitInt8Kernels *plait_int8_kernels (void);
