/* SPDX-License-Identifier: MIT */
#include "kernels/bfloat16.h"

#include <string.h>

#include "kernels/kernels.h"

#ifdef __x86_64__
#include <xmmintrin.h>
#endif

/* Emulation of products in bfloat16, for processors without bfloat16 instructions and as a reference in tests. */

#define MIN_NORMAL 0x00800000u
#define SIGN 0x80000000u
#define INFINITE 0x7f800000u
#define QUIET 0x00400000u

/* Returns @x rounded to bfloat16, in the upper half of the result. */
static guint32
rounded (PlaitScalar x)
{
  float number = (float)x;
  guint32 bits, magnitude;

  memcpy (&bits, &number, sizeof bits);
  magnitude = bits & ~SIGN;
  if (magnitude > INFINITE)
    bits |= QUIET;
  else if (magnitude < MIN_NORMAL)
    bits &= SIGN;
  else
    bits += 0x7fff + (bits >> 16 & 1);
  return bits & 0xffff0000u;
}

static void
round_along (PlaitBfloat16Pair *to, const PlaitScalar *x, gint64 n)
{
  for (gint64 i = 0; i < n; i += 2)
    to[i / 2] = rounded (x[i]) >> 16 | (i + 1 < n ? rounded (x[i + 1]) : 0);
}

static void
round_across (PlaitBfloat16Pair *to, const PlaitScalar *first, const PlaitScalar *second, gint64 n)
{
  for (gint64 i = 0; i < n; i++)
    to[i] = rounded (first[i]) >> 16 | (second ? rounded (second[i]) : 0);
}

static PlaitScalar
value_of (guint32 upper_half)
{
  float value;

  memcpy (&value, &upper_half, sizeof value);
  return (PlaitScalar)value;
}

/* Makes this thread round subnormal sums to zero (x86-64 only). Returns the previous mode for flush_as_before. */
static guint
flush (void)
{
#ifdef __x86_64__
  guint before = _mm_getcsr ();

  _mm_setcsr (before | _MM_FLUSH_ZERO_ON);
  return before;
#else
  return 0;
#endif
}

static void
flush_as_before (guint before)
{
#ifdef __x86_64__
  _mm_setcsr (before);
#endif
}

/* Number of rows that are multiplied at once. */
#define ROWS 48

/* Unpacks the factors to scalars and multiplies them. The second bfloat16 of each pair comes first, because the
 * instruction adds its product first. */
static void
multiply (const PlaitBfloat16Panel *panel)
{
  gint64 depth = 2 * panel->bfloat16_pairs, width = PLAIT_BFLOAT16_WIDTH, n;
  PlaitScalar *columns = g_new (PlaitScalar, (width + ROWS) * depth + ROWS * width);
  PlaitScalar *x = columns + width * depth, *sums = x + ROWS * depth;

  for (gint64 k = 0; k < panel->bfloat16_pairs; k++)
    for (gint64 j = 0; j < width; j++)
      {
        PlaitBfloat16Pair bfloat16_pairs = panel->panel[k * width + j];

        columns[2 * k * width + j] = value_of (bfloat16_pairs & 0xffff0000u);
        columns[(2 * k + 1) * width + j] = value_of (bfloat16_pairs << 16);
      }
  for (gint64 first = 0; first < panel->rows; first += n)
    {
      guint before;

      n = MIN (ROWS, panel->rows - first);
      for (gint64 i = 0; i < n; i++)
        for (gint64 k = 0; k < panel->bfloat16_pairs; k++)
          {
            PlaitBfloat16Pair bfloat16_pairs = panel->x[(first + i) * panel->row + k * panel->step];

            x[i * depth + 2 * k] = value_of (bfloat16_pairs & 0xffff0000u);
            x[i * depth + 2 * k + 1] = value_of (bfloat16_pairs << 16);
          }
      before = flush ();
      plait_kernels ()->multiply (n, panel->width, depth, x, depth, 1, columns, width, sums, width, FALSE);
      flush_as_before (before);
      for (gint64 i = 0; i < n; i++)
        for (gint64 j = 0; j < panel->width; j++)
          {
            PlaitScalar *y = panel->y + (first + i) * panel->y_stride + j;

            *y = panel->add ? *y + sums[i * width + j] : sums[i * width + j];
          }
    }
  g_free (columns);
}

const PlaitBfloat16Kernels plait_bfloat16_emulation
    = { .multiply = multiply, .round_along = round_along, .round_across = round_across };
