/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/pool.h"
#include "kernels/kernels.h"
#include "tensor/packed.h"

/*
 * One step of a recurrence, forward or backward, for the rows of a bundle of sentences. A tensor called collected has
 * the rows of all steps, one step after another, so that one product gives the gradient of a weight.
 */
typedef struct
{
  PlaitPool *pool;
  gint64 first; /* first row of the step in collected tensors */
  gint64 rows;
} PlaitRnnStep;

/* A weight that every step of a recurrence multiplies by. @packed is NULL or holds the packed panels of @weight (for
 * backward, of its transpose), with elements of type @precision. */
typedef struct
{
  PlaitTensor weight;
  const PlaitPacked *packed;
  PlaitPrecision precision;
  PlaitPacked *own; /* the panels in @packed if they were made for these steps only and must be freed, or NULL */
} PlaitRnnWeight;

/* Returns the inputs and outputs of a cell kernel for row @i of a step. */
typedef PlaitCellRow (*PlaitRnnStepRow) (gconstpointer data, gint64 i);

/* Calls @kernel for each row of @step. @width: the cell's width. @elements: cost of one row in elements, from which the
 * number of threads follows. */
void plait_rnn_step_run (const PlaitRnnStep *step, PlaitCellKernel kernel, gint64 width, gint64 elements,
                         PlaitRnnStepRow row, gconstpointer data);

/* Returns columns @first .. @first + @width - 1 of the step's rows of @collected, as a view. */
static inline PlaitTensor
plait_rnn_step_columns (const PlaitRnnStep *step, PlaitTensor collected, gint64 first, gint64 width)
{
  return plait_tensor_columns (plait_tensor_rows (collected, step->first, step->rows), first, width);
}

/* Computes y = x W + bias for the step's rows, where @factor is W. @bias may be NULL. */
void plait_rnn_step_multiply (const PlaitRnnStep *step, PlaitTensor y, PlaitTensor x, const PlaitRnnWeight *factor,
                              const PlaitScalar *bias);

/* Computes dx = dy W^T, or dx += dy W^T if @add, where @factor is W. */
void plait_rnn_step_multiply_backward (const PlaitRnnStep *step, PlaitTensor dx, gboolean add, PlaitTensor dy,
                                       const PlaitRnnWeight *factor);

/* Returns row @row of @tensor, or NULL if @tensor has no data. */
static inline PlaitScalar *
plait_rnn_step_row (PlaitTensor tensor, gint64 row)
{
  return !tensor.data ? NULL : plait_tensor_row (tensor, row);
}
