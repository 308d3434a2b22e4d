/* SPDX-License-Identifier: MIT */
#include "tensor/kernels/tile.h"

#include "tensor/kernels/variant.h"

#define TILE(rows, vectors)                                                                                            \
  static void tile_##rows##_##vectors (TILE_ARGUMENTS)                                                                 \
  {                                                                                                                    \
    tile (rows, vectors, FALSE, depth, a, row, step, b, b_stride, c, c_stride, last, add, NULL, 0);                    \
  }
#define FETCHING_TILE(rows, vectors)                                                                                   \
  static void fetching_##rows##_##vectors (TILE_ARGUMENTS)                                                             \
  {                                                                                                                    \
    tile (rows, vectors, TRUE, depth, a, row, step, b, b_stride, c, c_stride, last, add, ahead, ahead_step);           \
  }
#define ROWS_1_TO_6(T, v) T (1, v) T (2, v) T (3, v) T (4, v) T (5, v) T (6, v)
#define ROWS_7_TO_8(T, v) T (7, v) T (8, v)
#define ROWS_9_TO_12(T, v) T (9, v) T (10, v) T (11, v) T (12, v)

#define ENTRY(rows, vectors) [rows] = tile_##rows##_##vectors,
#define FETCHING_ENTRY(rows, vectors) [rows] = fetching_##rows##_##vectors,

#if TILE_VECTORS == 4
ROWS_1_TO_6 (TILE, 1)
ROWS_7_TO_8 (TILE, 1)
ROWS_9_TO_12 (TILE, 1)
ROWS_1_TO_6 (TILE, 2)
ROWS_7_TO_8 (TILE, 2)
ROWS_9_TO_12 (TILE, 2)
ROWS_1_TO_6 (TILE, 3)
ROWS_7_TO_8 (TILE, 3)
ROWS_1_TO_6 (TILE, 4)
static const Tile tiles[TILE_VECTORS + 1][TILE_MOST_ROWS + 1] = {
  [1] = { ROWS_1_TO_6 (ENTRY, 1) ROWS_7_TO_8 (ENTRY, 1) ROWS_9_TO_12 (ENTRY, 1) },
  [2] = { ROWS_1_TO_6 (ENTRY, 2) ROWS_7_TO_8 (ENTRY, 2) ROWS_9_TO_12 (ENTRY, 2) },
  [3] = { ROWS_1_TO_6 (ENTRY, 3) ROWS_7_TO_8 (ENTRY, 3) },
  [4] = { ROWS_1_TO_6 (ENTRY, 4) },
};
ROWS_1_TO_6 (FETCHING_TILE, 4)
static const Tile fetching_tiles[] = { ROWS_1_TO_6 (FETCHING_ENTRY, 4) };
#else
ROWS_1_TO_6 (TILE, 1)
ROWS_7_TO_8 (TILE, 1)
ROWS_1_TO_6 (TILE, 2)
static const Tile tiles[TILE_VECTORS + 1][TILE_MOST_ROWS + 1] = {
  [1] = { ROWS_1_TO_6 (ENTRY, 1) ROWS_7_TO_8 (ENTRY, 1) },
  [2] = { ROWS_1_TO_6 (ENTRY, 2) },
};
ROWS_1_TO_6 (FETCHING_TILE, 2)
static const Tile fetching_tiles[] = { ROWS_1_TO_6 (FETCHING_ENTRY, 2) };
#endif

#define LINE_BYTES 64 /* of the cache */
#define PANEL_ROW_BYTES (TILE_WIDTH * (gint64)sizeof (PlaitScalar))

/* One column panel of c, at most TILE_WIDTH wide. */
static void
multiply_panel (gint64 rows, gint64 width, gint64 depth, const PlaitScalar *a, gint64 row, gint64 step,
                const PlaitScalar *b, gint64 b_stride, PlaitScalar *c, gint64 c_stride, gboolean add,
                const PlaitScalar *next)
{
  gint64 vectors = (width + VECTOR_LENGTH - 1) / VECTOR_LENGTH, last = width - (vectors - 1) * VECTOR_LENGTH;
  gint64 tiles_left = (rows + tile_rows[vectors] - 1) / tile_rows[vectors];

  for (gint64 i = 0; i < rows; tiles_left--)
    {
      /* Tiles of about the same height: a last one of one row would wait for its own sums. */
      gint64 n = (rows - i + tiles_left - 1) / tiles_left;
      const PlaitScalar *left = a + i * row;
      PlaitScalar *to = c + i * c_stride;

      /* Each tile fetches its share of the next panel. */
      if (next && vectors == TILE_VECTORS)
        fetching_tiles[n](depth, left, row, step, b, b_stride, to, c_stride, last, add,
                          (const char *)(next + TILE_WIDTH * depth * i / rows),
                          MIN (LINE_BYTES, PANEL_ROW_BYTES * n / rows));
      else
        tiles[vectors][n](depth, left, row, step, b, b_stride, to, c_stride, last, add, NULL, 0);
      i += n;
    }
}

void
KERNEL (multiply) (gint64 rows, gint64 width, gint64 depth, const PlaitScalar *a, gint64 row, gint64 step,
                   const PlaitScalar *b, gint64 b_stride, PlaitScalar *c, gint64 c_stride, gboolean add,
                   const PlaitScalar *next)
{
  for (gint64 j = 0; j < width; j += TILE_WIDTH)
    multiply_panel (rows, MIN (TILE_WIDTH, width - j), depth, a, row, step, b + j, b_stride, c + j, c_stride, add,
                    next);
}

/* The lanes of a step of a transposition in the first and in the second of two rows that are @d apart: what stays, and
 * what comes from the other row. */
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
          square[k] = k < high ? vector_load_part (corner + k * from_stride, wide, 0) : (Vector){ 0 };
        transpose_square (square);
        for (gint64 k = 0; k < wide; k++)
          vector_store_part (target + k * to_stride, square[k], into);
      }
}
