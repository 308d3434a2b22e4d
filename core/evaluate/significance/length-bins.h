/* SPDX-License-Identifier: MIT */
#pragma once

#include "significance/report.h"

/*
 * Scores by the length of the source: sentences are put into bins by the words of their source line, between white
 * space, and each bin is scored as a corpus of its own.
 */
typedef struct
{
  guint n;           /* bins */
  gint64 *max_words; /* [n]: most words of a sentence; G_MAXINT64 for the last */
} PlaitLengthBins;

/* The bins of @bounds, "10;20;30": up to 10 words, 11 to 20, 21 to 30, and above. PLAIT_ERROR_INPUT for what are not
 * rising whole numbers from 1. (transfer full) */
PlaitLengthBins *plait_length_bins_new (const char *bounds, GError **error);
void plait_length_bins_free (PlaitLengthBins *bins);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitLengthBins, plait_length_bins_free)

/* "to 10", "11-20", "above 30". (transfer full) */
char *plait_length_bins_label (const PlaitLengthBins *bins, guint bin);

/* Words of each of the @n lines of the source. (transfer full) */
gint64 *plait_length_bins_count (gsize n, const char *const *lines);

/* The result of each bin, NULL of one without sentences, from the rows of @metric and the @words of each sentence's
 * source, as plait_result_new makes it. (transfer full) (element-type PlaitResult) */
GPtrArray *plait_length_bins_score (const PlaitLengthBins *bins, const PlaitMetric *metric,
                                    const PlaitStatistics *statistics, const gint64 *words, guint resamples,
                                    guint64 seed, GError **error);
