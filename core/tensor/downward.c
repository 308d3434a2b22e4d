/* SPDX-License-Identifier: MIT */
#include "tensor/downward.h"

#include "tensor/elementwise.h"
#include "tensor/bundles.h"
#include "tensor/kernels/kernels.h"
#include "tensor/product.h"
#include "tensor/rows.h"

/* Elements of a depth's states that are worth a piece. */
#define PIECE_ELEMENTS 2048

/* The children of a bundle of sentences on one side at one depth. */
typedef struct
{
  PlaitPool *pool;
  const PlaitKernels *kernels;
  const PlaitDownward *downward;
  gboolean backward;
  gint64 begin; /* the bundle's rows */
  gint64 end;
  gint64 scratch; /* row of the first child's scratch */
  const PlaitDownwardSide *side;
  const gint64 *row;
  const gint64 *parent;
  gint64 first;
  gint64 rows;
  PlaitCellKernel kernel;
  gint64 pieces;
} Depth;

static PlaitScalar *
row_of (PlaitTensor tensor, gint64 row)
{
  return !tensor.data ? NULL : plait_tensor_row (tensor, row);
}

static PlaitCellRow
cell_row (const Depth *depth, gint64 i)
{
  const PlaitDownward *downward = depth->downward;
  const PlaitDownwardSide *side = depth->side;
  gint64 child = depth->first + i;
  PlaitCellRow cell = {
    .projected = row_of (side->projected, child),
    .gates = plait_tensor_row (side->gates, child),
    .previous = plait_tensor_row (side->previous, child),
    .state = plait_tensor_row (downward->states, depth->row[i]),
    .reset_state = row_of (side->reset_states, child),
  };

  if (!depth->backward)
    return cell;
  cell.dstate = plait_tensor_row (downward->dstates, depth->row[i]);
  cell.carried = plait_tensor_row (downward->dparent, depth->scratch + i);
  cell.dreset = row_of (downward->dreset, depth->scratch + i);
  cell.dprojected = row_of (side->dprojected, child);
  cell.adds = side->adds;
  return cell;
}

static void
depth_piece (gpointer data, gint64 piece, guint thread)
{
  const Depth *depth = data;

  for (gint64 i = depth->rows * piece / depth->pieces; i < depth->rows * (piece + 1) / depth->pieces; i++)
    {
      PlaitCellRow row = cell_row (depth, i);

      depth->kernel (&row, depth->downward->width);
    }
}

static void
run_kernel (Depth *depth, PlaitCellKernel kernel)
{
  depth->kernel = kernel;
  depth->pieces = CLAMP (depth->rows * depth->downward->width / PIECE_ELEMENTS, 1, depth->rows);
  plait_pool_run (depth->pool, depth->pieces, depth_piece, depth);
}

/* The first child of depth @at whose parent stands in @row or behind. */
static gint64
place_of (const PlaitTreeSide *children, gint64 at, gint64 row)
{
  return plait_bundle_place (children->parent, children->first[at], children->first[at + 1], row);
}

/* FALSE if there is nothing of this side. */
static gboolean
set_depth (Depth *depth, gint64 at, gint64 side)
{
  const PlaitTreeSide *children = &depth->downward->depths->sides[side];

  depth->side = &depth->downward->sides[side];
  depth->first = place_of (children, at, depth->begin);
  depth->rows = place_of (children, at, depth->end) - depth->first;
  depth->row = children->row + depth->first;
  depth->parent = children->parent + depth->first;
  return depth->rows > 0;
}

/* Columns of the depth's rows of @tensor. */
static PlaitTensor
collected (const Depth *depth, PlaitTensor tensor, gint64 first, gint64 width)
{
  return plait_tensor_columns (plait_tensor_rows (tensor, depth->first, depth->rows), first, width);
}

static void
multiply (const Depth *depth, PlaitTensor y, PlaitTensor x, const PlaitStepFactor *factor, const PlaitScalar *bias)
{
  plait_linear_forward (depth->pool, y, x, factor->weight, factor->packed, bias, PLAIT_ACTIVATION_NONE, NULL);
}

static void
go_down (Depth *depth)
{
  const PlaitDownward *downward = depth->downward;
  const PlaitDownwardSide *side = depth->side;
  gint64 width = downward->width, products = side->recurrent.weight.width;
  PlaitTensor previous = collected (depth, side->previous, 0, width);

  plait_rows_gather (depth->pool, previous, 0, downward->states, depth->parent);
  multiply (depth, collected (depth, side->gates, 0, products), previous, &side->recurrent, side->bias);
  if (downward->reset == PLAIT_RESET_AFTER)
    {
      run_kernel (depth, depth->kernels->gru_after);
      return;
    }
  run_kernel (depth, depth->kernels->gru_reset);
  multiply (depth, collected (depth, side->gates, products, width), collected (depth, side->reset_states, 0, width),
            &side->candidate, NULL);
  run_kernel (depth, depth->kernels->gru_candidate);
}

