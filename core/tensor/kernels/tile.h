/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/kernels/parts.h"

/*
 * The register tile that every product is made of: c[0 .. rows - 1][0 .. vectors * length - 1] (+)= a b over depth k,
 * where a[i][k] is at a[i * row + k * step], so that a may be transposed, and row k of b starts at b[k * b_stride]. The
 * last vector of c's rows has @last elements; b's rows have whole vectors.
 * If it @fetches, a line is fetched at each k from @ahead on, @ahead_step bytes further: what the processor fetches
 * of its own does not keep up with a large factor.
 * Every element is one chain of multiply-adds in the order of k: its bits do not depend on the tile that it falls into.
 */
#if defined(__AVX512F__) || defined(__ARM_NEON)
/* 32 registers. */
#define TILE_VECTORS 4
#define TILE_MOST_ROWS 12
static const guint8 tile_rows[TILE_VECTORS + 1] = { 0, 12, 12, 8, 6 };
#else
/* 16 registers. */
#define TILE_VECTORS 2
#define TILE_MOST_ROWS 8
static const guint8 tile_rows[TILE_VECTORS + 1] = { 0, 8, 6 };
#endif
#define TILE_WIDTH (TILE_VECTORS * VECTOR_LENGTH)

static inline __attribute__ ((always_inline)) void
tile (const int rows, const int vectors, const gboolean fetches, gint64 depth, const PlaitScalar *a, gint64 row,
      gint64 step, const PlaitScalar *b, gint64 b_stride, PlaitScalar *c, gint64 c_stride, gint64 last, gboolean add,
      const char *ahead, gint64 ahead_step)
{
  Vector sums[TILE_MOST_ROWS][TILE_VECTORS];

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
        line[j] = vector_load (b + j * VECTOR_LENGTH);
      if (fetches)
        {
          __builtin_prefetch (ahead, 0, 2);
          ahead += ahead_step;
        }
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
  gint64 depth, const PlaitScalar *a, gint64 row, gint64 step, const PlaitScalar *b, gint64 b_stride, PlaitScalar *c,  \
      gint64 c_stride, gint64 last, gboolean add, const char *ahead, gint64 ahead_step
typedef void (*Tile) (TILE_ARGUMENTS);
