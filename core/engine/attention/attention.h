/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/pool.h"
#include "kernels/attention-job.h"

/*
 * Fused multi-head scaled dot-product attention over ragged rows (Libovicky et al. 2018, eq. 1-3). One softmax can
 * cover several memories (eq. 5-6). Queries, keys and values are w columns wide, a multiple of the number of heads;
 * head h uses the w / heads columns from h * w / heads on. The weights are stored only on request. In training, the
 * forward pass keeps the log-sum-exp of each query and head, from which backward recomputes the weights. A query
 * without keys gets a zero context.
 */

/*
 * Search reads the same keys at every step. plait_transpose_keys writes the transpose of these keys to @columns once,
 * so that forward calls need not transpose the keys again. Layout for each sentence: [w][keys, rounded up to whole
 * vectors]. plait_transposed_keys_size returns the number of scalars of @columns.
 */
gint64 plait_transposed_keys_size (PlaitRagged rows, gint64 width);
void plait_transpose_keys (PlaitPool *pool, PlaitScalar *columns, PlaitTensor keys, PlaitRagged rows);

void plait_attention_forward (PlaitPool *pool, const PlaitAttentionJob *job);
void plait_attention_backward (PlaitPool *pool, const PlaitAttentionJob *job);

void plait_items_attention_forward (PlaitPool *pool, const PlaitItemsJob *job);
void plait_items_attention_backward (PlaitPool *pool, const PlaitItemsJob *job);
