/* SPDX-License-Identifier: MIT */
#pragma once

#include "corpus/corpus.h"

/* Makes batches. A batch is one allocation with room for every source; the caller then fills it. */

/* Sizes of the arrays of one source of a batch. */
typedef struct
{
  const char *name; /* name of the source; must outlive the batch */
  PlaitInputKind kind;
  gint64 rows;          /* number of rows in all sentences */
  gint64 width;         /* scalars per row, for features */
  gboolean has_unknown; /* TRUE: reserves room for the text of unknown words */
  gboolean has_own_ids;
  gboolean has_trees;
  gint64 nodes; /* number of nodes in all trees */

  gboolean has_documents;
  gint64 sentences; /* number of sentences in all documents */
  gboolean start_tokens;
  gboolean has_roles;

  gboolean has_alignment;
  gint64 links; /* number of links in all sentences */

  guint n_factors;
} PlaitBatchSource;

/* Allocates a batch of @n_sentences tuples, and sets all weights to 1. The caller writes all other arrays through
 * plait_batch_fill. @target_rows: number of target rows of all sentences; < 0: no target. @own_words: number of own
 * words of all sentences; < 0: the batch gets no arrays for own words. Fails if memory is short. (transfer full) */
PlaitBatch *plait_batch_new (gint64 n_sentences, const PlaitBatchSource *sources, gint64 n_sources, gint64 target_rows,
                             gint64 own_words, GError **error);

/* Returns sentences @first .. @first + @n - 1 of @batch as a batch that borrows the rows of @batch. Free it before
 * @batch. Fails if memory is short. (transfer full) */
PlaitBatch *plait_batch_slice (const PlaitBatch *batch, gint64 first, gint64 n, GError **error);

/* Casts away const from a pointer inside a batch, for the maker of the batch only. */
#define plait_batch_fill(type, pointer) ((type *)(gpointer)(pointer))

/* Writes the documents of @input, whose row offsets are set. Document d consists of sentences[bounds[d]] ..
 * sentences[bounds[d + 1] - 1]. */
void plait_batch_fill_documents (const PlaitInput *input, const PlaitDocumentSentence *sentences, const gint64 *bounds);

/* Writes a target of @n ids at row @row. For text, inputs are BOS and the ids; outputs are the ids and EOS. For other
 * kinds, inputs are unused; outputs are the ids, less PLAIT_TOKEN_SPECIALS for labels and tags. @ids may be the output
 * rows themselves. */
void plait_batch_fill_target (PlaitBatch *batch, PlaitTargetKind kind, gint64 row, const gint32 *ids, gint64 n);

/* Returns 1 if a target of this kind has one row, EOS, after the rows of its ids; else 0. */
static inline gint64
plait_target_has_end (PlaitTargetKind kind)
{
  return kind == PLAIT_TARGET_TEXT;
}
