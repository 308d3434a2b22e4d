/* SPDX-License-Identifier: MIT */
#include "recurrent/top-down.h"

#include "recurrent/bundles.h"
#include "tensor/elementwise.h"
#include "kernels/kernels.h"
#include "tensor/rows.h"
#include "tensor/element-ranges.h"

/* The left or right children at one depth in a bundle of sentences. The functions number depths from 0, the children of
 * the roots. */
typedef struct
{
  PlaitRnnStep step; /* one recurrent step; each of its rows is a child */
  const PlaitKernels *kernels;
  const PlaitTopDown *top_down;
  gboolean backward;
  gint64 begin; /* memory rows of the bundle: begin .. end - 1 */
  gint64 end;
  gint64 scratch; /* first row of the bundle in the scratch tensors */
  const PlaitTopDownSide *side;
  const gint64 *row;
  const gint64 *parent;
} Depth;

static PlaitCellRow
cell_row (gconstpointer data, gint64 i)
{
  const Depth *depth = data;
  const PlaitTopDown *top_down = depth->top_down;
  const PlaitTopDownSide *side = depth->side;
  gint64 child = depth->step.first + i;
  PlaitCellRow cell = {
    .projected = plait_rnn_step_row (side->projected, child),
    .gates = plait_tensor_row (side->gates, child),
    .previous = plait_tensor_row (side->previous, child),
    .state = plait_tensor_row (top_down->states, depth->row[i]),
    .reset_state = plait_rnn_step_row (side->reset_states, child),
  };

  if (!depth->backward)
    return cell;
  cell.dstate = plait_tensor_row (top_down->dstates, depth->row[i]);
  cell.carried = plait_tensor_row (top_down->dparent, depth->scratch + i);
  cell.dreset = plait_rnn_step_row (top_down->dreset, depth->scratch + i);
  cell.dprojected = plait_rnn_step_row (side->dprojected, child);
  cell.adds = side->adds;
  return cell;
}

static void
run_kernel (const Depth *depth, PlaitCellKernel kernel)
{
  gint64 width = depth->top_down->width;

  plait_rnn_step_run (&depth->step, kernel, width, width, cell_row, depth);
}

/* Returns the first child of depth @at whose parent's memory row is at least @row. */
static gint64
place_of (const PlaitTreeSide *children, gint64 at, gint64 row)
{
  return plait_lower_bound (children->parent, children->first[at], children->first[at + 1], row);
}

/* Sets the step to the bundle's left (@side 0) or right (1) children at depth @at. FALSE if the bundle has no such
 * children. */
static gboolean
set_depth (Depth *depth, gint64 at, gint64 side)
{
  const PlaitTreeSide *children = &depth->top_down->depths->sides[side];

  depth->side = &depth->top_down->sides[side];
  depth->step.first = place_of (children, at, depth->begin);
  depth->step.rows = place_of (children, at, depth->end) - depth->step.first;
  depth->row = children->row + depth->step.first;
  depth->parent = children->parent + depth->step.first;
  return depth->step.rows > 0;
}

static void
go_down (const Depth *depth)
{
  const PlaitTopDown *top_down = depth->top_down;
  const PlaitTopDownSide *side = depth->side;
  gint64 width = top_down->width, products = side->recurrent.weight.width;
  PlaitTensor previous = plait_rnn_step_columns (&depth->step, side->previous, 0, width);

  plait_rows_gather (depth->step.pool, previous, 0, top_down->states, depth->parent);
  plait_rnn_step_multiply (&depth->step, plait_rnn_step_columns (&depth->step, side->gates, 0, products), previous,
                           &side->recurrent, side->bias);
  if (top_down->reset == PLAIT_RESET_AFTER)
    {
      run_kernel (depth, depth->kernels->gru_after);
      return;
    }
  run_kernel (depth, depth->kernels->gru_reset);
  plait_rnn_step_multiply (&depth->step, plait_rnn_step_columns (&depth->step, side->gates, products, width),
                           plait_rnn_step_columns (&depth->step, side->reset_states, 0, width), &side->candidate, NULL);
  run_kernel (depth, depth->kernels->gru_candidate);
}

