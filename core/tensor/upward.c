/* SPDX-License-Identifier: MIT */
#include "tensor/upward.h"

#include "tensor/blas.h"
#include "tensor/bundles.h"
#include "tensor/kernels/kernels.h"
#include "tensor/product.h"
#include "tensor/rows.h"

/* Elements of a height's states that are worth a piece. */
#define PIECE_ELEMENTS 1024

/* The nodes of a bundle of sentences at a height, there or back. */
typedef struct
{
  PlaitPool *pool;
  const PlaitKernels *kernels;
  const PlaitUpward *upward;
  const PlaitUpwardBackward *work;
  gint64 row; /* the bundle's first */
  gint64 end;
  gint64 first; /* node */
  gint64 nodes;
  gint64 scratch; /* row of the first node's scratch */
  PlaitTreeKernel kernel;
  gint64 pieces;
} Height;

static PlaitScalar *
row_of (PlaitTensor tensor, gint64 row)
{
  return !tensor.data ? NULL : plait_tensor_row (tensor, row);
}

/* All that stands for node @i of these. */
static PlaitTreeRow
tree_row (const Height *height, gint64 i)
{
  const PlaitUpward *upward = height->upward;
  const PlaitUpwardBackward *work = height->work;
  gint64 node = height->first + i;
  gint64 row = upward->heights->row[node], left = upward->heights->left[node], right = upward->heights->right[node];
  PlaitTreeRow found = {
    .projected = row_of (upward->projected, node),
    .candidate_bias = upward->candidate_bias,
    .gates = plait_tensor_row (upward->kept, node),
    .children = plait_tensor_row (upward->children, node),
    .reset_children = row_of (upward->reset_children, node),
    .left_cell = row_of (upward->cells, left),
    .right_cell = row_of (upward->cells, right),
    .state = plait_tensor_row (upward->states, row),
    .cell = row_of (upward->cells, row),
  };

  if (!work)
    return found;
  found.dstate = plait_tensor_row (work->dstates, row);
  found.dcell = row_of (work->dcells, row);
  found.dleft_cell = row_of (work->dcells, left);
  found.dright_cell = row_of (work->dcells, right);
  found.dchildren = plait_tensor_row (work->dchildren, height->scratch + i);
  found.dreset = row_of (work->dreset, height->scratch + i);
  found.dprojected = row_of (work->dprojected, node);
  found.adds = work->adds;
  return found;
}

static void
height_piece (gpointer data, gint64 piece, guint thread)
{
  const Height *height = data;

  for (gint64 i = height->nodes * piece / height->pieces; i < height->nodes * (piece + 1) / height->pieces; i++)
    {
      PlaitTreeRow row = tree_row (height, i);

      height->kernel (&row, height->upward->width);
    }
}

static void
run_kernel (Height *height, PlaitTreeKernel kernel)
{
  height->kernel = kernel;
  height->pieces = CLAMP (height->nodes * height->upward->width / PIECE_ELEMENTS, 1, height->nodes);
  plait_pool_run (height->pool, height->pieces, height_piece, height);
}

/* The first node of height @l that stands in @row or behind. */
static gint64
place_of (const Height *height, gint64 l, gint64 row)
{
  const PlaitTreeHeights *heights = height->upward->heights;

  return plait_bundle_place (heights->row, heights->first[l], heights->first[l + 1], row);
}

/* FALSE if the bundle has no nodes there. */
static gboolean
set_height (Height *height, gint64 l)
{
  height->first = place_of (height, l, height->row);
  height->nodes = place_of (height, l, height->end) - height->first;
  return height->nodes > 0;
}

/* Columns of the height's rows of @collected. */
static PlaitTensor
collected (const Height *height, PlaitTensor tensor, gint64 first, gint64 width)
{
  return plait_tensor_columns (plait_tensor_rows (tensor, height->first, height->nodes), first, width);
}

static void
multiply (const Height *height, PlaitTensor y, PlaitTensor x, const PlaitStepFactor *factor, const PlaitScalar *bias)
{
  plait_linear_forward (height->pool, y, x, factor->weight, factor->packed, bias, PLAIT_ACTIVATION_NONE, NULL);
}

/* A way up, there or back, in bundles. */
typedef struct
{
  const PlaitUpward *upward;
  const PlaitUpwardBackward *work;
} Passage;

static Height
height_of (const Passage *passage, gint64 bundle, gint64 bundles, PlaitPool *pool)
{
  const PlaitTreeHeights *heights = passage->upward->heights;
  Height height = { .pool = pool, .kernels = plait_kernels (), .upward = passage->upward, .work = passage->work };

  height.row = plait_bundle_row (heights->sentences, heights->rows, bundle, bundles);
  height.end = plait_bundle_row (heights->sentences, heights->rows, bundle + 1, bundles);
  /* No height of a tree has more nodes than the lowest. */
  height.scratch = place_of (&height, 0, height.row);
  return height;
}

