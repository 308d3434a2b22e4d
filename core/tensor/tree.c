/* SPDX-License-Identifier: MIT */
#include "tensor/tree.h"

#include "tensor/blas.h"
#include "tensor/groups.h"
#include "tensor/kernels/kernels.h"
#include "tensor/product.h"
#include "tensor/rows.h"

/* Elements of a level's states that are worth a piece. */
#define PIECE_ELEMENTS 1024

/* The nodes of a group of sentences in a level, up or down. */
typedef struct
{
  PlaitPool *pool;
  const PlaitKernels *kernels;
  const PlaitClimb *climb;
  const PlaitClimbBackward *work;
  gint64 row; /* the group's first */
  gint64 end;
  gint64 first; /* node */
  gint64 nodes;
  gint64 scratch; /* row of the first node's scratch */
  PlaitTreeKernel kernel;
  gint64 pieces;
} Level;

static PlaitScalar *
row_of (PlaitTensor tensor, gint64 row)
{
  return !tensor.data ? NULL : plait_tensor_row (tensor, row);
}

/* All that stands for node @i of these. */
static PlaitTreeRow
tree_row (const Level *level, gint64 i)
{
  const PlaitClimb *climb = level->climb;
  const PlaitClimbBackward *work = level->work;
  gint64 node = level->first + i;
  gint64 row = climb->levels->row[node], left = climb->levels->left[node], right = climb->levels->right[node];
  PlaitTreeRow found = {
    .projected = row_of (climb->projected, node),
    .candidate_bias = climb->candidate_bias,
    .gates = plait_tensor_row (climb->kept, node),
    .children = plait_tensor_row (climb->children, node),
    .reset_children = row_of (climb->reset_children, node),
    .left_cell = row_of (climb->cells, left),
    .right_cell = row_of (climb->cells, right),
    .state = plait_tensor_row (climb->states, row),
    .cell = row_of (climb->cells, row),
  };

  if (!work)
    return found;
  found.dstate = plait_tensor_row (work->dstates, row);
  found.dcell = row_of (work->dcells, row);
  found.dleft_cell = row_of (work->dcells, left);
  found.dright_cell = row_of (work->dcells, right);
  found.dchildren = plait_tensor_row (work->dchildren, level->scratch + i);
  found.dreset = row_of (work->dreset, level->scratch + i);
  found.dprojected = row_of (work->dprojected, node);
  found.adds = work->adds;
  return found;
}

static void
level_piece (gpointer data, gint64 piece, guint thread)
{
  const Level *level = data;

  for (gint64 i = level->nodes * piece / level->pieces; i < level->nodes * (piece + 1) / level->pieces; i++)
    {
      PlaitTreeRow row = tree_row (level, i);

      level->kernel (&row, level->climb->width);
    }
}

static void
run_kernel (Level *level, PlaitTreeKernel kernel)
{
  level->kernel = kernel;
  level->pieces = CLAMP (level->nodes * level->climb->width / PIECE_ELEMENTS, 1, level->nodes);
  plait_pool_run (level->pool, level->pieces, level_piece, level);
}

/* The first node of level @l that stands in @row or behind. */
static gint64
place_of (const Level *level, gint64 l, gint64 row)
{
  const PlaitTreeLevels *levels = level->climb->levels;

  return plait_group_place (levels->row, levels->first[l], levels->first[l + 1], row);
}

/* FALSE if the group has no nodes there. */
static gboolean
set_level (Level *level, gint64 l)
{
  level->first = place_of (level, l, level->row);
  level->nodes = place_of (level, l, level->end) - level->first;
  return level->nodes > 0;
}

/* Columns of the level's rows of @collected. */
static PlaitTensor
collected (const Level *level, PlaitTensor tensor, gint64 first, gint64 width)
{
  return plait_tensor_columns (plait_tensor_rows (tensor, level->first, level->nodes), first, width);
}

static void
multiply (const Level *level, PlaitTensor y, PlaitTensor x, const PlaitStepFactor *factor, const PlaitScalar *bias)
{
  plait_linear_forward (level->pool, y, x, factor->weight, factor->packed, bias, PLAIT_ACTIVATION_NONE, NULL);
}

/* A climb, up or down, in groups. */
typedef struct
{
  const PlaitClimb *climb;
  const PlaitClimbBackward *work;
} Passage;

static Level
level_of (const Passage *passage, gint64 group, gint64 groups, PlaitPool *pool)
{
  const PlaitTreeLevels *levels = passage->climb->levels;
  Level level = { .pool = pool, .kernels = plait_kernels (), .climb = passage->climb, .work = passage->work };

  level.row = plait_group_row (levels->sentences, levels->rows, group, groups);
  level.end = plait_group_row (levels->sentences, levels->rows, group + 1, groups);
  /* No level of a tree has more nodes than the lowest. */
  level.scratch = place_of (&level, 0, level.row);
  return level;
}

