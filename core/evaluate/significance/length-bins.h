/* SPDX-License-Identifier: MIT */
#pragma once

#include "significance/report.h"

/*
 * Scores by source length: sentences are sorted into bins by the number of words (separated by white space) in their
 * source line, and each bin is scored as a corpus.
 */
typedef struct
{
  guint n;           /* number of bins */
  gint64 *max_words; /* [n], maximum words of a sentence in each bin; G_MAXINT64 for the last bin */
} PlaitLengthBins;

/* Returns the bins for @bounds, such as "10;20;30": up to 10 words, 11 to 20, 21 to 30, and above. Fails with
 * PLAIT_ERROR_INPUT unless the bounds are at most 100 increasing whole numbers from 1 to 1000000. (transfer full) */
PlaitLengthBins *plait_length_bins_new (const char *bounds, GError **error);
void plait_length_bins_free (PlaitLengthBins *bins);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitLengthBins, plait_length_bins_free)

/* Returns the name of a bin, such as "11-20". (transfer full) */
char *plait_length_bins_label (const PlaitLengthBins *bins, guint bin);

/* Returns the number of words of each of the @n lines of the source. (transfer full) */
gint64 *plait_length_bins_count (gsize n, const char *const *lines);

/* Calls plait_result_new for each bin that has sentences; the result of other bins is NULL. @statistics: rows of
 * @metric. @words [lines]: number of words of each source line. (transfer full) (element-type PlaitResult) */
GPtrArray *plait_length_bins_score (const PlaitLengthBins *bins, const PlaitMetric *metric,
                                    const PlaitStatistics *statistics, const gint64 *words, guint resamples,
                                    guint64 seed, GError **error);
