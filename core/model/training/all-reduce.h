/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/internal.h"
#include "process/ranks.h"
#include "layers/parameter.h"

/*
 * Sums the gradients of all processes into the gradients of the parameters, with equal bits in each process. The sum is
 * cut into pieces. A piece goes from process to process in the order of their shards, and each process adds its own
 * gradients. The last process sends the final sums to all. A shard sends pieces during its backward pass, after the
 * backward of a node. Pieces are sent from the last parameter to the first, which is about the order in which backward
 * finishes their gradients.
 */
typedef struct PlaitAllReduce PlaitAllReduce;

/* Creates an all-reduce among @ranks, with at most @max_shards shards in this process. @pool adds the remaining pieces
 * when backward has ended. All arguments are borrowed. (transfer full) */
PlaitAllReduce *plait_all_reduce_new (PlaitRanks *ranks, const PlaitParameters *parameters, PlaitPool *pool,
                                      guint max_shards, GError **error);
void plait_all_reduce_free (PlaitAllReduce *all_reduce);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitAllReduce, plait_all_reduce_free)

/* Begins a sum over @n shards of this process. */
void plait_all_reduce_begin (PlaitAllReduce *all_reduce, guint n);

/* Registers @tape (borrowed) of shard @shard. Call it after plait_tape_begin and before forward. */
void plait_all_reduce_watch (PlaitAllReduce *all_reduce, guint shard, PlaitTape *tape);

/* Reports that the shard has ended. @well: FALSE if it failed; the sums are meaningless then. */
void plait_all_reduce_shard_ended (PlaitAllReduce *all_reduce, guint shard, gboolean well);

/* Completes the sums; call it after all shards have ended. */
void plait_all_reduce_end (PlaitAllReduce *all_reduce);
