/* SPDX-License-Identifier: MIT */
#include "tensor/norm.h"

#include <string.h>

#include "tensor/element-ranges.h"

typedef struct
{
  const PlaitKernels *kernels;
  PlaitTensor y;
  PlaitTensor x;
  const PlaitScalar *gain;
  const PlaitScalar *bias;
  PlaitScalar epsilon;
  PlaitScalar *mean;
  PlaitScalar *inverse;
  gint64 rows_in_piece;
  /* Backward only. */
  PlaitTensor dx;
  PlaitScalar dx_beta;
  PlaitTensor dy;
  const PlaitScalar *means;
  const PlaitScalar *inverses;
  PlaitScalar *partial; /* gradients of gain and bias, summed within each piece: [pieces][2][width] */
} Norm;

/* Sets norm->rows_in_piece, and returns the number of pieces of rows: at most 64, so that adding their partial sums
 * stays cheap. */
static gint64
pieces_of (Norm *norm)
{
  gint64 most = plait_range_elements (norm->x.rows * norm->x.width);

  norm->rows_in_piece = MAX (MAX (1, most / norm->x.width), (norm->x.rows + 63) / 64);
  return (norm->x.rows + norm->rows_in_piece - 1) / norm->rows_in_piece;
}

static void
forward_piece (gpointer data, gint64 piece, guint thread)
{
  const Norm *norm = data;

  for (gint64 row = piece * norm->rows_in_piece; row < MIN ((piece + 1) * norm->rows_in_piece, norm->x.rows); row++)
    norm->kernels->layer_norm (plait_tensor_row (norm->y, row), plait_tensor_row (norm->x, row), norm->gain, norm->bias,
                               norm->x.width, norm->epsilon, norm->mean ? norm->mean + row : NULL,
                               norm->inverse ? norm->inverse + row : NULL);
}

void
plait_layer_norm_forward (PlaitPool *pool, PlaitTensor y, PlaitTensor x, const PlaitScalar *gain,
                          const PlaitScalar *bias, double epsilon, PlaitScalar *mean, PlaitScalar *inverse)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_ROWS);
  Norm norm = { .kernels = plait_kernels (),
                .y = y,
                .x = x,
                .gain = gain,
                .bias = bias,
                .epsilon = (PlaitScalar)epsilon,
                .mean = mean,
                .inverse = inverse };

  plait_pool_run (pool, pieces_of (&norm), forward_piece, &norm);
}

static void
backward_piece (gpointer data, gint64 piece, guint thread)
{
  const Norm *norm = data;
  gint64 width = norm->x.width;
  PlaitScalar *dgain = norm->partial + piece * 2 * width;

  memset (dgain, 0, sizeof (PlaitScalar) * 2 * (gsize)width);
  for (gint64 row = piece * norm->rows_in_piece; row < MIN ((piece + 1) * norm->rows_in_piece, norm->x.rows); row++)
    norm->kernels->layer_norm_backward (norm->dx.data ? plait_tensor_row (norm->dx, row) : NULL, norm->dx_beta, dgain,
                                        dgain + width, plait_tensor_row (norm->dy, row),
                                        plait_tensor_row (norm->x, row), norm->gain, width, norm->means[row],
                                        norm->inverses[row]);
}

/* Computes sum = beta * sum + the partial sums of the pieces, in order. */
static void
add_up (const Norm *norm, PlaitTensor sum, PlaitScalar beta, const PlaitScalar *partial, gint64 pieces)
{
  gint64 width = norm->x.width;

  if (!sum.data)
    return;
  if (beta == 0)
    memset (sum.data, 0, sizeof (PlaitScalar) * (gsize)width);
  for (gint64 piece = 0; piece < pieces; piece++)
    norm->kernels->accumulate (sum.data, 1, 1, partial + piece * 2 * width, width);
}

void
plait_layer_norm_backward (PlaitPool *pool, PlaitArena *arena, PlaitTensor dx, PlaitScalar dx_beta, PlaitTensor dgain,
                           PlaitScalar dgain_beta, PlaitTensor dbias, PlaitScalar dbias_beta, PlaitTensor dy,
                           PlaitTensor x, const PlaitScalar *gain, const PlaitScalar *mean, const PlaitScalar *inverse)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_ROWS);
  Norm norm = { .kernels = plait_kernels (),
                .x = x,
                .gain = gain,
                .dx = dx,
                .dx_beta = dx_beta,
                .dy = dy,
                .means = mean,
                .inverses = inverse };
  gint64 pieces = pieces_of (&norm);
  gsize bytes = sizeof (PlaitScalar) * 2 * (gsize)(pieces * x.width);

  norm.partial = plait_arena_allocate (arena, MAX (bytes, 1));
  plait_pool_run (pool, pieces, backward_piece, &norm);
  add_up (&norm, dgain, dgain_beta, norm.partial, pieces);
  add_up (&norm, dbias, dbias_beta, norm.partial + x.width, pieces);
  plait_arena_release (arena, norm.partial, MAX (bytes, 1));
}
