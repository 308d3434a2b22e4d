/* SPDX-License-Identifier: MIT */
#include "recurrent/recurrent.h"

#include "recurrent/bundles.h"
#include "tensor/elementwise.h"
#include "kernels/kernels.h"
#include "tensor/rows.h"

PlaitTimeline
plait_timeline (PlaitArena *arena, PlaitRagged rows, gboolean backwards)
{
  PlaitTimeline time = { .rows = rows, .steps = plait_ragged_longest (rows), .backwards = backwards };
  gint64 *order = plait_arena_new_array (arena, gint64, MAX (rows.n, 1)), *first, *place, longer = 0;

  first = plait_arena_new_array (arena, gint64, time.steps + 1);
  place = plait_arena_new_array0 (arena, gint64, time.steps + 1);

  /* Counting sort: place[l] first counts the sentences of length l, later it is the next free position for them. */
  for (gint64 i = 0; i < rows.n; i++)
    place[plait_ragged_length (rows, i)]++;
  for (gint64 length = time.steps; length >= 0; length--)
    {
      gint64 here = place[length];

      place[length] = longer;
      longer += here;
    }
  first[0] = 0;
  for (gint64 t = 0; t < time.steps; t++)
    first[t + 1] = first[t] + place[t];
  for (gint64 i = 0; i < rows.n; i++)
    order[place[plait_ragged_length (rows, i)]++] = i;
  plait_arena_release (arena, place, sizeof *place * (gsize)(time.steps + 1));
  time.order = order;
  time.first = first;
  return time;
}

/* One time step of a bundle of sentences, in a forward or a backward pass. */
typedef struct
{
  PlaitRnnStep at; /* has one row for each sentence of the bundle with more than t rows */
  const PlaitKernels *kernels;
  const PlaitRecurrence *recurrence;
  const PlaitRecurrenceBackward *work;
  PlaitTensor projected;
  gint64 t;
  gint64 from; /* the sentences of the bundle are PlaitTimeline.order[from] .. order[end - 1] */
  gint64 end;
  gint64 saved; /* first row of the step in PlaitRecurrence.gates */
} Step;

/* Returns the row that step @t works on in sentence order[@i]. */
static gint64
row_at (const PlaitTimeline *time, gint64 t, gint64 i)
{
  gint64 sentence = time->order[i];

  return time->backwards ? time->rows.offsets[sentence + 1] - 1 - t : time->rows.offsets[sentence] + t;
}

/* Returns the inputs and outputs of the cell kernel for row @i of a Step. */
static PlaitCellRow
cell_row (gconstpointer data, gint64 i)
{
  const Step *step = data;
  const PlaitRecurrence *recurrence = step->recurrence;
  const PlaitRecurrenceBackward *work = step->work;
  const PlaitTimeline *time = &recurrence->time;
  gint64 sentence = step->from + i, row = row_at (time, step->t, sentence);
  gint64 collected = step->at.first + i, next = time->first[step->t + 1] + sentence;
  PlaitCellRow cell = {
    .projected = plait_rnn_step_row (step->projected, row),
    .gates = plait_tensor_row (recurrence->gates, step->saved + i),
    .previous = plait_tensor_row (recurrence->previous, collected),
    .previous_cell = step->t > 0 ? plait_rnn_step_row (recurrence->cells, row_at (time, step->t - 1, sentence))
                                 : plait_rnn_step_row (recurrence->cell, time->order[sentence]),
    .state = plait_tensor_row (recurrence->states, row),
    .cell = plait_rnn_step_row (recurrence->cells, row),
    .reset_state = plait_rnn_step_row (recurrence->reset_states, collected),
  };

  if (!work)
    {
      if (step->t + 1 < time->steps && next < time->first[step->t + 2])
        cell.next = plait_tensor_row (recurrence->previous, next);
      return cell;
    }
  cell.dstate = plait_tensor_row (work->dstates, row);
  cell.dcell = plait_rnn_step_row (work->dcells, row);
  cell.carried = plait_tensor_row (work->dstate, sentence);
  cell.carried_cell = plait_rnn_step_row (work->dcell, sentence);
  cell.dreset = plait_rnn_step_row (work->dreset, sentence);
  cell.dprojected = plait_rnn_step_row (work->dprojected, row);
  cell.adds = work->adds;
  return cell;
}

static void
run_kernel (const Step *step, PlaitCellKernel kernel)
{
  gint64 width = step->recurrence->width;

  plait_rnn_step_run (&step->at, kernel, width, width, cell_row, step);
}

/* Sets @step to time step @t. FALSE if no sentence of the bundle has more than @t rows. */
static gboolean
set_step (Step *step, gint64 t)
{
  const PlaitRecurrence *recurrence = step->recurrence;
  const gint64 *first = recurrence->time.first;

  step->t = t;
  step->at.first = first[t] + step->from;
  step->at.rows = MIN (first[t + 1] - first[t], step->end) - step->from;
  step->saved = recurrence->gates.rows < first[recurrence->time.steps] ? step->from : step->at.first;
  return step->at.rows > 0;
}

static PlaitTensor
gate_columns (const Step *step, gint64 first, gint64 width)
{
  return plait_tensor_columns (plait_tensor_rows (step->recurrence->gates, step->saved, step->at.rows), first, width);
}

