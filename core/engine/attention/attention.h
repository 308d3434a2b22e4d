/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/pool.h"
#include "kernels/attention-job.h"

/*
 * Multi-head scaled dot-product attention over ragged rows, fused (Libovicky et al. 2018, eq. 1-3; several memories
 * under one softmax: eq. 5-6). Head h reads columns h * w / heads ... of queries, keys and values; w is a multiple of
 * heads. Only the log-sum-exp of each query and head is kept; backward makes the weights again. A query without any key
 * gives zeros.
 */

/*
 * Search reads the same keys at every step. The forward kernel wants them by columns, and makes these anew at each call
 * unless it is given them: for each sentence [w][keys, rounded up to whole vectors]. The number of scalars
 * that they take, and the columns themselves.
 */
gint64 plait_transposed_keys_size (PlaitRagged rows, gint64 width);
void plait_transpose_keys (PlaitPool *pool, PlaitScalar *columns, PlaitTensor keys, PlaitRagged rows);

void plait_attention_forward (PlaitPool *pool, const PlaitAttentionJob *job);
void plait_attention_backward (PlaitPool *pool, const PlaitAttentionJob *job);

void plait_items_attention_forward (PlaitPool *pool, const PlaitItemsJob *job);
void plait_items_attention_backward (PlaitPool *pool, const PlaitItemsJob *job);
