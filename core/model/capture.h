/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/arena.h"
#include "tensor/tensor.h"

/*
 * Attention weights of one pass through a decoder, before dropout, and if wanted coverage. The pass asks for room and
 * operators write there; the room is the arena's of the pass.
 */
typedef struct
{
  guint heads;          /* 0: this memory was not attended to */
  PlaitScalar *weights; /* [heads][pairs]: the pairs of sentence s are [its queries][its rows], sentences end to end */
} PlaitCapturedMemory;

typedef struct
{
  guint heads;          /* 0: there is no second level */
  PlaitScalar *weights; /* [heads][query rows][memories] */
} PlaitCapturedContexts;

/* Of the one attention that reads a memory. */
typedef struct
{
  gint64 width;                /* 0: this memory is not covered */
  PlaitScalar *states;         /* [pairs][width], after the attention was paid */
  const char *name;            /* of what is known of each row, or NULL */
  const PlaitScalar *prepared; /* [memory rows], with a name */
} PlaitCapturedCoverage;

typedef struct
{
  guint heads;          /* 0: there is no sentinel */
  PlaitScalar *weights; /* [heads][query rows] */
} PlaitCapturedSentinel;

/* How many rows of memories attentions have weighed against queries, a head being one more that does. */
typedef struct
{
  gint64 all;
  gint64 chosen; /* those of them that a combiner had chosen */
} PlaitTouched;

typedef struct
{
  PlaitArena *arena;
  guint n_layers;
  guint n_memories;
  PlaitRagged queries;              /* of the pass */
  const PlaitRagged *rows;          /* [n_memories] */
  PlaitCapturedMemory *memories;    /* [n_layers][n_memories] */
  PlaitCapturedContexts *contexts;  /* [n_layers] */
  PlaitCapturedSentinel *sentinels; /* [n_layers], of the second level where there is one, else of the first */
  PlaitCapturedCoverage *coverage;  /* [n_layers][n_memories]; NULL: not wanted */
} PlaitCapture;

/* Empty room in @arena for @n_layers x @n_memories, with @coverage also for coverage. */
PlaitCapture *plait_capture_new (PlaitArena *arena, guint n_layers, guint n_memories, gboolean coverage);

/* How many weights a head of memory @memory has: the sum over sentences of queries * rows. */
gint64 plait_capture_pairs (const PlaitCapture *capture, guint memory);

/* Room for the weights of @memory in @layer; noted in the capture. */
PlaitScalar *plait_capture_memory (PlaitCapture *capture, guint layer, guint memory, guint heads);

/* Room for the coverage of @memory in @layer, whose states are @width wide; noted in the capture. */
PlaitScalar *plait_capture_coverage (PlaitCapture *capture, guint layer, guint memory, gint64 width);

/* Copies what a pass over row @step of the sentences that have one captured, @from of one layer, to the places of those
 * rows in @layer of @capture, whose queries and rows are set. */
void plait_capture_add_step (PlaitCapture *capture, guint layer, const PlaitCapture *from, gint64 step);

/* Room for the second-level weights of @layer; noted in the capture. */
PlaitScalar *plait_capture_contexts (PlaitCapture *capture, guint layer, guint heads);

/* Room for the sentinel's weights in @layer; noted in the capture. */
PlaitScalar *plait_capture_sentinel (PlaitCapture *capture, guint layer, guint heads);
