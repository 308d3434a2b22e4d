/* SPDX-License-Identifier: MIT */
#include "tensor/pair-cell.h"

#include <string.h>

#include "tensor/kernels/kernels.h"
#include "tensor/packed-private.h"
#include "tensor/terms.h"

/* Pairs that go through a step together: what they need stays in cache. */
#define CHUNK 48

typedef struct
{
  PlaitPool *pool;
  const PlaitKernels *kernels;
  const PlaitPairCell *cell;
  const PlaitPairCellBackward *work;
  gint64 products; /* columns of the recurrent factor */
  gint64 widest;   /* input */
} Step;

/* Pairs first .. first + n - 1, and scratch for each: the gates' input or the cotangents of the state, and an input. */
typedef struct
{
  gint64 first;
  gint64 n;
  PlaitTensor projected;  /* forward: [n, 3 w] */
  PlaitTensor carried;    /* backward: [n, w] */
  PlaitTensor dreset;     /* backward: [n, w] */
  PlaitScalar *collected; /* [n, widest] */
} Part;

static Part
part_of (const Step *step, gint64 first, gint64 n, guint thread)
{
  gint64 width = step->cell->width;
  PlaitScalar *scratch = plait_pool_scratch (
      step->pool, thread, sizeof (PlaitScalar) * (gsize)(MAX (n, CHUNK) * (3 * width + step->widest)));

  return (Part){
    .first = first,
    .n = n,
    .projected = plait_tensor (scratch, n, 3 * width),
    .carried = plait_tensor (scratch, n, width),
    .dreset = plait_tensor (scratch + n * width, n, width),
    .collected = scratch + n * 3 * width,
  };
}

static gint64
linked (const PlaitPairInput *input, gint64 pair)
{
  return input->link != NULL ? input->link[pair] : pair;
}

/* The part's pairs from the first to the last that read @input, as places in the part. */
static void
readers (const Part *part, const PlaitPairInput *input, gint64 *first, gint64 *end)
{
  *first = 0;
  *end = part->n;
  while (*first < *end && linked (input, part->first + *first) < 0)
    ++*first;
  while (*end > *first && linked (input, part->first + *end - 1) < 0)
    --*end;
}

static void
multiply (const PlaitStepFactor *factor, PlaitTensor y, gboolean add, PlaitTensor x)
{
  plait_packed_multiply (factor->packed, y.data, y.stride, add, x.data, x.stride, y.rows, 0, y.width);
}

/* Columns of the part's rows of @kept. */
static PlaitTensor
columns_of (const Part *part, PlaitTensor kept, gint64 first, gint64 width)
{
  return plait_tensor_columns (plait_tensor_rows (kept, part->first, part->n), first, width);
}

static void
run_kernel (const Step *step, const Part *part, PlaitCellKernel kernel)
{
  const PlaitPairCell *cell = step->cell;
  const PlaitPairCellBackward *work = step->work;

  for (gint64 i = 0; i < part->n; i++)
    {
      gint64 pair = part->first + i;
      PlaitCellRow row = {
        .gates = plait_tensor_row (cell->gates, pair),
        .previous = plait_tensor_row (cell->previous, pair),
        .reset_state = cell->reset_states.data != NULL ? plait_tensor_row (cell->reset_states, pair) : NULL,
      };

      if (work == NULL)
        {
          row.projected = plait_tensor_row (part->projected, i);
          row.state = plait_tensor_row (cell->states, pair);
        }
      else
        {
          row.dstate = plait_tensor_row (work->dstates, pair);
          row.carried = plait_tensor_row (part->carried, i);
          row.dreset = plait_tensor_row (part->dreset, i);
          row.dprojected = plait_tensor_row (work->dprojected, pair);
        }
      kernel (&row, cell->width);
    }
}

/*
 * Forward
 */

/* What needs no product: the parts of row and query, and inputs that are one number. */
static void
sum_parts (const Step *step, const Part *part, const PlaitScalar **terms, PlaitScalar *factors)
{
  const PlaitPairCell *cell = step->cell;

  for (gint64 i = 0; i < part->n; i++)
    {
      gint64 pair = part->first + i, from;
      guint n = 2;

      terms[0] = plait_tensor_row (cell->row_part, cell->rows[pair]);
      terms[1] = plait_tensor_row (cell->query_part, cell->queries[pair]);
      factors[0] = factors[1] = 1;
      for (guint k = 0; k < cell->n; k++)
        if (cell->inputs[k].x.width == 1 && (from = linked (&cell->inputs[k], pair)) >= 0)
          {
            terms[n] = cell->inputs[k].factor.weight.data;
            factors[n++] = *plait_tensor_row (cell->inputs[k].x, from);
          }
      step->kernels->combine (plait_tensor_row (part->projected, i), terms, factors, n, 3 * cell->width);
    }
}

static void
add_input (const Part *part, const PlaitPairInput *input)
{
  gint64 width = input->x.width, first, end;

  readers (part, input, &first, &end);
  for (gint64 i = first; i < end; i++)
    {
      gint64 from = linked (input, part->first + i);
      PlaitScalar *to = part->collected + (i - first) * width;

      if (from >= 0)
        memcpy (to, plait_tensor_row (input->x, from), sizeof *to * (gsize)width);
      else
        memset (to, 0, sizeof *to * (gsize)width);
    }
  multiply (&input->factor, plait_tensor_rows (part->projected, first, end - first), TRUE,
            plait_tensor (part->collected, end - first, width));
}

