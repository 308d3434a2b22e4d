/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/*
 * How well words are translated by how often training had them (Neubig et al. 2019): the words of the references are
 * put into bins by their count in a text, and of each bin it is counted how many the hypotheses have too, sentence by
 * sentence. Words are the tokens of mteval-v13a, as BLEU has them.
 */

/* An empty text, as the counts of its words. (transfer full) (element-type utf8 guint) */
GHashTable *plait_frequencies_new (void);

/* Counts the words of @line of the text. */
void plait_frequencies_count (GHashTable *frequencies, const char *line);

#define PLAIT_FREQUENCY_BINS 7

/* What words of @bin are: "never", "once", "2 to 4 times" ... (transfer none) */
const char *plait_frequency_label (guint bin);

/* Words of one bin, over all sentences so far. */
typedef struct
{
  gint64 references;
  gint64 hypotheses;
  gint64 matched; /* in both, each as often as the one that has it less often */
} PlaitFrequencyScore;

/* Adds the words of a sentence to @scores [PLAIT_FREQUENCY_BINS]. */
void plait_frequencies_score (GHashTable *frequencies, const char *reference, const char *hypothesis,
                              PlaitFrequencyScore *scores);

/* F1 of matched words, in percent; NaN where neither side has a word. */
double plait_frequency_f1 (const PlaitFrequencyScore *score);
