/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/*
 * Counts n-grams in the few short sequences that one sentence is scored on: the hypothesis and its references.
 *
 * Symbols are any 32-bit numbers (characters, or words numbered by plait_ngrams_add_words). Within an order, equal
 * n-grams of all sequences have one id. A hash table finds the id of an n-gram by two keys: the id of the (n - 1)-gram
 * with which the n-gram begins, and the last symbol. So the comparison is exact, and an order takes time linear in the
 * symbols.
 */
typedef struct PlaitNgrams PlaitNgrams;

/* Returns an empty counter, which can be reused for many sentences. (transfer full) */
PlaitNgrams *plait_ngrams_new (void);
void plait_ngrams_free (PlaitNgrams *ngrams);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitNgrams, plait_ngrams_free)

/* Removes all sequences. */
void plait_ngrams_clear (PlaitNgrams *ngrams);

/* Begins the next sequence, empty. Add all sequences before the first plait_ngrams_next. A counter holds words or
 * characters, not both. */
void plait_ngrams_add_sequence (PlaitNgrams *ngrams);

/* Appends the word @word [length] to the last sequence. */
void plait_ngrams_append_word (PlaitNgrams *ngrams, const char *word, gsize length);

/* Adds the words of @text (plait_text_next_word) as the next sequence. */
void plait_ngrams_add_words (PlaitNgrams *ngrams, const char *text);

/* Adds the characters of @text as the next sequence, including white space if @whitespace. */
void plait_ngrams_add_characters (PlaitNgrams *ngrams, const char *text, gboolean whitespace);

/* Returns the number of symbols in sequence @sequence. */
gsize plait_ngrams_length (const PlaitNgrams *ngrams, guint sequence);

/* Returns the symbols of sequence @sequence; words are numbered from 0. (transfer none) */
const guint32 *plait_ngrams_symbols (const PlaitNgrams *ngrams, guint sequence);

/* Moves to the next order; the first call moves to order 1. */
void plait_ngrams_next (PlaitNgrams *ngrams);

/* Returns the number of n-grams of the current order in @sequence. */
gsize plait_ngrams_total (const PlaitNgrams *ngrams, guint sequence);

/* Returns the clipped count of matches: the sum, over the different n-grams of sequence 0, of the count there, but at
 * most the largest count in one of the sequences @first .. @last - 1. */
gsize plait_ngrams_match (PlaitNgrams *ngrams, guint first, guint last);

/* Returns how often n-grams are repeated in sequence 0. An n-gram counts max (0, h - max (1, r)): h is its count in
 * sequence 0, r its largest count in one of the sequences 1 .. @last - 1. */
gsize plait_ngrams_repeated (PlaitNgrams *ngrams, guint last);
