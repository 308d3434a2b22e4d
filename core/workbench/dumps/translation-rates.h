/* SPDX-License-Identifier: MIT */
#pragma once

#include "metrics/metric.h"
#include "setup/experiment-model.h"
#include "search/translate.h"

/*
 * Over- and under-translation of a split (metrics/translation-rate.h), computed while it is translated or scored, so
 * that the attention of one sentence at a time is in memory.
 *
 * A source counts if it has tokens and its encoder gives one memory. Its attention is the mean over heads (with
 * attention to contexts: of the product of both levels), over layers or of the last layer, and over several attentions
 * to the same memory, summed over target words. The target's end token and the source's special tokens are left out.
 * The weight of an inner node of a tree, or of an upper row of a pyramid, is spread evenly over its leaves. Jointly
 * attended sources share one distribution, so each of them gets less.
 */
typedef struct PlaitTranslationRates PlaitTranslationRates;

/* Returns sums for the lines of @corpus, or for its documents (all chunks together). @of is "search" or "forced" and
 * must be static. (transfer full) */
PlaitTranslationRates *plait_translation_rates_new (const PlaitExperimentModel *experiment_model, const char *of,
                                                    const PlaitCorpus *corpus);
void plait_translation_rates_free (PlaitTranslationRates *rates);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitTranslationRates, plait_translation_rates_free)

/* Adds one sentence. A PlaitAttentionTaker with the rates as data, for batches of their corpus. */
gboolean plait_translation_rates_take (const PlaitBatch *batch, gint64 sentence, const PlaitHypothesis *best,
                                       const PlaitAttentionRecord *attention, gpointer rates, GError **error);

/* Appends over- and under-translation of each source to @results (element-type PlaitResult), with intervals by
 * [evaluate]. Skips a source whose memory is not made of words, and logs that. */
gboolean plait_translation_rates_add_results (const PlaitTranslationRates *rates, PlaitLog *log, GPtrArray *results,
                                              GError **error);

/* Writes for each source the table @path/OF/SOURCE: columns words, over and under, one row for each sentence or
 * document. */
gboolean plait_translation_rates_write (const PlaitTranslationRates *rates, PlaitStore *store, const char *path,
                                        GError **error);

/* Reads the table below @path of the rate with metric text @metric and title @title. Sets *@scorer (transfer full) to
 * the rate. Returns NULL without an error if @metric is not a rate. (transfer full) */
PlaitStatistics *plait_translation_rates_read (PlaitStore *store, const char *path, const char *metric,
                                               const char *title, PlaitMetric **scorer, GError **error);
