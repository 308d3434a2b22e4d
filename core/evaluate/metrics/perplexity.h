/* SPDX-License-Identifier: MIT */
#pragma once

#include "metrics/metric.h"

/*
 * Perplexity from log-probabilities, as a metric with intervals and tests. A row is [natural log-probability, tokens,
 * words].
 */
typedef enum
{
  PLAIT_PERPLEXITY_TOKEN, /* exp (-log-probability / tokens): comparable only between models of one vocabulary */
  PLAIT_PERPLEXITY_WORD,  /* exp (-log-probability / words): comparable between vocabularies */
} PlaitPerplexityUnit;

/* Returns a perplexity metric. (transfer full) */
PlaitMetric *plait_metric_new_perplexity (PlaitPerplexityUnit unit);

/* Makes rows from the natural log-probability of each sentence [sentences], the number of its predicted tokens, and of
 * the words they spell; if the log-probability includes the end of sentence, both counts do. Fails with
 * PLAIT_ERROR_INPUT on a log-probability that is positive or NaN, negative counts, and if there are no tokens or words
 * at all. (transfer full) */
PlaitStatistics *plait_perplexity_statistics (const double *log_probabilities, const gint64 *tokens,
                                              const gint64 *words, gsize sentences, GError **error);
