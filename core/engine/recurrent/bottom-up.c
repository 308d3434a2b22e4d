/* SPDX-License-Identifier: MIT */
#include "recurrent/bottom-up.h"

#include "recurrent/bundles.h"
#include "kernels/kernels.h"
#include "tensor/rows.h"
#include "tensor/element-ranges.h"

/* The nodes of one height in a bundle of sentences, in a forward or a backward pass. Functions count heights from
 * 0: height @l has the nodes from heights->first[l] on. */
typedef struct
{
  PlaitRnnStep step; /* RNN step whose rows are the inner nodes of this height */
  const PlaitKernels *kernels;
  const PlaitBottomUp *bottom_up;
  const PlaitBottomUpBackward *work;
  gint64 row; /* first memory row of the bundle */
  gint64 end;
  gint64 scratch; /* first row of the bundle in the scratch tensors */
} Height;

/* Returns the inputs and outputs of the cell kernel for node @i of a Height. */
static PlaitCellRow
node_row (gconstpointer data, gint64 i)
{
  const Height *height = data;
  const PlaitBottomUp *bottom_up = height->bottom_up;
  const PlaitBottomUpBackward *work = height->work;
  gint64 node = height->step.first + i;
  gint64 row = bottom_up->heights->row[node], left = bottom_up->heights->left[node],
         right = bottom_up->heights->right[node];
  PlaitCellRow found = {
    .projected = plait_rnn_step_row (bottom_up->projected, node),
    .candidate_bias = bottom_up->candidate_bias,
    .gates = plait_tensor_row (bottom_up->saved, node),
    .previous = plait_tensor_row (bottom_up->children, node),
    .reset_state = plait_rnn_step_row (bottom_up->reset_children, node),
    .previous_cell = plait_rnn_step_row (bottom_up->cells, left),
    .right_cell = plait_rnn_step_row (bottom_up->cells, right),
    .state = plait_tensor_row (bottom_up->states, row),
    .cell = plait_rnn_step_row (bottom_up->cells, row),
  };

  if (!work)
    return found;
  found.dstate = plait_tensor_row (work->dstates, row);
  found.dcell = plait_rnn_step_row (work->dcells, row);
  found.carried_cell = plait_rnn_step_row (work->dcells, left);
  found.carried_right = plait_rnn_step_row (work->dcells, right);
  found.carried = plait_tensor_row (work->dchildren, height->scratch + i);
  found.dreset = plait_rnn_step_row (work->dreset, height->scratch + i);
  found.dprojected = plait_rnn_step_row (work->dprojected, node);
  found.adds = work->adds;
  return found;
}

/* Calls @kernel for each node. The cost of a node is twice its width, because it has two children. */
static void
run_kernel (const Height *height, PlaitCellKernel kernel)
{
  gint64 width = height->bottom_up->width;

  plait_rnn_step_run (&height->step, kernel, width, 2 * width, node_row, height);
}

/* Returns the first node of height @l whose memory row is at least @row. */
static gint64
place_of (const Height *height, gint64 l, gint64 row)
{
  const PlaitTreeHeights *heights = height->bottom_up->heights;

  return plait_lower_bound (heights->row, heights->first[l], heights->first[l + 1], row);
}

/* Sets the step to the bundle's nodes of height @l. FALSE if the bundle has no node of this height. */
static gboolean
set_height (Height *height, gint64 l)
{
  height->step.first = place_of (height, l, height->row);
  height->step.rows = place_of (height, l, height->end) - height->step.first;
  return height->step.rows > 0;
}

/* Returns a copy of @all with the rows of bundle @bundle and with @pool. */
static Height
height_of (const Height *all, gint64 bundle, gint64 bundles, PlaitPool *pool)
{
  const PlaitTreeHeights *heights = all->bottom_up->heights;
  Height height = *all;

  height.step.pool = pool;
  height.row = plait_bundle_row (heights->sentences, heights->rows, bundle, bundles);
  height.end = plait_bundle_row (heights->sentences, heights->rows, bundle + 1, bundles);
  /* No height has more nodes than the lowest one. So a bundle has one scratch row for each of its nodes of the lowest
   * height. */
  height.scratch = place_of (&height, 0, height.row);
  return height;
}

