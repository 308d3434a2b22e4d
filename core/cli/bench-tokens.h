/* SPDX-License-Identifier: MIT */
#pragma once

#include "experiment/file.h"

/*
 * Inside of bench.h: token data, before batches are made of them. Sentence tuples are read from a file
 * (experiments/peers/README.md) or drawn.
 */

/* One stream of a tuple. A tree over T tokens has 2 (T - 1) numbers, left and right child of each inner node, as
 * PlaitTrees counts them. */
typedef struct
{
  gint source;    /* -1: the target */
  gboolean trees; /* over the stream before */
} PlaitBenchStream;

typedef struct
{
  const PlaitExperiment *experiment;
  GArray *streams; /* PlaitBenchStream, of a tuple in order */
  GArray *ids;     /* gint32 */
  GArray *offsets; /* gint64: stream k of tuple s is offsets[s * streams + k] .. the next one */
  GArray *batches; /* gint64: the first tuple of each batch, and the number of tuples at the end */
} PlaitBenchTokens;

static inline const PlaitBenchStream *
plait_bench_stream (const PlaitBenchTokens *tokens, guint stream)
{
  return &g_array_index (tokens->streams, PlaitBenchStream, stream);
}

static inline gint64
plait_bench_offset (const PlaitBenchTokens *tokens, gint64 tuple, guint stream)
{
  return g_array_index (tokens->offsets, gint64, tuple * tokens->streams->len + stream);
}

static inline gint64
plait_bench_length (const PlaitBenchTokens *tokens, gint64 tuple, guint stream)
{
  return plait_bench_offset (tokens, tuple, stream + 1) - plait_bench_offset (tokens, tuple, stream);
}

static inline gint64
plait_bench_tuples (const PlaitBenchTokens *tokens)
{
  return (gint64)(tokens->offsets->len - 1) / tokens->streams->len;
}

static inline guint
plait_bench_batches (const PlaitBenchTokens *tokens)
{
  return tokens->batches->len - 1;
}

/* None yet, of the streams that @experiment reads. (transfer full) */
PlaitBenchTokens *plait_bench_tokens_new (const PlaitExperiment *experiment);
void plait_bench_tokens_free (PlaitBenchTokens *tokens);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitBenchTokens, plait_bench_tokens_free)

/* Those of the file at @path. PLAIT_ERROR_INPUT names file and line. */
gboolean plait_bench_tokens_read (PlaitBenchTokens *tokens, const char *path, GError **error);

/* Draws 16 batches. PLAIT_ERROR_INPUT if they were too large. */
gboolean plait_bench_tokens_draw (PlaitBenchTokens *tokens, GError **error);
