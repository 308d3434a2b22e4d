/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/features.h"
#include "corpus/batch.h"

/*
 * Batches from what is gathered sentence by sentence: by a corpus from what it has stored, by run/random-batches.h from
 * what it draws.
 */

/* What one stream puts into a batch. Whoever gathers appends to the arrays, and calls plait_stream_builder_end_sentence
 * behind each sentence; what a stream has not stays NULL or empty. */
typedef struct
{
  const char *name; /* must outlive the batch */
  PlaitInputKind kind;
  PlaitTargetKind target; /* of a target */
  GArray *offsets;        /* gint64, of each sentence and of the end, in rows */
  GArray *ids;            /* gint32, of all sentences end to end */

  PlaitFeatures *features;
  GArray *lines; /* gint64, of the sentences that are there, in the file of features */

  const PlaitTreeMaker *trees; /* that made the steps */
  gboolean linked;             /* there are trees that no maker made: steps are the children, and no node has a label */
  GArray *steps;               /* gint32, two a node, of all sentences end to end */
  GArray *nodes;               /* gint64, nodes before each sentence and in all */

  const PlaitDocumentSettings *documents;
  GArray *sentences; /* PlaitDocumentSentence, of all documents end to end */
  GArray *bounds;    /* gint64, sentences before each document and in all */
} PlaitStreamBuilder;

/* (transfer full) */
PlaitStreamBuilder *plait_stream_builder_new (const char *name, PlaitInputKind kind);
void plait_stream_builder_free (gpointer gathered);

/* The sentence is whole: all that was appended since the last one, or @rows rows of features. */
void plait_stream_builder_end_sentence (PlaitStreamBuilder *self, gint64 rows);

/* A batch of the first @n sentences of @streams (PlaitStreamBuilder), @n_sources sources and behind them the target, if
 * there is one; if not, @target_rows rows of one are left to be written, or with -1 the batch has none. The numbers of
 * the sentences are left to be written too. Fails if there is no memory, or features cannot be read. (transfer full) */
PlaitBatch *plait_batch_build (const GPtrArray *streams, gint64 n_sources, gint64 n, gint64 target_rows,
                               GError **error);
