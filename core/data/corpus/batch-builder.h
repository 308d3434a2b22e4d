/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/features.h"
#include "corpus/batch.h"

/* Builds batches sentence by sentence. A corpus fills the builders from its stores; random-batches.h fills them with
 * random tokens. */

/* One stream's part of a batch. The caller appends to the arrays. After each sentence it calls
 * plait_stream_builder_end_sentence, and this function appends to @offsets, @nodes, @bounds and @link_bounds. Arrays of
 * items that the stream does not need stay empty or NULL. */
typedef struct
{
  const char *name; /* name of the stream; must outlive the batch */
  PlaitInputKind kind;
  PlaitTargetKind target; /* kind of a target; unused for sources */
  GArray *offsets;        /* gint64 [sentences + 1], first row of each sentence, then the number of rows */
  GArray *ids;            /* gint32, ids of all sentences end to end */

  /* (element-type utf8) [ids], as PlaitInput.unknown_words; NULL: the text of unknown words is not kept */
  GPtrArray *unknown;

  gint32 first_own; /* id of the first own word (PlaitBatch.own_words): the size of the vocabulary; 0: no own words */
  GArray *own_ids;  /* gint32 [ids], as PlaitInput.own_ids; plait_batch_build makes it */

  PlaitFeatures *features;
  GArray *lines; /* gint64, entries to read from the features file, in the order of the sentences */

  const PlaitTreeMaker *trees; /* maker of @steps and their labels; NULL without trees, or if @linked */

  /* TRUE: the trees have no maker; each pair in @steps is the left and the right child of a node without a label */
  gboolean linked;

  GArray *steps; /* gint32, two numbers per node, nodes of all sentences end to end */
  GArray *nodes; /* gint64 [sentences + 1], first node of each sentence, then the number of nodes */

  const PlaitDocumentSettings *documents;
  GArray *sentences; /* (element-type PlaitDocumentSentence) sentences of all documents end to end */
  GArray *bounds;    /* gint64 [documents + 1], first sentence of each document, then the number of sentences */

  GPtrArray *factors; /* (element-type GArray) gint32 [ids], as PlaitInput.factors */

  gboolean aligned;    /* TRUE: the source has word alignments */
  GArray *links;       /* gint32, two numbers per link: source row and target row, counted in their sentences */
  GArray *link_bounds; /* gint64 [sentences + 1], first link of each sentence, then the number of links */
} PlaitStreamBuilder;

/* Returns a builder without sentences. (transfer full) */
PlaitStreamBuilder *plait_stream_builder_new (const char *name, PlaitInputKind kind);
void plait_stream_builder_free (gpointer gathered);

/* Ends a sentence. It has all ids that were appended after the end of the previous sentence; or, for features, @rows
 * rows. */
void plait_stream_builder_end_sentence (PlaitStreamBuilder *self, gint64 rows);

/* Builds a batch from the first @n sentences of @streams (PlaitStreamBuilder). @streams has @n_sources sources, then
 * the target if there is one. Without a target in @streams, the batch gets @target_rows target rows, which the caller
 * must write, or no target if @target_rows is -1. The caller must also write batch->sentence. Fails if memory is short,
 * or if features cannot be read. (transfer full) */
PlaitBatch *plait_batch_build (const GPtrArray *streams, gint64 n_sources, gint64 n, gint64 target_rows,
                               GError **error);
