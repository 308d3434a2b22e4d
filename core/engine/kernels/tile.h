/* SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/partial-vectors.h"

/*
 * The register tile: c [rows][vectors] = (@add: c +) a b over @depth.
 *
 * a[i][k] is at a[i * row + k * step], so a may be transposed. Row k of b starts at b + k * b_stride. The first
 * PACKED_VECTORS vectors of the row are contiguous; the others begin @beside scalars after the start of the row. The
 * last vector of each row of c has @last elements; rows of b have whole vectors.
 *
 * The prefetcher of the processor is too slow for a large factor. So at each k, the tile itself prefetches @lines cache
 * lines from @next on, and then adds @next_step scalars to @next.
 *
 * Each element is one chain of multiply-adds in the order of k, so its bits do not depend on the shape of the tile.
 */
#if defined(__AVX512F__) || defined(__ARM_NEON)
/* Maximum size of a register tile with 32 vector registers: a tile n vectors wide has at most tile_rows[n] rows. */
#define TILE_VECTORS 4
#define TILE_MAX_ROWS 12
static const guint8 tile_rows[TILE_VECTORS + 1] = { 0, 12, 12, 8, 6 };
#else
/* Maximum size of a register tile with 16 vector registers: a tile n vectors wide has at most tile_rows[n] rows. */
#define TILE_VECTORS 2
#define TILE_MAX_ROWS 8
static const guint8 tile_rows[TILE_VECTORS + 1] = { 0, 8, 6 };
#endif
#define TILE_WIDTH (TILE_VECTORS * VECTOR_LENGTH)

/* Number of vectors in a row of a panel of a packed weight. */
#ifdef __AVX512F__
#define PACKED_VECTORS 2
#else
#define PACKED_VECTORS TILE_VECTORS
#endif

#define LINE_BYTES 64 /* bytes of a cache line */

static inline __attribute__ ((always_inline)) void
tile (const int rows, const int vectors, const int lines, gint64 depth, const PlaitScalar *a, gint64 row, gint64 step,
      const PlaitScalar *b, gint64 b_stride, gint64 beside, PlaitScalar *c, gint64 c_stride, gint64 last, gboolean add,
      const PlaitScalar *next, gint64 next_step)
{
  Vector sums[TILE_MAX_ROWS][TILE_VECTORS];

  UNROLL
  for (int i = 0; i < rows; i++)
    UNROLL
  for (int j = 0; j < vectors; j++)
    sums[i][j] = (Vector){ 0 };
  for (gint64 k = 0; k < depth; k++)
    {
      Vector line[TILE_VECTORS];

      UNROLL
      for (int j = 0; j < vectors; j++)
        line[j] = vector_load (b + j / PACKED_VECTORS * beside + j % PACKED_VECTORS * VECTOR_LENGTH);
      UNROLL
      for (int j = 0; j < lines; j++)
        __builtin_prefetch ((const char *)next + j * LINE_BYTES, 0, 2);
      if (lines > 0)
        next += next_step;
      UNROLL
      for (int i = 0; i < rows; i++)
        {
          PlaitScalar x = a[i * row];

          UNROLL
          for (int j = 0; j < vectors; j++)
            sums[i][j] += x * line[j];
        }
      a += step;
      b += b_stride;
    }
  UNROLL
  for (int i = 0; i < rows; i++)
    UNROLL
  for (int j = 0; j < vectors; j++)
    {
      PlaitScalar *to = c + i * c_stride + j * VECTOR_LENGTH;
      gint64 here = j == vectors - 1 ? last : VECTOR_LENGTH;

      put (to, add ? take (to, here) + sums[i][j] : sums[i][j], here);
    }
}

#define TILE_ARGUMENTS                                                                                                 \
  gint64 depth, const PlaitScalar *a, gint64 row, gint64 step, const PlaitScalar *b, gint64 b_stride, gint64 beside,   \
      PlaitScalar *c, gint64 c_stride, gint64 last, gboolean add, const PlaitScalar *next, gint64 next_step
typedef void (*Tile) (TILE_ARGUMENTS);
