/* SPDX-License-Identifier: MIT */
#include "kernels/tile.h"

#include "kernels/variant.h"

#define PACKED_WIDTH (PACKED_VECTORS * VECTOR_LENGTH)
/* Number of cache lines that a tile prefetches at each k. A tile that is one panel wide or has one row prefetches as
 * many lines as it reads. Other tiles are two panels wide and prefetch one line each. */
#define LINES(rows, vectors)                                                                                           \
  (vectors == PACKED_VECTORS || rows == 1 ? (vectors * VECTOR_BYTES + LINE_BYTES - 1) / LINE_BYTES : 1)

#define TILE(rows, vectors)                                                                                            \
  static void tile_##rows##_##vectors (TILE_ARGUMENTS)                                                                 \
  {                                                                                                                    \
    tile (rows, vectors, 0, depth, a, row, step, b, b_stride, beside, c, c_stride, last, add, NULL, 0);                \
  }
#define FETCHING_TILE(rows, vectors)                                                                                   \
  static void fetching_##rows##_##vectors (TILE_ARGUMENTS)                                                             \
  {                                                                                                                    \
    tile (rows, vectors, LINES (rows, vectors), depth, a, row, step, b, b_stride, beside, c, c_stride, last, add,      \
          next, next_step);                                                                                            \
  }
#define ROWS_1_TO_6(T, v) T (1, v) T (2, v) T (3, v) T (4, v) T (5, v) T (6, v)
#define ROWS_1_TO_8(T, v) ROWS_1_TO_6 (T, v) T (7, v) T (8, v)
#define ROWS_1_TO_12(T, v) ROWS_1_TO_8 (T, v) T (9, v) T (10, v) T (11, v) T (12, v)

#define ENTRY(rows, vectors) [rows] = tile_##rows##_##vectors,
#define FETCHING_ENTRY(rows, vectors) [rows] = fetching_##rows##_##vectors,

#if TILE_VECTORS == 4
ROWS_1_TO_12 (TILE, 1)
ROWS_1_TO_12 (TILE, 2)
ROWS_1_TO_8 (TILE, 3)
ROWS_1_TO_6 (TILE, 4)
static const Tile tiles[TILE_VECTORS + 1][TILE_MAX_ROWS + 1] = {
  [1] = { ROWS_1_TO_12 (ENTRY, 1) },
  [2] = { ROWS_1_TO_12 (ENTRY, 2) },
  [3] = { ROWS_1_TO_8 (ENTRY, 3) },
  [4] = { ROWS_1_TO_6 (ENTRY, 4) },
};
ROWS_1_TO_12 (FETCHING_TILE, 2)
ROWS_1_TO_6 (FETCHING_TILE, 4)
static const Tile fetching_tiles[TILE_VECTORS + 1][TILE_MAX_ROWS + 1] = {
  [2] = { ROWS_1_TO_12 (FETCHING_ENTRY, 2) },
  [4] = { ROWS_1_TO_6 (FETCHING_ENTRY, 4) },
};
#else
ROWS_1_TO_8 (TILE, 1)
ROWS_1_TO_6 (TILE, 2)
static const Tile tiles[TILE_VECTORS + 1][TILE_MAX_ROWS + 1] = {
  [1] = { ROWS_1_TO_8 (ENTRY, 1) },
  [2] = { ROWS_1_TO_6 (ENTRY, 2) },
};
ROWS_1_TO_6 (FETCHING_TILE, 2)
static const Tile fetching_tiles[TILE_VECTORS + 1][TILE_MAX_ROWS + 1] = {
  [2] = { ROWS_1_TO_6 (FETCHING_ENTRY, 2) },
};
#endif

/* Computes at most TILE_WIDTH columns of c. Each PACKED_WIDTH columns of b begin @beside scalars after the previous
 * PACKED_WIDTH. If @next is not NULL, each tile prefetches its share of the next panels, which begin at @next. */
static void
multiply_columns (gint64 rows, gint64 width, gint64 depth, const PlaitScalar *a, gint64 row, gint64 step,
                  const PlaitScalar *b, gint64 b_stride, gint64 beside, PlaitScalar *c, gint64 c_stride, gboolean add,
                  const PlaitScalar *next)
{
  gint64 vectors = (width + VECTOR_LENGTH - 1) / VECTOR_LENGTH, last = width - (vectors - 1) * VECTOR_LENGTH;
  gint64 tiles_left = (rows + tile_rows[vectors] - 1) / tile_rows[vectors];
  gint64 most = LINES (rows, vectors) * LINE_BYTES / (gint64)sizeof (PlaitScalar);
  gboolean fetches = next && depth > 0 && vectors % PACKED_VECTORS == 0;

  for (gint64 i = 0; i < rows; tiles_left--)
    {
      /* Make all tiles about equally high. A last tile of one row would be slow: it has few sums, and each addition to
       * a sum waits for the previous one. */
      gint64 n = (rows - i + tiles_left - 1) / tiles_left;
      gint64 share = vectors * VECTOR_LENGTH * depth * i / rows, panel = PACKED_WIDTH * depth;
      const PlaitScalar *ahead = fetches ? next + share / panel * beside + share % panel : NULL;

      (fetches ? fetching_tiles : tiles)[vectors][n](depth, a + i * row, row, step, b, b_stride, beside,
                                                     c + i * c_stride, c_stride, last, add, ahead,
                                                     MIN (most, vectors * VECTOR_LENGTH * n / rows));
      i += n;
    }
}

