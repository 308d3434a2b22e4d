/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "attention/sparse-private.h"
#include "kernels/gradient-terms.h"
#include "attention/tree-descent.h"

/* Backward of a tree descent: from the gradients of the leaf weights to the gradients of all scores. */

typedef struct
{
  const PlaitTreeDescentResult *result;
  gint64 pieces;
  PlaitScalar *dpath; /* gradient of the path weight of each weighed row */
  PlaitScalar *dscores;
  PlaitScalar factor;
  const PlaitScalar *dleaves;
} BackwardCall;

/* Writes the gradients of the path weights of @entry's leaves. A leaf's path weight is not normalised yet. */
static void
leaves_backward (const BackwardCall *call, gint64 entry)
{
  const PlaitTreeDescentResult *result = call->result;
  gint64 begin = plait_selected_rows_begin (&result->leaves, entry),
         n = plait_selected_rows_begin (&result->leaves, entry + 1) - begin;
  gint64 at = plait_selected_rows_begin (&result->all, entry + 1) - n;
  const PlaitScalar *dleaves = call->dleaves + begin, *leaf_weights = result->leaf_weights + begin;
  PlaitScalar sum = 0, product = 0;

  for (gint64 i = 0; i < n && result->normalised; i++)
    {
      sum += result->path[at + i];
      product += PLAIT_GRADIENT_TERM (tree_descent_sum, dleaves[i] * leaf_weights[i]);
    }
  for (gint64 i = 0; i < n; i++)
    call->dpath[at + i] = result->normalised ? (PLAIT_GRADIENT_TERM (tree_descent_leaf, dleaves[i]) - product) / sum
                                             : PLAIT_GRADIENT_TERM (tree_descent_leaf, dleaves[i]);
}

/* Writes the gradients of the scores of @set. Adds to the gradients of the path weights of the parent of @set. A parent
 * that occurs several times among the weighed rows has consecutive indices there. */
static void
set_backward (const BackwardCall *call, gint64 set)
{
  const PlaitTreeDescentResult *result = call->result;
  gint64 parent = result->parent[set], begin = result->all.rows.offsets[set], end = result->all.rows.offsets[set + 1];
  const gint64 *row = result->all.row;
  PlaitScalar above = parent < 0 ? 1 : 0, sum = 0;

  for (gint64 i = begin; i < end; i++)
    sum += call->dpath[i] * result->weights[i];
  for (gint64 i = parent; i >= 0 && i < begin && row[i] == row[parent]; i++)
    {
      above += result->path[i];
      call->dpath[i] += PLAIT_GRADIENT_TERM (tree_descent_parent, sum);
    }
  above *= call->factor;
  for (gint64 i = begin; i < end; i++)
    call->dscores[i] = above * result->weights[i]
                       * (PLAIT_GRADIENT_TERM (tree_descent_weight, call->dpath[i])
                          - PLAIT_GRADIENT_TERM (tree_descent_normaliser, sum));
}

/* Processes the sets of each entry in reverse order. The set of a row's children has a higher number than the set of
 * the row, so gradients go from the leaves up. */
static void
backward_piece (gpointer data, gint64 piece, guint thread)
{
  const BackwardCall *call = data;
  const PlaitSelectedRows *all = &call->result->all;
  gint64 entries = all->sets.n;

  for (gint64 e = entries * piece / call->pieces; e < entries * (piece + 1) / call->pieces; e++)
    {
      gint64 begin = plait_selected_rows_begin (all, e);

      memset (call->dpath + begin, 0, sizeof *call->dpath * (gsize)(plait_selected_rows_begin (all, e + 1) - begin));
      leaves_backward (call, e);
      for (gint64 set = all->sets.offsets[e + 1] - 1; set >= all->sets.offsets[e]; set--)
        set_backward (call, set);
    }
}

void
plait_tree_descent_backward (PlaitPool *pool, PlaitArena *arena, const PlaitTreeDescentResult *result,
                             PlaitScalar *dscores, PlaitScalar factor, const PlaitScalar *dleaves)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_ATTENTION);
  gsize bytes = sizeof (PlaitScalar) * (gsize)MAX (result->weighed, 1);
  gint64 work = result->weighed * PLAIT_SPARSE_SELECTION_COST;
  BackwardCall call = { .result = result,
                        .pieces = CLAMP (work / PLAIT_SPARSE_MIN_PARALLEL_WORK, 1, MAX (result->all.sets.n, 1)),
                        .dpath = plait_arena_allocate (arena, bytes),
                        .dscores = dscores,
                        .factor = factor,
                        .dleaves = dleaves };

  plait_sparse_run (pool, call.pieces, work, backward_piece, &call);
  plait_arena_release (arena, call.dpath, bytes);
}