/* A way down, there or back, in bundles. */
typedef struct
{
  const PlaitDownward *downward;
  gboolean backward;
} Passage;

static Depth
depth_of (const Passage *passage, gint64 bundle, gint64 bundles, PlaitPool *pool)
{
  const PlaitTreeDepths *depths = passage->downward->depths;
  Depth depth = { .pool = pool,
                  .kernels = plait_kernels (),
                  .downward = passage->downward,
                  .backward = passage->backward,
                  .begin = plait_bundle_row (depths->sentences, depths->rows, bundle, bundles),
                  .end = plait_bundle_row (depths->sentences, depths->rows, bundle + 1, bundles) };

  /* As many rows for each bundle as it has children on a side. */
  for (gint64 at = 0; at < depths->n; at++)
    depth.scratch += place_of (&depths->sides[0], at, depth.begin) - depths->sides[0].first[at];
  return depth;
}

/* The most rows that a side has at a depth. */
static gint64
most_rows (const PlaitTreeDepths *depths)
{
  gint64 most = 0;

  for (gint64 at = 0; at < depths->n; at++)
    most = MAX (most, depths->sides[0].first[at + 1] - depths->sides[0].first[at]);
  return most;
}

static void
run_bundles (PlaitPool *pool, Passage *passage, PlaitBundleWork work)
{
  const PlaitDownward *downward = passage->downward;
  const PlaitDownwardSide *sides = downward->sides;
  const PlaitStepFactor factors[] = { sides[0].recurrent, sides[0].candidate, sides[1].recurrent, sides[1].candidate };

  plait_bundles_run (pool, downward->depths->sentences.n, most_rows (downward->depths), factors, 4, work, passage);
}

static void
forward_bundle (gpointer data, gint64 bundle, gint64 bundles, PlaitPool *pool)
{
  const Passage *passage = data;
  Depth depth = depth_of (passage, bundle, bundles, pool);

  for (gint64 at = 0; at < passage->downward->depths->n; at++)
    for (gint64 side = 0; side < 2; side++)
      if (set_depth (&depth, at, side))
        go_down (&depth);
}

void
plait_downward_forward (PlaitPool *pool, const PlaitDownward *downward)
{
  Passage passage = { .downward = downward };

  run_bundles (pool, &passage, forward_bundle);
}

/* dx = (@add: dx +) dy W^T. */
static void
multiply_back (const Depth *depth, PlaitTensor dx, gboolean add, PlaitTensor dy, const PlaitStepFactor *factor)
{
  PlaitLinearBackward work
      = { .dz = dy, .weight = factor->weight, .packed = factor->packed, .dx = dx, .dx_beta = add ? 1 : 0 };

  plait_linear_backward (depth->pool, &work);
}

static void
go_up (Depth *depth)
{
  const PlaitDownward *downward = depth->downward;
  const PlaitDownwardSide *side = depth->side;
  gint64 width = downward->width, products = side->recurrent.weight.width;
  PlaitTensor dparent = plait_tensor_rows (downward->dparent, depth->scratch, depth->rows);

  /* Nothing comes to these states but what stands in their rows. */
  plait_tensor_fill (depth->pool, dparent, 0, 0);
  if (downward->reset == PLAIT_RESET_AFTER)
    run_kernel (depth, depth->kernels->gru_after_backward);
  else
    {
      run_kernel (depth, depth->kernels->gru_candidate_backward);
      multiply_back (depth, plait_tensor_rows (downward->dreset, depth->scratch, depth->rows), FALSE,
                     collected (depth, side->gates, products, width), &side->candidate);
      run_kernel (depth, depth->kernels->gru_reset_backward);
    }
  multiply_back (depth, dparent, TRUE, collected (depth, side->gates, 0, products), &side->recurrent);
  plait_rows_scatter_add (depth->pool, downward->dstates, dparent, depth->parent);
}

static void
backward_bundle (gpointer data, gint64 bundle, gint64 bundles, PlaitPool *pool)
{
  const Passage *passage = data;
  Depth depth = depth_of (passage, bundle, bundles, pool);

  for (gint64 at = passage->downward->depths->n - 1; at >= 0; at--)
    for (gint64 side = 1; side >= 0; side--)
      if (set_depth (&depth, at, side))
        go_up (&depth);
}

void
plait_downward_backward (PlaitPool *pool, const PlaitDownward *downward)
{
  Passage passage = { .downward = downward, .backward = TRUE };

  run_bundles (pool, &passage, backward_bundle);
}
