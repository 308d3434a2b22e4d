/* SPDX-License-Identifier: MIT */
#include "attention/pair-cell.h"

#include <string.h>

#include "kernels/kernels.h"
#include "tensor/packed-private.h"
#include "kernels/gradient-terms.h"

/* Number of pairs that go through a step together, so that their data stay in the first-level cache. */
#define CHUNK 24

typedef struct
{
  PlaitPool *pool;
  const PlaitKernels *kernels;
  const PlaitPairCell *cell;
  const PlaitPairCellBackward *work;
  gint64 products; /* number of columns of the recurrent factor */
  gint64 linked;   /* width of all links together */
} Step;

/* Pairs @first .. @first + @n - 1, with scratch memory. @carried and @dreset are parts of @projected. */
typedef struct
{
  gint64 first;
  gint64 n;
  PlaitTensor projected;  /* forward: input of the gates, [n, 3 w] */
  PlaitTensor carried;    /* backward: gradient of the previous state, [n, w] */
  PlaitTensor dreset;     /* backward: gradient of reset gate times previous state, [n, w] */
  PlaitScalar *collected; /* rows that the links read, side by side, or their gradients: [n, linked] */
} Part;

static Part
part_of (const Step *step, gint64 first, gint64 n, guint thread)
{
  gint64 width = step->cell->width;
  PlaitScalar *scratch = plait_pool_scratch (
      step->pool, thread, sizeof (PlaitScalar) * (gsize)(MAX (n, CHUNK) * (3 * width + step->linked)));

  return (Part){
    .first = first,
    .n = n,
    .projected = plait_tensor (scratch, n, 3 * width),
    .carried = plait_tensor (scratch, n, width),
    .dreset = plait_tensor (scratch + n * width, n, width),
    .collected = scratch + n * 3 * width,
  };
}

static gboolean
has_link (const PlaitPairCell *cell, gint64 pair)
{
  for (guint k = 0; k < cell->n; k++)
    if (cell->links[k].link[pair] >= 0)
      return TRUE;
  return FALSE;
}

/* Finds the smallest range *first .. *end - 1 that contains every pair of @part with a link. Pairs are counted from the
 * first pair of @part. */
static void
linked_range (const PlaitPairCell *cell, const Part *part, gint64 *first, gint64 *end)
{
  *first = 0;
  *end = part->n;
  while (*first < *end && !has_link (cell, part->first + *first))
    ++*first;
  while (*end > *first && !has_link (cell, part->first + *end - 1))
    --*end;
}

static void
multiply (const PlaitRnnWeight *factor, PlaitTensor y, gboolean add, PlaitTensor x)
{
  plait_packed_multiply (factor->packed, y.data, y.stride, add, &(PlaitPackedRows){ .x = x }, 0, y.rows, 0, y.width);
}

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
        .reset_state = plait_rnn_step_row (cell->reset_states, pair),
      };

      if (!work)
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

/* Writes the input of the gates without the links: row part + query part + number * number_weight. */
static void
sum_parts (const Step *step, const Part *part)
{
  const PlaitPairCell *cell = step->cell;
  const PlaitScalar *terms[3] = { NULL, NULL, cell->number_weight.data };
  PlaitScalar factors[3] = { 1, 1, 0 };

  for (gint64 i = 0; i < part->n; i++)
    {
      gint64 pair = part->first + i;

      terms[0] = plait_tensor_row (cell->row_part, cell->rows[pair]);
      terms[1] = plait_tensor_row (cell->query_part, cell->queries[pair]);
      factors[2] = *plait_tensor_row (cell->number, pair);
      step->kernels->combine (plait_tensor_row (part->projected, i), terms, factors, 3, 3 * cell->width);
    }
}

static void
add_linked (const Step *step, const Part *part)
{
  const PlaitPairCell *cell = step->cell;
  gint64 first, end;

  linked_range (cell, part, &first, &end);
  for (gint64 i = first; i < end; i++)
    {
      PlaitScalar *to = part->collected + (i - first) * step->linked;

      for (guint k = 0; k < cell->n; to += cell->links[k++].x.width)
        {
          const PlaitPairLink *link = &cell->links[k];
          gint64 from = link->link[part->first + i];

          if (from >= 0)
            memcpy (to, plait_tensor_row (link->x, from), sizeof *to * (gsize)link->x.width);
          else
            memset (to, 0, sizeof *to * (gsize)link->x.width);
        }
    }
  if (end > first)
    multiply (&cell->linked, plait_tensor_rows (part->projected, first, end - first), TRUE,
              plait_tensor (part->collected, end - first, step->linked));
}

