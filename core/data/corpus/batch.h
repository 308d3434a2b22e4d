/* SPDX-License-Identifier: MIT */
#pragma once

#include "corpus/corpus.h"

/* Making batches: the one allocation, laid out by what each source needs, that its maker then fills. */

/* What a source puts into a batch. */
typedef struct
{
  const char *name; /* must outlive the batch */
  PlaitInputKind kind;
  gint64 rows;  /* of all sentences */
  gint64 width; /* of features */
  gboolean has_trees;
  gint64 nodes; /* of all trees */

  /* Of documents. */
  gboolean has_documents;
  gint64 sentences; /* of all documents */
  gboolean start_tokens;
  gboolean has_roles;
} PlaitBatchSource;

/* A batch of @n_sentences tuples whose offsets, sentences, tokens, features and trees are still to be written, through
 * plait_batch_fill. @target_rows < 0: no target. Fails if there is no memory for it. (transfer full) */
PlaitBatch *plait_batch_new (gint64 n_sentences, const PlaitBatchSource *sources, gint64 n_sources, gint64 target_rows,
                             GError **error);

/* Sentences @first .. @first + @n - 1 of @batch as a batch of their own, whose rows stay @batch's, to be freed before
 * it. Fails if there is no memory for its offsets. (transfer full) */
PlaitBatch *plait_batch_slice (const PlaitBatch *batch, gint64 first, gint64 n, GError **error);

/* Writable, for the maker alone: what plugins see as const. */
#define plait_batch_fill(type, pointer) ((type *)(gpointer)(pointer))

/* Writes the sentences of the documents of @input, whose rows are there, from those of all documents end to end, of
 * which document d has sentences[bounds[d]] .. [bounds[d + 1] - 1]. */
void plait_batch_fill_documents (const PlaitInput *input, const PlaitDocumentSentence *sentences, const gint64 *bounds);

/* Writes the rows of a target of @n ids at @row. Of text the inputs get BOS and the ids, the outputs the ids and EOS.
 * Of labels and choices the inputs, which nobody reads, get BOS, and the outputs are what is to be told, labels
 * counting from the first. The outputs may already hold the ids. */
void plait_batch_fill_target (PlaitBatch *batch, PlaitTargetKind kind, gint64 row, const gint32 *ids, gint64 n);

/* TRUE if such a target has one row more than it has ids. */
static inline gint64
plait_target_has_end (PlaitTargetKind kind)
{
  return kind == PLAIT_TARGET_TEXT;
}
