/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/*
 * Counts of n-grams in the few short sequences that one sentence is scored on: the hypothesis and its references.
 *
 * Symbols are any 32-bit numbers (characters, or tokens numbered by plait_ngrams_add_words). For each order, equal
 * n-grams of all sequences share one number; the number of an n-gram is found from that of its first n - 1 symbols and
 * its last symbol, so nothing is compared by a hash alone and an order costs time linear in the symbols.
 */
typedef struct PlaitNgrams PlaitNgrams;

/* An empty counter, to be used for one sentence after the other. (transfer full) */
PlaitNgrams *plait_ngrams_new (void);
void plait_ngrams_free (PlaitNgrams *ngrams);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitNgrams, plait_ngrams_free)

/* Forgets all sequences. */
void plait_ngrams_clear (PlaitNgrams *ngrams);

/* Starts the next sequence, empty. Sequences are added before the first plait_ngrams_next. A counter holds either words
 * or characters, not both. */
void plait_ngrams_add_sequence (PlaitNgrams *ngrams);

/* Adds the word of @length bytes at @word to the last sequence. */
void plait_ngrams_append_word (PlaitNgrams *ngrams, const char *word, gsize length);

/* Adds the words of @text, as plait_text_next_word finds them, as the next sequence. */
void plait_ngrams_add_words (PlaitNgrams *ngrams, const char *text);

/* Adds the characters of @text, white space only if @whitespace, as the next sequence. */
void plait_ngrams_add_characters (PlaitNgrams *ngrams, const char *text, gboolean whitespace);

/* Symbols of sequence @sequence. */
gsize plait_ngrams_length (const PlaitNgrams *ngrams, guint sequence);

/* The symbols of sequence @sequence; those of words are numbered from 0. (transfer none) */
const guint32 *plait_ngrams_symbols (const PlaitNgrams *ngrams, guint sequence);

/* Goes to the next order (the first call: to 1). */
void plait_ngrams_next (PlaitNgrams *ngrams);

/* n-grams of @sequence at this order. */
gsize plait_ngrams_total (const PlaitNgrams *ngrams, guint sequence);

/* n-grams of @sequence that also stand in one of the sequences @first .. @last - 1, each at most as often as in the
 * one of these that has it most often. */
gsize plait_ngrams_match (PlaitNgrams *ngrams, guint sequence, guint first, guint last);

/* How often n-grams of @sequence stand there again: of one that stands there h times and at most r times in one of the
 * sequences @first .. @last - 1, h - max (1, r) where that is above zero. */
gsize plait_ngrams_repeated (PlaitNgrams *ngrams, guint sequence, guint first, guint last);
