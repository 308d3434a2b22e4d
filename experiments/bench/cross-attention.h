/* SPDX-License-Identifier: MIT */
#pragma once

#include "experiment/file.h"
#include "cross-attention/cross-attention.h"

/*
 * A decoder's attention by itself, as an experiment describes it, over memories of any length: for plait-bench steps.
 */
typedef struct BenchCrossAttention BenchCrossAttention;

/* Builds it with its initial values, and makes the memories of @batch sentences of @length leaves, and their keys. With
 * @words a step goes over targets of so many and back again, else it is one of search. PLAIT_ERROR_INPUT where the
 * experiment has more than one source, or coverage, or memories that cannot be drawn. @experiment and @pool are
 * borrowed. (transfer full) */
BenchCrossAttention *bench_cross_attention_new (const PlaitExperiment *experiment, gint64 length, gint64 batch,
                                                gint64 words, PlaitPool *pool, GError **error);
void bench_cross_attention_free (BenchCrossAttention *attention);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (BenchCrossAttention, bench_cross_attention_free)

/* Takes one step. *touched gets the rows that were weighed against a query by all heads together. */
gboolean bench_cross_attention_step (BenchCrossAttention *attention, gint64 *rows_weighed, GError **error);

/* Writes what a step of search is made of, for a peer to take the same one: the parameters, of one sentence the keys,
 * values and levels (where rows have them), the queries, and what the last step gave. PLAIT_ERROR_INPUT where the
 * combiner attends otherwise than once to the memory. */
gboolean bench_cross_attention_write (const BenchCrossAttention *attention, const char *path, GError **error);
