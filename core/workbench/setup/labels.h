/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/input.h"
#include "vocabulary/vocabulary.h"
#include "cross-attention/attention-record.h"

/*
 * What the axes of a sentence's dumps are labelled with: the tokens of the target, and those of each memory's rows; an
 * inner node of a tree has its label, and its first and last token; a row above others the first and the last of the
 * leaves below it, "ein … Mann", or "[0-2]" where leaves are numbered; a row that stands for a sentence of a document
 * has its number and its first words, "3: ein Mann". A row whose links lead to neither (memory.h), such as a latent or
 * a position of an image, has its number.
 */

/* A memory and what it was made of, if that is text. */
typedef struct
{
  const char *name;
  const PlaitVocabulary *vocabulary; /* or NULL */
  const PlaitInput *input;           /* or NULL */
} PlaitLabelledMemory;

/* What the rows of a memory are called. */
typedef struct
{
  const char *name; /* of the memory; borrowed */
  char **rows;
  gint64 *sentence;      /* [rows]: the sentence that a token is of; NULL: rows are no tokens of documents */
  gboolean of_sentences; /* rows stand for sentences of documents */
  gboolean numbered;     /* rows are made of text, but stand for neither tokens nor sentences */
} PlaitMemoryLabels;

typedef struct
{
  char **targets;
  guint n_memories;
  PlaitMemoryLabels *memories; /* [n_memories] */
} PlaitLabels;

/* Labels of sentence @sentence of a batch, that of @attention, whose memories are @memories. Its target rows are the
 * pieces @tokens and if it @ended its end. (transfer full) */
PlaitLabels *plait_labels_new (const PlaitLabelledMemory *memories, const PlaitAttentionRecord *attention,
                               gint64 sentence, const PlaitVocabulary *vocabulary, const gint32 *tokens,
                               gboolean ended);
void plait_labels_free (PlaitLabels *labels);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitLabels, plait_labels_free)
