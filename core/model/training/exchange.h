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
typedef struct PlaitExchange PlaitExchange;

/* Between @ranks, of which this one has @most shards at most; what is added when backward is done is added on @pool.
 * All are borrowed. (transfer full) */
PlaitExchange *plait_exchange_new (PlaitRanks *ranks, const PlaitParameters *parameters, PlaitPool *pool, guint most,
                                   GError **error);
void plait_exchange_free (PlaitExchange *exchange);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitExchange, plait_exchange_free)

/* This process has @n shards, none of which has begun. */
void plait_exchange_begin (PlaitExchange *exchange, guint n);

/* Before shard @shard goes forward, on @tape (borrowed), which has just begun. */
void plait_exchange_watch (PlaitExchange *exchange, guint shard, PlaitTape *tape);

/* The shard has come to its end, or has not fared @well: then what is exchanged means nothing. */
void plait_exchange_shard_ended (PlaitExchange *exchange, guint shard, gboolean well);

/* All of them have; the sums are there when it returns. */
void plait_exchange_end (PlaitExchange *exchange);
