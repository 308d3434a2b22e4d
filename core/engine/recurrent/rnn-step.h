/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/pool.h"
#include "kernels/kernels.h"
#include "tensor/packed.h"

/*
 * One step of a recurrence, forward or back: the rows of a bundle of sentences that are computed at once. What is
 * collected for the gradients of weights stands step after step.
 */
typedef struct
{
  PlaitPool *pool;
  gint64 first; /* collected row of the first */
  gint64 rows;
} PlaitRnnStep;

/* A factor of all steps. @packed is NULL or holds @weight's panels, of its transpose in backward, in the same
 * precision. */
typedef struct
{
  PlaitTensor weight;
  const PlaitPacked *packed;
  PlaitPrecision precision;
  PlaitPacked *own; /* @packed, where it was made for these steps, or NULL */
} PlaitRnnWeight;

/* What stands for row @i of a step. */
typedef PlaitCellRow (*PlaitRnnStepRow) (gconstpointer data, gint64 i);

/* Calls @kernel for each row, @width wide, of which one is worth the work on @elements elements. */
void plait_rnn_step_run (const PlaitRnnStep *step, PlaitCellKernel kernel, gint64 width, gint64 elements,
                         PlaitRnnStepRow row, gconstpointer data);

/* Columns of the step's rows of what is collected. */
static inline PlaitTensor
plait_rnn_step_columns (const PlaitRnnStep *step, PlaitTensor collected, gint64 first, gint64 width)
{
  return plait_tensor_columns (plait_tensor_rows (collected, step->first, step->rows), first, width);
}

/* y = x W + bias; @bias may be NULL. */
void plait_rnn_step_multiply (const PlaitRnnStep *step, PlaitTensor y, PlaitTensor x, const PlaitRnnWeight *factor,
                              const PlaitScalar *bias);

/* dx = (@add: dx +) dy W^T. */
void plait_rnn_step_multiply_backward (const PlaitRnnStep *step, PlaitTensor dx, gboolean add, PlaitTensor dy,
                                       const PlaitRnnWeight *factor);

/* Row @row of @tensor; NULL if it has no data. */
static inline PlaitScalar *
plait_rnn_step_row (PlaitTensor tensor, gint64 row)
{
  return !tensor.data ? NULL : plait_tensor_row (tensor, row);
}