void
KERNEL (multiply) (gint64 rows, gint64 width, gint64 depth, const PlaitScalar *a, gint64 row, gint64 step,
                   const PlaitScalar *b, gint64 b_stride, PlaitScalar *c, gint64 c_stride, gboolean add)
{
  for (gint64 j = 0; j < width; j += TILE_WIDTH)
    multiply_columns (rows, MIN (TILE_WIDTH, width - j), depth, a, row, step, b + j, b_stride, PACKED_WIDTH, c + j,
                      c_stride, add, NULL);
}

/* Tiles can be two panels wide only with AVX-512; without it, every tile takes one panel at a time. If there are few
 * rows, one tile multiplies all of them by one panel at a time, so that every cache line of the panel is read once and
 * evenly. If there are many rows, tiles of fewer rows multiply by two panels at a time. A single row also takes two
 * panels at a time: with one panel it would have too few independent sums. */
void
KERNEL (multiply_packed) (gint64 rows, gint64 width, gint64 depth, const PlaitScalar *a, gint64 row,
                          const PlaitScalar *b, gint64 distance, PlaitScalar *c, gint64 c_stride, gboolean add,
                          const PlaitScalar *next)
{
  gint64 together = rows == 1 || rows > tile_rows[PACKED_VECTORS] ? TILE_WIDTH : PACKED_WIDTH;

  for (gint64 j = 0; j < width; j += together)
    multiply_columns (rows, MIN (together, width - j), depth, a, row, 1, b + j / PACKED_WIDTH * distance, PACKED_WIDTH,
                      distance, c + j, c_stride, add,
                      j + together < width ? b + (j / PACKED_WIDTH + 1) * distance : next);
}

/* Lane indices for SHUFFLE in one step of a transposition, for two rows at distance @d. FROM_FIRST makes the new first
 * row, FROM_SECOND the new second row. */
#define FROM_FIRST(i, d) ((i & d) != 0 ? i - d + LANES : i)
#define FROM_SECOND(i, d) ((i & d) != 0 ? i + LANES : i + d)

static inline __attribute__ ((always_inline)) void
transpose_square (Vector *square)
{
#define EXCHANGE(distance)                                                                                             \
  UNROLL                                                                                                               \
  for (gint64 i = 0; i < VECTOR_LENGTH; i++)                                                                           \
    if ((i & distance) == 0)                                                                                           \
      {                                                                                                                \
        Vector first = square[i], second = square[i + distance];                                                       \
                                                                                                                       \
        square[i] = SHUFFLE (first, second, FROM_FIRST, distance);                                                     \
        square[i + distance] = SHUFFLE (first, second, FROM_SECOND, distance);                                         \
      }
  EACH_DISTANCE (EXCHANGE)
#undef EXCHANGE
}

void
KERNEL (transpose) (PlaitScalar *to, gint64 to_stride, gint64 padded, const PlaitScalar *from, gint64 from_stride,
                    gint64 rows, gint64 columns)
{
  for (gint64 i = 0; i < padded; i += VECTOR_LENGTH)
    for (gint64 j = 0; j < columns; j += VECTOR_LENGTH)
      {
        Vector square[VECTOR_BYTES / sizeof (PlaitScalar)];
        gint64 high = CLAMP (rows - i, 0, VECTOR_LENGTH), wide = MIN (columns - j, VECTOR_LENGTH);
        gint64 into = MIN (padded - i, VECTOR_LENGTH);
        const PlaitScalar *corner = from + i * from_stride + j;
        PlaitScalar *target = to + j * to_stride + i;

        if (wide == VECTOR_LENGTH && into == VECTOR_LENGTH)
          {
            UNROLL
            for (gint64 k = 0; k < VECTOR_LENGTH; k++)
              square[k] = k < high ? vector_load (corner + k * from_stride) : (Vector){ 0 };
            transpose_square (square);
            UNROLL
            for (gint64 k = 0; k < VECTOR_LENGTH; k++)
              vector_store (target + k * to_stride, square[k]);
            continue;
          }
        for (gint64 k = 0; k < VECTOR_LENGTH; k++)
          square[k] = k < high ? vector_load_partial (corner + k * from_stride, wide, 0) : (Vector){ 0 };
        transpose_square (square);
        for (gint64 k = 0; k < wide; k++)
          vector_store_partial (target + k * to_stride, square[k], into);
      }
}
