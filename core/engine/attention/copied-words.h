/* SPDX-License-Identifier: MIT */
#pragma once

#include "attention/query-key-pairs.h"
#include "tensor/output-mixture.h"

/*
 * Copying words of memories (Vinyals et al. 2015; See, Liu & Manning 2017, eq. 9). Rows of memories carry ids of words.
 * The distribution of a query is the sum, over all rows with an id, of weight * [id of the row], divided by the sum of
 * these weights, so the weights need not sum to 1: rows without an id may have some.
 */
typedef struct
{
  guint n;             /* number of memories */
  PlaitRagged words;   /* the different words of each sentence, in all memories together */
  const gint32 *ids;   /* [words] ascending within a sentence */
  gint64 *const *word; /* [n][rows of the memory] index in @ids of each row's word; -1 for a row without a word */
} PlaitCopyableWords;

/* Returns the words of @n memories. rows[m]: rows of memory m; ids[m]: an id for each row, -1 for none. Allocated in
 * @arena. */
PlaitCopyableWords *plait_copyable_words_new (PlaitArena *arena, const PlaitRagged *rows, const gint32 *const *ids,
                                              guint n);

/* The distributions of all query rows. */
typedef struct
{
  gint64 *offsets;     /* [query rows + 1] words of each query: those of its sentence */
  gint32 *ids;         /* copied words of all query rows, end to end: [words] */
  PlaitScalar *copied; /* probability of each of them: [words] */
  PlaitScalar *totals; /* [query rows] sum of the weights of rows with an id */
} PlaitCopiedWords;

/* Computes the distributions, allocated in @arena, from weights[m], [pairs[m]], of each memory. All @pairs have the
 * same queries. */
PlaitCopiedWords plait_copied_words_forward (PlaitPool *pool, PlaitArena *arena, const PlaitCopyableWords *words,
                                             const PlaitQueryKeyPairs *pairs, const PlaitScalar *const *weights);

/* dweights[pair] = (@add: dweights[pair] +) the gradient for the weights of memory @memory, from @dcopied [words]. */
void plait_copied_words_backward (PlaitPool *pool, const PlaitCopyableWords *words, const PlaitCopiedWords *copied,
                                  const PlaitQueryKeyPairs *pairs, guint memory, const PlaitScalar *dcopied,
                                  PlaitScalar *dweights, gboolean add);
