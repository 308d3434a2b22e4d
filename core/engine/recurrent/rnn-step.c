/* SPDX-License-Identifier: MIT */
#include "recurrent/rnn-step.h"

#include "tensor/product.h"

/* Waking a thread costs more than computing fewer elements than this. */
#define PIECE_ELEMENTS 2048

typedef struct
{
  const PlaitRnnStep *step;
  gint64 pieces;
  PlaitCellKernel kernel;
  gint64 width;
  PlaitRnnStepRow row;
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
plait_rnn_step_run (const PlaitRnnStep *step, PlaitCellKernel kernel, gint64 width, gint64 elements,
                    PlaitRnnStepRow row, gconstpointer data)
{
  Rows rows = { step, CLAMP (step->rows * elements / PIECE_ELEMENTS, 1, step->rows), kernel, width, row, data };

  plait_pool_run (step->pool, rows.pieces, rows_piece, &rows);
}

void
plait_rnn_step_multiply (const PlaitRnnStep *step, PlaitTensor y, PlaitTensor x, const PlaitRnnWeight *factor,
                         const PlaitScalar *bias)
{
  plait_linear_forward (step->pool, y, x, factor->weight, factor->packed, factor->precision, bias,
                        PLAIT_ACTIVATION_NONE, NULL);
}

void
plait_rnn_step_multiply_backward (const PlaitRnnStep *step, PlaitTensor dx, gboolean add, PlaitTensor dy,
                                  const PlaitRnnWeight *factor)
{
  PlaitLinearBackward work = { .dz = dy,
                               .weight = factor->weight,
                               .packed = factor->packed,
                               .precision = factor->precision,
                               .dx = dx,
                               .dx_beta = add ? 1 : 0 };

  plait_linear_backward (step->pool, &work);
}
