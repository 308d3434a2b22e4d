/* SPDX-License-Identifier: MIT */
#pragma once

#include "metrics/metric.h"
#include "setup/experiment-model.h"
#include "search/translate.h"

/*
 * Over- and under-translation of a split (metrics/translation-rate.h), gathered while it is translated or scored: a
 * sentence's attention is summed and given up again.
 *
 * What counts: for each source of tokens whose encoder gives one memory, the mean over heads of its weights (with
 * attention to contexts: of that to rows), the mean over layers or the last one, and over the attentions to it where
 * there are several, summed over the words of the target. The row that ends a target translates nothing and is left
 * out, and so are the source's special rows. What is paid to an inner node of a tree, or to a row of a pyramid's upper
 * levels, is spread evenly over its leaves; a descent pays to leaves alone. Jointly attended sources share their
 * attention, so each gets less.
 */
typedef struct PlaitTranslationRates PlaitTranslationRates;

/* Sums for the lines of @corpus, a row each, or for its documents, of all their chunks; @of, static, is "search" or
 * "forced". (transfer full) */
PlaitTranslationRates *plait_translation_rates_new (const PlaitExperimentModel *experiment_model, const char *of,
                                                    const PlaitCorpus *corpus);
void plait_translation_rates_free (PlaitTranslationRates *rates);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitTranslationRates, plait_translation_rates_free)

/* A PlaitAttentionTaker whose data is the rates, for batches of their corpus. */
gboolean plait_translation_rates_take (const PlaitBatch *batch, gint64 sentence, const PlaitHypothesis *best,
                                       const PlaitAttentionRecord *attention, gpointer rates, GError **error);

/* Appends over- and under-translation of each source to @results (element-type PlaitResult), with intervals as
 * [evaluate] has them. A source whose memory is not one of its words has none; @log is told. */
gboolean plait_translation_rates_add_results (const PlaitTranslationRates *rates, PlaitLog *log, GPtrArray *results,
                                              GError **error);

/* Writes the table @path/OF/SOURCE of each source: columns words, over and under, a row a sentence
 * or document. */
gboolean plait_translation_rates_write (const PlaitTranslationRates *rates, PlaitStore *store, const char *path,
                                        GError **error);

/* The rows that plait_translation_rates_write left below @path for the rate of text @metric and title @title, and in
 * @scorer (transfer full) that rate. NULL without an error if @metric is no rate. (transfer full) */
PlaitStatistics *plait_translation_rates_read (PlaitStore *store, const char *path, const char *metric,
                                               const char *title, PlaitMetric **scorer, GError **error);
