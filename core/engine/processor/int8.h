/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/tensor.h"

/*
 * Products of bytes, with exact 32-bit sums. Each row of the left factor and each column of the right factor is
 * quantised with a scale of its own:
 *
 *     x[k] = row_scale * a[k],  a[k] in -127 .. 127;   w[k] = scale * (b[k] - 128),  b[k] in 1 .. 255
 *     x . w = row_scale * scale * (sum of a[k] * b[k] - 128 * sum of a[k])
 */

/* Number of columns of a panel of a right factor. */
#define PLAIT_INT8_WIDTH 64
/* Number of products of bytes that one instruction adds to each sum. The depth is padded to a multiple of it. */
#define PLAIT_INT8_GROUP 4
/* Maximum depth of a product, so that its sums fit into 32 bits. */
#define PLAIT_INT8_MAX_DEPTH 65536

#define PLAIT_INT8_ZERO_POINT 128
#define PLAIT_INT8_MAX 127

/* A product of some rows of 8-bit integers with one panel. */
typedef struct
{
  gint64 rows;
  gint64 groups; /* depth of the product in groups of PLAIT_INT8_GROUP bytes */
  const gint8 *x;
  gint64 x_stride;
  const PlaitScalar *row_scales;
  const gint32 *row_sums;
  const guint8 *panel; /* right factor: [groups][PLAIT_INT8_WIDTH][PLAIT_INT8_GROUP] */
  const PlaitScalar *scales;
  PlaitScalar *y;
  gint64 y_stride;
  gint64 width; /* number of columns of the panel that are written to @y */
  gboolean add;
} PlaitInt8Panel;

typedef struct
{
  void (*multiply) (const PlaitInt8Panel *panel);
  /* Quantises @n scalars to bytes, and pads with zeros up to @padded. Writes their scale and returns the sum of the
   * bytes. A row with NaN or infinity gets the scale NaN and zeros. */
  gint32 (*quantise) (gint8 *to, gint64 padded, PlaitScalar *scale, const PlaitScalar *x, gint64 n);
} PlaitInt8Kernels;

/* Returns the int8 kernels; NULL without AVX-512 VNNI, or if the kernels for AVX-512 are not selected. */
const PlaitInt8Kernels *plait_int8_kernels (void);
