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

/* Makes rows from three numbers of each sentence [sentences]: the natural log-probability, the number of predicted
 * tokens, and the number of words that these tokens spell. If the log-probability includes the end of sentence, each
 * count includes it too. Fails with PLAIT_ERROR_INPUT on a log-probability that is positive or NaN, on a negative
 * count, and if all sentences together have no token or no word. (transfer full) */
PlaitStatistics *plait_perplexity_statistics (const double *log_probabilities, const gint64 *tokens,
                                              const gint64 *words, gsize sentences, GError **error);
