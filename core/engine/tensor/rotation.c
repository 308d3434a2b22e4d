/* SPDX-License-Identifier: MIT */
#include "tensor/rotation.h"

#include <math.h>

#include "tensor/element-ranges.h"

void
plait_rotation_fill (PlaitRotation *rotation, double base)
{
  PlaitTensor angles = rotation->angles;
  gint64 pairs = angles.width / 2;

  for (gint64 i = 0; i < pairs; i++)
    {
      double frequency = pow (base, (double)(-2 * i) / (double)angles.width);

      for (gint64 row = 0; row < angles.rows; row++)
        {
          double angle = (double)(rotation->first + row) * frequency;

          plait_tensor_row (angles, row)[i] = (PlaitScalar)cos (angle);
          plait_tensor_row (angles, row)[pairs + i] = (PlaitScalar)sin (angle);
        }
    }
}

typedef struct
{
  PlaitTensor y;
  PlaitScalar beta;
  PlaitScalar sign;
  PlaitTensor x;
  const PlaitRotation *rotation;
  gint64 rows_in_piece;
} Call;

static void
rotate_piece (gpointer data, gint64 piece, guint thread)
{
  const Call *call = data;
  const PlaitRotation *rotation = call->rotation;
  gint64 pairs = rotation->angles.width / 2, end = MIN ((piece + 1) * call->rows_in_piece, call->y.rows);

  for (gint64 row = piece * call->rows_in_piece; row < end; row++)
    {
      const PlaitScalar *angles = plait_tensor_row (rotation->angles, rotation->positions[row] - rotation->first);

      plait_kernels ()->rotate (plait_tensor_row (call->y, row), call->beta, call->sign,
                                plait_tensor_row (call->x, row), angles, angles + pairs, rotation->heads, pairs);
    }
}

void
plait_rotate_rows (PlaitPool *pool, PlaitTensor y, PlaitScalar beta, PlaitTensor x, const PlaitRotation *rotation,
                   gboolean backward)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_ROWS);
  Call call = { y, beta, backward ? -1 : 1, x, rotation, MAX (1, plait_range_elements (y.rows * y.width) / y.width) };

  plait_pool_run (pool, (y.rows + call.rows_in_piece - 1) / call.rows_in_piece, rotate_piece, &call);
}
