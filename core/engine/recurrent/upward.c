/* SPDX-License-Identifier: MIT */
#include "recurrent/upward.h"

#include "recurrent/bundles.h"
#include "kernels/kernels.h"
#include "tensor/rows.h"
#include "tensor/spans.h"

/* The nodes of a bundle of sentences at a height, there or back. */
typedef struct
{
  PlaitStep step; /* its rows: the nodes */
  const PlaitKernels *kernels;
  const PlaitUpward *upward;
  const PlaitUpwardBackward *work;
  gint64 row; /* the bundle's first */
  gint64 end;
  gint64 scratch; /* row of the first node's scratch */
} Height;

/* All that stands for node @i of these. */
static PlaitCellRow
node_row (gconstpointer data, gint64 i)
{
  const Height *height = data;
  const PlaitUpward *upward = height->upward;
  const PlaitUpwardBackward *work = height->work;
  gint64 node = height->step.first + i;
  gint64 row = upward->heights->row[node], left = upward->heights->left[node], right = upward->heights->right[node];
  PlaitCellRow found = {
    .projected = plait_step_row (upward->projected, node),
    .candidate_bias = upward->candidate_bias,
    .gates = plait_tensor_row (upward->kept, node),
    .previous = plait_tensor_row (upward->children, node),
    .reset_state = plait_step_row (upward->reset_children, node),
    .previous_cell = plait_step_row (upward->cells, left),
    .right_cell = plait_step_row (upward->cells, right),
    .state = plait_tensor_row (upward->states, row),
    .cell = plait_step_row (upward->cells, row),
  };

  if (!work)
    return found;
  found.dstate = plait_tensor_row (work->dstates, row);
  found.dcell = plait_step_row (work->dcells, row);
  found.carried_cell = plait_step_row (work->dcells, left);
  found.carried_right = plait_step_row (work->dcells, right);
  found.carried = plait_tensor_row (work->dchildren, height->scratch + i);
  found.dreset = plait_step_row (work->dreset, height->scratch + i);
  found.dprojected = plait_step_row (work->dprojected, node);
  found.adds = work->adds;
  return found;
}

/* The kernels of two children have about twice the work of others. */
static void
run_kernel (const Height *height, PlaitCellKernel kernel)
{
  gint64 width = height->upward->width;

  plait_step_run (&height->step, kernel, width, 2 * width, node_row, height);
}

/* The first node of height @l that stands in @row or behind. */
static gint64
place_of (const Height *height, gint64 l, gint64 row)
{
  const PlaitTreeHeights *heights = height->upward->heights;

  return plait_first_place (heights->row, heights->first[l], heights->first[l + 1], row);
}

/* FALSE if the bundle has no nodes there. */
static gboolean
set_height (Height *height, gint64 l)
{
  height->step.first = place_of (height, l, height->row);
  height->step.rows = place_of (height, l, height->end) - height->step.first;
  return height->step.rows > 0;
}

/* The heights of a bundle, of @all of which no bundle is set. */
static Height
height_of (const Height *all, gint64 bundle, gint64 bundles, PlaitPool *pool)
{
  const PlaitTreeHeights *heights = all->upward->heights;
  Height height = *all;

  height.step.pool = pool;
  height.row = plait_bundle_row (heights->sentences, heights->rows, bundle, bundles);
  height.end = plait_bundle_row (heights->sentences, heights->rows, bundle + 1, bundles);
  /* No height of a tree has more nodes than the lowest. */
  height.scratch = place_of (&height, 0, height.row);
  return height;
}

