/* SPDX-License-Identifier: MIT */
#pragma once

#include "corpus/batch-builder.h"

/* The own words of the sentences of a batch (PlaitBatch.own_words), collected from the unknown words of sources. */
typedef struct
{
  gint32 first;    /* id of the first own word in every sentence: the size of the vocabulary; 0: own words are unused */
  GArray *offsets; /* gint64 [sentences + 1], index in @texts of each sentence's first own word, then texts->len */
  GPtrArray *texts; /* (element-type utf8) own words of all sentences end to end */
} PlaitOwnWords;

/* Collects the own words of the first @n sentences and fills the own_ids of the streams. @streams
 * (PlaitStreamBuilder) are @n_sources sources, and the target if there is one. Sets words->first to 0 if no stream uses
 * own words (PLAIT_UNKNOWN_OWN). */
void plait_own_words_collect (PlaitOwnWords *words, const GPtrArray *streams, gint64 n_sources, gint64 n);
void plait_own_words_clear (PlaitOwnWords *words);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (PlaitOwnWords, plait_own_words_clear)
