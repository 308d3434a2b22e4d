/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/input.h"
#include "vocabulary/vocabulary.h"
#include "cross-attention/attention-record.h"

/*
 * Labels for the axes of a sentence's dumps: one label for each token of the target, and one for each memory row.
 *
 * - Token: the piece, or the word in the text if the token is unknown.
 * - Inner node of a tree: the node's label in the tree, if any, then the first and the last token below the node.
 * - Row of an upper level of a pyramid: the labels of the first and the last leaf below the row, "ein … Mann", or
 *   "[0-2]" if the leaves are numbered.
 * - Sentence: number and first words, "3: ein Mann".
 * - Other rows, such as latents and positions of an image: the number of the row.
 *
 * The links of a memory (memory.h) say which rows are tokens and sentences.
 */

/* A memory with the text from which it was made, if there is any. */
typedef struct
{
  const char *name;
  const PlaitVocabulary *vocabulary; /* vocabulary of the text, or NULL */
  const PlaitInput *input;           /* text from which the memory was made, or NULL */
} PlaitLabelledMemory;

/* Labels of the rows of one memory. */
typedef struct
{
  const char *name; /* name of the memory; borrowed */
  char **rows;
  gint64 *sentence;      /* [rows]: sentence of each token; NULL if rows are not tokens of documents */
  gboolean of_sentences; /* TRUE if rows are sentences of documents */
  gboolean numbered;     /* TRUE if rows are made of text, but are neither tokens nor sentences */
} PlaitMemoryLabels;

typedef struct
{
  char **targets;
  guint n_memories;
  PlaitMemoryLabels *memories; /* [n_memories]: labels of each memory */
} PlaitLabels;

/* Returns the labels of sentence @sentence of a batch. @memories are the memories of the batch, @attention is the
 * record of this sentence. The label of target row i is words[i] or, if words[i] or @words is NULL, the piece of
 * tokens[i]. If the target @ended, its last row is labelled as end token. (transfer full) */
PlaitLabels *plait_labels_new (const PlaitLabelledMemory *memories, const PlaitAttentionRecord *attention,
                               gint64 sentence, const PlaitVocabulary *vocabulary, const gint32 *tokens,
                               const char *const *words, gboolean ended);
void plait_labels_free (PlaitLabels *labels);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitLabels, plait_labels_free)