static void
forward_bundle (gpointer data, gint64 bundle, gint64 bundles, PlaitPool *pool)
{
  Height height = height_of (data, bundle, bundles, pool);
  const PlaitUpward *upward = height.upward;
  gint64 width = upward->width, gates = plait_upward_gates (upward->kind) * width;

  for (gint64 l = 0; l < upward->heights->n; l++)
    {
      if (!set_height (&height, l))
        continue;
      plait_rows_gather (pool, plait_step_columns (&height.step, upward->children, 0, width), 0, upward->states,
                         upward->heights->left + height.step.first);
      plait_rows_gather (pool, plait_step_columns (&height.step, upward->children, width, width), 0, upward->states,
                         upward->heights->right + height.step.first);
      plait_step_multiply (&height.step, plait_step_columns (&height.step, upward->kept, 0, gates),
                           plait_step_columns (&height.step, upward->children, 0, 2 * width), &upward->gates,
                           upward->gate_bias);
      if (upward->kind == PLAIT_TREE_LSTM)
        run_kernel (&height, height.kernels->tree_lstm);
      else if (upward->kind == PLAIT_TREE_HEAD)
        run_kernel (&height, height.kernels->tree_head);
      else if (upward->reset == PLAIT_RESET_BEFORE)
        {
          run_kernel (&height, height.kernels->tree_gru_reset);
          plait_step_multiply (&height.step, plait_step_columns (&height.step, upward->kept, 5 * width, width),
                               plait_step_columns (&height.step, upward->reset_children, 0, 2 * width),
                               &upward->candidate[0], NULL);
          run_kernel (&height, height.kernels->tree_gru_candidate);
        }
      else
        {
          for (gint64 side = 0; side < 2; side++)
            plait_step_multiply (&height.step,
                                 plait_step_columns (&height.step, upward->kept, (5 + side) * width, width),
                                 plait_step_columns (&height.step, upward->children, side * width, width),
                                 &upward->candidate[side], NULL);
          run_kernel (&height, height.kernels->tree_gru_after);
        }
    }
}

static void
backward_bundle (gpointer data, gint64 bundle, gint64 bundles, PlaitPool *pool)
{
  Height height = height_of (data, bundle, bundles, pool);
  const PlaitUpward *upward = height.upward;
  const PlaitUpwardBackward *work = height.work;
  gint64 width = upward->width, gates = plait_upward_gates (upward->kind) * width;

  for (gint64 l = upward->heights->n - 1; l >= 0; l--)
    {
      PlaitTensor dchildren;

      if (!set_height (&height, l))
        continue;
      dchildren = plait_tensor_rows (work->dchildren, height.scratch, height.step.rows);
      if (upward->kind == PLAIT_TREE_LSTM)
        run_kernel (&height, height.kernels->tree_lstm_backward);
      else if (upward->kind == PLAIT_TREE_HEAD)
        run_kernel (&height, height.kernels->tree_head_backward);
      else if (upward->reset == PLAIT_RESET_BEFORE)
        {
          run_kernel (&height, height.kernels->tree_gru_candidate_backward);
          plait_step_multiply_back (&height.step, plait_tensor_rows (work->dreset, height.scratch, height.step.rows),
                                    FALSE, plait_step_columns (&height.step, upward->kept, 5 * width, width),
                                    &upward->candidate[0]);
          run_kernel (&height, height.kernels->tree_gru_reset_backward);
        }
      else
        {
          run_kernel (&height, height.kernels->tree_gru_after_backward);
          for (gint64 side = 0; side < 2; side++)
            plait_step_multiply_back (&height.step, plait_tensor_columns (dchildren, side * width, width), TRUE,
                                      plait_step_columns (&height.step, upward->kept, (5 + side) * width, width),
                                      &upward->candidate[side]);
        }
      plait_step_multiply_back (&height.step, dchildren, upward->kind != PLAIT_TREE_LSTM,
                                plait_step_columns (&height.step, upward->kept, 0, gates), &upward->gates);
      plait_rows_scatter_add (pool, work->dstates, plait_tensor_columns (dchildren, 0, width),
                              upward->heights->left + height.step.first);
      plait_rows_scatter_add (pool, work->dstates, plait_tensor_columns (dchildren, width, width),
                              upward->heights->right + height.step.first);
    }
}

void
plait_upward_run (PlaitPool *pool, const PlaitUpward *upward, const PlaitUpwardBackward *work)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_CELLS);
  const PlaitTreeHeights *heights = upward->heights;
  const PlaitStepFactor factors[] = { upward->gates, upward->candidate[0], upward->candidate[1] };
  Height all = { .kernels = plait_kernels (), .upward = upward, .work = work };

  if (heights->n > 0)
    plait_bundles_run (pool, heights->sentences.n, heights->first[1], factors, 3,
                       work ? backward_bundle : forward_bundle, &all);
}
