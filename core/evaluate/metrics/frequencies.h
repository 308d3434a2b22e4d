/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/*
 * Accuracy of word translation by training frequency (Neubig et al. 2019): reference words are sorted into bins by
 * their count in a training text; for each bin, counts how many of them the hypothesis of the same sentence has. Words
 * are tokens of mteval-v13a, as in BLEU.
 */

/* Returns an empty table of word counts. (transfer full) (element-type utf8 guint) */
GHashTable *plait_frequencies_new (void);

/* Adds the words of @line to the counts. */
void plait_frequencies_count (GHashTable *frequencies, const char *line);

#define PLAIT_FREQUENCY_BINS 7

/* Returns the name of a bin: "never", "once", "2 to 4 times", ... (transfer none) */
const char *plait_frequency_label (guint bin);

/* Counts of the words in one bin, over all sentences so far. */
typedef struct
{
  gint64 references;
  gint64 hypotheses;
  gint64 matched; /* sum of min (count in the hypothesis, count in the reference) over the different words of each
                     sentence */
} PlaitFrequencyScore;

/* Adds the words of a sentence to @scores [PLAIT_FREQUENCY_BINS]. */
void plait_frequencies_score (GHashTable *frequencies, const char *reference, const char *hypothesis,
                              PlaitFrequencyScore *scores);

/* Returns F1 of matched words, in per cent; NaN if neither references nor hypotheses have a word in the bin. */
double plait_frequency_f1 (const PlaitFrequencyScore *score);