/* Computes y = x W + bias. In step 0 without initial states, x is zero, so the product is skipped. */
static void
multiply (const Step *step, PlaitTensor y, PlaitTensor x, PlaitRnnWeight factor, const PlaitScalar *bias)
{
  if (step->t == 0 && !step->recurrence->state.data)
    {
      x.width = factor.weight.rows = 0;
      factor.packed = NULL;
    }
  plait_rnn_step_multiply (&step->at, y, x, &factor, bias);
}

/* Fills the rows of step 0 in previous with the initial states. If recurrence->borrows, they are there already. */
static void
begin (PlaitPool *pool, const PlaitRecurrence *recurrence)
{
  const PlaitTimeline *time = &recurrence->time;
  PlaitTensor previous = plait_tensor_rows (recurrence->previous, 0, time->first[1]);

  if (recurrence->borrows)
    return;
  if (recurrence->state.data)
    plait_rows_gather (pool, previous, 0, recurrence->state, time->order);
  else
    plait_tensor_fill (pool, previous, 0, 0);
}

/* Returns the index in PlaitTimeline.order at which bundle @bundle begins, if @bundles bundles have about equally many
 * rows. */
static gint64
bundle_begin (const PlaitTimeline *time, gint64 bundle, gint64 bundles)
{
  gint64 sentences = time->first[1], rows = 0, place = 0;

  if (bundle == bundles)
    return sentences;
  for (; rows < time->first[time->steps] * bundle / bundles; place++)
    rows += plait_ragged_length (time->rows, time->order[place]);
  return place;
}

/* Returns a copy of @all with the sentences of bundle @bundle and with @pool. */
static Step
step_of (const Step *all, gint64 bundle, gint64 bundles, PlaitPool *pool)
{
  Step step = *all;

  step.at.pool = pool;
  step.from = bundle_begin (&all->recurrence->time, bundle, bundles);
  step.end = bundle_begin (&all->recurrence->time, bundle + 1, bundles);
  return step;
}

static void
run_bundles (PlaitPool *pool, Step *all, PlaitBundleWork work)
{
  const PlaitRecurrence *recurrence = all->recurrence;
  const PlaitRnnWeight factors[] = { recurrence->recurrent, recurrence->candidate };

  if (recurrence->time.steps == 0)
    return;
  plait_bundles_run (pool, recurrence->time.first[1], recurrence->time.first[1], factors, 2, work, all);
}

static void
forward_bundle (gpointer data, gint64 bundle, gint64 bundles, PlaitPool *pool)
{
  Step step = step_of (data, bundle, bundles, pool);
  const PlaitRecurrence *recurrence = step.recurrence;
  gint64 width = recurrence->width, products = recurrence->recurrent.weight.width;

  for (gint64 t = 0; t < recurrence->time.steps && set_step (&step, t); t++)
    {
      multiply (&step, gate_columns (&step, 0, products),
                plait_rnn_step_columns (&step.at, recurrence->previous, 0, width), recurrence->recurrent,
                recurrence->bias);
      if (recurrence->kind == PLAIT_CELL_LSTM)
        run_kernel (&step, step.kernels->lstm);
      else if (recurrence->reset == PLAIT_RESET_AFTER)
        run_kernel (&step, step.kernels->gru_after);
      else
        {
          run_kernel (&step, step.kernels->gru_reset);
          multiply (&step, gate_columns (&step, products, width),
                    plait_rnn_step_columns (&step.at, recurrence->reset_states, 0, width), recurrence->candidate, NULL);
          run_kernel (&step, step.kernels->gru_candidate);
        }
    }
}

void
plait_recurrence_forward (PlaitPool *pool, const PlaitRecurrence *recurrence, PlaitTensor projected)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_CELLS);
  Step all = { .kernels = plait_kernels (), .recurrence = recurrence, .projected = projected };

  if (recurrence->time.steps > 0)
    begin (pool, recurrence);
  run_bundles (pool, &all, forward_bundle);
}

static void
backward_bundle (gpointer data, gint64 bundle, gint64 bundles, PlaitPool *pool)
{
  Step step = step_of (data, bundle, bundles, pool);
  const PlaitRecurrence *recurrence = step.recurrence;
  const PlaitRecurrenceBackward *work = step.work;
  gint64 width = recurrence->width, products = recurrence->recurrent.weight.width;

  for (gint64 t = recurrence->time.steps - 1; t >= 0; t--)
    {
      if (!set_step (&step, t))
        continue;
      if (recurrence->kind == PLAIT_CELL_LSTM)
        run_kernel (&step, step.kernels->lstm_backward);
      else if (recurrence->reset == PLAIT_RESET_AFTER)
        run_kernel (&step, step.kernels->gru_after_backward);
      else
        {
          run_kernel (&step, step.kernels->gru_candidate_backward);
          plait_rnn_step_multiply_backward (&step.at, plait_tensor_rows (work->dreset, step.from, step.at.rows), FALSE,
                                            gate_columns (&step, products, width), &recurrence->candidate);
          run_kernel (&step, step.kernels->gru_reset_backward);
        }
      if (t > 0 || work->has_beginning)
        plait_rnn_step_multiply_backward (&step.at, plait_tensor_rows (work->dstate, step.from, step.at.rows),
                                          recurrence->kind == PLAIT_CELL_GRU, gate_columns (&step, 0, products),
                                          &recurrence->recurrent);
    }
}

void
plait_recurrence_backward (PlaitPool *pool, const PlaitRecurrence *recurrence, const PlaitRecurrenceBackward *work)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_CELLS);
  Step all = { .kernels = plait_kernels (), .recurrence = recurrence, .work = work };

  run_bundles (pool, &all, backward_bundle);
}