static void
forward_piece (gpointer data, gint64 piece, guint thread)
{
  const Step *step = data;
  const PlaitPairCell *cell = step->cell;
  gint64 first = piece * CHUNK, width = cell->width;
  Part part = part_of (step, first, MIN (CHUNK, cell->previous.rows - first), thread);

  sum_parts (step, &part);
  add_linked (step, &part);
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
  Step step = {
    .pool = pool, .kernels = plait_kernels (), .cell = cell, .work = work, .products = cell->recurrent.weight.width
  };

  for (guint k = 0; k < cell->n; k++)
    step.linked += cell->links[k].x.width;
  return step;
}

void
plait_pair_cell_forward (PlaitPool *pool, const PlaitPairCell *cell)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_CELLS);
  Step step = step_of (pool, cell, NULL);

  plait_pool_run (pool, (cell->previous.rows + CHUNK - 1) / CHUNK, forward_piece, &step);
}

/* In the backward pass, one thread computes all pairs of a sentence, because links and sums over pairs stay within a
 * sentence. */

static void
add_parts (const Step *step, const Part *part)
{
  const PlaitPairCell *cell = step->cell;
  const PlaitPairCellBackward *work = step->work;
  const PlaitKernels *kernels = step->kernels;
  gint64 gates = 3 * cell->width;

  for (gint64 i = 0; i < part->n; i++)
    {
      gint64 pair = part->first + i;
      const PlaitScalar *dprojected = plait_tensor_row (work->dprojected, pair);

      if (work->drow_part.data)
        kernels->accumulate (plait_tensor_row (work->drow_part, cell->rows[pair]), 1,
                             PLAIT_GRADIENT_TERM (pair_cell_row, (PlaitScalar)1), dprojected, gates);
      if (work->dquery_part.data)
        kernels->accumulate (plait_tensor_row (work->dquery_part, cell->queries[pair]), 1,
                             PLAIT_GRADIENT_TERM (pair_cell_query, (PlaitScalar)1), dprojected, gates);
      if (work->dnumber.data)
        *plait_tensor_row (work->dnumber, pair)
            += PLAIT_GRADIENT_TERM (pair_cell_number, kernels->dot (dprojected, cell->number_weight.data, gates));
      if (work->dprevious.data)
        kernels->accumulate (plait_tensor_row (work->dprevious, pair), 1, 1, plait_tensor_row (part->carried, i),
                             cell->width);
    }
}

static void
linked_backward (const Step *step, const Part *part)
{
  const PlaitPairCell *cell = step->cell;
  gint64 first, end;

  linked_range (cell, part, &first, &end);
  if (end > first)
    multiply (&cell->linked, plait_tensor (part->collected, end - first, step->linked), FALSE,
              plait_tensor_rows (columns_of (part, step->work->dprojected, 0, 3 * cell->width), first, end - first));
  for (gint64 i = first; i < end; i++)
    {
      const PlaitScalar *from = part->collected + (i - first) * step->linked;

      for (guint k = 0; k < cell->n; from += cell->links[k++].x.width)
        {
          const PlaitPairLink *link = &cell->links[k];
          gint64 to = link->link[part->first + i];

          if (to >= 0 && link->dx.data)
            step->kernels->accumulate (plait_tensor_row (link->dx, to), 1, 1, from, link->x.width);
        }
    }
}

static void
backward_part (const Step *step, gint64 first, gint64 n, guint thread)
{
  const PlaitPairCell *cell = step->cell;
  gint64 width = cell->width;
  Part part = part_of (step, first, n, thread);

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
  linked_backward (step, &part);
}

static void
backward_piece (gpointer data, gint64 piece, guint thread)
{
  const Step *step = data;
  const gint64 *offsets = step->cell->pairs.offsets;
  gint64 end = offsets[piece + 1], n = end - offsets[piece], parts = (n + CHUNK - 1) / CHUNK;

  for (gint64 i = 0; i < parts; i++)
    {
      gint64 first = offsets[piece] + n * i / parts;

      backward_part (step, first, offsets[piece] + n * (i + 1) / parts - first, thread);
    }
}

void
plait_pair_cell_backward (PlaitPool *pool, const PlaitPairCell *cell, const PlaitPairCellBackward *work)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_CELLS);
  Step step = step_of (pool, cell, work);

  plait_pool_run (pool, cell->pairs.queries.n, backward_piece, &step);
}