static void
run_bundles (PlaitPool *pool, Passage *passage, PlaitBundleWork work)
{
  const PlaitUpward *upward = passage->upward;
  const PlaitTreeHeights *heights = upward->heights;
  const PlaitStepFactor factors[] = { upward->gates, upward->candidate[0], upward->candidate[1] };

  if (heights->n == 0)
    return;
  plait_bundles_run (pool, heights->sentences.n, heights->first[1], factors, 3, work, passage);
}

static void
forward_bundle (gpointer data, gint64 bundle, gint64 bundles, PlaitPool *pool)
{
  const Passage *passage = data;
  const PlaitUpward *upward = passage->upward;
  Height height = height_of (passage, bundle, bundles, pool);
  gint64 width = upward->width, gates = plait_upward_gates (upward->kind) * width;

  for (gint64 l = 0; l < upward->heights->n; l++)
    {
      if (!set_height (&height, l))
        continue;
      plait_rows_gather (pool, collected (&height, upward->children, 0, width), 0, upward->states,
                         upward->heights->left + height.first);
      plait_rows_gather (pool, collected (&height, upward->children, width, width), 0, upward->states,
                         upward->heights->right + height.first);
      multiply (&height, collected (&height, upward->kept, 0, gates),
                collected (&height, upward->children, 0, 2 * width), &upward->gates, upward->gate_bias);
      if (upward->kind == PLAIT_TREE_LSTM)
        run_kernel (&height, height.kernels->tree_lstm);
      else if (upward->kind == PLAIT_TREE_HEAD)
        run_kernel (&height, height.kernels->tree_head);
      else if (upward->reset == PLAIT_RESET_BEFORE)
        {
          run_kernel (&height, height.kernels->tree_gru_reset);
          multiply (&height, collected (&height, upward->kept, 5 * width, width),
                    collected (&height, upward->reset_children, 0, 2 * width), &upward->candidate[0], NULL);
          run_kernel (&height, height.kernels->tree_gru_candidate);
        }
      else
        {
          for (gint64 side = 0; side < 2; side++)
            multiply (&height, collected (&height, upward->kept, (5 + side) * width, width),
                      collected (&height, upward->children, side * width, width), &upward->candidate[side], NULL);
          run_kernel (&height, height.kernels->tree_gru_after);
        }
    }
}

void
plait_upward_forward (PlaitPool *pool, const PlaitUpward *upward)
{
  Passage passage = { .upward = upward };

  run_bundles (pool, &passage, forward_bundle);
}

/* dx = (@add: dx +) dy W^T. */
static void
multiply_back (const Height *height, PlaitTensor dx, gboolean add, PlaitTensor dy, const PlaitStepFactor *factor)
{
  PlaitLinearBackward work
      = { .dz = dy, .weight = factor->weight, .packed = factor->packed, .dx = dx, .dx_beta = add ? 1 : 0 };

  plait_linear_backward (height->pool, &work);
}

static void
backward_bundle (gpointer data, gint64 bundle, gint64 bundles, PlaitPool *pool)
{
  const Passage *passage = data;
  const PlaitUpward *upward = passage->upward;
  const PlaitUpwardBackward *work = passage->work;
  Height height = height_of (passage, bundle, bundles, pool);
  gint64 width = upward->width, gates = plait_upward_gates (upward->kind) * width;

  for (gint64 l = upward->heights->n - 1; l >= 0; l--)
    {
      PlaitTensor dchildren;

      if (!set_height (&height, l))
        continue;
      dchildren = plait_tensor_rows (work->dchildren, height.scratch, height.nodes);
      if (upward->kind == PLAIT_TREE_LSTM)
        run_kernel (&height, height.kernels->tree_lstm_backward);
      else if (upward->kind == PLAIT_TREE_HEAD)
        run_kernel (&height, height.kernels->tree_head_backward);
      else if (upward->reset == PLAIT_RESET_BEFORE)
        {
          run_kernel (&height, height.kernels->tree_gru_candidate_backward);
          multiply_back (&height, plait_tensor_rows (work->dreset, height.scratch, height.nodes), FALSE,
                         collected (&height, upward->kept, 5 * width, width), &upward->candidate[0]);
          run_kernel (&height, height.kernels->tree_gru_reset_backward);
        }
      else
        {
          run_kernel (&height, height.kernels->tree_gru_after_backward);
          for (gint64 side = 0; side < 2; side++)
            multiply_back (&height, plait_tensor_columns (dchildren, side * width, width), TRUE,
                           collected (&height, upward->kept, (5 + side) * width, width), &upward->candidate[side]);
        }
      multiply_back (&height, dchildren, upward->kind != PLAIT_TREE_LSTM, collected (&height, upward->kept, 0, gates),
                     &upward->gates);
      plait_rows_scatter_add (pool, work->dstates, plait_tensor_columns (dchildren, 0, width),
                              upward->heights->left + height.first);
      plait_rows_scatter_add (pool, work->dstates, plait_tensor_columns (dchildren, width, width),
                              upward->heights->right + height.first);
    }
}

void
plait_upward_backward (PlaitPool *pool, const PlaitUpward *upward, const PlaitUpwardBackward *work)
{
  Passage passage = { .upward = upward, .work = work };

  run_bundles (pool, &passage, backward_bundle);
}