/* Returns a copy of @all with the rows of bundle @bundle and with @pool. */
static Depth
depth_of (const Depth *all, gint64 bundle, gint64 bundles, PlaitPool *pool)
{
  const PlaitTreeDepths *depths = all->top_down->depths;
  Depth depth = *all;

  depth.step.pool = pool;
  depth.begin = plait_bundle_row (depths->sentences, depths->rows, bundle, bundles);
  depth.end = plait_bundle_row (depths->sentences, depths->rows, bundle + 1, bundles);
  /* Each earlier bundle has a scratch row for each of its left children; right children share these rows. */
  for (gint64 at = 0; at < depths->n; at++)
    depth.scratch += place_of (&depths->sides[0], at, depth.begin) - depths->sides[0].first[at];
  return depth;
}

/* Returns the largest number of left children (and so of right children) at one depth. */
static gint64
most_rows (const PlaitTreeDepths *depths)
{
  gint64 most = 0;

  for (gint64 at = 0; at < depths->n; at++)
    most = MAX (most, depths->sides[0].first[at + 1] - depths->sides[0].first[at]);
  return most;
}

static void
forward_bundle (gpointer data, gint64 bundle, gint64 bundles, PlaitPool *pool)
{
  Depth depth = depth_of (data, bundle, bundles, pool);

  for (gint64 at = 0; at < depth.top_down->depths->n; at++)
    for (gint64 side = 0; side < 2; side++)
      if (set_depth (&depth, at, side))
        go_down (&depth);
}

static void
go_up (const Depth *depth)
{
  const PlaitTopDown *top_down = depth->top_down;
  const PlaitTopDownSide *side = depth->side;
  gint64 width = top_down->width, products = side->recurrent.weight.width;
  PlaitTensor dparent = plait_tensor_rows (top_down->dparent, depth->scratch, depth->step.rows);

  /* The kernel adds the gradient "carried", which is a row of dparent, to the gradient in dstate. The latter is already
   * the whole gradient of the child's state, so "carried" must begin at zero. */
  plait_tensor_fill (depth->step.pool, dparent, 0, 0);
  if (top_down->reset == PLAIT_RESET_AFTER)
    run_kernel (depth, depth->kernels->gru_after_backward);
  else
    {
      run_kernel (depth, depth->kernels->gru_candidate_backward);
      plait_rnn_step_multiply_backward (
          &depth->step, plait_tensor_rows (top_down->dreset, depth->scratch, depth->step.rows), FALSE,
          plait_rnn_step_columns (&depth->step, side->gates, products, width), &side->candidate);
      run_kernel (depth, depth->kernels->gru_reset_backward);
    }
  plait_rnn_step_multiply_backward (&depth->step, dparent, TRUE,
                                    plait_rnn_step_columns (&depth->step, side->gates, 0, products), &side->recurrent);
  plait_rows_scatter_add (depth->step.pool, top_down->dstates, dparent, depth->parent);
}

static void
backward_bundle (gpointer data, gint64 bundle, gint64 bundles, PlaitPool *pool)
{
  Depth depth = depth_of (data, bundle, bundles, pool);

  for (gint64 at = depth.top_down->depths->n - 1; at >= 0; at--)
    for (gint64 side = 1; side >= 0; side--)
      if (set_depth (&depth, at, side))
        go_up (&depth);
}

void
plait_top_down_run (PlaitPool *pool, const PlaitTopDown *top_down, gboolean backward)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_CELLS);
  const PlaitTopDownSide *sides = top_down->sides;
  const PlaitRnnWeight factors[] = { sides[0].recurrent, sides[0].candidate, sides[1].recurrent, sides[1].candidate };
  Depth all = { .kernels = plait_kernels (), .top_down = top_down, .backward = backward };

  plait_bundles_run (pool, top_down->depths->sentences.n, most_rows (top_down->depths), factors, 4,
                     backward ? backward_bundle : forward_bundle, &all);
}
