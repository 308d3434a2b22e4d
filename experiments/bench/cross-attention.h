/* SPDX-License-Identifier: MIT */
#pragma once

#include "experiment/file.h"
#include "cross-attention/cross-attention.h"

/* The attention of an experiment's decoder alone, over memories of any length, for plait-bench steps. */
typedef struct BenchCrossAttention BenchCrossAttention;

/* Builds the attention with its initial values, and makes memories and keys for @batch sentences of @length leaves.
 * @words > 0: a step is forward and backward over targets of @words words; 0: a step of search. PLAIT_ERROR_INPUT if
 * the experiment has several sources, coverage, trees, or memories that cannot be drawn; PLAIT_ERROR_MEMORY if they
 * need more memory than there is. @experiment and @pool must outlive the result. (transfer full) */
BenchCrossAttention *bench_cross_attention_new (const PlaitExperiment *experiment, gint64 length, gint64 batch,
                                                gint64 words, PlaitPool *pool, GError **error);
void bench_cross_attention_free (BenchCrossAttention *attention);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (BenchCrossAttention, bench_cross_attention_free)

/* Computes one step. *@rows_weighed is the number of memory rows weighed, summed over queries and heads. */
gboolean bench_cross_attention_step (BenchCrossAttention *attention, gint64 *rows_weighed, GError **error);

/* Writes one step of search, so that another program can repeat it: the parameters; for one sentence the keys, values
 * and levels (if rows have levels); the queries; and the result of the last step. PLAIT_ERROR_INPUT unless the combiner
 * attends to the memory exactly once. */
gboolean bench_cross_attention_write (const BenchCrossAttention *attention, const char *path, GError **error);
