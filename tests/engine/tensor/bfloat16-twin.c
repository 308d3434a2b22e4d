/* SPDX-License-Identifier: MIT */
#include "bfloat16-twin.h"

#include <float.h>
#include <math.h>
#include <string.h>

float
float_of (guint32 bits)
{
  float value;

  memcpy (&value, &bits, sizeof value);
  return value;
}

static guint32
bits_of (float value)
{
  guint32 bits;

  memcpy (&bits, &value, sizeof bits);
  return bits;
}

guint16
slow_round (float x)
{
  guint16 below = (guint16)(bits_of (x) >> 16);
  double to_below, to_above;

  if (isnan (x))
    return below | 0x40;
  if (isinf (x))
    return below;
  if (fabs ((double)x) < (double)FLT_MIN)
    return below & 0x8000;
  to_below = fabs ((double)x - (double)float_of ((guint32)below << 16));
  /* The step above the largest finite bfloat16 is infinity. */
  to_above = (below & 0x7f80) == 0x7f80 ? INFINITY : fabs (ldexp (1, (below >> 7 & 0xff) - 127 - 7)) - to_below;
  if (to_below == to_above)
    return below & 1 ? below + 1 : below;
  return to_below < to_above ? below : below + 1;
}

PlaitTensor
rounded (Trial *trial, PlaitTensor tensor)
{
  PlaitTensor copy = trial_copy (trial, tensor);

  for (gint64 i = 0; i < copy.rows; i++)
    for (gint64 j = 0; j < copy.width; j++)
      {
        PlaitScalar *at = plait_tensor_row (copy, i) + j;

        *at = (PlaitScalar)float_of ((guint32)slow_round ((float)*at) << 16);
      }
  return copy;
}

void
check_same (PlaitTensor found, PlaitTensor expected)
{
  for (gint64 i = 0; i < found.rows; i++)
    CHECK (
        memcmp (plait_tensor_row (found, i), plait_tensor_row (expected, i), sizeof (PlaitScalar) * (gsize)found.width)
        == 0);
}

void
check_twin (Trial *trial, PlaitTensor found, PlaitTensor expected)
{
  for (gint64 i = 0; i < found.rows; i++)
    trial_digest (trial, plait_tensor_row (found, i), sizeof (PlaitScalar) * (gsize)found.width);
  if (trial_compares ())
    check_same (found, expected);
}

void
check_within (PlaitTensor found, PlaitTensor expected, double part_of_greatest)
{
  double greatest = 0;

  for (gint64 i = 0; i < found.rows; i++)
    for (gint64 j = 0; j < found.width; j++)
      greatest = MAX (greatest, fabs ((double)plait_tensor_row (expected, i)[j]));
  for (gint64 i = 0; i < found.rows; i++)
    for (gint64 j = 0; j < found.width; j++)
      CHECK_NEAR (plait_tensor_row (found, i)[j], plait_tensor_row (expected, i)[j], greatest * part_of_greatest);
}
