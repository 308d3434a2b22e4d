/* SPDX-License-Identifier: MIT */
#pragma once

#include "corpus/gather.h"
#include "experiment/file.h"

/*
 * Inside of bench.h: token data, gathered before batches are parts of them. Sentence tuples are read from a file
 * (experiments/peers/README.md) or drawn.
 */

typedef struct
{
  const PlaitExperiment *experiment;
  PlaitDocumentSettings *documents; /* [sources] */
  GPtrArray *streams;               /* PlaitGathered: the sources, and behind them the target */
  GArray *batches;                  /* gint64: the first tuple of each batch, and the number of tuples at the end */
} PlaitBenchTokens;

static inline guint
plait_bench_batches (const PlaitBenchTokens *tokens)
{
  return tokens->batches->len - 1;
}

static inline gint64
plait_bench_first (const PlaitBenchTokens *tokens, guint batch)
{
  return g_array_index (tokens->batches, gint64, batch);
}

/* None yet, of the streams that @experiment reads. (transfer full) */
PlaitBenchTokens *plait_bench_tokens_new (const PlaitExperiment *experiment);
void plait_bench_tokens_free (PlaitBenchTokens *tokens);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitBenchTokens, plait_bench_tokens_free)

/* Those of the file at @path. PLAIT_ERROR_INPUT names file and line. */
gboolean plait_bench_tokens_read (PlaitBenchTokens *tokens, const char *path, GError **error);

/* Draws 16 batches. PLAIT_ERROR_INPUT if they were too large. */
gboolean plait_bench_tokens_draw (PlaitBenchTokens *tokens, GError **error);
