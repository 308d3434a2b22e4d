/* SPDX-License-Identifier: MIT */
#include "recurrent/step.h"

#include "tensor/product.h"

/* Elements that are worth a piece. */
#define PIECE_ELEMENTS 2048

typedef struct
{
  const PlaitStep *step;
  gint64 pieces;
  PlaitCellKernel kernel;
  gint64 width;
  PlaitStepRow row;
  gconstpointer data;
} Rows;

static void
rows_piece (gpointer data, gint64 piece, guint thread)
{
  const Rows *rows = data;
  gint64 n = rows->step->rows;

  for (gint64 i = n * piece / rows->pieces; i < n * (piece + 1) / rows->pieces; i++)
    {
      PlaitCellRow row = rows->row (rows->data, i);

      rows->kernel (&row, rows->width);
    }
}

void
plait_step_run (const PlaitStep *step, PlaitCellKernel kernel, gint64 width, gint64 elements, PlaitStepRow row,
                gconstpointer data)
{
  Rows rows = { step, CLAMP (step->rows * elements / PIECE_ELEMENTS, 1, step->rows), kernel, width, row, data };

  plait_pool_run (step->pool, rows.pieces, rows_piece, &rows);
}

void
plait_step_multiply (const PlaitStep *step, PlaitTensor y, PlaitTensor x, const PlaitStepFactor *factor,
                     const PlaitScalar *bias)
{
  plait_linear_forward (step->pool, y, x, factor->weight, factor->packed, factor->precision, bias,
                        PLAIT_ACTIVATION_NONE, NULL);
}

void
plait_step_multiply_back (const PlaitStep *step, PlaitTensor dx, gboolean add, PlaitTensor dy,
                          const PlaitStepFactor *factor)
{
  PlaitLinearBackward work = { .dz = dy,
                               .weight = factor->weight,
                               .packed = factor->packed,
                               .precision = factor->precision,
                               .dx = dx,
                               .dx_beta = add ? 1 : 0 };

  plait_linear_backward (step->pool, &work);
}
