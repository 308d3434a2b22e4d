/* SPDX-License-Identifier: MIT */
#pragma once

#include "corpus/corpus.h"

/*
 * Batches of a corpus in an order.
 *
 * The order of an epoch is a pure function of the settings and the number of the epoch: the tuples in a random order
 * are cut into windows, each window is sorted by length, cut into batches, and the batches of the whole epoch stand in
 * a random order again. So batches hold sentences of like length (which matters to a decoder that runs step by step;
 * the ragged engine pads nothing), every tuple comes exactly once an epoch, and the state of an iterator is two
 * numbers.
 */
typedef enum
{
  PLAIT_ORDER_SHUFFLED, /* as above, epoch after epoch without end */
  PLAIT_ORDER_CORPUS,   /* one pass, as the corpus stands */
  PLAIT_ORDER_LENGTH,   /* one pass, longest first; PlaitBatch.sentence tells where each result belongs */
} PlaitOrder;

typedef enum
{
  PLAIT_BATCH_BY_SENTENCES,
  PLAIT_BATCH_BY_TOKENS, /* of all token sources and the target, EOS included, nothing padded */
} PlaitBatchUnit;

typedef struct
{
  PlaitOrder order;
  PlaitBatchUnit unit;
  gint64 size;   /* most sentences or tokens of a batch; > 0 */
  gint64 window; /* sentences that are sorted together when shuffled, at least 1 (1: no bucketing) */
  guint64 seed;
} PlaitIteratorSettings;

/* Shuffled, by sentences, 64, window 6,400, seed 0. */
PlaitIteratorSettings plait_iterator_defaults (void);

typedef struct PlaitIterator PlaitIterator;

/* Begins at epoch 0, position 0. @corpus must outlive it. Fails if a single tuple is larger than a batch by tokens.
 * (transfer full) */
PlaitIterator *plait_iterator_new (const PlaitCorpus *corpus, const PlaitIteratorSettings *settings, GError **error);

/* One pass over batches of @size sentences, the longest first. (transfer full) */
PlaitIterator *plait_iterator_new_by_length (const PlaitCorpus *corpus, gint64 size, GError **error);
void plait_iterator_free (PlaitIterator *iterator);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitIterator, plait_iterator_free)

/* The next batch. When shuffled there is always one: after the last of an epoch comes the first of the next. In the
 * other orders NULL, with @error left alone, ends the pass. NULL with @error set on failure; the place is kept then.
 * (transfer full) */
PlaitBatch *plait_iterator_next (PlaitIterator *iterator, GError **error);

/* Where it stands: the batch that comes next is number *@position (from 0) of epoch *@epoch; *@position may be the
 * number of batches of the epoch, right after its last. */
void plait_iterator_tell (const PlaitIterator *iterator, gint64 *epoch, gint64 *position);

/* Goes to where plait_iterator_tell was. Fails, staying where it is, if the corpus and settings have no such place. */
gboolean plait_iterator_seek (PlaitIterator *iterator, gint64 epoch, gint64 position, GError **error);

/* Batches in the present epoch. */
gint64 plait_iterator_batches (const PlaitIterator *iterator);