static void
forward_piece (gpointer data, gint64 piece, guint thread)
{
  const Step *step = data;
  const PlaitPairCell *cell = step->cell;
  const PlaitScalar **terms = g_newa (const PlaitScalar *, 2 + cell->n);
  PlaitScalar *factors = g_newa (PlaitScalar, 2 + cell->n);
  gint64 first = piece * CHUNK, width = cell->width;
  Part part = part_of (step, first, MIN (CHUNK, cell->previous.rows - first), thread);

  sum_parts (step, &part, terms, factors);
  for (guint k = 0; k < cell->n; k++)
    if (cell->inputs[k].x.width > 1)
      add_input (&part, &cell->inputs[k]);
  multiply (&cell->recurrent, columns_of (&part, cell->gates, 0, step->products), FALSE,
            columns_of (&part, cell->previous, 0, width));
  if (cell->reset == PLAIT_RESET_AFTER)
    {
      run_kernel (step, &part, step->kernels->gru_after);
      return;
    }
  run_kernel (step, &part, step->kernels->gru_reset);
  multiply (&cell->candidate, columns_of (&part, cell->gates, step->products, width), FALSE,
            columns_of (&part, cell->reset_states, 0, width));
  run_kernel (step, &part, step->kernels->gru_candidate);
}

static Step
step_of (PlaitPool *pool, const PlaitPairCell *cell, const PlaitPairCellBackward *work)
{
  Step step = { .pool = pool,
                .kernels = plait_kernels (),
                .cell = cell,
                .work = work,
                .products = cell->recurrent.weight.width,
                .widest = 0 };

  for (guint k = 0; k < cell->n; k++)
    step.widest = MAX (step.widest, cell->inputs[k].x.width);
  return step;
}

void
plait_pair_cell_forward (PlaitPool *pool, const PlaitPairCell *cell)
{
  Step step = step_of (pool, cell, NULL);

  plait_pool_run (pool, (cell->previous.rows + CHUNK - 1) / CHUNK, forward_piece, &step);
}

/*
 * Backward. A piece is a sentence: what is linked and what is added up stays in it.
 */

static void
add_parts (const Step *step, const Part *part)
{
  const PlaitPairCell *cell = step->cell;
  const PlaitPairCellBackward *work = step->work;

  for (gint64 i = 0; i < part->n; i++)
    {
      gint64 pair = part->first + i;
      const PlaitScalar *dprojected = plait_tensor_row (work->dprojected, pair);

      if (work->drow_part.data != NULL)
        step->kernels->accumulate (plait_tensor_row (work->drow_part, cell->rows[pair]), 1,
                                   PLAIT_TERM (pair_cell_row, (PlaitScalar)1), dprojected, 3 * cell->width);
      if (work->dquery_part.data != NULL)
        step->kernels->accumulate (plait_tensor_row (work->dquery_part, cell->queries[pair]), 1,
                                   PLAIT_TERM (pair_cell_query, (PlaitScalar)1), dprojected, 3 * cell->width);
      if (work->dprevious.data != NULL)
        step->kernels->accumulate (plait_tensor_row (work->dprevious, pair), 1, 1, plait_tensor_row (part->carried, i),
                                   cell->width);
    }
}

static void
input_backward (const Step *step, const Part *part, const PlaitPairInput *input)
{
  PlaitTensor dprojected = columns_of (part, step->work->dprojected, 0, 3 * step->cell->width);
  gint64 width = input->x.width, first, end;

  readers (part, input, &first, &end);
  if (width > 1)
    multiply (&input->factor, plait_tensor (part->collected, end - first, width), FALSE,
              plait_tensor_rows (dprojected, first, end - first));
  for (gint64 i = first; i < end; i++)
    {
      gint64 from = linked (input, part->first + i);

      if (from >= 0 && width > 1)
        step->kernels->accumulate (plait_tensor_row (input->dx, from), 1, 1, part->collected + (i - first) * width,
                                   width);
      else if (from >= 0)
        *plait_tensor_row (input->dx, from)
            += step->kernels->dot (plait_tensor_row (dprojected, i), input->factor.weight.data, dprojected.width);
    }
}

static void
backward_piece (gpointer data, gint64 piece, guint thread)
{
  const Step *step = data;
  const PlaitPairCell *cell = step->cell;
  const gint64 *offsets = cell->pairs.offsets;
  gint64 width = cell->width;
  Part part = part_of (step, offsets[piece], offsets[piece + 1] - offsets[piece], thread);

  memset (part.carried.data, 0, sizeof (PlaitScalar) * (gsize)(part.n * width));
  if (cell->reset == PLAIT_RESET_AFTER)
    run_kernel (step, &part, step->kernels->gru_after_backward);
  else
    {
      run_kernel (step, &part, step->kernels->gru_candidate_backward);
      multiply (&cell->candidate, part.dreset, FALSE, columns_of (&part, cell->gates, step->products, width));
      run_kernel (step, &part, step->kernels->gru_reset_backward);
    }
  multiply (&cell->recurrent, part.carried, TRUE, columns_of (&part, cell->gates, 0, step->products));
  add_parts (step, &part);
  for (guint k = 0; k < cell->n; k++)
    if (cell->inputs[k].dx.data != NULL)
      input_backward (step, &part, &cell->inputs[k]);
}

void
plait_pair_cell_backward (PlaitPool *pool, const PlaitPairCell *cell, const PlaitPairCellBackward *work)
{
  Step step = step_of (pool, cell, work);

  plait_pool_run (pool, cell->pairs.queries.n, backward_piece, &step);
}