static void
forward_bundle (gpointer data, gint64 bundle, gint64 bundles, PlaitPool *pool)
{
  Height height = height_of (data, bundle, bundles, pool);
  const PlaitBottomUp *bottom_up = height.bottom_up;
  gint64 width = bottom_up->width, gates = plait_bottom_up_gates (bottom_up->kind) * width;

  for (gint64 l = 0; l < bottom_up->heights->n; l++)
    {
      if (!set_height (&height, l))
        continue;
      plait_rows_gather (pool, plait_rnn_step_columns (&height.step, bottom_up->children, 0, width), 0,
                         bottom_up->states, bottom_up->heights->left + height.step.first);
      plait_rows_gather (pool, plait_rnn_step_columns (&height.step, bottom_up->children, width, width), 0,
                         bottom_up->states, bottom_up->heights->right + height.step.first);
      plait_rnn_step_multiply (&height.step, plait_rnn_step_columns (&height.step, bottom_up->saved, 0, gates),
                               plait_rnn_step_columns (&height.step, bottom_up->children, 0, 2 * width),
                               &bottom_up->gates, bottom_up->gate_bias);
      if (bottom_up->kind == PLAIT_TREE_LSTM)
        run_kernel (&height, height.kernels->tree_lstm);
      else if (bottom_up->kind == PLAIT_TREE_HEAD_WORD)
        run_kernel (&height, height.kernels->tree_head);
      else if (bottom_up->reset == PLAIT_RESET_BEFORE)
        {
          run_kernel (&height, height.kernels->tree_gru_reset);
          plait_rnn_step_multiply (&height.step,
                                   plait_rnn_step_columns (&height.step, bottom_up->saved, 5 * width, width),
                                   plait_rnn_step_columns (&height.step, bottom_up->reset_children, 0, 2 * width),
                                   &bottom_up->candidate[0], NULL);
          run_kernel (&height, height.kernels->tree_gru_candidate);
        }
      else
        {
          for (gint64 side = 0; side < 2; side++)
            plait_rnn_step_multiply (&height.step,
                                     plait_rnn_step_columns (&height.step, bottom_up->saved, (5 + side) * width, width),
                                     plait_rnn_step_columns (&height.step, bottom_up->children, side * width, width),
                                     &bottom_up->candidate[side], NULL);
          run_kernel (&height, height.kernels->tree_gru_after);
        }
    }
}

static void
backward_bundle (gpointer data, gint64 bundle, gint64 bundles, PlaitPool *pool)
{
  Height height = height_of (data, bundle, bundles, pool);
  const PlaitBottomUp *bottom_up = height.bottom_up;
  const PlaitBottomUpBackward *work = height.work;
  gint64 width = bottom_up->width, gates = plait_bottom_up_gates (bottom_up->kind) * width;

  for (gint64 l = bottom_up->heights->n - 1; l >= 0; l--)
    {
      PlaitTensor dchildren;

      if (!set_height (&height, l))
        continue;
      dchildren = plait_tensor_rows (work->dchildren, height.scratch, height.step.rows);
      if (bottom_up->kind == PLAIT_TREE_LSTM)
        run_kernel (&height, height.kernels->tree_lstm_backward);
      else if (bottom_up->kind == PLAIT_TREE_HEAD_WORD)
        run_kernel (&height, height.kernels->tree_head_backward);
      else if (bottom_up->reset == PLAIT_RESET_BEFORE)
        {
          run_kernel (&height, height.kernels->tree_gru_candidate_backward);
          plait_rnn_step_multiply_backward (
              &height.step, plait_tensor_rows (work->dreset, height.scratch, height.step.rows), FALSE,
              plait_rnn_step_columns (&height.step, bottom_up->saved, 5 * width, width), &bottom_up->candidate[0]);
          run_kernel (&height, height.kernels->tree_gru_reset_backward);
        }
      else
        {
          run_kernel (&height, height.kernels->tree_gru_after_backward);
          for (gint64 side = 0; side < 2; side++)
            plait_rnn_step_multiply_backward (
                &height.step, plait_tensor_columns (dchildren, side * width, width), TRUE,
                plait_rnn_step_columns (&height.step, bottom_up->saved, (5 + side) * width, width),
                &bottom_up->candidate[side]);
        }
      plait_rnn_step_multiply_backward (&height.step, dchildren, bottom_up->kind != PLAIT_TREE_LSTM,
                                        plait_rnn_step_columns (&height.step, bottom_up->saved, 0, gates),
                                        &bottom_up->gates);
      plait_rows_scatter_add (pool, work->dstates, plait_tensor_columns (dchildren, 0, width),
                              bottom_up->heights->left + height.step.first);
      plait_rows_scatter_add (pool, work->dstates, plait_tensor_columns (dchildren, width, width),
                              bottom_up->heights->right + height.step.first);
    }
}

void
plait_bottom_up_run (PlaitPool *pool, const PlaitBottomUp *bottom_up, const PlaitBottomUpBackward *work)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_CELLS);
  const PlaitTreeHeights *heights = bottom_up->heights;
  const PlaitRnnWeight factors[] = { bottom_up->gates, bottom_up->candidate[0], bottom_up->candidate[1] };
  Height all = { .kernels = plait_kernels (), .bottom_up = bottom_up, .work = work };

  if (heights->n > 0)
    plait_bundles_run (pool, heights->sentences.n, heights->first[1], factors, 3,
                       work ? backward_bundle : forward_bundle, &all);
}
