/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "attention/chosen-private.h"
#include "kernels/terms.h"
#include "attention/walk.h"

/* From what the leaves of a walk have back to the scores of all rows that were weighed. */

typedef struct
{
  const PlaitWalked *walked;
  gint64 pieces;
  PlaitScalar *dpath; /* of all */
  PlaitScalar *dscores;
  PlaitScalar factor;
  const PlaitScalar *dleaves;
} BackwardCall;

/* The gradient of what the leaves of @entry had before they were normalised. */
static void
leaves_backward (const BackwardCall *call, gint64 entry)
{
  const PlaitWalked *walked = call->walked;
  gint64 begin = plait_chosen_begin (&walked->leaves, entry),
         n = plait_chosen_begin (&walked->leaves, entry + 1) - begin;
  gint64 at = plait_chosen_begin (&walked->all, entry + 1) - n;
  const PlaitScalar *dleaves = call->dleaves + begin, *of_leaves = walked->of_leaves + begin;
  PlaitScalar sum = 0, product = 0;

  for (gint64 i = 0; i < n && walked->normalised; i++)
    {
      sum += walked->path[at + i];
      product += PLAIT_TERM (walk_sum, dleaves[i] * of_leaves[i]);
    }
  for (gint64 i = 0; i < n; i++)
    call->dpath[at + i] = walked->normalised ? (PLAIT_TERM (walk_leaf, dleaves[i]) - product) / sum
                                             : PLAIT_TERM (walk_leaf, dleaves[i]);
}

/* The rows of the set come to the row that they stand below, wherever it stands. */
static void
set_backward (const BackwardCall *call, gint64 set)
{
  const PlaitWalked *walked = call->walked;
  gint64 parent = walked->parent[set], begin = walked->all.rows.offsets[set], end = walked->all.rows.offsets[set + 1];
  const gint64 *row = walked->all.row;
  PlaitScalar above = parent < 0 ? 1 : 0, sum = 0;

  for (gint64 i = begin; i < end; i++)
    sum += call->dpath[i] * walked->weights[i];
  for (gint64 i = parent; i >= 0 && i < begin && row[i] == row[parent]; i++)
    {
      above += walked->path[i];
      call->dpath[i] += PLAIT_TERM (walk_parent, sum);
    }
  above *= call->factor;
  for (gint64 i = begin; i < end; i++)
    call->dscores[i]
        = above * walked->weights[i] * (PLAIT_TERM (walk_weight, call->dpath[i]) - PLAIT_TERM (walk_normaliser, sum));
}

/* From the leaves up: sets stand behind those above them. */
static void
backward_piece (gpointer data, gint64 piece, guint thread)
{
  const BackwardCall *call = data;
  const PlaitChosen *all = &call->walked->all;
  gint64 entries = all->sets.n;

  for (gint64 e = entries * piece / call->pieces; e < entries * (piece + 1) / call->pieces; e++)
    {
      gint64 begin = plait_chosen_begin (all, e);

      memset (call->dpath + begin, 0, sizeof *call->dpath * (gsize)(plait_chosen_begin (all, e + 1) - begin));
      leaves_backward (call, e);
      for (gint64 set = all->sets.offsets[e + 1] - 1; set >= all->sets.offsets[e]; set--)
        set_backward (call, set);
    }
}

void
plait_walk_backward (PlaitPool *pool, PlaitArena *arena, const PlaitWalked *walked, PlaitScalar *dscores,
                     PlaitScalar factor, const PlaitScalar *dleaves)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_ATTENTION);
  gsize bytes = sizeof (PlaitScalar) * (gsize)MAX (walked->weighed, 1);
  gint64 work = walked->weighed * PLAIT_CHOSEN_CHOICE;
  BackwardCall call = { .walked = walked,
                        .pieces = CLAMP (work / PLAIT_CHOSEN_LITTLE, 1, MAX (walked->all.sets.n, 1)),
                        .dpath = plait_arena_take (arena, bytes),
                        .dscores = dscores,
                        .factor = factor,
                        .dleaves = dleaves };

  plait_chosen_run (pool, call.pieces, work, backward_piece, &call);
  plait_arena_release (arena, call.dpath, bytes);
}
