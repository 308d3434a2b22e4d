/* SPDX-License-Identifier: MIT */
#pragma once

#include "corpus/corpus.h"

/*
 * Batches of a corpus in an order.
 *
 * The order of an epoch is a pure function of the settings and the number of the epoch: tuples are shuffled and cut
 * into windows, each window is sorted by length and cut into batches, and the batches of the whole epoch are shuffled.
 * So a batch has sentences of similar length (for decoders that run step by step; the ragged engine pads nothing),
 * every tuple comes exactly once per epoch, and two numbers are the state of an iterator. With weights of files
 * (plait_corpus_set_file_weights), an epoch has the same number of tuples, but draws them from the files in proportion
 * to the weights.
 */
typedef enum
{
  PLAIT_ORDER_SHUFFLED, /* shuffled anew in each epoch, without end */
  PLAIT_ORDER_CORPUS,   /* one pass in the order of the corpus */
  PLAIT_ORDER_LENGTH,   /* one pass, longest first; PlaitBatch.sentence gives the original positions */
} PlaitOrder;

typedef enum
{
  PLAIT_BATCH_BY_SENTENCES,
  PLAIT_BATCH_BY_TOKENS, /* size counts tokens of all token sources and the target, EOS included, without padding */
} PlaitBatchUnit;

typedef struct
{
  PlaitOrder order;
  PlaitBatchUnit unit;
  gint64 size;   /* maximum number of sentences or tokens in a batch, > 0 */
  gint64 window; /* sentences sorted together when shuffled, >= 1 (1: no bucketing) */
  guint64 seed;
} PlaitIteratorSettings;

/* Returns shuffled order, batches of 64 sentences, window 6,400, seed 0. */
PlaitIteratorSettings plait_iterator_defaults (void);

typedef struct PlaitIterator PlaitIterator;

/* Returns an iterator at epoch 0, position 0. @corpus must outlive it. Fails if batches are limited by tokens and one
 * tuple exceeds the limit. (transfer full) */
PlaitIterator *plait_iterator_new (const PlaitCorpus *corpus, const PlaitIteratorSettings *settings, GError **error);

/* Returns an iterator over one pass in batches of @size sentences, longest first. (transfer full) */
PlaitIterator *plait_iterator_new_by_length (const PlaitCorpus *corpus, gint64 size, GError **error);
void plait_iterator_free (PlaitIterator *iterator);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitIterator, plait_iterator_free)

/* Returns the next batch. In shuffled order, the first batch of the next epoch follows the last one of an epoch. In
 * other orders, returns NULL without @error after the last batch. On failure, returns NULL with @error set and stays at
 * the failed batch. (transfer full) */
PlaitBatch *plait_iterator_next (PlaitIterator *iterator, GError **error);

/* Sets *@epoch and *@position (from 0) to those of the next batch. After the last batch of an epoch, *@position is the
 * number of batches in this epoch. */
void plait_iterator_tell (const PlaitIterator *iterator, gint64 *epoch, gint64 *position);

/* Moves to a position that plait_iterator_tell returned. Fails, without moving, if corpus and settings have no such
 * position. */
gboolean plait_iterator_seek (PlaitIterator *iterator, gint64 epoch, gint64 position, GError **error);

/* Returns the number of batches in the current epoch. */
gint64 plait_iterator_batches (const PlaitIterator *iterator);
