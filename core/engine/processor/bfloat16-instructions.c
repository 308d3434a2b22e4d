/* SPDX-License-Identifier: MIT */
#include "kernels/bfloat16.h"

#include <immintrin.h>

/* A register tile has ROWS x VECTORS vectors of sums. These vectors, VECTORS vectors of the right factor and 1 vector
 * of the left factor need 29 of the 32 registers. */
#define ROWS 6
#define VECTORS 4
#define LANES 16

G_STATIC_ASSERT (VECTORS *LANES == PLAIT_BFLOAT16_WIDTH);

#define UNROLL _Pragma ("GCC unroll 16")

/* Returns the mask of the first @n lanes; @n may be negative or greater than LANES. */
static inline __mmask16
lanes (gint64 n)
{
  return (__mmask16)((1u << CLAMP (n, 0, LANES)) - 1);
}

static inline __attribute__ ((always_inline)) void
tile (const int rows, const PlaitBfloat16Panel *panel, const PlaitBfloat16Pair *x, PlaitScalar *y)
{
  const PlaitBfloat16Pair *columns = panel->panel;
  __m512 sum[ROWS][VECTORS];

  UNROLL
  for (int r = 0; r < rows; r++)
    UNROLL
  for (int v = 0; v < VECTORS; v++)
    sum[r][v] = _mm512_setzero_ps ();
  for (gint64 k = 0; k < panel->bfloat16_pairs; k++)
    {
      __m512bh of[VECTORS];

      UNROLL
      for (int v = 0; v < VECTORS; v++)
        of[v] = (__m512bh)_mm512_loadu_si512 (columns + v * LANES);
      UNROLL
      for (int r = 0; r < rows; r++)
        {
          __m512bh both = (__m512bh)_mm512_set1_epi32 ((int)x[r * panel->row]);

          UNROLL
          for (int v = 0; v < VECTORS; v++)
            sum[r][v] = _mm512_dpbf16_ps (sum[r][v], both, of[v]);
        }
      columns += PLAIT_BFLOAT16_WIDTH;
      x += panel->step;
    }
  UNROLL
  for (int r = 0; r < rows; r++)
    UNROLL
  for (int v = 0; v < VECTORS; v++)
    {
      __mmask16 mask = lanes (panel->width - v * LANES);
      PlaitScalar *to = y + r * panel->y_stride + v * LANES;
      __m512 value = sum[r][v];

      if (panel->add)
        value = _mm512_add_ps (_mm512_maskz_loadu_ps (mask, to), value);
      _mm512_mask_storeu_ps (to, mask, value);
    }
}

#define TILE(rows)                                                                                                     \
  static void tile_##rows (const PlaitBfloat16Panel *panel, const PlaitBfloat16Pair *x, PlaitScalar *y)                \
  {                                                                                                                    \
    tile (rows, panel, x, y);                                                                                          \
  }
#define ENTRY(rows) [rows] = tile_##rows,
#define EACH_HEIGHT(T) T (1) T (2) T (3) T (4) T (5) T (6)

EACH_HEIGHT (TILE)
static void (*const tiles[ROWS + 1]) (const PlaitBfloat16Panel *panel, const PlaitBfloat16Pair *x, PlaitScalar *y)
    = { EACH_HEIGHT (ENTRY) };

static void
multiply (const PlaitBfloat16Panel *panel)
{
  gint64 tiles_left = (panel->rows + ROWS - 1) / ROWS;

  for (gint64 i = 0, n; i < panel->rows; i += n, tiles_left--)
    {
      /* Make all tiles about equally high. */
      n = (panel->rows - i + tiles_left - 1) / tiles_left;
      tiles[n](panel, panel->x + i * panel->row, panel->y + i * panel->y_stride);
    }
}

static inline __m512i
rounded (__m512 first, __m512 second)
{
  return (__m512i)_mm512_cvtne2ps_pbh (second, first);
}

static void
round_along (PlaitBfloat16Pair *to, const PlaitScalar *x, gint64 n)
{
  for (gint64 i = 0; i < n; i += 2 * LANES)
    {
      __m512 first = _mm512_maskz_loadu_ps (lanes (n - i), x + i);
      __m512 second = _mm512_maskz_loadu_ps (lanes (n - i - LANES), x + i + LANES);

      _mm512_mask_storeu_epi32 (to + i / 2, lanes (plait_bfloat16_pairs (n - i)), rounded (first, second));
    }
}

static void
round_across (PlaitBfloat16Pair *to, const PlaitScalar *first, const PlaitScalar *second, gint64 n)
{
  const __m512i both = _mm512_set_epi16 (31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6, 21,
                                         5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);

  for (gint64 i = 0; i < n; i += LANES)
    {
      __mmask16 mask = lanes (n - i);
      __m512 below = second ? _mm512_maskz_loadu_ps (mask, second + i) : _mm512_setzero_ps ();
      __m512i apart = rounded (_mm512_maskz_loadu_ps (mask, first + i), below);

      _mm512_mask_storeu_epi32 (to + i, mask, _mm512_permutexvar_epi16 (both, apart));
    }
}

const PlaitBfloat16Kernels plait_bfloat16_instructions
    = { .multiply = multiply, .round_along = round_along, .round_across = round_across };
