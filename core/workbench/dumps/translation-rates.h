/* SPDX-License-Identifier: MIT */
#pragma once

#include "metrics/metric.h"
#include "setup/experiment-model.h"
#include "search/translate.h"

/*
 * Over- and under-translation of a split (metrics/translation-rate.h). The rates are computed while the split is
 * translated or scored, so that only the attention of one sentence is in memory.
 *
 * Each text source whose encoder gives one memory has rates. They count the source's tokens, except padding, start and
 * end tokens. The attention to a token is summed over all target rows except the row of the end token. In each target
 * row, this attention is the mean over heads, over several attentions to the memory, and over layers (or the attention
 * of the last layer). The weight of an inner node of a tree, or of an upper row of a pyramid, is spread evenly over its
 * leaves. Attention to contexts does not count. Jointly attended sources share one distribution, so each of them gets
 * less attention.
 */
typedef struct PlaitTranslationRates PlaitTranslationRates;

/* Returns rates for the lines of @corpus, or for its documents (all chunks of a document together).
 * plait_translation_rates_take() fills them. @of tells where the attention comes from, "search" or "forced" decoding;
 * the text must be static. (transfer full) */
PlaitTranslationRates *plait_translation_rates_new (const PlaitExperimentModel *experiment_model, const char *of,
                                                    const PlaitCorpus *corpus);
void plait_translation_rates_free (PlaitTranslationRates *rates);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitTranslationRates, plait_translation_rates_free)

/* A PlaitAttentionTaker whose data is @rates: adds one sentence of the corpus to @rates. */
gboolean plait_translation_rates_take (const PlaitBatch *batch, gint64 sentence, const PlaitHypothesis *best,
                                       const PlaitAttentionRecord *attention, gpointer rates, GError **error);

/* Appends over- and under-translation of each source to @results (element-type PlaitResult), with bootstrap intervals
 * as [evaluate] says. Skips a source with a warning if no attention reads its words. */
gboolean plait_translation_rates_add_results (const PlaitTranslationRates *rates, PlaitLog *log, GPtrArray *results,
                                              GError **error);

/* Writes for each source a table with the columns over, under and words, and one row for each sentence or document. The
 * table's path is @path/search/SOURCE or @path/forced/SOURCE. */
gboolean plait_translation_rates_write (const PlaitTranslationRates *rates, PlaitStore *store, const char *path,
                                        GError **error);

/* Returns the statistics of over- or under-translation from the tables below @path. @metric is the metric in the run,
 * such as "over-translation:of=search,source=en", and @title its title. Sets *@scorer (transfer full) to the metric, or
 * to NULL if the result is NULL. For another @metric, returns NULL without an error. (transfer full) */
PlaitStatistics *plait_translation_rates_read (PlaitStore *store, const char *path, const char *metric,
                                               const char *title, PlaitMetric **scorer, GError **error);
