/* SPDX-License-Identifier: MIT */
#pragma once

#include "attention/query-key-pairs.h"
#include "tensor/output-mixture.h"

/*
 * Copying words of memories (Vinyals et al. 2015; See, Liu & Manning 2017, eq. 9). Each memory row has the id of a word
 * or no id. The probability that a query copies a word is the sum of the query's attention weights on the rows with the
 * word's id, divided by the sum of its weights on all rows with an id. So the weights need not sum to 1.
 */
typedef struct
{
  guint n;             /* number of memories */
  PlaitRagged words;   /* distinct words of each sentence, over all memories */
  const gint32 *ids;   /* id of each word, ascending within a sentence: [words] */
  gint64 *const *word; /* word[m][row]: index in @ids of the word of a row of memory m; -1 if the row has no id:
                          [n][rows of the memory] */
} PlaitCopyableWords;

/* Returns the words that the rows of @n memories carry, allocated in @arena. rows[m]: rows of memory m; ids[m]: id of
 * each row, -1 for none. */
PlaitCopyableWords *plait_copyable_words_new (PlaitArena *arena, const PlaitRagged *rows, const gint32 *const *ids,
                                              guint n);

/* For each query row, a distribution over the words that it can copy. */
typedef struct
{
  gint64 *offsets;     /* query row q can copy the words offsets[q] .. offsets[q + 1] - 1 of @ids: [query rows + 1] */
  gint32 *ids;         /* ids of the words that each query row can copy, one query row after another */
  PlaitScalar *copied; /* probability of each element of @ids */
  PlaitScalar *totals; /* sum of a query row's weights on memory rows with an id, at least 1e-30: [query rows] */
} PlaitCopiedWords;

/* Returns the distributions of all query rows, allocated in @arena. weights[m] are the attention weights of the pairs
 * of memory m, pairs[m]. All @pairs have the same queries. */
PlaitCopiedWords plait_copied_words_forward (PlaitPool *pool, PlaitArena *arena, const PlaitCopyableWords *words,
                                             const PlaitQueryKeyPairs *pairs, const PlaitScalar *const *weights);

/* Writes to @dweights, or adds if @add, the gradient of the attention weights of memory @memory, whose pairs are
 * @pairs. @dcopied: gradient of the array copied->copied; both have equally many elements. */
void plait_copied_words_backward (PlaitPool *pool, const PlaitCopyableWords *words, const PlaitCopiedWords *copied,
                                  const PlaitQueryKeyPairs *pairs, guint memory, const PlaitScalar *dcopied,
                                  PlaitScalar *dweights, gboolean add);
