/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/internal.h"
#include "process/ranks.h"
#include "layers/parameter.h"

/*
 * The gradients of a job's processes become one sum, in those of the parameters, with the same bits in each: pieces of
 * it go from process to process in the order of their shards, each adding its own, and from the last one to all.
 * They do so while shards go back through earlier layers, between two nodes of theirs; parameters
 * go from the last to the first, which is about the order in which backward is done with them.
 */
typedef struct PlaitAllReduce PlaitAllReduce;

/* Between @ranks, of which this one has @max_shards shards at most; what is added when backward is done is added on
 * @pool. All are borrowed. (transfer full) */
PlaitAllReduce *plait_all_reduce_new (PlaitRanks *ranks, const PlaitParameters *parameters, PlaitPool *pool,
                                      guint max_shards, GError **error);
void plait_all_reduce_free (PlaitAllReduce *all_reduce);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitAllReduce, plait_all_reduce_free)

/* This process has @n shards, none of which has begun. */
void plait_all_reduce_begin (PlaitAllReduce *all_reduce, guint n);

/* Before shard @shard goes forward, on @tape (borrowed), which has just begun. */
void plait_all_reduce_watch (PlaitAllReduce *all_reduce, guint shard, PlaitTape *tape);

/* The shard has come to its end, or has not fared @well: then what is exchanged means nothing. */
void plait_all_reduce_shard_ended (PlaitAllReduce *all_reduce, guint shard, gboolean well);

/* All of them have; the sums are there when it returns. */
void plait_all_reduce_end (PlaitAllReduce *all_reduce);
