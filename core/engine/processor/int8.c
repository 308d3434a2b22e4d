/* SPDX-License-Identifier: MIT */
#include "processor/int8.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

/* A register tile has ROWS x VECTORS vectors of sums. These vectors, VECTORS vectors of the right factor and 1 vector
 * of the left factor need 29 of the 32 registers. */
#define ROWS 6
#define VECTORS 4
#define LANES 16

G_STATIC_ASSERT (VECTORS *LANES == PLAIT_INT8_WIDTH);

#define UNROLL _Pragma ("GCC unroll 16")

/* The bits of a scalar as an integer. Without the sign bit, these integers are in the order of the magnitudes. */
#ifdef PLAIT_SCALAR_DOUBLE
typedef gint64 __attribute__ ((may_alias)) Bits;
#define MAGNITUDE G_MAXINT64
#define ROUND rint
#define MIN_MAGNITUDE 1e-300
#else
typedef gint32 __attribute__ ((may_alias)) Bits;
#define MAGNITUDE G_MAXINT32
#define ROUND rintf
#define MIN_MAGNITUDE 1e-35f
#endif

/* Writes sums [rows][PLAIT_INT8_WIDTH] of the products of bytes. @rows must be a constant. */
static inline __attribute__ ((always_inline)) void
tile (const int rows, const PlaitInt8Panel *panel, const gint8 *x, gint32 *sums)
{
  __m512i sum[ROWS][VECTORS];

  UNROLL
  for (int r = 0; r < rows; r++)
    UNROLL
  for (int v = 0; v < VECTORS; v++)
    sum[r][v] = _mm512_setzero_si512 ();
  for (gint64 g = 0; g < panel->groups; g++)
    {
      const guint8 *columns = panel->panel + g * PLAIT_INT8_WIDTH * PLAIT_INT8_GROUP;
      __m512i of[VECTORS];

      UNROLL
      for (int v = 0; v < VECTORS; v++)
        of[v] = _mm512_loadu_si512 (columns + v * LANES * PLAIT_INT8_GROUP);
      UNROLL
      for (int r = 0; r < rows; r++)
        {
          gint32 group;

          memcpy (&group, x + r * panel->x_stride + g * PLAIT_INT8_GROUP, sizeof group);
          UNROLL
          for (int v = 0; v < VECTORS; v++)
            sum[r][v] = _mm512_dpbusd_epi32 (sum[r][v], of[v], _mm512_set1_epi32 (group));
        }
    }
  UNROLL
  for (int r = 0; r < rows; r++)
    UNROLL
  for (int v = 0; v < VECTORS; v++)
    _mm512_storeu_si512 (sums + r * PLAIT_INT8_WIDTH + v * LANES, sum[r][v]);
}

#define TILE(rows)                                                                                                     \
  static void tile_##rows (const PlaitInt8Panel *panel, const gint8 *x, gint32 *sums)                                  \
  {                                                                                                                    \
    tile (rows, panel, x, sums);                                                                                       \
  }
#define ENTRY(rows) [rows] = tile_##rows,
#define EACH_HEIGHT(T) T (1) T (2) T (3) T (4) T (5) T (6)

EACH_HEIGHT (TILE)
static void (*const tiles[ROWS + 1]) (const PlaitInt8Panel *panel, const gint8 *x, gint32 *sums)
    = { EACH_HEIGHT (ENTRY) };

static void
multiply (const PlaitInt8Panel *panel)
{
  gint64 tiles_left = (panel->rows + ROWS - 1) / ROWS;

  for (gint64 i = 0, n; i < panel->rows; i += n, tiles_left--)
    {
      const gint8 *x = panel->x + i * panel->x_stride;
      gint32 sums[ROWS * PLAIT_INT8_WIDTH];

      /* Make all tiles about equally high. */
      n = (panel->rows - i + tiles_left - 1) / tiles_left;
      tiles[n](panel, x, sums);
      for (gint64 r = 0; r < n; r++)
        {
          gint32 middle = PLAIT_INT8_ZERO_POINT * panel->row_sums[i + r];
          PlaitScalar scale = panel->row_scales[i + r], *y = panel->y + (i + r) * panel->y_stride;
          const gint32 *sum = sums + r * PLAIT_INT8_WIDTH;

          if (panel->add)
            for (gint64 j = 0; j < panel->width; j++)
              y[j] += scale * panel->scales[j] * (PlaitScalar)(sum[j] - middle);
          else
            for (gint64 j = 0; j < panel->width; j++)
              y[j] = scale * panel->scales[j] * (PlaitScalar)(sum[j] - middle);
        }
    }
}

static gint32
quantise (gint8 *to, gint64 padded, PlaitScalar *scale, const PlaitScalar *x, gint64 n)
{
  const Bits *bits = (const Bits *)x;
  Bits most = 0;
  PlaitScalar greatest, factor;
  gint32 sum = 0;

  for (gint64 i = 0; i < n; i++)
    {
      Bits magnitude = bits[i] & MAGNITUDE;

      most = magnitude > most ? magnitude : most;
    }
  memcpy (&greatest, &most, sizeof greatest);
  if (!isfinite (greatest))
    {
      *scale = (PlaitScalar)NAN;
      memset (to, 0, (gsize)padded);
      return 0;
    }
  /* If all values of a row are tiny, all its bytes are 0, because the quotient could be infinite. */
  factor = greatest > MIN_MAGNITUDE ? PLAIT_INT8_MAX / greatest : 0;
  *scale = greatest > MIN_MAGNITUDE ? greatest / PLAIT_INT8_MAX : 0;
  for (gint64 i = 0; i < n; i++)
    {
      gint32 byte = (gint32)ROUND (x[i] * factor);

      to[i] = (gint8)byte;
      sum += byte;
    }
  memset (to + n, 0, (gsize)(padded - n));
  return sum;
}

const PlaitInt8Kernels plait_vnni_kernels = { .multiply = multiply, .quantise = quantise };