static void
run_groups (PlaitPool *pool, Passage *passage, PlaitGroupWork work)
{
  const PlaitClimb *climb = passage->climb;
  const PlaitTreeLevels *levels = climb->levels;
  const PlaitStepFactor factors[] = { climb->gates, climb->candidate[0], climb->candidate[1] };

  if (levels->levels == 0)
    return;
  plait_groups_run (pool, levels->sentences.n, levels->first[1], factors, 3, work, passage);
}

static void
forward_group (gpointer data, gint64 group, gint64 groups, PlaitPool *pool)
{
  const Passage *passage = data;
  const PlaitClimb *climb = passage->climb;
  Level level = level_of (passage, group, groups, pool);
  gint64 width = climb->width, gates = plait_climb_gates (climb->kind) * width;

  for (gint64 l = 0; l < climb->levels->levels; l++)
    {
      if (!set_level (&level, l))
        continue;
      plait_rows_gather (pool, collected (&level, climb->children, 0, width), 0, climb->states,
                         climb->levels->left + level.first);
      plait_rows_gather (pool, collected (&level, climb->children, width, width), 0, climb->states,
                         climb->levels->right + level.first);
      multiply (&level, collected (&level, climb->kept, 0, gates), collected (&level, climb->children, 0, 2 * width),
                &climb->gates, climb->gate_bias);
      if (climb->kind == PLAIT_TREE_LSTM)
        run_kernel (&level, level.kernels->tree_lstm);
      else if (climb->kind == PLAIT_TREE_HEAD)
        run_kernel (&level, level.kernels->tree_head);
      else if (climb->reset == PLAIT_RESET_BEFORE)
        {
          run_kernel (&level, level.kernels->tree_gru_reset);
          multiply (&level, collected (&level, climb->kept, 5 * width, width),
                    collected (&level, climb->reset_children, 0, 2 * width), &climb->candidate[0], NULL);
          run_kernel (&level, level.kernels->tree_gru_candidate);
        }
      else
        {
          for (gint64 side = 0; side < 2; side++)
            multiply (&level, collected (&level, climb->kept, (5 + side) * width, width),
                      collected (&level, climb->children, side * width, width), &climb->candidate[side], NULL);
          run_kernel (&level, level.kernels->tree_gru_after);
        }
    }
}

void
plait_climb_forward (PlaitPool *pool, const PlaitClimb *climb)
{
  Passage passage = { .climb = climb };

  run_groups (pool, &passage, forward_group);
}

/* dx = (@add: dx +) dy W^T. */
static void
multiply_back (const Level *level, PlaitTensor dx, gboolean add, PlaitTensor dy, const PlaitStepFactor *factor)
{
  PlaitLinearBackward work
      = { .dz = dy, .weight = factor->weight, .packed = factor->packed, .dx = dx, .dx_beta = add ? 1 : 0 };

  plait_linear_backward (level->pool, &work);
}

static void
backward_group (gpointer data, gint64 group, gint64 groups, PlaitPool *pool)
{
  const Passage *passage = data;
  const PlaitClimb *climb = passage->climb;
  const PlaitClimbBackward *work = passage->work;
  Level level = level_of (passage, group, groups, pool);
  gint64 width = climb->width, gates = plait_climb_gates (climb->kind) * width;

  for (gint64 l = climb->levels->levels - 1; l >= 0; l--)
    {
      PlaitTensor dchildren;

      if (!set_level (&level, l))
        continue;
      dchildren = plait_tensor_rows (work->dchildren, level.scratch, level.nodes);
      if (climb->kind == PLAIT_TREE_LSTM)
        run_kernel (&level, level.kernels->tree_lstm_backward);
      else if (climb->kind == PLAIT_TREE_HEAD)
        run_kernel (&level, level.kernels->tree_head_backward);
      else if (climb->reset == PLAIT_RESET_BEFORE)
        {
          run_kernel (&level, level.kernels->tree_gru_candidate_backward);
          multiply_back (&level, plait_tensor_rows (work->dreset, level.scratch, level.nodes), FALSE,
                         collected (&level, climb->kept, 5 * width, width), &climb->candidate[0]);
          run_kernel (&level, level.kernels->tree_gru_reset_backward);
        }
      else
        {
          run_kernel (&level, level.kernels->tree_gru_after_backward);
          for (gint64 side = 0; side < 2; side++)
            multiply_back (&level, plait_tensor_columns (dchildren, side * width, width), TRUE,
                           collected (&level, climb->kept, (5 + side) * width, width), &climb->candidate[side]);
        }
      multiply_back (&level, dchildren, climb->kind != PLAIT_TREE_LSTM, collected (&level, climb->kept, 0, gates),
                     &climb->gates);
      plait_rows_scatter_add (pool, work->dstates, plait_tensor_columns (dchildren, 0, width),
                              climb->levels->left + level.first);
      plait_rows_scatter_add (pool, work->dstates, plait_tensor_columns (dchildren, width, width),
                              climb->levels->right + level.first);
    }
}

void
plait_climb_backward (PlaitPool *pool, const PlaitClimb *climb, const PlaitClimbBackward *work)
{
  Passage passage = { .climb = climb, .work = work };

  run_groups (pool, &passage, backward_group);
}
